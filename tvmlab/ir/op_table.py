"""The functions that a `Call` may name: arity, meaning in NumPy, and result type.

One table for the printer, the interpreter, code generators and `te`. A new function is one row here
and one lowering rule in each code generator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tvmlab.support import BOOL, DType


@dataclass(frozen=True, slots=True)
class CallInfo:
    """One function: how many arguments it takes and what it means, as a NumPy function."""

    name: str
    arity: int
    meaning: Callable[..., Any]
    result: Literal["same", "bool"] = "same"

    def result_type(self, argument: DType) -> DType:
        """The type of the result for a first argument of the given type."""
        return argument if self.result == "same" else BOOL.with_lanes(argument.lanes)


def _erf(x: Any) -> Any:
    """Gauss error function; NumPy has none, so each element goes through the C library's."""
    from math import erf

    over_elements: Any = np.vectorize(erf, otypes=[np.float64])
    return over_elements(x)


def _round_half_even(x: Any) -> Any:
    return np.rint(x)


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _fma(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


_ROWS: tuple[CallInfo, ...] = (
    CallInfo("abs", 1, np.abs),
    CallInfo("sqrt", 1, np.sqrt),
    CallInfo("rsqrt", 1, _rsqrt),
    CallInfo("exp", 1, np.exp),
    CallInfo("exp2", 1, np.exp2),
    CallInfo("log", 1, np.log),
    CallInfo("log2", 1, np.log2),
    CallInfo("log10", 1, np.log10),
    CallInfo("sin", 1, np.sin),
    CallInfo("cos", 1, np.cos),
    CallInfo("tan", 1, np.tan),
    CallInfo("tanh", 1, np.tanh),
    CallInfo("erf", 1, _erf),
    CallInfo("floor", 1, np.floor),
    CallInfo("ceil", 1, np.ceil),
    CallInfo("trunc", 1, np.trunc),
    CallInfo("round", 1, _round_half_even),
    CallInfo("pow", 2, np.power),
    CallInfo("fma", 3, _fma),
    CallInfo("isnan", 1, np.isnan, "bool"),
)

CALLS: dict[str, CallInfo] = {row.name: row for row in _ROWS}
