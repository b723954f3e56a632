"""The house stands: floors hold, no circles, files keep their size, the start is quick."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tvmlab"
MAX_LINES = 600
HEAVY = ("jupyterlab", "ipywidgets", "anywidget", "xgboost", "scipy", "onnx", "plotly", "torch")


def source_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path) -> set[str]:
    """Everything a file imports, inside functions and for type checking included."""
    module = module_name(file)
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for current in ast.walk(ast.parse(file.read_text())):
        if isinstance(current, ast.Import):
            found |= {alias.name for alias in current.names}
        elif isinstance(current, ast.ImportFrom):
            parts = package.split(".")
            base = ".".join(parts[: len(parts) - current.level + 1]) if current.level else ""
            source = ".".join(p for p in (base, current.module or "") if p)
            found |= {source} | {f"{source}.{alias.name}" for alias in current.names}
    return found


def import_graph() -> nx.DiGraph[str]:
    files = {module_name(f): f for f in source_files()}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for module, file in files.items():
        graph.add_node(module)
        for name in imported(file) & files.keys():
            # `from . import sibling` also names the package itself, whose __init__ is above.
            if name != module and not module.startswith(f"{name}."):
                graph.add_edge(module, name)
    return graph


def test_no_import_circles() -> None:
    circles = [sorted(c) for c in nx.strongly_connected_components(import_graph()) if len(c) > 1]
    assert circles == []


def test_floors() -> None:
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--config", ROOT / "pyproject.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("file", source_files(), ids=module_name)
def test_file_has_a_docstring_and_a_size_to_read(file: Path) -> None:
    text = file.read_text()
    assert text.count("\n") <= MAX_LINES
    assert ast.get_docstring(ast.parse(text))


def test_no_unfinished_marks() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X:")
    found = [f.name for f in source_files() if any(m in f.read_text() for m in marks)]
    assert found == []


def test_import_is_quick_and_light(tmp_path: Path) -> None:
    """`import tvmlab` takes less than three times what NumPy, a part of it, takes itself.

    That is 0.3 s where NumPy takes 0.1, and holds on slow machines too. Processor time is taken,
    which other work disturbs less, with the bytecode in place that Python writes on first import.
    """
    script = (
        "import sys, time; start = time.process_time(); import numpy; "
        "numpy_done = time.process_time(); import tvmlab; done = time.process_time(); "
        "print(numpy_done - start, done - start); "
        "print([m for m in sys.argv[1:] if m in sys.modules])"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    command = [sys.executable, "-c", script, *HEAVY]
    runs = [
        subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment
        ).stdout.splitlines()
        for _ in range(6)
    ]
    assert all(loaded == "[]" for _, loaded in runs)
    seconds = [[float(part) for part in times.split()] for times, _ in runs]
    numpy_alone, everything = (min(column) for column in zip(*seconds, strict=True))
    assert everything < 3 * numpy_alone


def test_architecture_page_names_each_package() -> None:
    page = (PACKAGE / "README.md").read_text()
    assert page.count("\n") <= 150
    packages = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    assert {p for p in packages if f"`{p}`" not in page} == set()
