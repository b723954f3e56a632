"""MetaSchedule beside the searches: what it is asked, and what becomes of its answers."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from helpers.tune_programs import matmul

import tvmlab.bench.metaschedule as module
import tvmlab.te as te
from tvmlab.bench import METASCHEDULE, read_runs, run_metaschedule
from tvmlab.bench.metaschedule import shape_of
from tvmlab.cli.workloads import named_workload
from tvmlab.support import OptionError, RuntimeFailure
from tvmlab.target import Target
from tvmlab.te import create_program
from tvmlab.tune import TuningLog, best, generic_space

SPEAKS = """
import json, sys
asked = json.loads(sys.argv[1])
print("not for us")
for n in range(asked["trials"]):
    print(json.dumps({"seconds": None if n == 1 else 1e-6 * (9 - n - asked["seed"])}), flush=True)
"""


def script(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "peer.py"
    path.write_text(text)
    monkeypatch.setattr(module, "_SCRIPT", path)


def test_its_trials_are_a_run_of_the_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, SPEAKS, monkeypatch)
    space, log = generic_space(matmul(16)), tmp_path / "log"
    run = run_metaschedule("mm", space, sys.executable, trials=3, log=log)
    assert (run.search, run.seed, len(run.curve)) == (METASCHEDULE, 0, 3)
    assert run.curve[0] == run.curve[1] < run.curve[2]
    assert run.curve[2] == pytest.approx(2 * 16**3 / 7e-6 / 1e9)
    assert read_runs(log) == [run]
    assert run_metaschedule("mm", space, sys.executable, trials=3, log=log) == run
    longer = run_metaschedule("mm", space, sys.executable, trials=4, log=log)
    assert (longer.seed, len(longer.curve)) == (1, 4)
    with TuningLog(log) as opened:  # and nobody takes them for schedules
        assert best(space.program, log=opened) is None


def test_it_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "import time; time.sleep(60)", monkeypatch)
    start = time.monotonic()
    run = run_metaschedule(
        "mm", generic_space(matmul(16)), sys.executable, trials=3, log=tmp_path / "log",
        until=start + 0.2,
    )  # fmt: skip
    assert run.curve == ()
    assert time.monotonic() - start < 30


def test_a_peer_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space, log = generic_space(matmul(16)), tmp_path / "log"
    with pytest.raises(RuntimeFailure, match="cannot be started") as told:
        run_metaschedule("mm", space, str(tmp_path / "none"), trials=3, log=log)
    assert "apache-tvm" in str(told.value.hint)
    script(tmp_path, "raise SystemExit('no tvm here')", monkeypatch)
    with pytest.raises(RuntimeFailure, match="MetaSchedule ended: no tvm here"):
        run_metaschedule("mm", space, sys.executable, trials=3, log=log)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("matmul-64x32x16", {"m": 64, "n": 32, "k": 16}),
        ("C1", {"size": 224, "channels": 3, "inner": 3, "outputs": 64, "kernel": 7, "stride": 2}),
        ("C2", {"size": 56, "channels": 64, "outputs": 64, "kernel": 3, "stride": 1, "depth": 0}),
        ("C5", {"size": 56, "channels": 64, "outputs": 128, "kernel": 1, "stride": 2}),
        ("D2", {"size": 112, "channels": 64, "kernel": 3, "stride": 2, "depth": 1}),
    ],
)
def test_workloads_by_their_sizes(name: str, wanted: dict[str, int]) -> None:
    out = named_workload(name, Target.of("cpu"))[0]
    found = shape_of(create_program([out]))
    assert {key: found[key] for key in wanted} == wanted
    assert json.loads(json.dumps(found)) == found


def test_other_programs_are_not_asked_about() -> None:
    data = te.placeholder((4,))
    with pytest.raises(OptionError, match="no product of matrices"):
        shape_of(create_program([te.compute((4,), lambda i: data[i] * 2.0)]))
