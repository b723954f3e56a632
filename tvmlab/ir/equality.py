"""What `==` and `!=` of two expressions give: a condition, or, asked for its truth, an identity.

    te.if_then_else(i == j, A[i], 0.0)      the condition, as `te.eq(i, j)`
    loop in loops                           compares objects, as Python's containers do

It becomes an expression where one is wanted (`as_expr`), so containers pay for no node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmlab.support import TypeMismatch


class Equality:
    """The question whether two values are equal, or different."""

    __slots__ = ("_make", "a", "b", "op")

    def __init__(self, make: Callable[..., Any], op: str, a: Any, b: Any) -> None:
        self._make = make
        self.op = op
        self.a = a
        self.b = b

    @property
    def formula(self) -> Any:
        """The condition as an expression."""
        return self._make(self.op, self.a, self.b)

    def __bool__(self) -> bool:
        known = [getattr(side, "value", None) for side in (self.a, self.b)]
        if all(isinstance(value, (int, float)) for value in known):
            return (known[0] == known[1]) == (self.op == "eq")  # Two sizes that are literals.
        if isinstance(self.b, (int, float, np.generic)):
            literal = getattr(self.formula, "value", None)
            if literal is not None:  # A size that is a literal is known.
                return bool(literal)
            raise TypeMismatch(
                "whether a value of the program equals a number is not known while the program is "
                "being written",
                hint="use te.if_then_else(i == 0, a, b), te.all(...) or te.any(...) instead of "
                "if/and/or",
            )
        return (self.a is self.b) == (self.op == "eq")

    def __eq__(self, other: object) -> Any:
        return Equality(self._make, "eq", self.formula, other)

    def __ne__(self, other: object) -> Any:
        return Equality(self._make, "ne", self.formula, other)

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.formula, name)

    def __repr__(self) -> str:
        return repr(self.formula)

    def __and__(self, other: Any) -> Any:
        return self.formula & other

    def __or__(self, other: Any) -> Any:
        return self.formula | other

    def __xor__(self, other: Any) -> Any:
        return self.formula ^ other

    def __rand__(self, other: Any) -> Any:
        return other & self.formula

    def __ror__(self, other: Any) -> Any:
        return other | self.formula

    def __rxor__(self, other: Any) -> Any:
        return other ^ self.formula

    def __invert__(self) -> Any:
        return ~self.formula
