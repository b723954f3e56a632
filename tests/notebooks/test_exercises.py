"""The notebooks of exercises: one for each, stripped, in their rhythm, and every cell runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat as untyped_nbformat
import pytest
from nbclient import NotebookClient

from tvmlab.exercises import TASKS

nbformat: Any = untyped_nbformat

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks" / "exercises").glob("*.ipynb"))
FOLDED = {"jupyter": {"source_hidden": True}}
RHYTHM = ["print(sch)", "ex.check()", "# your steps here", "ex.solution()", "tl.explore(sch)"]
QUICK = ("01-reorder",)
"""The others start a kernel each as well."""


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def test_each_exercise_has_a_notebook() -> None:
    names = [f"{number:02}-{name}" for number, name in enumerate(TASKS, 1)]
    assert [path.stem for path in NOTEBOOKS] == names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stripped_and_in_the_rhythm(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    cells = notebook.cells
    assert len({cell.id for cell in cells}) == len(cells)
    for cell in cells:
        assert cell.metadata == (FOLDED if cell.id == "solution" else {})
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
    assert cells[0].source.startswith("# ")
    assert TASKS[path.stem[3:]].text in cells[0].source
    assert "## Summary" in cells[-1].source
    assert "**Exercises**" in cells[-1].source
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    places = [next(n for n, text in enumerate(code) if word in text) for word in RHYTHM]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, id=p.stem, marks=[] if p.stem in QUICK else [pytest.mark.slow])
        for p in NOTEBOOKS
    ],
)
def test_runs_with_warnings_as_errors(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TVMLAB_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = read(path)
    # In the kernel's own cells, for the kernel's libraries have warnings that are not ours.
    strict = "import warnings; warnings.simplefilter('error')"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(strict))
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute(cwd=os.fspath(tmp_path))
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    assert "stderr" not in [o.get("name") for o in outputs]
    assert any("not met" in o.get("data", {}).get("text/html", "") for o in outputs)
