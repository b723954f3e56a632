"""Pins: schedules that a person chose for kernels of a model, kept beside it.

>>> pins = read_pins("model.pins.json")                            # doctest: +SKIP
>>> build("model.onnx", schedules=pins.find)                       # doctest: +SKIP
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tvmlab.ir import Program, structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import ParseError, fields_of, items_of, write_whole
from tvmlab.target import Target

FORMAT = "tvmlab-pins"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Pin:
    """The steps of a schedule, for kernels that compute what `program` does.

    Attributes
    ----------
    program
        The structural hash of the kernel before any schedule.
    trace
        The steps as JSON.
    label
        What the kernel is called, for people.
    """

    program: str
    trace: str
    label: str


class Pins:
    """Schedules by what they schedule."""

    def __init__(self) -> None:
        self._pins: dict[str, Pin] = {}

    def put(self, program: Program, trace: str, label: str) -> None:
        """Pin steps for all kernels that compute what a program does."""
        known = structural_hash(program)
        self._pins[known] = Pin(known, trace, label)

    def drop(self, program: Program) -> None:
        """Give a kernel its default schedule back."""
        self._pins.pop(structural_hash(program), None)

    def trace_of(self, program: Program) -> str | None:
        """The steps that are pinned for a program."""
        found = self._pins.get(structural_hash(program))
        return None if found is None else found.trace

    def find(self, program: Program, target: Target) -> Schedule | None:
        """The pinned schedule of a program: what `build(schedules=...)` asks."""
        del target
        trace = self.trace_of(program)
        return None if trace is None else Schedule.replay(program, trace)

    def save(self, path: str | Path) -> Path:
        """Write the pins to a file; one that is there is replaced whole."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "pins": [{"program": p.program, "label": p.label, "trace": p.trace} for p in self],
        }
        goal = Path(path)
        write_whole(goal, json.dumps(data, indent=1))
        return goal

    def __iter__(self) -> Iterator[Pin]:
        return iter(self._pins.values())

    def __len__(self) -> int:
        return len(self._pins)


def read_pins(path: str | Path) -> Pins:
    """The pins of a file. Steps are taken again where they are used, never trusted.

    Raises
    ------
    ParseError
        If there is no such file, or it holds no pins.
    """
    try:
        fields = fields_of(json.loads(Path(path).read_text(encoding="utf-8"))) or {}
    except OSError as error:
        raise ParseError(f"the pins {path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ParseError(f"{path} is damaged: it is not valid JSON") from None
    if fields.get("format") != FORMAT:
        raise ParseError(
            f"{path} holds no pinned schedules",
            hint="the graph view writes them: widget.session.pins.save(path)",
        )
    if fields.get("version") != VERSION:
        raise ParseError(f"{path} is of version {fields.get('version')}; "
                         f"this tvmlab reads {VERSION}")  # fmt: skip
    found = Pins()
    for entry in items_of(fields.get("pins")) or ():
        pin = fields_of(entry) or {}
        texts = [pin.get(key) for key in ("program", "trace", "label")]
        if not all(isinstance(t, str) for t in texts):
            raise ParseError(f"{path} is damaged: a pin lacks its program, trace or label")
        known = Pin(*(str(t) for t in texts))
        found._pins[known.program] = known  # pyright: ignore[reportPrivateUsage]
    return found
