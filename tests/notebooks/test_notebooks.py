"""The notebooks: stripped of outputs, in the agreed rhythm, and every cell runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat as untyped_nbformat
import pytest
from nbclient import NotebookClient

nbformat: Any = untyped_nbformat

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAX_CELLS = 25
FOLDED = {"jupyter": {"source_hidden": True}}
"""The metadata of a cell with the solution of an exercise."""
# What these teach is not a matter of speed on this machine.
NOT_MEASURED = {"07-threads-and-scopes", "09-reading-a-refusal"}
SECONDS = 120
SLOW = {"13-model-to-module"}
"""Those that compile whole networks."""


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS][:2] == ["01-matmul.ipynb", "02-conv2d.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stripped_and_valid(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        assert cell.metadata == (FOLDED if cell.id.startswith("solution") else {})
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_has_the_rhythm(path: Path) -> None:
    cells = read(path).cells
    assert len(cells) <= MAX_CELLS
    assert cells[0].source.startswith("# ")
    assert "## Summary" in cells[-1].source
    assert "**Exercises**" in cells[-1].source
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    words = ["print(sch)", "measure(", "tl.explore(sch)"]
    if path.stem in NOT_MEASURED:
        words.remove("measure(")
    places = [_first(code, word) for word in words]
    assert places == sorted(places)


def _first(code: list[str], text: str) -> int:
    return next(number for number, source in enumerate(code) if text in source)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in SLOW else [])
        for p in NOTEBOOKS
    ],
)
def test_runs_with_warnings_as_errors(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TVMLAB_QUICK", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = read(path)
    # In the kernel's own cells, for the kernel's libraries have warnings that are not ours.
    strict = "import warnings; warnings.simplefilter('error')"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(strict))
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute(cwd=os.fspath(tmp_path))
    texts = [o.name for c in notebook.cells for o in c.get("outputs", []) if "name" in o]
    assert "stderr" not in texts
    assert _shows(notebook, "application/vnd.jupyter.widget-view+json")


def _shows(notebook: Any, mime: str) -> bool:
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    return any(mime in o.get("data", {}) for o in outputs)
