"""Readable, unique names for symbols, chosen as late as possible."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from .require import require_text

_BAD = re.compile(r"\W")


def identifier(text: str) -> str:
    """Turn a text into a valid Python identifier that still reads like it."""
    clean = _BAD.sub("_", require_text(text, "a name")) or "v"
    if clean[0].isdigit() or keyword.iskeyword(clean):
        clean = f"_{clean}"
    return clean


class Namer:
    """Gives each symbol (any object, by identity) one unique name derived from its own."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken: set[str] = set(reserved)
        self._names: dict[int, tuple[object, str]] = {}

    def __contains__(self, symbol: object) -> bool:
        return id(symbol) in self._names

    def name(self, symbol: object, wish: str) -> str:
        """The name of the symbol; the first call decides, later calls return the same."""
        known = self._names.get(id(symbol))
        if known is not None:
            return known[1]
        chosen = self.fresh(wish)
        self._names[id(symbol)] = (symbol, chosen)
        return chosen

    def fresh(self, wish: str) -> str:
        """A name not given out before: the wish itself, or the wish with a number."""
        base = identifier(wish)
        chosen, number = base, 1
        while chosen in self._taken:
            chosen = f"{base}_{number}"
            number += 1
        self._taken.add(chosen)
        return chosen
