"""The log keeps whole records through crashes and several writers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tvmlab.tune import RecordLog


def test_records_come_back_in_order(tmp_path: Path) -> None:
    log = RecordLog(tmp_path / "sub" / "log.jsonl")
    assert log.read() == []
    for n in range(5):
        log.append({"n": n, "text": "a\nb"})
    assert [r["n"] for r in log.read()] == list(range(5))
    assert log.read()[0]["text"] == "a\nb"


@pytest.mark.parametrize("cut", range(1, 14))
def test_a_record_cut_short_spoils_only_itself(tmp_path: Path, cut: int) -> None:
    log = RecordLog(tmp_path / "log.jsonl")
    log.append({"n": 0})
    log.append({"name": "ü"})
    log.path.write_bytes(log.path.read_bytes()[:-cut])
    log.append({"n": 2})
    assert [r for r in log.read() if "n" in r] == [{"n": 0}, {"n": 2}]


def test_several_writers(tmp_path: Path) -> None:
    log = RecordLog(tmp_path / "log.jsonl")
    with ThreadPoolExecutor(4) as pool:
        for n in range(100):
            pool.submit(log.append, {"n": n, "fill": "x" * 500})
    assert sorted(r["n"] for r in log.read()) == list(range(100))


def test_numbers_that_json_lacks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        RecordLog(tmp_path / "log.jsonl").append({"x": float("nan")})
