"""Guess first: a measurement is held back until somebody has said what it will be.

How often one was right is kept in a file of this user and this machine, and sent nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from tvmlab.bench.peaks import read_peaks
from tvmlab.inspect import Measured, gain_over, nest_cost
from tvmlab.inspect.wording import times
from tvmlab.ir import Program
from tvmlab.runtime import default_cache_dir
from tvmlab.support import UserError, write_whole
from tvmlab.target import Target

Said = Literal["faster", "same", "slower"]
Limit = Literal["arithmetic", "memory"]
_WAS: dict[str, Said] = {"gain": "faster", "noise": "same", "loss": "slower"}
_WORDS: dict[Said, str] = {"faster": "faster", "same": "about as fast", "slower": "slower"}
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Held:
    """A measurement that waits for a guess.

    Attributes
    ----------
    label, against
        The state that was measured, and the one that it is compared with.
    limit
        What bounds it by the measured ceilings and the estimated bytes; None if not known.
    publish
        Shows the measurement.
    """

    label: str
    against: str
    base: Measured
    new: Measured
    limit: Limit | None
    publish: Callable[[], None]


class Guessing:
    """Whether guesses come first in a session, what waits for one, and how good they were."""

    def __init__(self, path: Path | None = None) -> None:
        self.on = False
        self._path = path or default_cache_dir() / "guesses.json"
        self._held: Held | None = None
        self._last: dict[str, Any] | None = None
        self._entries = self._log()

    @property
    def state(self) -> dict[str, Any]:
        """What views show of it."""
        held, log = self._held, self._entries
        return {
            "on": self.on,
            "waiting": None if held is None else {"label": held.label, "against": held.against},
            "last": self._last,
            "scores": [
                {
                    "said": said,
                    "times": sum(entry["said"] == said for entry in log),
                    "right": sum(entry["said"] == said == entry["was"] for entry in log),
                }
                for said in get_args(Said)
            ],
        }

    def switch(self, on: bool) -> None:
        """Hold measurements back from now on, or show them, also what waits."""
        self.on = on
        if not on and self._held is not None:
            held, self._held = self._held, None
            held.publish()

    def hold(self, held: Held) -> bool:
        """Keep a measurement until it was guessed; False if it is to be shown at once."""
        if not self.on:
            return False
        if self._held is not None:
            self._held.publish()  # nobody wanted to guess that one
        self._held = held
        return True

    def reveal(self, said: str, limit: str | None) -> None:
        """Take a guess, say how it was, and show the measurement.

        Raises
        ------
        UserError
            If nothing waits, or this is no guess.
        """
        held = self._held
        if said not in _WORDS:
            raise UserError(f"{said!r} is no guess; guesses are {', '.join(_WORDS)}")
        if held is None:
            raise UserError("no measurement waits for a guess", hint="measure a state first")
        gain = gain_over(held.base, held.new)
        was = _WAS[gain.kind] if gain is not None else "same"
        ratio = gain.ratio if gain is not None else 1.0
        words = f"{held.label} is {times(ratio)} as fast as {held.against}: {_WORDS[was]}. "
        words += "You were right." if said == was else f"You said {_WORDS[said]}."
        if limit is not None and held.limit is not None:
            right = "as you said" if limit == held.limit else f"not by {limit}"
            words += f" It is bound by {held.limit}, {right}."
        self._held = None
        self._last = {"words": words, "right": said == was}
        entry = {"said": said, "was": was, "ratio": ratio}
        self._entries = [*self._log(), entry][-_MOST_KEPT:]  # others may have guessed meanwhile
        write_whole(self._path, json.dumps(self._entries))
        held.publish()

    def _log(self) -> list[dict[str, Any]]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return []
        entries = cast("list[Any]", found) if isinstance(found, list) else []
        return [e for e in entries if isinstance(e, dict) and "said" in e and "was" in e]


def limit_of(program: Program, flops: int | None, target: Target) -> Limit | None:
    """What bounds a program: the time of its arithmetic, or of its bytes from memory."""
    peaks, cost = read_peaks(), nest_cost(program, target)
    if peaks is None or cost is None or not flops:
        return None
    threads = max(peaks.gflops)
    speeds = [b.read for b in peaks.bandwidths if b.level == "memory" and b.threads == threads]
    if not speeds or not peaks.gflops[threads]:
        return None
    moved = cost.traffic.get(cost.levels[-1].name, 0.0)
    busy = flops / (peaks.gflops[threads] * 1e9)
    return "arithmetic" if busy >= moved / (speeds[0] * 1e9) else "memory"
