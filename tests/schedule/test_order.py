"""Steps on programs in which order matters, against what running every iteration shows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.order_oracle import Instance, concurrent_clash, instances, swapped_clash
from helpers.random_loops import arrays_for, random_loops
from helpers.random_schedules import random_steps, references
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import For, Names, Program, Var
from tvmlab.lower import lower
from tvmlab.schedule import LoopRef, Schedule, Verdict, index_of
from tvmlab.schedule.witness import Witness
from tvmlab.target import Target


def results(program: Program, source: Program, seed: int) -> list[NDArray[Any]]:
    arrays = arrays_for(source, seed)
    interpret(program, arrays)
    return arrays


def assert_same(got: list[NDArray[Any]], want: list[NDArray[Any]], text: str) -> None:
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=text)


def check_accepted(seed: int, steps: int) -> None:
    """No accepted step changes a value, whatever is drawn from the menus."""
    rng = np.random.default_rng(seed)
    source = random_loops(rng)
    schedule = Schedule(source)
    want = results(source, source, seed)
    text = ""
    for _ in range(steps):
        random_steps(schedule, rng, 1)
        text = f"seed {seed}\n{schedule.trace.to_python()}\n{schedule}"
        assert_same(results(schedule.program, source, seed), want, text)
    lowered = lower(schedule.program, Target.host()).program
    assert_same(results(lowered, source, seed), want, f"lowered\n{text}\n{lowered}")
    arrays = arrays_for(source, seed)
    build(schedule)(*arrays)
    assert_same(arrays, want, f"compiled\n{text}")


@pytest.mark.parametrize("seed", range(24))
def test_no_accepted_step_changes_a_value(seed: int) -> None:
    check_accepted(seed, 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_no_accepted_step_changes_a_value_of_many(seed: int) -> None:
    check_accepted(seed, 8)


def check_verdicts(seed: int) -> Counter[str]:
    """Each answer about two loops, or one, against the order that running it shows."""
    rng = np.random.default_rng(seed)
    source = random_loops(rng)
    schedule = Schedule(source)
    random_steps(schedule, rng, seed % 3)
    found = instances(schedule.program, arrays_for(source, seed))
    answers: Counter[str] = Counter()
    loops = [ref for ref in references(schedule) if isinstance(ref, LoopRef)]
    for loop in loops:
        verdict = schedule.check("parallel", loop)
        if verdict.rule in ("", "parallel.dependence", "parallel.reduction", "parallel.overlap",
                            "parallel.same-element"):  # fmt: skip
            clash = concurrent_clash(found, loop.var)
            judge(verdict, clash is not None, f"seed {seed}, parallel {loop.name}\n{schedule}")
            check_witness(verdict, found, Names(schedule.program))
            answers[verdict.status] += 1
    for outer, inner in _nested(schedule, loops):
        verdict = schedule.check("reorder", inner, outer)
        if verdict.rule in ("", "reorder.dependence", "reorder.unproved"):
            clash = swapped_clash(found, [outer, inner], [inner, outer])
            judge(verdict, clash, f"seed {seed}, reorder {inner.name}, {outer.name}\n{schedule}")
            answers[verdict.status] += 1
    return answers


def judge(verdict: Verdict, clashes: bool, text: str) -> None:
    """Allowed only without a clash, refused only with one."""
    if verdict.status == "allowed":
        assert not clashes, text
    elif verdict.status == "refused":
        assert clashes, f"{text}\n{verdict}"


def check_witness(verdict: Verdict, found: list[Instance], names: Names) -> None:
    """The two iterations exist, and both touch the element."""
    witness = verdict.witness
    if not isinstance(witness, Witness) or verdict.status != "refused":
        return
    touch = (witness.buffer, witness.cell)
    for side in (witness.first, witness.second):
        if verdict.rule.endswith(("reduction", "same-element")):
            continue  # These name the first iterations of the loop, whichever elements those use.
        matching = [
            x for x in found
            if x.block.name == side.block
            and {names[v]: n for v, n in x.loops.items()} == side.loops
        ]  # fmt: skip
        assert any(touch in x.reads | x.writes for x in matching), str(verdict)


def _nested(schedule: Schedule, loops: list[LoopRef]) -> list[tuple[Var, Var]]:
    index = index_of(schedule.program)
    bodies = [(ref.var, index.loops[ref.var].body) for ref in loops]
    return [(outer, body.var) for outer, body in bodies if isinstance(body, For)]


@pytest.mark.parametrize("first", range(0, 45, 15))
def test_verdicts_agree_with_every_iteration(first: int) -> None:
    answers: Counter[str] = Counter()
    for seed in range(first, first + 15):
        answers += check_verdicts(seed)
    assert answers["allowed"] > 3
    assert answers["refused"] > 3
    assert answers["unknown"] == 0
