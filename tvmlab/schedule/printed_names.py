"""A program whose loops have the names by which it is printed, to speak of them.

A loop prints as `i_1` if another `i` stands before it. A refusal that names loops is made once more
on a program in which each loop is called what it prints as, so that no sentence can be read two
ways, and no witness holds two values for one name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from tvmlab.ir import For, Names, Program, Stmt, Var, substitute, transform
from tvmlab.support import items_of

from .index import ProgramIndex, index_of


@dataclass(frozen=True, slots=True)
class Renamed:
    """A program with other loop variables, and what became of which."""

    program: Program
    forth: Mapping[Var, Var]
    back: Mapping[Var, Var]

    def renamed(self, value: Any) -> Any:
        """Arguments for the program itself as those for the renamed one."""
        return _mapped(value, self.forth)

    def restored(self, value: Any) -> Any:
        """And the other way round."""
        return _mapped(value, self.back)


_KNOWN: WeakKeyDictionary[ProgramIndex, Renamed] = WeakKeyDictionary()


def with_printed_names(program: Program) -> Renamed:
    """The program with its loops named as they print; the program itself if they are already."""
    index = index_of(program)
    if index not in _KNOWN:
        _KNOWN[index] = _rename(index)
    return _KNOWN[index]


def _rename(index: ProgramIndex) -> Renamed:
    program = index.program
    symbols = [*index.loops, *program.params, *program.allocs]
    if max(Counter(s.name for s in symbols).values(), default=1) == 1:
        return Renamed(program, {}, {})
    names = Names(program)
    forth = {v: replace(v, name=names[v]) for v in index.loops if names[v] != v.name}

    def visit(node: Any) -> Any:
        if isinstance(node, For) and node.var in forth:
            return replace(node, var=forth[node.var])
        return node

    body: Stmt = transform(substitute(program.body, forth), visit)
    back = {new: old for old, new in forth.items()}
    return Renamed(replace(program, body=body), forth, back)


def _mapped(value: Any, names: Mapping[Var, Var]) -> Any:
    if isinstance(value, Var):
        return names.get(value, value)
    if isinstance(value, dict):
        return {key: _mapped(item, names) for key, item in value.items()}  # pyright: ignore
    items = items_of(value)
    return value if items is None else tuple(_mapped(item, names) for item in items)
