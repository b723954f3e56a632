"""Timing: the statistics, and how many runs are made."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.kernels import buffer, kernel_of

from tvmlab.ir import For, Load, Program, Store, Var, const
from tvmlab.runtime import Timing, load_object, measure, measure_loop
from tvmlab.support import OptionError, RuntimeFailure


def test_statistics() -> None:
    timing = Timing((4e-6, 1e-6, 2e-6, 3e-6, 5e-6), 10, flops=6000, bytes_moved=1500)
    assert timing.median == 3e-6
    assert timing.min == 1e-6
    assert timing.quartiles == (2e-6, 4e-6)
    assert timing.repeats == 5
    assert timing.noise == pytest.approx(2 / 3)
    assert timing.noisy
    assert timing.gflops == pytest.approx(2.0)
    assert timing.gbytes_per_second == pytest.approx(0.5)
    text = "3 us (2 us to 4 us, 5 repeats of 10), 2.0 GFLOP/s, 0.5 GB/s, noisy: 67%"
    assert str(timing) == text
    assert timing.to_json()["quartiles"] == [2e-6, 4e-6]


def test_one_repeat_has_quartiles() -> None:
    timing = Timing((2.0,), 1)
    assert timing.quartiles == (2.0, 2.0)
    assert not timing.noisy
    assert timing.gflops is None
    assert str(timing) == "2 s (2 s to 2 s, 1 repeat of 1)"


def test_repeats_last_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that only the work moves, so that a busy machine does not matter.
    now = [0.0]
    counts: list[int] = []
    monkeypatch.setattr("tvmlab.runtime.timing.time.perf_counter", lambda: now[0])

    def run(count: int) -> None:
        counts.append(count)
        now[0] += count * 1e-4

    timing = measure_loop(run, repeats=3, min_repeat_ms=2)
    assert counts[-3:] == [timing.inner] * 3
    assert 20 <= timing.inner <= 30
    assert timing.seconds == pytest.approx([1e-4] * 3)


def test_flushing_measures_single_runs() -> None:
    counts: list[int] = []
    timing = measure_loop(counts.append, repeats=2, flush_cache=True)
    assert counts == [1, 1, 1]
    assert timing.inner == 1


def test_measure_calls_the_function() -> None:
    calls: list[int] = []
    timing = measure(lambda: calls.append(1), repeats=2, min_repeat_ms=0.01)
    assert len(calls) > 2 * timing.inner


def test_no_repeats() -> None:
    with pytest.raises(OptionError, match="repeats is 0; a number of at least 1 is needed"):
        measure(lambda: None, repeats=0)


def test_kernel_timing_runs_the_kernel() -> None:
    bb, i = buffer("B", 64), Var("i")
    program = Program("add", (bb,), For(i, const(64), Store(bb, (i,), Load(bb, (i,)) + 1.0)))
    kernel, b = kernel_of(program), np.zeros(64, np.float32)
    timing = kernel.time(b, repeats=3, min_repeat_ms=0.1, flops=64)
    assert b[0] >= 3 * timing.inner
    assert timing.gflops is not None
    with pytest.raises(RuntimeFailure, match="takes 1 argument"):
        kernel.time()


def test_objects_that_cannot_be_loaded() -> None:
    with pytest.raises(RuntimeFailure, match="machine code could not be loaded"):
        load_object(b"not an object", ["f"])
