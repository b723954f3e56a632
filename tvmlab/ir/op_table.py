"""The functions that a `Call` may name: arity, meaning in NumPy, and types.

One table for the printer, the interpreter, code generators and `te`. A new function is one row here
and one lowering rule in each code generator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tvmlab.support import BOOL, INT32, DType

from .op_meaning import (
    erf,
    exp10,
    leading_zeros,
    multiply_add,
    outside,
    popcount,
    power,
    q_multiply_shift,
    round_half_away,
    rsqrt,
    saturating,
)


@dataclass(frozen=True, slots=True)
class CallInfo:
    """One function: how many arguments it takes and what it means, as a NumPy function.

    Attributes
    ----------
    result
        The type of the result: that of the first argument, of one of its lanes, bool, always the
        same one, or any that the call states.
    others
        The type of the arguments after the first; None: that of the first.
    by_width
        Whether the meaning needs integers of the argument's width, not just any integer.
    """

    name: str
    arity: int
    meaning: Callable[..., Any]
    result: Literal["same", "lane", "bool", "any"] | DType = "same"
    others: DType | None = None
    by_width: bool = False

    def result_type(self, argument: DType) -> DType:
        """The type of the result for a first argument of the given type."""
        if isinstance(self.result, DType):
            return self.result.with_lanes(argument.lanes)
        if self.result == "lane":
            return argument.scalar
        return BOOL.with_lanes(argument.lanes) if self.result == "bool" else argument

    def argument_type(self, first: DType) -> DType:
        """The type that the arguments after the first must have."""
        return first if self.others is None else self.others.with_lanes(first.lanes)


_SATURATED = tuple(DType(kind, bits) for kind in ("int", "uint") for bits in (8, 16, 32, 64))

_ROWS: tuple[CallInfo, ...] = (
    CallInfo("abs", 1, np.abs),
    CallInfo("sqrt", 1, np.sqrt),
    CallInfo("rsqrt", 1, rsqrt),
    CallInfo("exp", 1, np.exp),
    CallInfo("exp2", 1, np.exp2),
    CallInfo("exp10", 1, exp10),
    CallInfo("expm1", 1, np.expm1),
    CallInfo("log", 1, np.log),
    CallInfo("log2", 1, np.log2),
    CallInfo("log10", 1, np.log10),
    CallInfo("log1p", 1, np.log1p),
    CallInfo("sin", 1, np.sin),
    CallInfo("cos", 1, np.cos),
    CallInfo("tan", 1, np.tan),
    CallInfo("asin", 1, np.arcsin),
    CallInfo("acos", 1, np.arccos),
    CallInfo("atan", 1, np.arctan),
    CallInfo("atan2", 2, np.arctan2),
    CallInfo("sinh", 1, np.sinh),
    CallInfo("cosh", 1, np.cosh),
    CallInfo("tanh", 1, np.tanh),
    CallInfo("asinh", 1, np.arcsinh),
    CallInfo("acosh", 1, np.arccosh),
    CallInfo("atanh", 1, np.arctanh),
    CallInfo("erf", 1, erf),
    CallInfo("floor", 1, np.floor),
    CallInfo("ceil", 1, np.ceil),
    CallInfo("trunc", 1, np.trunc),
    CallInfo("round", 1, round_half_away),
    CallInfo("nearbyint", 1, np.rint),
    CallInfo("pow", 2, power),
    CallInfo("fmod", 2, np.fmod),
    CallInfo("hypot", 2, np.hypot),
    CallInfo("copysign", 2, np.copysign),
    CallInfo("nextafter", 2, np.nextafter),
    CallInfo("ldexp", 2, np.ldexp, others=INT32),
    CallInfo("fma", 3, multiply_add),
    CallInfo("isnan", 1, np.isnan, "bool"),
    CallInfo("isinf", 1, np.isinf, "bool"),
    CallInfo("isfinite", 1, np.isfinite, "bool"),
    CallInfo("popcount", 1, popcount, by_width=True),
    CallInfo("clz", 1, leading_zeros, by_width=True),
    CallInfo("q_multiply_shift", 4, q_multiply_shift),
    # All lanes of a vector joined to one value; sums and products in any order.
    CallInfo("lanes_add", 1, np.add.reduce, "lane"),
    CallInfo("lanes_mul", 1, np.multiply.reduce, "lane"),
    CallInfo("lanes_min", 1, np.minimum.reduce, "lane"),
    CallInfo("lanes_max", 1, np.maximum.reduce, "lane"),
    # Makes the call of the kernel fail: an index, its limit, the number of a text (check_indices).
    CallInfo("outside", 3, outside, "any"),
    *(CallInfo(f"saturate_{t}", 1, saturating(t), t) for t in _SATURATED),
)

CALLS: dict[str, CallInfo] = {row.name: row for row in _ROWS}

SYMBOL = "symbol:"
"""Before the name of a C function that a `Call` may name too: it takes values and gives one, which
depends on nothing else."""


JOIN_LANES = "lanes_"
"""Before the operation by which a `Call` joins all lanes of a vector."""


def call_info(op: str) -> CallInfo:
    """The row of a function; for a C function one that says nothing of its arguments.

    Raises
    ------
    KeyError
        If there is no such function.
    """
    if op.startswith(SYMBOL) and op != SYMBOL:
        return CallInfo(op, -1, _unknown, "any")
    return CALLS[op]


def _unknown(*args: Any) -> Any:
    """The meaning of a C function, which only running it tells."""
    raise KeyError(args)
