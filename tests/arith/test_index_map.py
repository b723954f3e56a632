"""Index maps: text round trip, new shape, one-to-one or a witness, inverse against brute force."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.random_programs import QUICK
from helpers.random_schedules import random_map
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.arith import Bounds, IndexMap, collision, index_map, invert, new_shape, simplify
from tvmlab.ir import Var, const, const_int, substitute
from tvmlab.support import ParseError, ShapeError, TvmlabError, TypeMismatch


def images(mapping: IndexMap, sizes: Sequence[int]) -> dict[tuple[int, ...], tuple[int, ...]]:
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for place in product(*(range(size) for size in sizes)):
        values = [simplify(e, Bounds()) for e in mapping.apply([const(p) for p in place])]
        image = tuple(int(const_int(v) or 0) for v in values)
        assert image not in found
        found[image] = place
    return found


def check_inverse(mapping: IndexMap, sizes: Sequence[int]) -> None:
    old = [const(size) for size in sizes]
    shape = new_shape(mapping, old)
    assert collision(mapping, old) is None
    variables = [Var(f"w{n}") for n in range(len(shape))]
    inverse = invert(mapping, old, variables, shape)
    assert inverse is not None
    found = images(mapping, sizes)
    for place in product(*(range(int(const_int(size) or 0)) for size in shape)):
        values = dict(zip(variables, (const(p) for p in place), strict=True))
        inside = all(
            bool(getattr(simplify(substitute(c, values), Bounds()), "value", None))
            for c in inverse.inside
        )
        assert inside == (place in found)
        if inside:
            back = [simplify(substitute(v, values), Bounds()) for v in inverse.values]
            assert tuple(const_int(b) for b in back) == found[place]


@pytest.mark.parametrize(
    ("mapping", "sizes"),
    [
        ("lambda n, c, h: [n, c // 4, h, c % 4]", (2, 8, 3)),
        ("lambda n, c, h: [n, c // 4, h, c % 4]", (2, 7, 3)),
        ("lambda k, n: [n // 4, k // 4, n % 4, k % 4]", (6, 10)),
        ("lambda i, j: [i * 5 + j]", (3, 5)),
        ("lambda i, j: [i * 8 + j]", (3, 5)),
        ("lambda i, j: [(i * 5 + j) // 4, (i * 5 + j) % 4]", (3, 5)),
        ("lambda i: [(i // 4) * 8 + i % 4]", (11,)),
        ("lambda i: [i // 8, i // 2 % 4, i % 2]", (13,)),
        ("lambda i, j: [j, i]", (1, 4)),
        ("lambda i, j: [i // 2, j // 2, i % 2, j % 2]", (5, 5)),
    ],
)
def test_inverse(mapping: str, sizes: tuple[int, ...]) -> None:
    check_inverse(index_map(mapping, len(sizes)), sizes)


@given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(1, 7), min_size=1, max_size=3))
@QUICK
def test_random_maps_have_an_inverse(seed: int, sizes: list[int]) -> None:
    check_inverse(index_map(random_map(np.random.default_rng(seed), len(sizes)), len(sizes)), sizes)


def test_text_goes_round_and_separators_are_kept() -> None:
    made = index_map(lambda n, c: [n, ..., c // 16, c % 16], 2)
    assert str(made) == "lambda n, c: [n, ..., c // 16, c % 16]"
    again = index_map(str(made), 2)
    assert (str(again), again.separators) == (str(made), (1,))
    assert str(index_map(lambda *i: [i[1], i[0]], 2)) == "lambda i0, i1: [i1, i0]"


def test_symbolic_sizes_stay_as_they_are() -> None:
    n = Var("n")
    mapping = index_map(lambda i, j: [j // 4, i, j % 4], 2)
    shape = new_shape(mapping, [n, const(8)])
    assert shape[1] is n
    with pytest.raises(ShapeError, match="known only at run time"):
        new_shape(index_map(lambda i, j: [i // 4, i % 4, j], 2), [n, const(8)])


@pytest.mark.parametrize(
    ("given_map", "error", "message"),
    [
        ("lambda i: i", ParseError, "not a lambda that returns a list"),
        ("i + ", ParseError, "cannot be read"),
        ("lambda i, j: [__import__('os')]", ParseError, "__import__"),
        (lambda i, j: ["i"], TypeMismatch, "which is no index"),
        (lambda i, j: [], TypeMismatch, "no index at all"),
        (lambda i, j: [i < j], TypeMismatch, "no whole-number index"),
        (lambda i: [i], ShapeError, "takes 1 indices, but there are 2"),
        (3, TypeMismatch, "no map of indices"),
    ],
)
def test_what_is_no_map(given_map: Any, error: type[TvmlabError], message: str) -> None:
    with pytest.raises(error, match=message):
        index_map(given_map, 2)


def test_negative_images_and_collisions() -> None:
    sizes = [const(4), const(4)]
    with pytest.raises(ShapeError, match="may be -3"):
        new_shape(index_map(lambda i, j: [i - j, j], 2), sizes)
    clash = collision(index_map(lambda i, j: [i + j], 2), sizes)
    assert clash == "[0, 1] and [1, 0] both become [1]"
