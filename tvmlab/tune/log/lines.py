"""A log of records, one JSON object a line, that survives a process killed while writing.

>>> log = RecordLog(path)
>>> log.append({"index": 0, "gflops": 21.5})
>>> log.read()
[{'index': 0, 'gflops': 21.5}]
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast


class RecordLog:
    """An append-only file that several processes may write to.

    A record reaches the file in one write of a whole line. A line cut short by a crash is left out
    on reading and closed by the next record, so it never spoils more than itself.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and hand it to the operating system before returning."""
        line = json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.path, flags, 0o644)
        try:
            os.write(descriptor, (_closing(descriptor) + line).encode())
        finally:
            os.close(descriptor)

    def read(self) -> list[dict[str, Any]]:
        """All whole records, in order; empty if there is no file."""
        if not self.path.exists():
            return []
        records: list[dict[str, Any]] = []
        for line in self.path.read_bytes().splitlines():
            try:
                record = json.loads(line)
            except ValueError:  # cut short, or cut inside a character
                continue
            if isinstance(record, dict):
                records.append(cast("dict[str, Any]", record))
        return records


def _closing(descriptor: int) -> str:
    """A line break, if the last record was cut short."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return ""
    return "" if os.pread(descriptor, 1, size - 1) == b"\n" else "\n"
