"""Conditions asked once before a loop, and once for several choices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.steps import after_steps, ramp
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import If, Program, parse, walk
from tvmlab.lower import lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor


def choosing() -> Tensor:
    a = te.placeholder((4, 8), name="A")
    return te.compute(
        (4, 8),
        lambda i, j: te.if_then_else(i < 3, a[i, j] * 2.0, te.if_then_else(j < 2, 1.0, 0.0)),
        name="C",
    )


def choosing_twice() -> Tensor:
    a, b = te.placeholder((8,), name="A"), te.placeholder((8,), name="B")
    return te.compute(
        (8,),
        lambda i: (
            te.if_then_else(i < 3, a[i], 0.0) * te.if_then_else(i < 3, b[i], 1.0)
            - te.if_then_else(i < 5, a[i], 2.0)
        ),
        name="C",
    )


def masked_sum() -> Tensor:
    a = te.placeholder((4, 8), name="A")
    k = te.reduce_axis(8, "k")
    return te.compute(
        (4,),
        lambda i: te.sum(te.if_then_else(k < 5, a[i, k], a[i, k] * a[i, k]), axis=k),
        name="C",
    )


def _hoist(sch: Schedule) -> None:
    sch.hoist_condition(sch.loops("C")[1])


def _hoist_from_both(sch: Schedule) -> None:
    """The condition depends on neither loop that is split off i."""
    i, j = sch.loops("C")
    _, inner = sch.split(j, [None, 3])
    sch.hoist_condition(inner)
    del i


def _hoist_sum(sch: Schedule) -> None:
    i, k = sch.loops("C")
    sch.reorder(k, i)
    sch.decompose_reduction("C", k)
    sch.hoist_condition(i)


@pytest.mark.parametrize("steps", [_hoist, _hoist_from_both])
def test_a_condition_is_decided_before_a_loop(steps: Callable[[Schedule], None]) -> None:
    sch = after_steps(choosing(), steps, [ramp(4, 8)])
    assert "C_else" in str(sch)


def test_a_condition_of_a_sum_is_decided_before_a_loop() -> None:
    after_steps(masked_sum(), _hoist_sum, [ramp(4, 8)])


def test_it_makes_a_loop_for_each_answer() -> None:
    sch = Schedule(choosing())
    loops = sch.hoist_condition(sch.loops("C")[1])
    assert [loop.var.name for loop in loops] == ["j", "j"]
    expected = parse(
        """
        def C(A: float32[4, 8], C: float32[4, 8]):
            for i in range(4):
                for j in range(8):
                    with block("C", vi=spatial(4, i), vj=spatial(8, j)):
                        annotate(partial_domain=True)
                        where(i < 3)
                        C[vi, vj] = A[vi, vj] * 2.0
                for j_1 in range(8):
                    with block("C_else", vi=spatial(4, i), vj=spatial(8, j_1)):
                        annotate(partial_domain=True)
                        where(i >= 3)
                        C[vi, vj] = select(vj < 2, 1.0, 0.0)
        """
    )
    assert str(sch).split("\n")[1:] == str(Schedule(expected)).split("\n")[1:]


def test_lowering_asks_outside_of_both_loops() -> None:
    sch = Schedule(choosing())
    sch.hoist_condition(sch.loops("C")[1])
    lowered = lower(sch.program, Target.host()).program
    conditions = [n for n in walk(lowered.body) if isinstance(n, If)]
    assert all("i <" in str(c.cond) or "<= i" in str(c.cond) for c in conditions)


def test_menus_offer_it_where_there_is_a_condition() -> None:
    sch = Schedule(choosing())
    i, j = sch.loops("C")
    assert "hoist_condition" in [a.primitive for a in sch.actions(j) if a.verdict]
    assert "hoist_condition" not in [a.primitive for a in sch.actions(i)]
    assert "merge_conditions" not in [a.primitive for a in sch.actions("C")]
    twice = Schedule(choosing_twice())
    assert "merge_conditions" in [a.primitive for a in twice.actions("C") if a.verdict]


def test_equal_conditions_merge() -> None:
    sch = after_steps(choosing_twice(), lambda s: s.merge_conditions("C"), [ramp(8), ramp(8)])
    assert str(sch).count("i < 3") == 1
    assert str(sch).count("i < 5") == 1


def test_merged_conditions_can_be_hoisted() -> None:
    def steps(s: Schedule) -> None:
        s.merge_conditions("C")
        (i,) = s.loops("C")
        _, inner = s.split(i, [8, 1])
        s.hoist_condition(inner)

    after_steps(choosing_twice(), steps, [ramp(8), ramp(8)])


def test_the_steps_are_in_the_trace() -> None:
    sch = Schedule(choosing())
    _hoist(sch)
    again = Schedule.replay(choosing(), sch.trace.to_json())
    assert str(again) == str(sch)
    assert "sch.hoist_condition(" in sch.trace.to_python()


def _of_a_changing_loop() -> None:
    sch = Schedule(choosing())
    sch.hoist_condition(sch.loops("C")[0])


def _of_memory() -> None:
    a = te.placeholder((4,), name="A")
    sch = Schedule(te.compute((4, 4), lambda i, j: te.if_then_else(a[i] > 0, 1, 0), name="C"))
    sch.hoist_condition(sch.loops("C")[1])


def _of_rounds() -> None:
    sch = Schedule(masked_sum())
    i, k = sch.loops("C")
    sch.reorder(k, i)
    sch.hoist_condition(i)


def _of_threads() -> None:
    sch = Schedule(choosing())
    j = sch.loops("C")[1]
    sch.bind(j, "threadIdx.x")
    sch.hoist_condition(j)


def _nothing_to_merge() -> None:
    Schedule(choosing()).merge_conditions("C")


def _moved_afterwards() -> None:
    a = te.placeholder((4, 8), name="A")
    b = te.compute((4, 8), lambda i, j: a[i, j] + 1.0, name="B")
    sch = Schedule(te.compute((4, 8), lambda i, j: te.if_then_else(i < 3, b[i, j], 0.0), name="C"))
    sch.hoist_condition(sch.loops("C")[1])
    sch.reverse_compute_at("C", sch.loops("B")[0])


REFUSALS = [
    (
        _moved_afterwards,
        "reverse_compute_at.partial-domain",
        "as transform_block_layout, hoist_condition and rfactor",
    ),
    (_of_a_changing_loop, "hoist_condition.none", "that stays the same in i and the loops inside"),
    (_of_memory, "hoist_condition.none", "and reads no memory"),
    (_of_rounds, "hoist_condition.rounds", "it depends on the reduction loop k of C"),
    (_of_threads, "hoist_condition.threads", "hoist before binding"),
    (_nothing_to_merge, "merge_conditions.none", "does not choose twice by one condition"),
]


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[1] for r in REFUSALS])
def test_refusals(run: Callable[[], None], rule: str, text: str) -> None:
    assert_refused(run, rule, text)


def test_the_fix_decomposes_first() -> None:
    sch = Schedule(masked_sum())
    i, k = sch.loops("C")
    sch.reorder(k, i)
    before = sch.program
    (fix,) = sch.check("hoist_condition", i).fixes
    sch.apply_fix(fix)
    np.testing.assert_allclose(_value(before), _value(sch.program))


def _value(program: Program) -> NDArray[np.float32]:
    out = np.zeros(4, np.float32)
    interpret(program, [ramp(4, 8), out])
    return out
