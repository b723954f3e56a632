"""Updates of one element by all lanes of a vector: `S[i] = S[i] + value(lane)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.ir import (
    JOIN_LANES,
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Expr,
    Load,
    Store,
    const,
    loads_of,
    structural_equal,
)
from tvmlab.support import DType

_OPS = ("add", "mul", "min", "max")


@dataclass(frozen=True, slots=True)
class LaneUpdate:
    """An element is joined with a value of each lane by an operation whose order is free."""

    op: BinaryOp
    value: Expr

    def neutral(self, lanes: int) -> Expr:
        """The value, for so many lanes, that changes nothing."""
        value = const(_neutral(self.op, self.value.dtype), self.value.dtype)
        return value if lanes == 1 else Broadcast(value, lanes)

    def joined(self, vectors: Sequence[Expr]) -> Expr:
        """Vectors of equal size as one value: pairs of them first, lanes at the end."""
        level = list(vectors)
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            level = [Binary(self.op, a, b) for a, b in pairs] + level[len(level) // 2 * 2 :]
        (vector,) = level
        if vector.dtype.lanes == 1:
            return vector
        return Call(f"{JOIN_LANES}{self.op}", (vector,), vector.dtype.scalar)


def lane_update(store: Store) -> LaneUpdate | None:
    """The update that a store of a scalar is, if it is one."""
    value = store.value
    if not isinstance(value, Binary) or value.op not in _OPS or value.dtype.is_bool:
        return None
    for own, other in ((value.a, value.b), (value.b, value.a)):
        if _is_own(own, store) and all(n.buffer is not store.buffer for n in loads_of(other)):
            return LaneUpdate(value.op, other)
    return None


def _is_own(e: Expr, store: Store) -> bool:
    return (
        isinstance(e, Load)
        and e.buffer is store.buffer
        and all(structural_equal(a, b) for a, b in zip(e.indices, store.indices, strict=True))
    )


def _neutral(op: str, dtype: DType) -> float:
    if op == "add":
        return -0.0 if dtype.is_float else 0
    if op == "mul":
        return 1
    if dtype.is_float:
        return float("inf") if op == "min" else float("-inf")
    return dtype.max_value if op == "min" else dtype.min_value
