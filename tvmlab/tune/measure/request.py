"""What a worker is asked to measure: texts and numbers only, so that it can travel as JSON.

>>> request = MeasureRequest.of(schedule.program, reference=naive_program)
>>> MeasureRequest.from_json(request.to_json()) == request
True
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

from tvmlab.ir import Program, structural_hash, to_text
from tvmlab.support import OptionError, ParseError
from tvmlab.target import Target, TargetLike


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """How carefully to measure, and what a program under test may use.

    Parameters
    ----------
    repeats
        Times taken, each over as many calls as fill `repeat_seconds`.
    repeat_seconds
        The least time of one repeat.
    budget_seconds
        Stop taking repeats after so long, but never before the third.
    rival_seconds
        The best time that is known; a program that is far slower is timed once. 0 if none is known.
    seed
        Of the random inputs.
    tolerance
        Largest accepted error in proportion to the largest element of the right result; None takes
        one that fits the element type.
    build_timeout, run_timeout
        Seconds after which a worker is stopped while it builds, and while it checks and times.
    memory_bytes
        Address space that a worker may use; 0 for no limit.
    """

    repeats: int = 10
    repeat_seconds: float = 0.01
    budget_seconds: float = 0.5
    rival_seconds: float = 0.0
    seed: int = 0
    tolerance: float | None = None
    build_timeout: float = 20.0
    run_timeout: float = 10.0
    memory_bytes: int = 8 << 30

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise OptionError(f"a measurement needs at least one repeat, not {self.repeats}")
        for name in ("build_timeout", "run_timeout"):
            if getattr(self, name) <= 0:
                raise OptionError(f"{name} is {getattr(self, name)}, not a positive time")


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """A program to measure, as text.

    Attributes
    ----------
    program
        The text form of a program of any stage before lowering.
    target
        What it is built for; it must be a machine that can run the result.
    reference
        Text of a program with the same parameters whose result is right, built the same way; empty
        to leave results unchecked.
    """

    program: str
    target: dict[str, Any]
    reference: str = ""
    program_hash: str = ""
    settings: MeasureSettings = field(default_factory=MeasureSettings)

    @staticmethod
    def of(
        program: Program,
        target: TargetLike = "cpu",
        *,
        reference: Program | None = None,
        settings: MeasureSettings | None = None,
    ) -> MeasureRequest:
        """A request for a program."""
        return MeasureRequest(
            program=to_text(program),
            target=target_to_json(Target.of(target)),
            reference="" if reference is None else to_text(reference),
            program_hash=structural_hash(program),
            settings=settings or MeasureSettings(),
        )

    def to_json(self) -> dict[str, Any]:
        """The request as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: object) -> MeasureRequest:
        """The request that `to_json` wrote.

        Raises
        ------
        ParseError
            If the data is no request.
        """
        if not isinstance(data, dict):
            raise ParseError("a measurement request must be a JSON object")
        given = cast("dict[str, Any]", data)
        try:
            plain: dict[str, Any] = {**given, "settings": MeasureSettings(**given["settings"])}
            return MeasureRequest(**plain)
        except (TypeError, KeyError) as error:
            raise ParseError(f"this is no measurement request: {error}") from error


def target_to_json(target: Target) -> dict[str, Any]:
    """A target as plain data, without what the worker's own machine knows better (its caches)."""
    return {f.name: getattr(target, f.name) for f in fields(Target) if f.name != "caches"}


def target_from_json(data: dict[str, Any]) -> Target:
    """The target that `target_to_json` wrote."""
    return Target(**data)
