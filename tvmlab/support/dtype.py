"""Scalar and vector element types, shared by the IR and the runtime.

>>> DType.of("float32x16").lanes
16
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from typing import Any, Literal, cast

import numpy as np

from .errors import TypeMismatch
from .require import shown

Kind = Literal["bool", "int", "uint", "float", "bfloat"]

_BITS: dict[str, tuple[int, ...]] = {
    "int": (8, 16, 32, 64),
    "uint": (8, 16, 32, 64),
    "float": (16, 32, 64),
    "bfloat": (16,),
}
_PATTERN = re.compile(r"^(bool|int|uint|float|bfloat)(\d*)(?:x(\d+))?$")


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """An element type: kind, bits of one lane, and number of vector lanes (1 for a scalar).

    A type equals its name: `x.dtype == "float32"`.
    """

    kind: Kind
    bits: int
    lanes: int = 1
    name: str = field(init=False, repr=False)
    # Asked of every node of every formula, so written down once.
    is_float: bool = field(init=False, repr=False)
    is_int: bool = field(init=False, repr=False)  # signed or unsigned, not bool
    is_bool: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        base = "bool" if self.kind == "bool" else f"{self.kind}{self.bits}"
        name = base if self.lanes == 1 else f"{base}x{self.lanes}"
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "is_float", self.kind in ("float", "bfloat"))
        object.__setattr__(self, "is_int", self.kind in ("int", "uint"))
        object.__setattr__(self, "is_bool", self.kind == "bool")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other or self.name == other.name
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    @staticmethod
    def of(spec: DType | str | type | np.dtype[Any] | None) -> DType:
        """Convert a name ("float32", "int8x4"), a NumPy dtype or type, or a DType itself.

        Raises
        ------
        TypeMismatch
            If the spec names no type that tvmlab knows.
        """
        if isinstance(spec, DType):
            return spec
        if isinstance(spec, str):
            return _parse(spec)
        try:
            if spec is not None:
                return _parse(np.dtype(spec).name)
        except (TypeError, ValueError):
            pass  # what NumPy says of it would not help
        raise TypeMismatch(
            f"an element type cannot be {shown(spec)}", hint='it is a name such as "float32"'
        )

    def __str__(self) -> str:
        return self.name

    # A type also answers what programs ask of its name: `"int" in A.dtype`.

    def __contains__(self, part: str) -> bool:
        return part in self.name

    def __format__(self, form: str) -> str:
        return format(self.name, form)

    def startswith(self, start: str | tuple[str, ...]) -> bool:
        """Whether its name begins so."""
        return self.name.startswith(start)

    def endswith(self, end: str | tuple[str, ...]) -> bool:
        """Whether its name ends so."""
        return self.name.endswith(end)

    def holds(self, value: object) -> bool:
        """Whether a number is a value of this type; of floating-point ones, any is."""
        if self.is_bool:
            return isinstance(value, bool) or value in (0, 1)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if self.is_float:
            return True
        return isfinite(value) and self.min_value <= value <= self.max_value and value % 1 == 0

    @property
    def scalar(self) -> DType:
        """The type of one lane."""
        return self if self.lanes == 1 else _interned(self.kind, self.bits, 1)

    def with_lanes(self, lanes: int) -> DType:
        """The same lane type with another number of lanes."""
        return self if lanes == self.lanes else _interned(self.kind, self.bits, lanes)

    @property
    def itemsize(self) -> int:
        """Bytes that one lane occupies in memory (a bool takes one)."""
        return max(1, self.bits // 8)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of one lane; bfloat16 comes from ml_dtypes."""
        if self.kind == "bfloat":
            return np.dtype(_ml_dtypes().bfloat16)
        return np.dtype(self.scalar.name)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The same as `numpy`; NumPy looks for it, so that `np.zeros(n, dtype=A.dtype)` works."""
        return self.numpy

    @property
    def _limits(self) -> Any:
        """What NumPy's `finfo` says; bfloat16 is known to that of ml_dtypes alone."""
        source = _ml_dtypes() if self.kind == "bfloat" else np
        return source.finfo(self.numpy)

    @property
    def min_value(self) -> int | float:
        """The smallest finite value of a lane."""
        if self.kind == "bool":
            return 0
        if self.is_int:
            return -(1 << (self.bits - 1)) if self.kind == "int" else 0
        return float(self._limits.min)

    @property
    def max_value(self) -> int | float:
        """The largest finite value of a lane."""
        if self.kind == "bool":
            return 1
        if self.is_int:
            return (1 << (self.bits - (self.kind == "int"))) - 1
        return float(self._limits.max)


def _ml_dtypes() -> Any:
    # Here, because most programs have no bfloat16 and a plain `import tvmlab` need not wait for it.
    import ml_dtypes

    return ml_dtypes


@lru_cache(maxsize=512)
def _parse(text: str) -> DType:
    match = _PATTERN.match(text)
    if match:
        kind, bits_text, lanes_text = match.groups()
        lanes = int(lanes_text) if lanes_text else 1
        if kind == "bool" and not bits_text:
            return _interned("bool", 1, lanes)
        if bits_text and int(bits_text) in _BITS.get(kind, ()):
            return _interned(cast(Kind, kind), int(bits_text), lanes)
    raise TypeMismatch(
        f"{text!r} is not an element type that tvmlab knows",
        hint="use bool, int8..int64, uint8..uint64, float16, float32, float64 or bfloat16",
    )


@lru_cache(maxsize=1024)
def _interned(kind: Kind, bits: int, lanes: int) -> DType:
    """The one object for a type: what compares types mostly finds that they are one."""
    return DType(kind, bits, lanes)


BOOL = DType.of("bool")
INT32 = DType.of("int32")
INT64 = DType.of("int64")
FLOAT32 = DType.of("float32")
INDEX = INT64
"""The type of loop variables and buffer indices: 64 bits, so that no buffer is too big for it."""
