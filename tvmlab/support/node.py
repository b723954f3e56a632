"""The one decorator that makes an immutable tree node.

Every IR node is a frozen, slotted dataclass compared by identity; structural comparison lives in
`tvmlab.ir.structural`. Keeping the choice here makes it changeable in one line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def node(cls: type[_T]) -> type[_T]:
    """Turn a class body of annotated fields into an immutable, identity-compared node."""
    return dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)(cls)


def set_derived(obj: object, field: str, value: object) -> None:
    """Set a derived field from `__post_init__` of a frozen node."""
    object.__setattr__(obj, field, value)
