"""Files are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tvmlab.support import write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "new" / "a.txt"
    write_whole(file, "first")
    write_whole(file, b"second")
    assert file.read_bytes() == b"second"
    plain = tmp_path / "plain"
    plain.write_text("")
    assert file.stat().st_mode == plain.stat().st_mode
    assert [p.name for p in file.parent.iterdir()] == ["a.txt"]


def test_nothing_is_left_of_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk is gone")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is gone"):
        write_whole(tmp_path / "a", "x")
    assert list(tmp_path.iterdir()) == []
