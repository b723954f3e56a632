"""The tensor-expression language: say what each element is, not how to loop.

>>> from tvmlab import te
>>> A = te.placeholder((8, 8), name="A")
>>> k = te.reduce_axis(8, "k")
>>> C = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="C")
"""

from .axis import Axis, reduce_axis
from .compute import Formula, compute, placeholder
from .math import (
    abs,
    all,
    any,
    argmax,
    argmin,
    cast,
    ceil,
    const,
    cos,
    eq,
    erf,
    exp,
    exp2,
    floor,
    floordiv,
    floormod,
    if_then_else,
    indexdiv,
    indexmod,
    isnan,
    log,
    log2,
    log10,
    max,
    max_value,
    maximum,
    min,
    min_value,
    minimum,
    ne,
    pow,
    power,
    prod,
    round,
    rsqrt,
    sigmoid,
    sin,
    sqrt,
    sum,
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
    var,
)
from .order import inputs_of, operations_of, topological_order
from .program import create_program
from .reduction import Reduce, Reducer, comm_reducer
from .scan import scan
from .tags import tag_scope
from .tensor import ComputeOp, ExternOp, Operation, PlaceholderOp, ScanOp, Tensor

__all__ = [
    "Axis", "ComputeOp", "ExternOp", "Formula", "Operation", "PlaceholderOp", "Reduce", "Reducer",
    "ScanOp", "Tensor", "abs", "all", "any", "argmax", "argmin", "cast", "ceil", "comm_reducer",
    "compute", "const", "cos", "create_program", "eq", "erf", "exp", "exp2",
    "floor", "floordiv", "floormod", "if_then_else", "indexdiv", "indexmod", "inputs_of", "isnan",
    "log", "log2", "log10", "max", "max_value", "maximum", "min", "min_value", "minimum", "ne",
    "operations_of", "placeholder", "pow", "power", "prod", "reduce_axis", "round", "rsqrt", "scan",
    "sigmoid", "sin", "sqrt", "sum", "tag_scope", "tan", "tanh", "topological_order", "trunc",
    "truncdiv", "truncmod", "var",
]  # fmt: skip
