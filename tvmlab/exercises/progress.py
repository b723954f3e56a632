"""What a learner has done so far, in a small file in the user's data folder.

`TVMLAB_PROGRESS` names another file. Writing goes to a temporary name first, so that the file is
whole at any time.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, cast

from tvmlab.support import UserError, fields_of

_VERSION = 1


@dataclass
class Record:
    """What is kept of one exercise."""

    attempts: int = 0
    best: int = 0
    solved: bool = False
    hints: int = 0
    guesses: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Factors that the learner expected, each with what was found."""


def progress_path() -> Path:
    """The file that progress is kept in."""
    chosen = os.environ.get("TVMLAB_PROGRESS")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local/share") / "tvmlab" / "exercises.json"


class Progress:
    """The records of all exercises in one file, read anew each time."""

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = Path(path) if path is not None else progress_path()

    def __getitem__(self, name: str) -> Record:
        return self._read().get(name, Record())

    def put(self, name: str, record: Record) -> None:
        """Keep a record; the others in the file stay."""
        records = {**self._read(), name: record}
        data = {"version": _VERSION, "exercises": {n: asdict(r) for n, r in records.items()}}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self.path.parent, prefix=".writing-", encoding="utf-8", delete=False
            ) as file:
                json.dump(data, file, indent=1)
            os.replace(file.name, self.path)
        except OSError as error:
            raise UserError(
                f"cannot write your progress to {self.path}: {error.strerror}",
                hint="name another file in the environment variable TVMLAB_PROGRESS",
            ) from error

    def spread(self) -> str:
        """How far guesses were off so far, in words; empty without guesses."""
        ratios = [max(said / found, found / said) for r in self._read().values()
                  for said, found in r.guesses]  # fmt: skip
        if not ratios:
            return ""
        return f"your guesses are off by a factor of {median(ratios):.2g} (median of {len(ratios)})"

    def _read(self) -> dict[str, Record]:
        try:
            found: object = json.loads(self.path.read_text(encoding="utf-8"))
            data = fields_of(found) or {}
            if data.get("version") != _VERSION:
                raise ValueError(f"its version is {data.get('version')!r}")
            rows = fields_of(data.get("exercises")) or {}
            return {name: _record(row) for name, row in rows.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(
                f"cannot read your progress in {self.path}: {error}",
                hint="move the file away, or name another in the environment variable "
                "TVMLAB_PROGRESS",
            ) from error


def _record(row: object) -> Record:
    data = cast("dict[str, Any]", fields_of(row) or {})
    guesses = [(float(said), float(found)) for said, found in data["guesses"]]
    if any(min(pair) <= 0 for pair in guesses):
        raise ValueError("a guess is not above 0")
    return Record(
        int(data["attempts"]), int(data["best"]), bool(data["solved"]), int(data["hints"]), guesses
    )
