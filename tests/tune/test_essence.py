"""Points that differ only in what decides nothing are one point to a search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.tune_programs import matmul

from tvmlab.ir import structural_hash
from tvmlab.support import ScheduleError
from tvmlab.tune import SEARCHES, Knobs, Points, Space, generic_space, make_search


def idle(sch: Any, knobs: Knobs) -> None:
    """`j` is split only where the flag says so."""
    i, j, _ = sch.loops("C")
    flag = knobs.flag("split_j")
    factors = knobs.split("j", 8, 2)
    sch.split(i, knobs.split("i", 8, 2))
    if flag:
        sch.split(j, factors)
    else:
        knobs.ignore("j")


def space_with_an_idle_knob() -> Space:
    return Space(matmul(8), idle)


def kinds_of(space: Space) -> dict[str, int]:
    return {name: n for n, name in enumerate(space.knobs)}


def test_what_a_template_ignores_is_set_to_its_first_option() -> None:
    space = space_with_an_idle_knob()
    every = space.numbered(range(space.size))
    np.testing.assert_array_equal(space.essence(every), every)  # nothing is known yet
    space.features(every)
    essence = space.essence(every)
    at = kinds_of(space)
    off = every[:, at["split_j"]] == 0
    assert (essence[off, at["j"]] == 0).all()
    np.testing.assert_array_equal(essence[~off], every[~off])
    np.testing.assert_array_equal(essence[off, at["i"]], every[off, at["i"]])
    assert len(np.unique(essence, axis=0)) == 4 + 16


@pytest.mark.parametrize(
    "make", [space_with_an_idle_knob, lambda: generic_space(matmul(32, k=512))]
)
def test_points_of_one_essence_have_one_program(make: Any) -> None:
    space = make()
    rng = np.random.default_rng(5)
    points = space.sample(400, rng)
    space.features(points)
    essence = space.essence(points)
    changed = np.flatnonzero((essence != points).any(axis=1))[:12]
    assert len(changed) == 12
    for place in changed:
        try:
            program = space.schedule(points[place]).program
        except ScheduleError:
            with pytest.raises(ScheduleError):
                space.schedule(essence[place])
            continue
        assert structural_hash(program) == structural_hash(space.schedule(essence[place]).program)


@pytest.mark.parametrize("name", SEARCHES)
def test_no_search_asks_for_one_schedule_twice(name: str) -> None:
    space = space_with_an_idle_knob()
    space.features(space.numbered(range(space.size)))
    search = make_search(name, space, 3)
    asked: list[Points] = []
    for _ in range(8):
        points = search.ask(4, lambda p: -p.sum(axis=1).astype(float))
        search.tell(points, np.arange(1, len(points) + 1, dtype=np.float64))
        asked.append(points)
    found = space.essence(np.concatenate(asked))
    assert len(np.unique(found, axis=0)) == len(found) <= 20
    assert len(found) == 20
