"""What happens when operands of different types meet in a formula: an error, unless a rule is set.

Formulas say their conversions. Programs written for the old `te`, whose rules convert silently, are
read under `mixing(rule)`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

from tvmlab.support import INT32, DType

Rule: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]

RULE: ContextVar[Rule | None] = ContextVar("rule for operands of different types", default=None)
"""Takes two expressions of different types and returns them converted."""


@contextmanager
def mixing(rule: Rule) -> Generator[None]:
    """Convert operands of different types by a rule, within a `with` block."""
    token = RULE.set(rule)
    try:
        yield
    finally:
        RULE.reset(token)


def type_beside(value: object, like: DType) -> DType | None:
    """The type of a number beside an operand of a type: that type, or None to leave it to the rule.

    A whole number that may not fit a narrow or unsigned type is the rule's to convert.
    """
    if type(value) is not int or like.is_float or RULE.get() is None:
        return like
    plain = like.kind == "int" and like.bits >= INT32.bits
    return like if plain and like.min_value <= value <= like.max_value else None


def is_whole(value: object) -> bool:
    """Whether a value does arithmetic with formulas itself, all its elements at once."""
    return getattr(value, "takes_formulas", False)
