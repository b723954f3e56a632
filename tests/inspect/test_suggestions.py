"""Where the proposals of the static estimate lead a beginner who takes the first one each time."""

import pytest
from helpers.schedules import matmul_schedule

from tvmlab.inspect import Suggestion, offers, suggestions_report
from tvmlab.inspect.symbols import SymbolIds
from tvmlab.schedule import Schedule, index_of
from tvmlab.target import CacheLevel, Target

MOST_STEPS = 8


def machine(first_cache: int, vector_bits: int = 512, threads: int = 2) -> Target:
    caches = (CacheLevel(1, first_cache, 64, 1), CacheLevel(2, 1 << 20, 64, 1))
    triple = "x86_64-unknown-linux-gnu"
    return Target("cpu", triple, "generic", "+avx512f", vector_bits, 32, threads, caches)


def proposals(sch: Schedule, target: Target) -> tuple[Suggestion, ...]:
    return suggestions_report(sch, SymbolIds(), target, lambda _: None, (), budget=60.0).steps


def take(sch: Schedule, step: Suggestion) -> None:
    index = index_of(sch.program)
    [line] = [s for s in (*index.loops, *index.blocks) if s.name == step.line]
    [offer] = [o for o in offers(sch, line) if o.id == step.action]
    sch.apply(offer.action.primitive, **offer.action.args)


@pytest.mark.parametrize(
    "target", [machine(48 << 10), machine(32 << 10), machine(48 << 10, 256, 8)]
)
def test_the_first_proposals_lead_to_rows_of_vectors_in_threads(target: Target) -> None:
    sch = matmul_schedule(512, 512, 512)
    for _ in range(MOST_STEPS):
        steps = proposals(sch, target)
        if not steps:
            break
        take(sch, steps[0])
    assert not proposals(sch, target)
    loops = [(loop.name.split("_")[0], loop.kind) for loop in sch.loops("C")]
    assert loops[0] == ("i", "parallel")
    assert loops[-1] == ("j", "vectorized")
    assert ("k", "serial") in loops[1:-1]


def test_a_step_that_two_lines_offer_is_proposed_once() -> None:
    steps = proposals(matmul_schedule(512, 512, 512), machine(48 << 10))
    moved = {(s.line, s.title) for s in steps if "move" in s.title}
    assert ("j", "move into k") in moved
    assert ("k", "move out of j") not in moved
