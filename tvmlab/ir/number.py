"""A literal is known while the program is being written, so it is a number for Python too."""

from __future__ import annotations

from tvmlab.support import TypeMismatch

from .folding import Scalar


class Number:
    """What Python asks of a number: `int(A.shape[0])`, `range(A.shape[0])`, `f"{size:d}"`."""

    __slots__ = ()
    value: Scalar

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __index__(self) -> int:
        if not isinstance(self.value, int):
            raise TypeMismatch(
                f"a whole number is needed here, but this is {self.value}",
                hint="int(x) takes the whole part of a literal",
            )
        return self.value

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)
