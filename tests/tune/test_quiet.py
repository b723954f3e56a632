"""Who times goes first, who builds waits; inputs are kept; the hopeless are measured briefly."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
from helpers.tune_programs import COPY, program, tiled_matmul

from tvmlab.driver import build
from tvmlab.tune import MeasureRequest, MeasureSettings, QuietLock
from tvmlab.tune.measure import execute
from tvmlab.tune.measure.arrays import Inputs, make_arrays
from tvmlab.tune.measure.execute import Workbench
from tvmlab.tune.measure.quiet import alone_with

QUICK = MeasureSettings(repeats=5, repeat_seconds=1e-4, run_timeout=5.0)


def bench(folder: Path) -> Workbench:
    return Workbench(QuietLock(folder / "lock"), folder, lambda _stage: None)


def test_no_build_begins_while_somebody_waits_to_time(tmp_path: Path) -> None:
    lock = QuietLock(tmp_path / "lock")
    order: list[str] = []

    def timed() -> None:
        with lock.alone():
            order.append("timed")

    def built() -> None:
        with lock.shared():
            order.append("built")

    with lock.shared():
        timing = threading.Thread(target=timed)
        timing.start()
        time.sleep(0.05)
        building = threading.Thread(target=built)
        building.start()
        time.sleep(0.05)
        assert order == []
    timing.join(10)
    building.join(10)
    assert order == ["timed", "built"]


def test_builds_share_the_lock(tmp_path: Path) -> None:
    lock = QuietLock(tmp_path / "lock")
    with lock.shared() as first, lock.shared() as second:
        assert (first, second) == ((), ())


def test_patience_ends(tmp_path: Path) -> None:
    lock = QuietLock(tmp_path / "lock", patience=0.05)
    with lock.alone(), lock.alone() as disturbed:
        assert disturbed == ("another measurement held the machine for 0 s",)


def test_one_at_a_time_has_a_lock_file(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        with alone_with(tmp_path / "key.lock"):
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not inside


def test_what_a_program_reads_is_made_once() -> None:
    inputs, copy = Inputs(), program(COPY)
    first = inputs.arrays(copy, 0)
    assert not inputs.reused
    again = inputs.arrays(copy, 0)
    assert inputs.reused
    assert again[0] is first[0]
    assert again[1] is not first[1]
    assert all(
        np.array_equal(a, b, equal_nan=True)
        for a, b in zip(again, make_arrays(copy, 0), strict=True)
    )
    assert not np.array_equal(inputs.arrays(copy, 1)[0], first[0])
    inputs.forget()
    assert inputs.arrays(copy, 0)[0] is not first[0]


def test_spoilt_inputs_do_not_blame_the_next_program(tmp_path: Path) -> None:
    workbench, schedule = bench(tmp_path), tiled_matmul(16)
    request = MeasureRequest.of(
        schedule.program, reference=schedule.history.nodes[0].program, settings=QUICK
    )
    assert workbench.measure(request).ok
    kept = workbench._inputs.arrays(schedule.program, QUICK.seed)  # pyright: ignore[reportPrivateUsage]
    kept[0][...] = 7.0
    result = workbench.measure(request)
    assert (result.status, result.error) == ("ok", "")


def test_far_behind_a_rival_one_repeat_is_enough() -> None:
    schedule = tiled_matmul(64)
    executable = build(schedule.program, cache=False)
    arrays = make_arrays(schedule.program, 0)
    sample = execute._sample  # pyright: ignore[reportPrivateUsage]
    cold, _ = sample(executable, arrays, 0.25, MeasureSettings(rival_seconds=1e-3))
    assert cold == (0.25,)
    few, calls = sample(executable, arrays, 1e-5, MeasureSettings(rival_seconds=1e-9))
    assert len(few) == 1
    assert calls > 1  # a single call of a short program would say little
    many, _ = sample(executable, arrays, 1e-5, MeasureSettings(rival_seconds=1.0))
    assert len(many) == 10
