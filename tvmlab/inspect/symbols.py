"""Short names by which views speak of loops, blocks and buffers: "L3", "B0", "T1".

An id belongs to a symbol and not to a place, so it holds across every step that keeps the symbol,
and is valid again when a step is undone.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias, Union

from tvmlab.ir import BlockSymbol, Buffer, Var
from tvmlab.support import UserError

Symbol: TypeAlias = Union[Var, BlockSymbol, Buffer]


class SymbolIds:
    """Gives out ids and finds symbols by them."""

    def __init__(self) -> None:
        self._ids: dict[Symbol, str] = {}
        self._symbols: dict[str, Symbol] = {}
        self._counts: Counter[str] = Counter()

    def of(self, symbol: Symbol) -> str:
        """The id of a symbol, made on first use."""
        known = self._ids.get(symbol)
        if known is None:
            letter = {Var: "L", BlockSymbol: "B", Buffer: "T"}[type(symbol)]
            known = self._ids[symbol] = f"{letter}{self._counts[letter]}"
            self._counts[letter] += 1
            self._symbols[known] = symbol
        return known

    def find(self, name: str) -> Symbol:
        """The symbol of an id. A line within a block, such as "B0.1", stands for its block.

        Raises
        ------
        UserError
            If no such id was given out.
        """
        symbol = self._symbols.get(name.partition(".")[0])
        if symbol is None:
            raise UserError(f"there is no line {name!r} in this session")
        return symbol
