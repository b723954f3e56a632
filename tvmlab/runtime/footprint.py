"""How much memory this process took at its peak."""

from __future__ import annotations

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_process_bytes() -> int | None:
    """The most memory that this process held at once, as far as the system tells; None if not.

    What the process that started this one held does not count, as it would for `getrusage`.
    """
    if not sys.platform.startswith("linux"):
        return None
    for line in _STATUS.read_text().splitlines():
        name, _, size = line.partition(":")
        if name == "VmHWM":
            return int(size.split()[0]) * 1024
    return None
