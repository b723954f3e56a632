"""Where in the user's source something was asked for."""

from __future__ import annotations

import inspect
import linecache
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = str(Path(__file__).resolve().parent.parent)


@dataclass(frozen=True, slots=True)
class Span:
    """A line of source: file name, 1-based line, and the text of that line."""

    file: str
    line: int
    text: str


def user_span() -> Span | None:
    """The innermost frame outside tvmlab, at the time of the call."""
    frame = inspect.currentframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            return Span(file, frame.f_lineno, linecache.getline(file, frame.f_lineno).rstrip())
        frame = frame.f_back
    return None


def render_span(span: Span) -> str:
    """The place as `file:line` with the source line below it, as Python shows it."""
    path = Path(span.file)
    # The kernel of a notebook runs each cell from a file whose name is a mere number.
    in_cell = path.parent.name.startswith("ipykernel_")
    place = f"  at line {span.line} of the cell" if in_cell else f"  at {path.name}:{span.line}"
    return f"{place}\n    {span.text.strip()}" if span.text.strip() else place
