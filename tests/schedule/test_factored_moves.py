"""Partial sums of loops with tails, computed elsewhere: what lies beyond the tail stays out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.steps import ramp

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.lower import lower
from tvmlab.schedule import BlockRef, RefusedError, Schedule
from tvmlab.support import UserError
from tvmlab.target import Target

Rng = np.random.Generator


def row_sum(rows: int, columns: int) -> Schedule:
    """Sums of the rows of a table."""
    a = te.placeholder((rows, columns), "int64", name="A")
    k = te.reduce_axis(columns, "k")
    return Schedule(te.compute((rows,), lambda i: te.sum(a[i, k], axis=k), name="T"))


def assert_sums(sch: Schedule, rows: int, columns: int) -> None:
    a = ramp(rows, columns).astype("int64")
    for program in (sch.program, lower(sch.program, Target.host()).program):
        out = np.full(rows, -77)
        interpret(program, [a, out])
        text = f"{sch.trace.to_python()}\n{program}"
        np.testing.assert_array_equal(out, a.sum(axis=1), err_msg=text)


@pytest.mark.parametrize("columns", [9, 10, 11, 12])
@pytest.mark.parametrize("factored", [0, 1, 2])
@pytest.mark.parametrize("tail", ["mask", "guard", "peel"])
def test_a_factored_sum_moves_with_its_tail(tail: str, factored: int, columns: int) -> None:
    sch = row_sum(4, columns)
    loops = sch.split(sch.loops("T")[1], [None, 2, 2], tail)
    part = sch.rfactor("T", loops[factored], 0)
    sch.compute_at(part, sch.loops("T")[-1])
    assert_sums(sch, 4, columns)


def test_where_the_tail_has_no_simple_form_the_move_is_unknown() -> None:
    sch = row_sum(4, 10)
    first, _, last = sch.split(sch.loops("T")[1], [None, 2, 2])
    part = sch.rfactor("T", last, 0)
    sch.split(first, [2, None])
    target = sch.loops("T")[-1]
    assert sch.check("compute_at", part, target).rule == "compute_at.partial-domain"
    with pytest.raises(RefusedError, match="rfactor of a loop with a tail make it"):
        sch.compute_at(part, target)
    assert_sums(sch, 4, 10)


def _draw(sch: Schedule, rng: Rng) -> tuple[str, list[Any]]:
    def pick(items: list[Any]) -> Any:
        return items[int(rng.integers(len(items)))]

    block: BlockRef = pick(sch.blocks())
    chain = sch.loops(block)
    loop = pick(chain)
    choices: list[tuple[str, list[Any]]] = [
        ("split", [loop, [None, pick([2, 3])], pick(["mask", "guard", "peel"])]),
        ("split", [loop, [None, 2, 2], "mask"]),
        ("rfactor", [block, loop, 0]),
        ("rfactor", [block, pick(sch.loops("T")), 0]),
        ("compute_at", [block, pick(sch.loops("T"))]),
        ("compute_at", [block, pick(sch.loops("T"))]),
        ("compute_root", [block]),
        ("reorder", [[chain[int(n)] for n in rng.permutation(len(chain))[:3]]]),
        ("fuse", [chain[:2]]),
    ]
    return pick(choices)


def check_seed(seed: int) -> None:
    """A sum split, factored and moved as drawn."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(1, 14))
    sch = row_sum(rows, columns)
    for _ in range(10):
        name, args = _draw(sch, rng)
        try:
            allowed = bool(sch.preview(name, *args).verdict)
        except UserError:  # loops that do not go together
            continue
        if allowed:
            sch.apply(name, *args)
    assert_sums(sch, rows, columns)


@pytest.mark.parametrize("seed", range(16))
def test_drawn_factors_and_moves_keep_the_sum(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 600))
def test_many_drawn_factors_and_moves_keep_the_sum(seed: int) -> None:
    check_seed(seed)
