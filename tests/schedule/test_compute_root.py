"""Undoing attachments: values, windows, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import parse
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor


def chain(n: int = 16) -> Tensor:
    a = te.placeholder((n + 2,), name="A")
    b = te.compute((n + 2,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((n,), lambda i: b[i] + b[i + 2], name="C")
    return te.compute((n,), lambda i: c[i] * 3.0, name="D")


def test_a_producer_goes_back_to_the_root() -> None:
    def steps(sch: Schedule) -> None:
        before = str(sch)
        sch.compute_at("B", sch.loops("C")[0])
        (loop,) = sch.compute_root("B")
        assert loop.extent == 18
        assert str(sch) == before

    after_steps(chain(), steps, [ramp(18)])


def test_a_sum_goes_back_to_the_root() -> None:
    a = te.placeholder((6, 9), name="A")
    k = te.reduce_axis(9, "k")
    s = te.compute((6,), lambda i: te.sum(a[i, k], axis=k), name="S")
    c = te.compute((6, 4), lambda i, j: s[i] + a[i, j], name="C")

    def steps(sch: Schedule) -> None:
        sch.compute_at("S", sch.loops("C")[1])
        sch.compute_root("S")

    after_steps(c, steps, [ramp(6, 9)])


def test_a_consumer_goes_back_to_the_root() -> None:
    def steps(sch: Schedule) -> None:
        outer, _ = sch.split(sch.loops("C")[0], [None, 4])
        sch.reverse_compute_at("D", outer)
        sch.compute_root("D")
        assert len(sch.loops("D")) == 1

    after_steps(chain(), steps, [ramp(18)])


def _already() -> None:
    Schedule(chain()).compute_root("B")


def _partial() -> None:
    """Only 4 of the 16 elements of B are computed where C is."""
    a = te.placeholder((16,), name="A")
    b = te.compute((16,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((16,), lambda i: b[i] + 1.0, name="C")
    sch = Schedule(te.compute((4,), lambda i: c[i] * 3.0, name="D"))
    (i,) = sch.loops("D")
    sch.compute_at("C", i)
    sch.compute_at("B", i)
    sch.compute_root("C")


def _decomposed() -> None:
    a = te.placeholder((6, 9), name="A")
    k = te.reduce_axis(9, "k")
    sch = Schedule(te.compute((6,), lambda i: te.sum(a[i, k], axis=k), name="S"))
    sch.decompose_reduction("S", sch.loops("S")[1])
    sch.compute_root("S")


def _running_total() -> None:
    """D takes what the sum is so far, which is another number at the end."""
    program = parse("""
def f(A: float32[8], S: float32[1], D: float32[8]):
    for i in range(8):
        with block("S", vi=opaque(8, i)):
            S[0] = S[0] + A[vi]
        with block("D", vi=spatial(8, i)):
            D[vi] = S[0]
""")
    Schedule(program).compute_root("D")


def _read_ahead() -> None:
    """D reads the element that the next round is going to update."""
    program = parse("""
def f(A: float32[8], B: float32[9], D: float32[8]):
    for i in range(8):
        with block("B", vi=spatial(8, i)):
            B[vi] = B[vi] + A[vi]
        with block("D", vi=spatial(8, i)):
            D[vi] = B[vi + 1]
""")
    Schedule(program).compute_root("D")


REFUSALS: list[tuple[Callable[[], None], str, str]] = [
    (_already, "compute_root.already", "it has loops of its own there already"),
    (_partial, "compute_root.partial", "B may compute only the part of B that is needed"),
    (_running_total, "compute_root.changing-values", "only blocks whose inputs and results stay"),
    (_read_ahead, "compute_root.changing-values", "D reads B before B has written it for the last"),
    (_decomposed, "compute_root.two-writers", "S is also written by S_init"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[0].__name__ for r in REFUSALS])
def test_refusals(run: Callable[[], None], rule: str, text: str) -> None:
    assert_refused(run, rule, text)


@pytest.mark.parametrize("shift", [0, -1])
def test_what_an_iteration_updated_before_may_be_read_outside(shift: int) -> None:
    sch = Schedule(
        parse(f"""
def f(A: float32[8], B: float32[9], D: float32[9]):
    for i in range(8):
        with block("B", vi=spatial(8, i)):
            B[vi + 1] = B[vi + 1] + A[vi]
        with block("D", vi=spatial(8, i)):
            D[vi] = B[vi + {1 + shift}]
""")
    )
    arrays = [ramp(8), ramp(9), np.zeros(9, np.float32)]
    wanted = [a.copy() for a in arrays]
    interpret(sch.program, wanted)
    sch.compute_root("D")
    interpret(sch.program, arrays)
    for got, want in zip(arrays, wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_block_between_what_it_reads_and_what_reads_it_stays() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((8,), lambda i: b[i] + 1.0, name="C")
    sch = Schedule(te.compute((8,), lambda i: c[i] * 3.0, name="D"))
    (i,) = sch.loops("D")
    sch.compute_at("C", i)
    sch.compute_at("B", i)
    verdict = sch.check("compute_root", "C")
    assert (verdict.status, verdict.rule) == ("refused", "compute_root.order")
    assert "move one of these out first" in verdict.reason


def test_menu_offers_it_for_a_block() -> None:
    sch = Schedule(chain())
    sch.compute_at("B", sch.loops("C")[0])
    action = next(a for a in sch.actions("B") if a.primitive == "compute_root")
    assert action.verdict


def test_a_copy_takes_only_what_a_narrowed_producer_writes() -> None:
    a = te.placeholder((12,), name="A")
    b = te.compute((12,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((5,), lambda i: b[i + 2] + 1.0, name="C")

    def steps(s: Schedule) -> None:
        s.compute_at("B", s.loops("C")[0])
        s.compute_root("B")
        s.cache_read("C", "B", "local")

    sch = after_steps(c, steps, [ramp(12)])
    assert "in range(5)" in str(sch)
