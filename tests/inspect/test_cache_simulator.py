"""The cache simulator against a slow one that is written another way, and what the view is told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.schedules import matmul_schedule, tiled_schedule

from tvmlab import te, topi
from tvmlab.inspect import TINY, CacheGeometry, machine_caches, memory_report, simulate
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, UserError
from tvmlab.target import Target


def brute(addresses: list[int], levels: list[CacheGeometry]) -> tuple[list[int], list[list[str]]]:
    """By definition: a line is there if few enough others of its set were touched since."""
    found = [len(levels)] * len(addresses)
    kinds: list[list[str]] = []
    asked = list(range(len(addresses)))
    for number, g in enumerate(levels):
        lines = [addresses[t] // g.line for t in asked]
        told: list[str] = []
        missed: list[int] = []
        for at, line in enumerate(lines):
            before = [i for i in range(at) if lines[i] == line]
            since = lines[before[-1] + 1 : at] if before else []
            same_set = {x for x in since if x % g.sets == line % g.sets}
            if before and len(same_set) < g.ways:
                told.append("hit")
                found[asked[at]] = number
                continue
            missed.append(asked[at])
            whole = len(set(since)) < g.size // g.line
            told.append("conflict" if before and whole else "capacity" if before else "compulsory")
        kinds.append(told)
        asked = missed
    return found, kinds


@pytest.mark.parametrize("seed", range(8))
def test_random_accesses_end_as_by_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = [CacheGeometry("L1", 64, 8, 1 + seed % 2), CacheGeometry("L2", 256, 16, 4)]
    near = rng.integers(0, 160, 150)
    far = rng.integers(0, 900, 150)
    addresses = [int(a) for a in np.where(rng.random(150) < 0.7, near, far)]
    run = simulate(addresses, levels)
    found, kinds = brute(addresses, levels)
    assert list(run.found) == found
    for result, told in zip(run.levels, kinds, strict=True):
        counts = (result.hits, result.compulsory, result.capacity, result.conflict)
        names = ("hit", "compulsory", "capacity", "conflict")
        assert counts == tuple(told.count(name) for name in names)
        assert result.accesses == len(told)


def test_the_order_of_loops_decides_how_often_a_row_is_found() -> None:
    across = matmul_schedule(16, 16, 16)
    down = matmul_schedule(16, 16, 16)
    i, j, k = down.loops("C")
    down.reorder(i, k, j)
    first, second = (memory_report(s.program, TINY, "tiny") for s in (across, down))
    assert second.levels[0].misses < first.levels[0].misses


@pytest.mark.parametrize("make", [tiled_schedule, lambda: matmul_schedule(64, 64, 64)])
def test_long_programs_are_sampled_and_say_so(make: Callable[[], Schedule]) -> None:
    report = memory_report(make().program, machine_caches(Target.host()) or TINY, "words")
    assert "rounds of" in report.sample
    assert len(report.kind) == len(report.element) == len(report.turns[0])
    assert len(report.kind) < 60_000
    assert report.levels[0].accesses == len(report.kind)


def test_a_long_program_whose_loops_lie_beside_each_other_is_sampled_too() -> None:
    x = te.placeholder((32, 1000), name="x")
    program = topi.schedule(topi.softmax(x)).program
    report = memory_report(program, TINY, "", 2000)
    assert "rounds of" in report.sample
    assert len(report.kind) == sum(1 for _ in report.element) <= 4 * 12_000


def test_short_programs_are_run_whole() -> None:
    report = memory_report(matmul_schedule(4, 4, 4).program, TINY, "tiny")
    assert report.sample == ""
    assert sum(report.write) == 4 * 4 * 5  # the start values, and a write for each product


def test_what_cannot_be_traced_says_why() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    schedule = Schedule(te.compute((n,), lambda i: a[i] + 1.0, name="B"))
    with pytest.raises(UserError, match="known only at run time"):
        memory_report(schedule.program, TINY, "tiny")
    with pytest.raises(OptionError, match="does not consist of sets"):
        CacheGeometry("L1", 100, 16, 2)
