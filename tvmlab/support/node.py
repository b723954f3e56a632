"""The one decorator that makes an immutable tree node.

Every IR node is a frozen, slotted dataclass compared by identity; structural comparison lives in
`tvmlab.ir.structural`. Keeping the choice here makes it changeable in one line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


class Readable:
    """Base of nodes whose `repr` is their text; the text form is defined above this floor."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _describe[0](self)


_describe: list[Callable[[object], str]] = [object.__repr__]


def describe_by(printer: Callable[[object], str]) -> None:
    """Let a function make the text of `Readable` nodes."""
    _describe[0] = printer


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def node(cls: type[_T]) -> type[_T]:
    """Turn a class body of annotated fields into an immutable, identity-compared node."""
    fields_shown = not any("__repr__" in base.__dict__ for base in cls.__mro__[1:-1])
    return dataclass(frozen=True, slots=True, eq=False, repr=fields_shown, weakref_slot=True)(cls)


def set_derived(obj: object, field: str, value: object) -> None:
    """Set a derived field from `__post_init__` of a frozen node."""
    object.__setattr__(obj, field, value)
