"""Values share memory, never at the same time, and close to the least that any plan needs."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tvmlab.graph.memory import Life, plan_memory

_LIVES = st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 20), st.integers(0, 6)))


@given(_LIVES)
def test_values_that_live_together_lie_apart(drawn: list[tuple[int, int, int]]) -> None:
    lives = [
        Life(f"v{n}", size, first, first + more) for n, (size, first, more) in enumerate(drawn)
    ]
    plan = plan_memory(lives)
    for a, b in combinations(lives, 2):
        if a.first <= b.last and b.first <= a.last:
            low, high = sorted((a, b), key=lambda life: plan.offsets[life.name])
            assert plan.offsets[low.name] + low.room <= plan.offsets[high.name]
    assert plan.lower_bound <= plan.peak <= plan.unshared
    assert all(plan.offsets[life.name] + life.room <= plan.peak for life in lives)


def test_a_chain_needs_two_places() -> None:
    plan = plan_memory([Life(f"v{n}", 1000, n, n + 1) for n in range(9)])
    assert plan.peak == plan.lower_bound == 2 * 1024
