"""Clashes and loop bounds against every iteration of small nests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.arith import Bounds, simplify
from tvmlab.arith.polyhedral import (
    Access,
    Order,
    Relation,
    find_clash,
    isl,
    loop_bounds,
    missing_element,
)
from tvmlab.arith.polyhedral.linear_system import NotLinearError, Translator
from tvmlab.ir import (
    TRUE,
    Buffer,
    Expr,
    Var,
    as_expr,
    const,
    const_int,
    eq,
    logic,
    maximum,
    minimum,
    ne,
    substitute,
)
from tvmlab.support import DType

A = Buffer("A", (const(99),), DType.of("float32"))
I, J = Var("i"), Var("j")


def value(e: Expr, point: Mapping[Var, int]) -> int:
    """The value of an expression whose variables are all given."""
    result = simplify(substitute(e, {v: const(n) for v, n in point.items()}))
    number = const_int(result)
    return int(getattr(result, "value", 0)) if number is None else number


def points(access: Access) -> Iterator[dict[Var, int]]:
    def descend(depth: int, point: dict[Var, int]) -> Iterator[dict[Var, int]]:
        if depth == len(access.loops):
            if all(value(c, point) for c in access.conditions):
                yield point
            return
        var, extent = access.loops[depth]
        for n in range(value(extent, point)):
            yield from descend(depth + 1, {**point, var: n})

    yield from descend(0, {})


def ordered(order: Order, a: Mapping[Var, int], b: Mapping[Var, int]) -> bool:
    tests = {"<": int.__lt__, "=": int.__eq__, ">": int.__gt__}
    return all(tests[relation](a[v], b[v]) for v, relation in order.items())


def random_index(rng: np.random.Generator) -> Expr:
    v, w = (I, J) if rng.random() < 0.5 else (J, I)
    c = int(rng.integers(-2, 4))
    forms: list[Expr] = [
        v + c, v * 2 + c, v - w, v + w, v // 2 + c, (v + w) % 3, minimum(v, w) + c,
        maximum(v, 2) - c, (v * 3 + w) // 4, as_expr(c),
    ]  # fmt: skip
    return forms[int(rng.integers(len(forms)))]


def random_condition(rng: np.random.Generator) -> Expr:
    c = int(rng.integers(4))
    forms: list[Expr] = [TRUE, TRUE, c > I, ne(J, c), eq(I % 2, 0), logic("or", c > I, c > J)]
    return forms[int(rng.integers(len(forms)))]


def random_access(rng: np.random.Generator) -> Access:
    inner: Expr = const(int(rng.integers(1, 5)))
    if rng.random() < 0.4:
        inner = [I + 1, 5 - I, maximum(I - 1, 0)][int(rng.integers(3))]
    loops = ((I, const(int(rng.integers(1, 5)))), (J, inner))
    return Access(A, (random_index(rng),), loops, (random_condition(rng),))


ORDERS: Sequence[Order] = ({}, {I: "<"}, {I: "=", J: "<"}, {I: "<", J: ">"}, {J: "="})


@pytest.mark.parametrize("seed", range(60))
def test_clashes_are_those_that_every_pair_shows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_access(rng), random_access(rng)
    for order in ORDERS:
        pairs = [
            (a, b)
            for a, b in itertools.product(points(first), points(second))
            if ordered(order, a, b) and value(first.indices[0], a) == value(second.indices[0], b)
        ]
        clash = find_clash(first, second, [order])
        assert (clash is not None) == bool(pairs)
        if clash is not None:
            assert clash.exact
            assert (clash.first, clash.second) in pairs
            assert clash.cell == (value(first.indices[0], clash.first),)


def fused_access(rng: np.random.Generator, width: int) -> Access:
    """An access of two dimensions in two loops that were fused to one."""
    i, j = I // width, I % width
    indices: list[Expr] = []
    for _ in range(2):
        a, b, c = (int(n) for n in rng.integers(-1, 3, 3))
        indices.append(i * a + j * b + (c + 4))
    conditions: list[Expr] = [TRUE, j < i + 1, i < j + 1, i + j < 4]
    condition = conditions[int(rng.integers(len(conditions)))]
    return Access(A, tuple(indices), ((I, const(4 * width)),), (condition,))


@pytest.mark.parametrize("seed", [*range(20), 2132, 2266, 2278, 2384, 2450])
def test_clashes_in_fused_loops_are_those_that_every_pair_shows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = int(rng.integers(2, 5))
    first, second = fused_access(rng, width), fused_access(rng, width)

    def touched(access: Access) -> list[tuple[int, tuple[int, ...]]]:
        return [(p[I], tuple(value(e, p) for e in access.indices)) for p in points(access)]

    earlier, later = touched(first), touched(second)
    orders: Sequence[Order] = ({I: "<"}, {I: ">"})
    for order in orders:
        pairs = [
            (a, b)
            for (a, one), (b, other) in itertools.product(earlier, later)
            if one == other and ordered(order, {I: a}, {I: b})
        ]
        clash = find_clash(first, second, [order])
        assert (clash is not None) == bool(pairs)
        assert clash is None or (clash.first[I], clash.second[I]) in pairs


def test_what_is_not_linear_is_taken_for_anything() -> None:
    n = Var("n")
    loops = ((I, n),)
    clash = find_clash(Access(A, (I * n,), loops), Access(A, (I * 2,), loops), [{I: "<"}])
    assert clash is not None
    assert not clash.exact
    assert clash.cell == (clash.second[I] * 2,)


def test_facts_about_sizes_count() -> None:
    n = Var("n")
    first, second = Access(A, (I,), ((I, n),)), Access(A, (I + 8,), ((I, n),))
    assert find_clash(first, second, [{I: ">"}]) is not None
    assert find_clash(first, second, [{I: ">"}], [n <= 8]) is None


def test_a_question_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl, "OPERATIONS", 3)
    access = Access(A, ((I * 7 + J * 3) % 5,), ((I, const(50)), (J, const(50))))
    with pytest.raises(isl.BeyondBudgetError):
        find_clash(access, access, [{I: "<"}])


@pytest.mark.parametrize(
    "extent", [I + 1, 5 - I, minimum(I + 2, 4), I + 3], ids=["i+1", "5-i", "min(i+2,4)", "i+3"]
)
def test_bounds_of_loops_turned_around(extent: Expr) -> None:
    loops = [(I, const(4)), (J, extent)]
    bounds = loop_bounds(loops, [J, I], Bounds())
    assert bounds is not None
    want = {(p[I], p[J]) for p in points(Access(A, (I,), tuple(loops)))}
    outer, inner = bounds
    got = {
        (n, m)
        for m in range(value(outer.low, {}), value(outer.low + outer.extent, {}))
        for n in range(value(inner.low, {J: m}), value(inner.low + inner.extent, {J: m}))
    }
    assert got == want


def test_bounds_that_cannot_be_had() -> None:
    assert loop_bounds([(I, const(4)), (J, I * 2 + 1)], [J, I], Bounds()) is None
    assert loop_bounds([(I, const(4)), (J, maximum(I, 2))], [J, I], Bounds()) is None


def test_narrow_numbers_are_not_linear() -> None:
    x = Var("x", DType.of("int8"))
    with pytest.raises(NotLinearError):
        Translator(lambda v: v).cases(x + x)


@pytest.mark.parametrize("seed", range(60))
def test_missing_elements_are_those_that_every_iteration_shows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    read, *writes = [random_access(rng) for _ in range(int(rng.integers(2, 5)))]
    touched = [{value(a.indices[0], p) for p in points(a)} for a in (read, *writes)]
    missing = touched[0] - set().union(*touched[1:])
    found = missing_element(read, writes)
    assert found == ((min(missing),) if missing else None)


def test_what_cannot_be_read_off_is_not_written() -> None:
    unknown = Access(A, (I * J,), ((I, const(99)), (J, const(99))))
    first, whole = Access(A, (I,), ((I, const(9)),)), Access(A, (I,), ((I, const(99)),))
    assert missing_element(first, [unknown]) == (0,)
    assert missing_element(unknown, [first]) == (9,)
    assert missing_element(unknown, [whole]) is None
    n = Var("n")
    assert missing_element(Access(A, (I,), ((I, n),)), [Access(A, (I,), ((I, n),))]) is None


@given(
    st.tuples(*[st.integers(-3, 3)] * 6),
    st.tuples(*[st.integers(1, 5)] * 2),
    st.tuples(*[st.sampled_from("<=>")] * 2),
)
def test_accesses_that_the_ends_of_loops_keep_apart(
    factors: tuple[int, ...], sizes: tuple[int, int], relations: tuple[Relation, Relation]
) -> None:
    """The quick test by ranges never denies a clash, and the exact one confirms the others."""
    i, j = Var("i"), Var("j")
    loops = ((i, as_expr(sizes[0])), (j, as_expr(sizes[1])))
    a, b, c, d, e, f = factors
    one = Access(A, (i * a + j * b + c,), loops)
    other = Access(A, (i * d + j * e + f,), loops)
    order: Order = {i: relations[0], j: relations[1]}
    stand = {"<": int.__lt__, "=": int.__eq__, ">": int.__gt__}
    pairs = itertools.product(*(range(n) for n in (*sizes, *sizes)))
    meet = any(
        a * x + b * y + c == d * u + e * v + f
        and stand[relations[0]](x, u)
        and stand[relations[1]](y, v)
        for x, y, u, v in pairs
    )
    assert (find_clash(one, other, [order]) is not None) == meet


def test_a_fact_that_is_not_linear_is_left_out() -> None:
    i, n, m = Var("i"), Var("n"), Var("m")
    read = Access(A, (i,), ((i, n),))
    facts = (n * m < 4,)
    assert missing_element(read, [Access(A, (I,), ((I, n),))], facts) is None
    assert missing_element(read, [Access(A, (I,), ((I, n - 1),))], facts) is not None
