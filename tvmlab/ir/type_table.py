"""A table of functions by node type; a subclass finds the entry of its base."""

from __future__ import annotations

from typing import TypeVar

F = TypeVar("F")


class TypeTable(dict[type, F]):
    """Dispatch by `table[type(node)]`; an entry found through a base class is remembered."""

    def __missing__(self, cls: type) -> F:
        for base in cls.__mro__[1:]:
            if base in self:
                self[cls] = self[base]
                return self[cls]
        raise KeyError(cls)
