"""Text for the terminal: headings, indented blocks, JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tvmlab.inspect import plain

_BOLD, _DIM, _END = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def heading(text: str) -> str:
    """A line that starts a part; bold where the terminal can."""
    return f"{_BOLD}{text}{_END}" if _styled() else text


def quiet(text: str) -> str:
    """Text that stands back where the terminal can."""
    return f"{_DIM}{text}{_END}" if _styled() else text


def indented(text: str, by: int = 2) -> str:
    """Each line of a text moved to the right."""
    return "\n".join(" " * by + line if line else line for line in text.splitlines())


def print_json(report: Any) -> None:
    """A report, or anything made of reports, for a program to read."""
    print(json.dumps(plain(report), indent=2))


def _styled() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
