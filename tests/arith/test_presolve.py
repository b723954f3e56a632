"""Systems made small before isl sees them: the same smallest solution, by trying all points."""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable, Mapping

import pytest

from tvmlab.arith.polyhedral.isl import has_solution, smallest_solution
from tvmlab.arith.polyhedral.linear_system import Constraint, Form
from tvmlab.arith.polyhedral.presolve import presolve

SIZE = 4


def _system(rng: random.Random) -> tuple[list[Constraint], list[Hashable]]:
    """A few bounded variables, of which some are equal and some have to do with each other."""
    names: list[Hashable] = [f"v{n}" for n in range(rng.randint(1, 4))]
    found: list[Constraint] = []
    for v in names:
        found.append(Constraint(Form({v: rng.choice([1, 2])}, rng.choice([0, 0, -1, -3]))))
        found.append(Constraint(Form({v: -rng.choice([1, 2])}, rng.randint(0, SIZE))))
    for _ in range(rng.randint(0, 3)):
        terms = {
            v: rng.choice([-2, -1, 1, 1, 3])
            for v in rng.sample(names, rng.randint(0, min(2, len(names))))
        }
        found.append(Constraint(Form(terms, rng.randint(-3, 3)), equal=rng.random() < 0.5))
    for _ in range(rng.randint(0, 2) if len(names) > 1 else 0):
        a, b = rng.sample(names, 2)
        found.append(Constraint(Form({a: 1, b: -1}, rng.choice([0, 0, 1])), equal=True))
    rng.shuffle(found)
    return found, rng.sample(names, len(names))


def _holds(constraint: Constraint, point: Mapping[Hashable, int]) -> bool:
    value = constraint.form.value(point)
    return value == 0 if constraint.equal else value >= 0


@pytest.mark.parametrize("seed", range(150))
def test_the_smallest_solution_is_the_first_point(seed: int) -> None:
    constraints, variables = _system(random.Random(seed))
    points = itertools.product(range(SIZE + 1), repeat=len(variables))
    named = (dict(zip(variables, point, strict=True)) for point in points)
    first = next((p for p in named if all(_holds(c, p) for c in constraints)), None)
    assert smallest_solution(constraints, variables) == first
    assert has_solution(constraints, variables) == (first is not None)


def test_what_stands_still_is_left_out() -> None:
    same = Constraint(Form({"i": 1, "j": -1}), equal=True)
    bounds = [Constraint(Form({v: 1})) for v in ("i", "j", "k")]
    ends = [Constraint(Form({v: -1}, 7)) for v in ("i", "j", "k")]
    sum_of_two = Constraint(Form({"j": 1, "m": 1}, -3), equal=True)
    small = presolve([same, *bounds, *ends, sum_of_two], ["i", "j", "k", "m"])
    assert small is not None
    assert small.variables == ["i", "m"]
    assert small.whole({"i": 2, "m": 1}) == {"i": 2, "m": 1, "k": 0, "j": 2}
    assert presolve([same, Constraint(Form({"i": 2}, 1), equal=True)], ["i", "j"]) is None


def test_a_search_in_which_isl_fails_gives_some_solution() -> None:
    at_least_0: list[tuple[dict[Hashable, int], int]] = [
        ({"i2": 1, "i1": -1}, -1), ({"j1": 1, "j2": -1}, -1), ({"i1": 1}, 0), ({"i1": -1}, 1),
        ({"j1": 1}, 0), ({"i1": 1, "j1": -1}, 1), ({"i2": 1}, 0), ({"i2": -1}, 1), ({"j2": 1}, 0),
        ({"i2": 1, "j2": -1}, 1), ({"j1": 1, "q": -2}, 0), ({"j1": -1, "q": 2}, 1),
    ]  # fmt: skip
    exact = Constraint(Form({"j1": 1, "q": -2, "i2": 1}, -2), equal=True)
    constraints = [*(Constraint(Form(terms, n)) for terms, n in at_least_0), exact]
    point = smallest_solution(constraints, ["i1", "j1", "i2", "j2", "q"])
    assert point is not None
    assert all(_holds(c, point) for c in constraints)
