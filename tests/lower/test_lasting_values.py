"""Values that stay in an intermediate from one round of an outer loop to the next."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build, lower
from tvmlab.ir import parse
from tvmlab.schedule import RefusedError, Schedule


def counting(rounds: int, threads: int, each: int) -> Schedule:
    """Each round adds 1 to what the one before left; neighbors belong to different threads."""
    cells = threads * each
    return Schedule(
        parse(f"""
def main(A: float32[{cells}], C: float32[{rounds}, {cells}]):
    B = alloc(float32[{cells}])
    for t in range({rounds}):
        for p in range({threads}):
            for i in range({each}):
                with block("B", vt=opaque({rounds}, t), vi=opaque({cells}, i * {threads} + p)):
                    B[vi] = select(vt < 1, A[vi], B[vi] + 1.0)
            for j in range({each}):
                with block("C", vt=spatial({rounds}, t), vi=spatial({cells}, j * {threads} + p)):
                    C[vt, vi] = B[vi]
""")
    )


def assert_counts(sch: Schedule, rounds: int, cells: int) -> None:
    """The scheduled, the lowered and the compiled program count."""
    given = np.arange(cells, dtype=np.float32)
    wanted = given + np.arange(rounds, dtype=np.float32)[:, None]

    def expect(run: Callable[[Sequence[NDArray[Any]]], object]) -> None:
        result = np.full((rounds, cells), np.nan, np.float32)
        run([given, result])
        np.testing.assert_array_equal(result, wanted, err_msg=str(sch))

    expect(partial(interpret, sch.program))
    expect(partial(interpret, lower(sch).program))
    exe = build(sch, cache=False)
    expect(lambda arrays: exe(*arrays))


@settings(max_examples=15, deadline=None)
@given(rounds=st.integers(1, 4), threads=st.integers(1, 4), each=st.integers(1, 4))
def test_parallel_iterations_leave_values_for_the_next_round(
    rounds: int, threads: int, each: int
) -> None:
    sch = counting(rounds, threads, each)
    sch.parallel(sch.loops("C")[1])
    assert_counts(sch, rounds, threads * each)


@pytest.mark.parametrize("scope", ["global", "local", "shared"])
def test_a_window_outlives_a_parallel_loop_of_one_iteration(scope: str) -> None:
    a = te.placeholder((10,), name="A")
    b = te.compute((8,), lambda i: a[i] + a[i + 1] + a[i + 2], name="B")
    c = te.compute((6,), lambda i: b[i] * 2.0 - b[i + 2], name="C")
    sch = Schedule(c)
    (i,) = sch.loops("C")
    sch.compute_at("B", i)
    sch.rolling_buffer("B")
    sch.parallel(sch.split(i, [None, 1])[1])
    if scope != "global":
        sch.set_scope("B", scope)
    text = str(lower(sch, simple_mode=True))
    assert text.index("alloc") < text.index("for i_outer")
    given = np.arange(10, dtype=np.float32) ** 2
    sums = given[:-2] + given[1:-1] + given[2:]
    result = np.zeros(6, np.float32)
    build(sch, cache=False)(given, result)
    np.testing.assert_array_equal(result, sums[:6] * 2 - sums[2:])


def test_elements_that_are_said_to_be_apart_keep_their_values() -> None:
    sch = Schedule(
        parse("""
def main(A: float32[4], C: float32[3, 4], P: int64[4]):
    B = alloc(float32[4])
    for t in range(3):
        for p in range(4):
            with block("B", vt=opaque(3, t), vp=opaque(4, p)):
                B[P[vp]] = select(vt < 1, A[vp], B[P[vp]] + 1.0)
            with block("C", vt=spatial(3, t), vp=spatial(4, p)):
                C[vt, vp] = B[P[vp]]
