"""Threads that are made a serial loop again: only where their order does not matter."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import parse
from tvmlab.schedule import RefusedError, Schedule


def assert_refused(sch: Schedule, loop: object, rule: str, words: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(words)) as refused:
        sch.serial(loop)  # type: ignore[arg-type]
    verdict = refused.value.verdict
    assert (verdict.status, verdict.rule) == ("unknown", rule)


def total() -> Schedule:
    a = te.placeholder((1, 12), "int32", name="A")
    k = te.reduce_axis(12, "k")
    return Schedule(te.compute((1,), lambda i: te.sum(a[i, k], axis=k), name="C"))


def test_what_is_done_once_for_all_threads_does_not_come_back_in_each_round() -> None:
    sch = total()
    i, k = sch.loops("C")
    sch.bind(k, "threadIdx.y")
    sch.decompose_reduction("C", k)
    (threads,) = sch.env_threads(i, "threadIdx.y")
    assert_refused(
        sch,
        threads,
        "serial.order",
        "cannot run k one iteration after another: as threads, all iterations of k do C_init "
        "before any does C; one after another, an earlier one does C before a later one does "
        "C_init, and both touch C",
    )
    given, result = np.arange(12, dtype=np.int32).reshape(1, 12), np.zeros(1, np.int32)
    interpret(sch.program, [given, result])
    assert result[0] == given.sum()


def test_a_sum_of_threads_is_a_sum_in_turn() -> None:
    sch = total()
    k = sch.loops("C")[1]
    sch.bind(k, "threadIdx.x")
    sch.serial(k)
    given, result = np.arange(12, dtype=np.int32).reshape(1, 12), np.zeros(1, np.int32)
    interpret(sch.program, [given, result])
    assert result[0] == given.sum()


def shared(statement: str, read: str) -> Schedule:
    """Threads that write `S` and read it."""
    return Schedule(
        parse(f"""
def main(A: float32[8], C: float32[8]):
    S = alloc(float32[8], scope="shared")
    for t in thread(8, "threadIdx.x"):
        with block("S", vt=spatial(8, t)):
            {statement}
        with block("C", vt=spatial(8, t)):
            C[vt] = {read}
""")
    )


def test_who_reads_what_other_threads_wrote_cannot_take_turns() -> None:
    sch = shared("S[vt] = A[vt] * 2.0", "S[7 - vt]")
    assert_refused(
        sch, sch.loops("C")[0], "serial.order", "all iterations of t do S before any does C; one"
    )


def test_who_reads_what_it_wrote_itself_can_take_turns() -> None:
    sch = shared("S[vt] = A[vt] * 2.0", "S[vt]")
    sch.serial(sch.loops("C")[0])
    given, result = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    interpret(sch.program, [given, result])
    np.testing.assert_array_equal(result, given * 2)


def test_a_copy_for_all_may_be_made_again() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((8,), lambda i: b[7 - i], name="C")
    sch = Schedule(c)
    (i,) = sch.loops("C")
    outer, inner = sch.split(i, [2, 4])
    sch.compute_at("B", outer)
    sch.set_scope("B", "shared")
    sch.bind(inner, "threadIdx.x")
    (threads,) = sch.env_threads(outer, "threadIdx.x")
    sch.serial(threads)
    given, result = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    interpret(sch.program, [given, result])
    np.testing.assert_array_equal(result, given[::-1] * 2)


def test_what_goes_on_from_the_value_before_is_done_once_only() -> None:
    sch = Schedule(
        parse("""
def main(A: float32[1], C: float32[4]):
    S = alloc(float32[1], scope="shared")
    with block("first"):
        S[0] = A[0]
    for t in thread(4, "threadIdx.x"):
        with block("once"):
            S[0] = S[0] + 1.0
        with block("C", vt=spatial(4, t)):
            C[vt] = A[0]
""")
    )
    assert_refused(
        sch, sch.loops("C")[0], "serial.repeats",
        "once does not depend on t; threads do it once for all, but one after another each "
        "iteration does it, going on from what is in S",
    )  # fmt: skip


def bound(statement: str, read: str, how: str) -> Schedule:
    """A loop with a block that adds to `S` and one that reads it."""
    return Schedule(
        parse(f"""
def main(A: int64[8], S: int64[1], C: int64[8]):
    for k in range(8):
        with block("S", vk={how}):
            {statement}
        with block("C", vk=spatial(8, k)):
            C[vk] = {read}
""")
    )


def test_who_reads_a_sum_so_far_is_no_thread() -> None:
    sch = bound("S[0] = S[0] + A[vk]", "S[0]", "reduce(8, k)")
    words = (
        "cannot bind k to threadIdx.x: as threads, all iterations of k do S before any does C; one "
        "after another, an earlier one does C before a later one does S, and both touch S"
    )
    with pytest.raises(RefusedError, match=re.escape(words)) as refused:
        sch.bind(sch.loops("C")[0], "threadIdx.x")
    assert refused.value.verdict.rule == "bind.order"


def test_what_every_iteration_adds_is_not_added_once() -> None:
    sch = bound("S[0] = S[0] + 1", "A[vk]", "opaque(1, 0)")
    with pytest.raises(RefusedError, match="add into the same element and must not run side by"):
        sch.bind(sch.loops("C")[0], "threadIdx.x")


def test_who_does_not_need_the_sum_may_be_a_thread() -> None:
    sch = bound("S[0] = S[0] + A[vk]", "A[vk] * 2", "reduce(8, k)")
    sch.bind(sch.loops("C")[0], "threadIdx.x")
    given, total, result = np.arange(8), np.array([3]), np.zeros(8, np.int64)
    interpret(sch.program, [given, total, result])
    assert total[0] == 3 + given.sum()
    np.testing.assert_array_equal(result, given * 2)
