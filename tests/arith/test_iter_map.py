"""Iteration maps against enumeration, and split/fuse towers by hand."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from helpers.random_exprs import evaluate, quick
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.arith import Bounds, Interval, IterMap, detect_iter_map
from tvmlab.ir import TRUE, Expr, Var, conjunction, const, logic, substitute
from tvmlab.support import DType

Loops = list[tuple[Var, int]]
INT8 = DType.of("int8")


def detect(
    bindings: list[Expr], loops: Loops, extents: list[int], predicate: Expr = TRUE
) -> IterMap:
    sized = [(var, const(size)) for var, size in loops]
    return detect_iter_map(bindings, sized, [const(e) for e in extents], predicate)


def enumerate_map(
    bindings: list[Expr], loops: Loops, extents: list[int], predicate: Expr = TRUE
) -> tuple[bool, bool, bool]:
    """The truth about (injective, surjective, inside)."""
    hits: Counter[tuple[int, ...]] = Counter()
    for point in itertools.product(*[range(size) for _, size in loops]):
        values = dict(zip([var for var, _ in loops], point, strict=True))
        if evaluate(predicate, values):
            hits[tuple(evaluate(b, values) for b in bindings)] += 1
    domain = set(itertools.product(*[range(e) for e in extents]))
    return all(n == 1 for n in hits.values()), domain <= set(hits), set(hits) <= domain


def check_never_wrong(
    bindings: list[Expr], loops: Loops, extents: list[int], predicate: Expr = TRUE
) -> IterMap:
    found = detect(bindings, loops, extents, predicate)
    injective, surjective, inside = enumerate_map(bindings, loops, extents, predicate)
    assert injective or not found.injective
    assert surjective or not found.surjective
    assert inside or not found.inside
    assert (found.reason is None) == found.bijective
    return found


class Tower:
    """Loops over a domain after random splits and fusions, as schedules make them."""

    def __init__(self, extents: list[int], rng: random.Random) -> None:
        self.extents = extents
        self.loops: Loops = [(Var(f"v{n}"), size) for n, size in enumerate(extents)]
        self.bindings: list[Expr] = [var for var, _ in self.loops]
        self.predicate: Expr = TRUE
        self.rng = rng

    def split(self, factor: int | None = None) -> None:
        """Split some loop, evenly by some divisor if no factor is given."""
        at = self.rng.randrange(len(self.loops))
        if factor is None:
            size = self.loops[at][1]
            factor = self.rng.choice([d for d in range(1, size + 1) if size % d == 0])
        var, size = self.loops[at]
        outer, inner = Var(var.name + "o"), Var(var.name + "i")
        count = -(-size // factor)
        self._replace({var: outer * factor + inner})
        self.loops[at : at + 1] = [(outer, count), (inner, factor)]
        if count * factor != size:
            self.predicate = logic("and", self.predicate, outer * factor + inner < size)

    def fuse(self) -> None:
        if len(self.loops) < 2:
            return
        at = self.rng.randrange(len(self.loops) - 1)
        (a, size_a), (b, size_b) = self.loops[at : at + 2]
        fused = Var(a.name + b.name)
        self._replace({a: fused // size_b, b: fused % size_b})
        self.loops[at : at + 2] = [(fused, size_a * size_b)]

    def reorder(self) -> None:
        self.rng.shuffle(self.loops)

    def _replace(self, by: dict[Var, Expr]) -> None:
        self.bindings = [substitute(b, by) for b in self.bindings]
        self.predicate = substitute(self.predicate, by)


SEEDS = st.integers(0, 10**9)


@given(seed=SEEDS, steps=st.integers(0, 7))
@quick(80)
def test_even_splits_and_fusions_are_bijective(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    tower = Tower([rng.choice([1, 4, 8, 12]) for _ in range(rng.randint(1, 3))], rng)
    for _ in range(steps):
        rng.choice([tower.fuse, tower.split, tower.split, tower.reorder])()
    found = check_never_wrong(tower.bindings, tower.loops, tower.extents, tower.predicate)
    assert found.bijective, found.reason


@given(seed=SEEDS, steps=st.integers(0, 5))
@quick(80)
def test_uneven_splits_are_bijective(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    tower = Tower([rng.choice([1, 3, 7, 8, 10]) for _ in range(rng.randint(1, 2))], rng)
    for _ in range(steps):
        tower.split(rng.choice([1, 2, 3, 4, 5]))
        tower.reorder()
    found = check_never_wrong(tower.bindings, tower.loops, tower.extents, tower.predicate)
    assert found.bijective, found.reason


@given(seed=SEEDS, steps=st.integers(0, 5))
@quick(80)
def test_mixed_towers_are_never_judged_wrongly(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    tower = Tower([rng.choice([1, 3, 7, 8, 10]) for _ in range(rng.randint(1, 2))], rng)
    for _ in range(steps):
        if rng.random() < 0.35:
            tower.fuse()
        else:
            tower.split(rng.choice([1, 2, 3, 4, 5]))
    if rng.random() < 0.3:  # damage it
        var = rng.choice(tower.loops)[0]
        tower.bindings[0] = tower.bindings[0] + var * rng.choice([-1, 1, 2])
    if rng.random() < 0.2:
        tower.predicate = logic("and", tower.predicate, tower.bindings[0] < rng.randint(1, 5))
    check_never_wrong(tower.bindings, tower.loops, tower.extents, tower.predicate)


A, B, C, N = Var("a"), Var("b"), Var("c"), Var("n")


@pytest.mark.parametrize(
    ("bindings", "loops", "extents", "predicate"),
    [
        ([A * 14 + B], [(A, 74), (B, 14)], [1024], A * 14 + B < 1024),
        ([A * 14 + B], [(A, 74), (B, 14)], [1024], A * 14 + B <= 1023),
        ([A * 16 + B, C], [(A, 4), (C, 8), (B, 16)], [64, 8], TRUE),
        ([A // 64, A % 64], [(A, 4096)], [64, 64], TRUE),
        ([(A * 14 + B) // 60, (A * 14 + B) % 60], [(A, 275), (B, 14)], [64, 60], A * 14 + B < 3840),
        ([A * 14 + B * 3 + C], [(A, 74), (B, 5), (C, 3)], [1024],
         conjunction([B * 3 + C < 14, A * 14 + B * 3 + C < 1024])),
        ([A, B * 1, const(0)], [(A, 4), (B, 1), (C, 1)], [4, 1, 1], TRUE),
        ([7 - A], [(A, 8)], [8], TRUE),
        ([], [], [], TRUE),
    ],
)  # fmt: skip
def test_bijective_by_hand(
    bindings: list[Expr], loops: Loops, extents: list[int], predicate: Expr
) -> None:
    assert all(enumerate_map(bindings, loops, extents, predicate))
    assert detect(bindings, loops, extents, predicate).bijective


@pytest.mark.parametrize(
    ("bindings", "loops", "extents", "predicate", "facts", "reason"),
    [
        ([A * 4 + B], [(A, 4), (B, 6)], [18], TRUE, (False, True, True),
         "do not tell the iterations of loop a apart"),
        ([A], [(A, 4), (B, 6)], [4], TRUE, (False, True, True), "loop b apart"),
        ([A * B], [(A, 4), (B, 6)], [16], TRUE, (False, False, True),
         "binding 0 uses loop a in another way"),
        ([A, A + B], [(A, 4), (B, 6)], [4, 9], TRUE, (True, False, True), "same part of a loop"),
        ([A * 2], [(A, 4)], [8], TRUE, (True, False, True), "binding 0 skips values"),
        ([A // 4, A % 4], [(A, 10)], [3, 4], TRUE, (True, False, True), "does not divide evenly"),
        ([A], [(A, 4)], [5], TRUE, (True, False, True), "not proven to reach all values"),
        ([A], [(A, 5)], [4], TRUE, (True, True, False), "not proven to stay inside"),
        ([A], [(A, 4)], [4], A * A < 3, (True, False, True), "the predicate"),
        ([A, B], [(A, 4), (B, 4)], [4, 4], logic("or", A < 3, B < 3), (True, False, True),
         "not a conjunction of upper limits"),
        ([A, B], [(A, 4), (B, 4)], [4, 4], A < B, (True, False, True), "no gaps"),
        ([A * 4 + B], [(A, 4), (B, 4)], [16], A * 4 + B >= 3, (True, False, True),
         "the predicate"),
        ([A % 4], [(A, 8)], [4], TRUE, (False, True, True), "loop a apart"),
        ([A // 2], [(A, 8)], [4], TRUE, (False, True, True), "loop a apart"),
    ],
)  # fmt: skip
def test_reasons(
    bindings: list[Expr],
    loops: Loops,
    extents: list[int],
    predicate: Expr,
    facts: tuple[bool, bool, bool],
    reason: str,
) -> None:
    found = check_never_wrong(bindings, loops, extents, predicate)
    assert (found.injective, found.surjective, found.inside) == facts
    assert found.reason is not None
    assert reason in found.reason


def test_symbolic_extents() -> None:
    four = const(4)
    split = detect_iter_map([A * 4 + B], [(A, (N + 3) // 4), (B, four)], [N], A * 4 + B < N)
    assert split.bijective
    assert detect_iter_map([A, B], [(A, N), (B, four)], [N, four]).bijective
    # Without the predicate the last tile leaves the domain.
    loose = detect_iter_map([A * 4 + B], [(A, (N + 3) // 4), (B, four)], [N])
    assert (loose.injective, loose.surjective, loose.inside) == (True, True, False)
    short = detect_iter_map([A * 4 + B], [(A, N // 4), (B, four)], [N])
    assert not short.surjective
    assert short.inside
    uneven = detect_iter_map([A // 4, A % 4], [(A, N)], [(N + 3) // 4, four])
    assert uneven.injective
    assert not uneven.surjective
    assert uneven.reason == "binding 0 takes a loop apart whose extent is not a number"


def test_an_unused_loop_may_be_empty() -> None:
    loops = [(A, const(4)), (B, N)]
    found = detect_iter_map([A], loops, [const(4)])
    assert not found.surjective
    known = detect_iter_map([A], loops, [const(4)], env=Bounds().bind(N, Interval(1, None)))
    assert known.surjective
    assert not known.injective


def test_a_symbolic_loop_may_be_empty_although_inside_it_has_run() -> None:
    found = detect_iter_map([A], [(A, N)], [const(1)])
    assert found.injective
    assert not found.surjective


def test_a_loop_of_at_most_one_iteration_may_be_empty() -> None:
    env = Bounds().bind(N, Interval(0, 1))
    found = detect_iter_map([A], [(A, N)], [const(1)], env=env)
    assert not found.surjective
    assert found.reason == "a loop that adds nothing to the bindings may be empty"


def test_triangular_loops() -> None:
    found = detect_iter_map([A, B], [(A, const(4)), (B, A + 1)], [const(4), const(4)])
    assert (found.injective, found.surjective, found.inside) == (True, False, True)
    assert found.reason == "the extent of loop b depends on another loop"


def test_other_symbols_stand_still() -> None:
    found = detect_iter_map([N * 4 + A], [(A, const(4))], [const(64)])
    assert found.injective
    assert not found.surjective


def test_a_predicate_on_what_stands_still_may_be_false() -> None:
    env = Bounds.of({B: const(4)})
    for predicate in (B < 1, A + B * 8 < 8):
        found = detect_iter_map([A], [(A, const(8))], [const(8)], predicate, env)
        assert found.injective
        assert not found.surjective


def test_overflowing_bindings_are_refused() -> None:
    a, b = Var("a", INT8), Var("b", INT8)
    loops: list[tuple[Var, Expr]] = [(a, const(100, INT8)), (b, const(4, INT8))]
    found = detect_iter_map([a * 4 + b], loops, [const(127, INT8)])
    assert not found.injective
    assert found.reason == "binding 0 may overflow int8"
