"""The knobs of a space as a table."""

from __future__ import annotations

from collections.abc import Mapping

from .knobs import Knob, Value


def table_rows(knobs: Mapping[str, Knob]) -> list[tuple[str, str, int, str]]:
    """For each knob its name, its kind, the number of its options, and examples."""
    return [(k.name, k.kind, len(k), _examples(k)) for k in knobs.values()]


def table_text(knobs: Mapping[str, Knob]) -> str:
    """The rows under a heading, in columns."""
    header = ("knob", "kind", "options", "such as")
    cells = [header, *((a, b, str(c), d) for a, b, c, d in table_rows(knobs))]
    widths = [max(len(row[n]) for row in cells) for n in range(3)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2]), row[3]]
        )
        for row in cells
    ]
    return "\n".join(lines)


def _examples(knob: Knob) -> str:
    shown = knob.options if len(knob) <= 4 else (*knob.options[:2], "...", knob.options[-1])
    return ", ".join(_plain(option) for option in shown)


def _plain(option: Value) -> str:
    if isinstance(option, bool):
        return "yes" if option else "no"
    if isinstance(option, tuple):
        return " x ".join(map(str, option))
    return str(option) or "none"
