"""Steps of one's own: offered, tried, refused and taken like primitives, kept as primitives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.schedules import matmul_schedule

import tvmlab as tl
from tvmlab.inspect import SymbolIds, offers
from tvmlab.schedule import PRIMITIVES, Schedule, forget_composite
from tvmlab.support import UserError


@pytest.fixture(autouse=True)
def own() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = set(PRIMITIVES)
    yield
    for name in set(PRIMITIVES) - before:
        forget_composite(name)


def register() -> Any:
    @tl.composite("tile for vectors", key="w")
    def tile_for_vectors(sch: Any, loop: Any, width: int = 8) -> None:
        """Split off a part that fits vectors."""
        _, inner = sch.split(loop, [None, width])
        sch.vectorize(inner)

    return tile_for_vectors


def test_it_is_taken_as_its_primitives_and_undone_one_by_one() -> None:
    register()
    schedule = matmul_schedule(16, 16, 16)
    _, j, _ = schedule.loops("C")
    schedule.apply("tile_for_vectors", j, width=4)
    assert [step.primitive for step in schedule.trace.steps] == ["split", "vectorize"]
    forget_composite("tile_for_vectors")
    again = Schedule.replay(schedule.history.nodes[0].program, schedule.trace.to_json())
    assert str(again) == str(schedule)
    schedule.undo()
    assert schedule.trace.steps[-1].primitive == "split"


def test_the_menu_offers_it_with_a_form_and_a_key() -> None:
    register()
    schedule = matmul_schedule(16, 16, 16)
    j = schedule.loops("C")[1].var
    offer = next(o for o in offers(schedule, j) if o.id == "tile_for_vectors")
    assert (offer.action.title, offer.action.key) == ("tile for vectors", "w")
    assert [spec.name for spec in offer.action.params] == ["width"]
    assert offer.action.verdict
    arguments = offer.arguments({"width": 4}, SymbolIds())
    assert schedule.preview("tile_for_vectors", **arguments).applied is not None


def test_a_refusal_names_the_step_and_its_witness() -> None:
    @tl.composite()
    def share_out(sch: Any, loop: Any) -> None:
        outer, _ = sch.split(loop, [None, 4])
        sch.parallel(outer)

    schedule = matmul_schedule(16, 16, 16)
    _, j, k = schedule.loops("C")
    assert schedule.check("share_out", j)
    refused = schedule.check("share_out", k)
    assert refused.reason.startswith("step 2 of share_out:")
    assert refused.witness is not None


def test_a_refused_or_failing_one_changes_nothing() -> None:
    @tl.composite()
    def broken(sch: Any, loop: Any) -> None:
        sch.split(loop, [None, 2])
        raise ValueError("no idea")

    @tl.composite(on="block")
    def idle(sch: Any, block: Any) -> None:
        del sch, block

    schedule = matmul_schedule(8, 8, 8)
    i = schedule.loops("C")[0]
    before = str(schedule)
    assert "broken failed with ValueError: no idea" in schedule.check("broken", i).reason
    assert "idle takes no step here" in schedule.check("idle", "C").reason
    with pytest.raises(tl.RefusedError, match="no idea"):
        schedule.apply("broken", i)
    assert (str(schedule), len(schedule.history)) == (before, 1)


def test_what_cannot_be_registered() -> None:
    with pytest.raises(UserError, match="named 'split' exists already"):

        @tl.composite()
        def split(sch: Any, loop: Any) -> None: ...

    with pytest.raises(UserError, match="must take a schedule and a loop"):

        @tl.composite()
        def alone(sch: Any) -> None: ...

    with pytest.raises(UserError, match="needs a default for width"):

        @tl.composite()
        def open_ended(sch: Any, loop: Any, width: int) -> None: ...

    with pytest.raises(UserError, match="not on 'buffer'"):
        tl.composite(on="buffer")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="no step of one's own named 'split'"):
        forget_composite("split")
