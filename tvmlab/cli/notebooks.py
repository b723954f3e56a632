"""Copying the notebooks to a folder to work in, without ever losing a user's changes.

A small file in the folder remembers what was copied. A notebook that is still as it was copied
may be replaced by a newer one; a notebook that differs belongs to the user and stays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tvmlab.support import OptionError, RuntimeFailure, fields_of

_PACKAGE = Path(__file__).parents[1]
_RECORD = ".tvmlab-copied.json"
_EXERCISES = "exercises"

CopyStatus = Literal["copied", "updated", "unchanged", "kept"]


@dataclass(frozen=True, slots=True)
class Copied:
    """What happened to one notebook; `kept` means that the user has changed it."""

    name: str
    status: CopyStatus


def shipped_notebooks() -> list[Path]:
    """The notebooks that came with tvmlab: those of the package, else of the source checkout.

    Raises
    ------
    OptionError
        If neither has any.
    """
    for folder in (_PACKAGE / "notebooks", _PACKAGE.parent / "notebooks"):
        found = sorted(folder.glob("*.ipynb"))
        if found:
            return found + sorted(folder.glob(f"{_EXERCISES}/*.ipynb"))
    raise OptionError(
        "this installation of tvmlab has no notebooks",
        hint="install it again from a wheel or a source checkout",
    )


def copy_notebooks(folder: Path) -> list[Copied]:
    """Copy the notebooks to a folder, which is made if it is not there.

    Raises
    ------
    RuntimeFailure
        If the folder cannot be written.
    """
    try:
        return list(_copy_all(folder))
    except OSError as error:
        raise RuntimeFailure(
            f"cannot write the notebooks to {folder}: {error.strerror}",
            hint="choose another folder: tvmlab lab --dir FOLDER",
        ) from error


def _copy_all(folder: Path) -> Iterator[Copied]:
    folder.mkdir(parents=True, exist_ok=True)
    known = _read_record(folder)
    record: dict[str, object] = {}
    for source in shipped_notebooks():
        name = _name(source)
        target, fresh = folder / name, source.read_bytes()
        old = target.read_bytes() if target.exists() else None
        status = _status(old, fresh, known.get(name))
        if status in ("copied", "updated"):
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(fresh)
        record[name] = known.get(name) if status == "kept" else _digest(fresh)
        yield Copied(name, status)
    if record != known:
        (folder / _RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _name(source: Path) -> str:
    """Where a notebook lies in the folder, with its subfolder if it is an exercise."""
    return f"{_EXERCISES}/{source.name}" if source.parent.name == _EXERCISES else source.name


def _status(old: bytes | None, fresh: bytes, copied: object) -> CopyStatus:
    if old is None:
        return "copied"
    if old == fresh:
        return "unchanged"
    return "updated" if _digest(old) == copied else "kept"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_record(folder: Path) -> dict[str, object]:
    """What was copied before; nothing if the record is missing or no longer readable."""
    try:
        found: object = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return fields_of(found) or {}
