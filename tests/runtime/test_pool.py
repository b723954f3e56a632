"""The thread pool: its share-out, and everything that could upset it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from helpers.kernels import buffer, kernel_of

from tvmlab.ir import For, Load, Program, Store, Var, const
from tvmlab.runtime import (
    Kernel,
    get_num_threads,
    num_threads,
    pin_threads,
    set_num_threads,
    set_spin,
)
from tvmlab.runtime.pool import Chunking, pool
from tvmlab.support import OptionError

BODY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
FOR = ctypes.CFUNCTYPE(ctypes.c_int32, BODY, ctypes.c_void_p, ctypes.c_int64)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the pool needs Linux futexes")


def parallel_for(body: Any, extent: int, chunking: Chunking = "static") -> int:
    return FOR(pool().parallel_for(chunking))(BODY(body), None, extent)


def pieces(extent: int, chunking: Chunking = "static") -> list[tuple[int, int]]:
    seen: list[tuple[int, int]] = []

    def body(_: Any, begin: int, end: int) -> int:
        seen.append((begin, end))
        return 0

    assert parallel_for(body, extent, chunking) == 0
    return sorted(seen)


@pytest.mark.parametrize("chunking", ["static", "dynamic"])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("extent", [0, 1, 2, 7, 1000])
def test_pieces_tile_the_range(extent: int, threads: int, chunking: Chunking) -> None:
    with num_threads(threads):
        seen = pieces(extent, chunking)
    assert [i for begin, end in seen for i in range(begin, end)] == list(range(extent))


@linux_only
def test_static_pieces_differ_by_one_at_most() -> None:
    with num_threads(3):
        assert [end - begin for begin, end in pieces(11)] == [4, 4, 3]


@linux_only
def test_dynamic_pieces_are_small() -> None:
    with num_threads(2):
        assert len(pieces(160, "dynamic")) == 16


@linux_only
def test_several_threads_really_run() -> None:
    meet = threading.Barrier(2, timeout=20)

    def body(_: Any, begin: int, end: int) -> int:
        meet.wait()  # passes only if two threads are inside at once
        return 0

    with num_threads(2):
        assert parallel_for(body, 2) == 0


@pytest.mark.parametrize("chunking", ["static", "dynamic"])
def test_failure_code_of_any_thread_comes_back(chunking: Chunking) -> None:
    with num_threads(2):
        for bad in range(2):

            def body(_: Any, begin: int, end: int, bad: int = bad) -> int:
                return 7 if begin <= bad < end else 0

            assert parallel_for(body, 2, chunking) == 7
        assert pieces(2, chunking)  # the next loop succeeds


def test_nested_loops_run_serially() -> None:
    inner: list[tuple[int, int]] = []

    def body(_: Any, begin: int, end: int) -> int:
        def nested(_: Any, begin: int, end: int) -> int:
            inner.append((begin, end))
            return 0

        return sum(parallel_for(nested, 100) for _ in range(begin, end))

    with num_threads(2):
        assert parallel_for(body, 4) == 0
    assert inner == [(0, 100)] * 4


def adder(size: int = 512) -> Kernel:
    bb, i = buffer("B", size), Var("i")
    body = For(i, const(size), Store(bb, (i,), Load(bb, (i,)) + 1.0), "parallel")
    return kernel_of(Program("add", (bb,), body))


@pytest.mark.parametrize("spin", [0, 100, 20_000])
def test_many_loops_in_a_row(spin: int) -> None:
    kernel, b = adder(), np.zeros(512, np.float32)
    set_spin(spin)
    try:
        with num_threads(2):
            for _ in range(300):
                kernel(b)
    finally:
        set_spin(20_000)
    np.testing.assert_array_equal(b, 300)


def test_two_python_threads_at_once() -> None:
    kernel = adder()
    arrays = [np.zeros(512, np.float32) for _ in range(3)]

    def work(b: Any) -> None:
        for _ in range(200):
            kernel(b)

    with num_threads(2):
        threads = [threading.Thread(target=work, args=(b,)) for b in arrays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    for b in arrays:
        np.testing.assert_array_equal(b, 200)


def test_number_of_threads_may_change_between_calls() -> None:
    kernel, b = adder(), np.zeros(512, np.float32)
    before = get_num_threads()
    try:
        for count in (1, 4, 2, 5, 1, 3):
            set_num_threads(count)
            for _ in range(20):
                kernel(b)
    finally:
        set_num_threads(before)
    np.testing.assert_array_equal(b, 120)


@linux_only
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_runs_kernels() -> None:
    kernel, b = adder(), np.zeros(512, np.float32)
    with num_threads(2):
        kernel(b)
        child = os.fork()
        if child == 0:
            try:
                for _ in range(10):
                    kernel(b)
                os._exit(0 if (b == 11).all() else 1)
            finally:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        kernel(b)
    np.testing.assert_array_equal(b, 2)


def test_process_ends_cleanly_with_workers() -> None:
    code = (
        "import ctypes\n"
        "from tvmlab.runtime.pool import pool, num_threads\n"
        "B = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)\n"
        "F = ctypes.CFUNCTYPE(ctypes.c_int32, B, ctypes.c_void_p, ctypes.c_int64)\n"
        "with num_threads(3):\n"
        "    F(pool().static_for)(B(lambda c, b, e: 0), None, 9)\n"
        "    print('done')\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


def test_thread_count_from_the_environment() -> None:
    code = "from tvmlab.runtime import get_num_threads; print(get_num_threads())"
    env = {**os.environ, "TVMLAB_NUM_THREADS": "5"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert result.stdout == ("5\n" if sys.platform == "linux" else "1\n")


@pytest.mark.parametrize("count", [0, -1, 5000])
def test_impossible_thread_counts(count: int) -> None:
    with pytest.raises(OptionError, match=f"{count} threads were asked for; it must be 1 to 1023"):
        set_num_threads(count)


@linux_only
def test_each_iteration_runs_once_however_threads_are_disturbed() -> None:
    kernel, b = adder(), np.zeros(512, np.float32)
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            sum(range(1000))

    others = [threading.Thread(target=disturb) for _ in range(3)]
    for thread in others:
        thread.start()
    try:
        with num_threads(4):
            for spin in (0, 50, 20_000):
                set_spin(spin)
                for _ in range(200):
                    kernel(b)
    finally:
        set_spin(20_000)
        stop.set()
        for thread in others:
            thread.join(20)
    np.testing.assert_array_equal(b, 600)


@linux_only
def test_threads_can_be_bound_to_cpus() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    workers = pool().workers
    assert workers is not None
    with num_threads(3):
        try:
            pin_threads([allowed[-1]])
            for number in (1, 2):
                assert os.sched_getaffinity(workers[number]) == {allowed[-1]}
        finally:
            pin_threads(None)
        for number in (1, 2):
            assert os.sched_getaffinity(workers[number]) == set(allowed)


@pytest.mark.parametrize("cpus", [[], [100_000]])
def test_cpus_that_threads_cannot_be_bound_to(cpus: list[int]) -> None:
    with pytest.raises(OptionError, match=r"cannot be bound to the CPUs .*\n.*this process may"):
        pin_threads(cpus)


def test_negative_spin() -> None:
    with pytest.raises(OptionError, match="spin rounds"):
        set_spin(-1)
