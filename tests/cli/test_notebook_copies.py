"""Copies of the notebooks: a user's changes are never lost, and old copies are renewed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tvmlab.cli import notebooks
from tvmlab.cli.notebooks import Copied, copy_notebooks, shipped_notebooks
from tvmlab.support import OptionError, RuntimeFailure


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with two notebooks of its own."""
    folder = tmp_path / "package" / "notebooks"
    folder.mkdir(parents=True)
    (folder / "01-a.ipynb").write_text("first")
    (folder / "02-b.ipynb").write_text("second")
    monkeypatch.setattr(notebooks, "_PACKAGE", folder.parent)
    return folder


def statuses(copied: list[Copied]) -> list[str]:
    return [c.status for c in copied]


def test_this_checkout_ships_the_notebooks() -> None:
    names = [path.name for path in shipped_notebooks()]
    assert names[:2] == ["01-matmul.ipynb", "02-conv2d.ipynb"]


def test_a_source_checkout_has_them_beside_the_package(shipped: Path, tmp_path: Path) -> None:
    shipped.rename(tmp_path / "notebooks")
    assert [p.parent for p in shipped_notebooks()] == [tmp_path / "notebooks"] * 2


def test_no_notebooks_anywhere(shipped: Path) -> None:
    for file in shipped.iterdir():
        file.unlink()
    with pytest.raises(OptionError, match="has no notebooks"):
        shipped_notebooks()


def test_first_copy_and_again(shipped: Path, tmp_path: Path) -> None:
    work = tmp_path / "deep" / "work"
    assert statuses(copy_notebooks(work)) == ["copied", "copied"]
    assert (work / "02-b.ipynb").read_text() == "second"
    assert statuses(copy_notebooks(work)) == ["unchanged", "unchanged"]


def test_changed_notebook_is_kept(shipped: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    copy_notebooks(work)
    (work / "01-a.ipynb").write_text("mine")
    for new in ("first", "newer", "newest"):
        (shipped / "01-a.ipynb").write_text(new)
        assert statuses(copy_notebooks(work)) == ["kept", "unchanged"]
        assert (work / "01-a.ipynb").read_text() == "mine"


def test_untouched_notebook_is_renewed(shipped: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    copy_notebooks(work)
    (shipped / "02-b.ipynb").write_text("newer")
    assert statuses(copy_notebooks(work)) == ["unchanged", "updated"]
    assert (work / "02-b.ipynb").read_text() == "newer"


@pytest.mark.parametrize("record", [None, "no json {", "[1]", '{"01-a.ipynb": 3}'])
def test_without_a_readable_record_all_that_differs_is_kept(
    record: str | None, shipped: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "01-a.ipynb").write_text("unknown origin")
    if record is not None:
        (work / ".tvmlab-copied.json").write_text(record)
    assert statuses(copy_notebooks(work)) == ["kept", "copied"]


def test_folder_that_cannot_be_made(shipped: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeFailure, match="cannot write the notebooks to") as caught:
        copy_notebooks(tmp_path / "file")
    assert "--dir" in str(caught.value)
    assert os.listdir(tmp_path / "package" / "notebooks")


def test_exercises_have_a_folder_of_their_own(shipped: Path, tmp_path: Path) -> None:
    (shipped / "exercises").mkdir()
    (shipped / "exercises" / "01-a.ipynb").write_text("to do")
    work = tmp_path / "work"
    assert [c.name for c in copy_notebooks(work)][-1] == "exercises/01-a.ipynb"
    assert (work / "01-a.ipynb").read_text() == "first"
    mine = work / "exercises" / "01-a.ipynb"
    mine.write_text("done")
    (shipped / "exercises" / "01-a.ipynb").write_text("to do, newer")
    assert statuses(copy_notebooks(work)) == ["unchanged", "unchanged", "kept"]
    assert mine.read_text() == "done"
