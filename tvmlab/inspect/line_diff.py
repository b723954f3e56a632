"""What changed between two texts, line by line, as views draw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line that both texts have (" "), only the new one ("+"), or only the old one ("-").

    A line "…" with the sign "…" stands for equal lines that were left out.
    """

    sign: str
    text: str


def diff_lines(old: str, new: str, *, context: int | None = None) -> tuple[DiffLine, ...]:
    """The lines of two texts, marked.

    Parameters
    ----------
    context
        How many equal lines to keep around each change; by default all.
    """
    before, after = old.splitlines(), new.splitlines()
    found: list[DiffLine] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            first, last = not found, b == len(before)
            found += _equal(before[a:b], context, first=first, last=last)
            continue
        found += [DiffLine("-", line) for line in before[a:b]]
        found += [DiffLine("+", line) for line in after[c:d]]
    return tuple(found)


def _equal(lines: Sequence[str], context: int | None, *, first: bool, last: bool) -> list[DiffLine]:
    """Equal lines, those far from any change left out."""
    kept = [DiffLine(" ", line) for line in lines]
    if context is None:
        return kept
    head = 0 if first else context
    tail = 0 if last else context
    if len(kept) <= head + tail + 1:
        return kept
    gap = DiffLine("…", f"{len(kept) - head - tail} equal lines")
    return [*kept[:head], gap, *(kept[-tail:] if tail else [])]
