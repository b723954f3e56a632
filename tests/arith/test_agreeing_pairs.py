"""Agreeing variables of meeting indices, against trying out all values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from tvmlab.arith import Bounds, agreeing_pairs, simplify
from tvmlab.ir import Expr, Var, const, const_int, substitute

TX, TY, I, J = Var("tx"), Var("ty"), Var("i"), Var("j")
NONE: set[int] = set()
SIZES = {TX: 4, TY: 3, I: 3, J: 2}
ENV = Bounds.of({v: const(n) for v, n in SIZES.items()})
PAIRS = [(TX, TX), (TY, TY)]


def values(indices: list[Expr], fixed: dict[Var, int]) -> list[tuple[tuple[int, ...], int, int]]:
    """All elements with the two thread indices that touch them."""
    found: list[tuple[tuple[int, ...], int, int]] = []
    ranges: list[Iterable[int]] = [[fixed[v]] if v in fixed else range(n) for v, n in SIZES.items()]
    for point in itertools.product(*ranges):
        chosen: dict[Var, Expr] = {v: const(n) for v, n in zip(SIZES, point, strict=True)}
        cell = tuple(const_int(simplify(substitute(i, chosen), Bounds())) or 0 for i in indices)
        found.append((cell, point[0], point[1]))
    return found


@pytest.mark.parametrize(
    ("a", "b", "agreed"),
    [
        ([TX], [TX], {0}),
        ([TX, TY], [TX, TY], {0, 1}),
        ([TX + 1], [TX], NONE),
        ([TX + 4], [TX], {0, 1}),  # they never meet
        ([TY * 4 + TX], [TY * 4 + TX], {0, 1}),
        ([TY * 3 + TX], [TY * 3 + TX], NONE),
        ([TX * 3 + I], [TX * 3 + I], {0}),
        ([I * 4 + TX], [J * 4 + TX], {0}),  # all else moves by whole steps
        ([I * 4 + TX], [J * 4 + TX + 2], NONE),
        ([TX + I, TX], [TX + J, TX], {0}),
        ([TX // 2], [TX // 2], NONE),
    ],
)
def test_known_cases(a: list[Expr], b: list[Expr], agreed: set[int]) -> None:
    assert agreeing_pairs(a, b, PAIRS, ENV) == agreed


def test_fixed_variables_have_one_value() -> None:
    a = [I + TX]
    assert agreeing_pairs(a, a, PAIRS, ENV) == set()
    assert agreeing_pairs(a, a, PAIRS, ENV, frozenset({I})) == {0}


@pytest.mark.parametrize("seed", range(60))
def test_what_is_said_to_agree_does(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def index() -> Expr:
        chosen = [v for v in SIZES if rng.integers(2)] or [TX]
        total: Expr = const(int(rng.integers(-2, 3)))
        for v in chosen:
            term = v // 2 if rng.integers(6) == 0 else v
            total = total + term * int(rng.integers(-4, 5))
        return total

    rank = int(rng.integers(1, 3))
    a = [index() for _ in range(rank)]
    b = a if rng.integers(2) else [index() for _ in range(rank)]
    agreed = agreeing_pairs(a, b, PAIRS, ENV, frozenset({I}))
    for i in range(SIZES[I]):
        others = values(b, {I: i})
        for cell, tx, ty in values(a, {I: i}):
            for other, ux, uy in others:
                if cell == other:
                    assert 0 not in agreed or tx == ux
                    assert 1 not in agreed or ty == uy