""")
    )
    tasks = sch.loops("C")[1]
    sch.assume("independent", tasks)
    sch.parallel(tasks)
    text = str(lower(sch, simple_mode=True))
    assert text.index("alloc") < text.index("for t")
    given, places = np.arange(4, dtype=np.float32), np.array([2, 0, 3, 1])
    result = np.zeros((3, 4), np.float32)
    build(sch, cache=False)(given, result, places)
    np.testing.assert_array_equal(result, given + np.arange(3, dtype=np.float32)[:, None])


def test_what_each_iteration_writes_first_stays_its_own() -> None:
    a = te.placeholder((4, 8), name="A")
    b = te.compute((4, 8), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((4, 8), lambda i, j: b[i, 7 - j], name="C")
    sch = Schedule(c)
    outer = sch.loops("C")[0]
    sch.compute_at("B", outer)
    sch.parallel(outer)
    text = str(lower(sch, simple_mode=True))
    assert text.index("parallel") < text.index("alloc(")


OWNERS = [
    ("local", "threadIdx.x", "local"),
    ("local", "blockIdx.x", "local"),
    ("local", "vthread", "local"),
    ("shared", "threadIdx.x", "shared"),
    ("shared", "blockIdx.x", "shared"),
    ("global", "threadIdx.x", "local"),
    ("global", "blockIdx.x", "shared"),
    ("global", "vthread", "local"),
    ("warp", "threadIdx.x", "warp"),
]


@pytest.mark.parametrize(("scope", "tag", "memory"), OWNERS)
def test_memory_of_threads_ends_with_their_loop(scope: str, tag: str, memory: str) -> None:
    sch = counting(4, 2, 3)
    if scope != "global":
        sch.set_scope("B", scope)
    words = (
        f"cannot bind p to {tag}: block B seems to read elements of B that an earlier round of t "
        f"has left there, but B is in {memory} memory, which each run of p gets anew; move p "
        f"outside of t first"
    )
    with pytest.raises(RefusedError, match=re.escape(words)) as refused:
        sch.bind(sch.loops("C")[1], tag)
    verdict = refused.value.verdict
    assert (verdict.status, verdict.rule) == ("unknown", "bind.memory-ends")
    assert "t=1 reads B[0], which t=0 writes" in str(refused.value)


@pytest.mark.parametrize("scope", ["shared", "warp"])
def test_virtual_threads_share_what_lasts(scope: str) -> None:
    sch = counting(4, 2, 3)
    sch.set_scope("B", scope)
    sch.bind(sch.loops("C")[1], "vthread")
    assert_counts(sch, 4, 6)


@pytest.mark.parametrize("tag", ["threadIdx.x", "vthread"])
def test_threads_outside_of_the_rounds_keep_their_memory(tag: str) -> None:
    sch = Schedule(
        parse("""
def main(A: float32[2], C: float32[4, 2]):
    B = alloc(float32[2], scope="local")
    for p in range(2):
        for t in range(4):
            with block("B", vt=opaque(4, t), vi=opaque(2, p)):
                B[vi] = select(vt < 1, A[vi], B[vi] + 1.0)
            with block("C", vt=spatial(4, t), vi=spatial(2, p)):
                C[vt, vi] = B[vi]
""")
    )
    sch.bind(sch.loops("C")[0], tag)
    given = np.arange(2, dtype=np.float32)
    for program in (sch.program, lower(sch).program):
        result = np.full((4, 2), np.nan, np.float32)
        interpret(program, [given, result])
        np.testing.assert_array_equal(result, given + np.arange(4, dtype=np.float32)[:, None])


def test_another_step_says_so_too() -> None:
    sch = counting(4, 2, 3)
    sch.set_scope("B", "shared")
    sch.bind(sch.loops("C")[1], "vthread")
    with pytest.raises(RefusedError, match="seems to read elements of B") as refused:
        sch.set_scope("B", "local")
    assert refused.value.verdict.rule == "set_scope.memory-ends"


def test_a_thread_does_not_find_what_another_one_left_before() -> None:
    sch = counting(3, 1, 4)
    rounds, tasks, _ = sch.loops("B")
    skewed = sch.skew(rounds, tasks, 4)
    with pytest.raises(
        RefusedError, match="seems to read elements of B that an earlier round of t"
    ):
        sch.bind(skewed, "vthread")


def test_a_thread_does_not_see_the_memory_of_another() -> None:
    sch = Schedule(
        parse("""
def main(A: int64[2], C: int64[2]):
    T = alloc(int64[2])
    for p in range(1):
        for z in range(2):
            with block("T", vp=opaque(1, p), vz=opaque(2, z)):
                if vp < 1:
                    T[vz] = A[vz]
        for i in range(2):
            with block("T_1", vp=opaque(1, p), vi=opaque(2, i)):
                T[1 - vi] = T[0] * 2 + vi
        for j in range(2):
            with block("T_2", vp=opaque(1, p), vj=opaque(2, j)):
                if vp < 0:
                    T[vj] = 7 - T[vj]
        for c in range(2):
            with block("C", vp=opaque(1, p), vc=spatial(2, c)):
                C[vc] = T[vc]
""")
    )
    sch.bind(sch.loops("T")[1], "threadIdx.x")
    words = (
        "block T_1 seems to read elements of T that another thread of z writes, but T is in local "
        "memory, of which each thread has its own"
    )
    with pytest.raises(RefusedError, match=re.escape(words)) as refused:
        sch.env_threads(sch.loops("C")[0], "threadIdx.x")
    assert refused.value.verdict.status == "unknown"
