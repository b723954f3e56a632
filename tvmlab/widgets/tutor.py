"""The exercise that a schedule belongs to, if it does: its panel, known by what it can do."""

from __future__ import annotations

from typing import Any, Protocol, cast

from tvmlab.schedule import Schedule


class Tutor(Protocol):
    """What a view needs of an exercise."""

    @property
    def title(self) -> str: ...
    @property
    def turn(self) -> int: ...
    def look(self) -> dict[str, Any]: ...
    def do(self, what: str, value: str = "") -> None: ...


def tutor_of(schedule: Schedule) -> Tutor | None:
    """The panel of the exercise whose schedule this is."""
    return cast("Tutor | None", getattr(schedule, "tutor", None))


def tutor_state(schedule: Schedule) -> dict[str, Any] | None:
    """What the state says of an exercise: that there is one, and when to ask for it again."""
    tutor = tutor_of(schedule)
    return None if tutor is None else {"title": tutor.title, "turn": tutor.turn}
