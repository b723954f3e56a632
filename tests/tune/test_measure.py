"""Measuring in worker processes, with real faults: each costs one result and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.tune_programs import (
    BIG,
    COPY,
    DOUBLE,
    ENDLESS,
    HALF_WRITTEN,
    HUNGRY,
    WILD,
    matmul,
    program,
    tiled_matmul,
)

from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, ParseError, RuntimeFailure
from tvmlab.tune import Measurer, MeasureRequest, MeasureResult, MeasureSettings

QUICK = MeasureSettings(repeats=3, repeat_seconds=1e-4, run_timeout=5.0)


@pytest.fixture(scope="module")
def measurer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measurer]:
    with Measurer(lock=tmp_path_factory.mktemp("lock") / "lock") as made:
        yield made


def ask(
    measurer: Measurer, text: str, reference: str = "", settings: MeasureSettings = QUICK
) -> MeasureResult:
    right = program(reference) if reference else None
    return measurer.measure(MeasureRequest.of(program(text), reference=right, settings=settings))


def test_a_right_program_gives_a_distribution(measurer: Measurer) -> None:
    schedule = tiled_matmul()
    naive = Schedule(matmul(64)).program
    request = MeasureRequest.of(schedule.program, reference=naive, settings=QUICK)
    result = measurer.measure(request)
    assert (result.status, result.error) == ("ok", "")
    assert len(result.seconds) == 3
    assert result.q1 is not None
    assert result.median is not None
    assert result.q3 is not None
    assert 0 < result.q1 <= result.median <= result.q3
    assert result.program_hash == request.program_hash
    assert result.machine.split("-")[-2].endswith("cpu")
    assert {"parse", "build", "reference", "run"} <= set(result.stage_seconds)
    assert MeasureResult.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_a_reference_is_run_once(measurer: Measurer) -> None:
    naive = Schedule(matmul(48)).program
    for rows, times in ((4, 1), (8, 0)):
        request = MeasureRequest.of(
            tiled_matmul(48, rows=rows).program, reference=naive, settings=QUICK
        )
        result = measurer.measure(request)
        assert result.status == "ok"
        assert ("reference" in result.stage_seconds) == bool(times)


def test_a_crash_costs_one_result(measurer: Measurer) -> None:
    before = ask(measurer, COPY)
    [pid] = measurer.worker_pids
    result = ask(measurer, WILD)
    assert (result.status, result.signal, result.stage) == ("crash", "SIGSEGV", "run")
    assert "touched memory that is not its own" in result.error
    assert (result.seconds, result.median) == ((), None)
    assert (before.ok, ask(measurer, COPY).ok) == (True, True)
    assert measurer.worker_pids != (pid,)


def test_an_endless_loop_is_stopped(measurer: Measurer) -> None:
    start = time.monotonic()
    result = ask(measurer, ENDLESS, settings=MeasureSettings(run_timeout=0.3))
    assert (result.status, result.stage) == ("timeout", "run")
    assert result.error == "stopped while the program ran: it took longer than 0.3 s"
    assert time.monotonic() - start < 5
    assert ask(measurer, COPY).ok


@pytest.mark.parametrize(
    "text", ["", "def broken(", "import os", "def f(A: float32[4]):\n  A[0] = x"]
)
def test_a_text_that_is_no_program(measurer: Measurer, text: str) -> None:
    good = MeasureRequest.of(program(COPY), settings=QUICK)
    result = measurer.measure(MeasureRequest(text, good.target, settings=QUICK))
    assert (result.status, result.stage) == ("parse_error", "parse")
    assert result.error.startswith("the program cannot be read: ")


def test_a_wrong_result_is_found(measurer: Measurer) -> None:
    result = ask(measurer, DOUBLE, reference=COPY)
    assert result.status == "wrong_result"
    assert result.error.startswith("B is wrong: 16 of 16 elements are wrong; the first is [0]: ")


def test_an_element_never_written_is_found(measurer: Measurer) -> None:
    result = ask(measurer, HALF_WRITTEN, reference=COPY)
    assert result.status == "wrong_result"
    assert "8 of 16 elements are wrong; the first is [8]: nan instead of" in result.error


def test_a_reference_with_other_parameters(measurer: Measurer) -> None:
    other = COPY.replace("float32", "float64")
    result = ask(measurer, COPY, reference=other)
    assert result.status == "wrong_result"
    assert result.error == "the reference does not have the parameters of the program"


@pytest.mark.parametrize("text", [HUNGRY, BIG])
def test_memory_is_limited(measurer: Measurer, text: str) -> None:
    settings = MeasureSettings(repeats=1, memory_bytes=2 << 30)
    result = ask(measurer, text, settings=settings)
    assert result.status == "memory", result.error
    assert "memory" in result.error
    assert ask(measurer, COPY).ok


def test_a_size_known_only_at_run_time(measurer: Measurer) -> None:
    text = "def f(n: int64, A: float32[n]):\n    for i in range(n):\n        A[i] = 1.0"
    result = ask(measurer, text)
    assert result.status == "run_error"
    assert "the size of n is known only at run time" in result.error


def test_a_worker_that_cannot_start(measurer: Measurer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Measurer() as broken:
        result = broken.measure(MeasureRequest.of(program(COPY), settings=QUICK))
    assert (result.status, result.stage) == ("crash", "start")
    assert result.error.startswith("the worker ended with code 1 while it started")


def test_slow_programs_are_timed_once(measurer: Measurer) -> None:
    result = ask(measurer, COPY, settings=MeasureSettings(budget_seconds=0.0))
    assert len(result.seconds) == 1
    assert any("one repeat only" in note for note in result.disturbed)


def test_cancel_ends_what_runs_and_what_waits(measurer: Measurer) -> None:
    request = MeasureRequest.of(program(ENDLESS), settings=MeasureSettings(run_timeout=60))
    futures = [measurer.submit(request) for _ in range(2)]
    threading.Timer(0.2, measurer.cancel).start()
    results = [future.result(timeout=10) for future in futures]
    assert [r.status for r in results] == ["cancelled", "cancelled"]
    assert results[0].error == "the measurement was cancelled"
    assert ask(measurer, COPY).ok


def test_two_workers_measure_all(tmp_path: Path) -> None:
    requests = [MeasureRequest.of(program(t), settings=QUICK) for t in (COPY, WILD, DOUBLE, COPY)]
    with Measurer(2, lock=tmp_path / "lock") as pool:
        results = dict(pool.measure_all(requests))
    assert [results[n].status for n in range(4)] == ["ok", "crash", "ok", "ok"]


def test_a_closed_measurer_refuses(tmp_path: Path) -> None:
    pool = Measurer(lock=tmp_path / "lock")
    pool.start()
    pool.close()
    assert pool.worker_pids == ()
    with pytest.raises(RuntimeFailure, match="the measurer is closed"):
        pool.submit(MeasureRequest.of(program(COPY)))


def test_workers_die_with_their_parent(tmp_path: Path) -> None:
    """Even when the parent is killed while a worker is in an endless loop."""
    script = textwrap.dedent(
        """
        import sys
        from helpers.tune_programs import COPY, ENDLESS, program
        from tvmlab.tune import Measurer, MeasureRequest
        measurer = Measurer()
        measurer.measure(MeasureRequest.of(program(COPY)))
        measurer.submit(MeasureRequest.of(program(ENDLESS)))
        print(*measurer.worker_pids, flush=True)
        sys.stdin.read()
        """
    )
    environment = {**os.environ, "PYTHONPATH": "tests", "TVMLAB_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.4)  # time enough to be in the loop
        assert running(pid)
        parent.kill()
    for _ in range(100):
        if not running(pid):
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the worker outlived its parent")


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_settings_refuse_nonsense() -> None:
    with pytest.raises(OptionError, match="at least one repeat, not 0"):
        MeasureSettings(repeats=0)
    with pytest.raises(OptionError, match="run_timeout is 0, not a positive time"):
        MeasureSettings(run_timeout=0)
    with pytest.raises(OptionError, match="at least one worker, not 0"):
        Measurer(0)


def test_requests_travel_as_json() -> None:
    request = MeasureRequest.of(tiled_matmul().program, "cpu -num-threads=1", settings=QUICK)
    assert MeasureRequest.from_json(json.loads(json.dumps(request.to_json()))) == request
    assert request.target["num_threads"] == 1
    others: list[object] = [[], {}, {"program": "x"}, {**request.to_json(), "extra": 1}]
    for data in others:
        with pytest.raises(ParseError, match="request"):
            MeasureRequest.from_json(data)


@pytest.mark.parametrize(
    "data",
    [[], {"status": "fine"}, {"status": "ok", "seconds": 3}, {"status": "ok", "seconds": ["x"]}],
)
def test_results_that_cannot_be_read(data: object) -> None:
    with pytest.raises(ParseError, match="a measurement"):
        MeasureResult.from_json(data)
