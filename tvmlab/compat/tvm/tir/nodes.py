"""Old names of expressions and statements, for `isinstance` and for making them.

Each name is a class of which tvmlab's own nodes are instances: `isinstance(e, tvm.tir.Add)` looks
at what an expression is, not at how it was made.
"""

# The arguments of old constructors have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import tvmlab.ir as ir
from tvmlab.compat.tvm.mixing import converted
from tvmlab.ir import Expr, as_expr
from tvmlab.ir.mixed import mixing, type_beside
from tvmlab.support import DType
from tvmlab.te import Reduce as _Reduce
from tvmlab.te import Reducer, Tensor

Test = Callable[[Any], bool]


class _Named(type):
    """A class whose instances are tvmlab's nodes that pass a test."""

    test: Test
    make: Callable[..., Any]

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.test(instance)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        with mixing(converted):
            return cls.make(*args, **named)


def _unmakeable(*args: Any, **named: Any) -> Any:
    del args, named
    raise TypeError("statements are made by schedules and by tvm.tir.ir_builder")


def _named(name: str, test: Test, make: Callable[..., Any] = _unmakeable) -> Any:
    return _Named(name, (), {"test": staticmethod(test), "make": staticmethod(make)})


def _binary(name: str, op: str, *others: str) -> Any:
    ops = (op, *others)
    return _named(
        name,
        lambda e: isinstance(e, ir.Binary) and e.op in ops,
        lambda a, b, span=None: ir.binary(op, a, b),  # pyright: ignore
    )


def _compare(name: str, op: str) -> Any:
    return _named(
        name,
        lambda e: isinstance(e, ir.Compare) and e.op == op,
        lambda a, b, span=None: ir.compare(op, a, b),  # pyright: ignore
    )


def _logic(name: str, op: str) -> Any:
    return _named(
        name,
        lambda e: isinstance(e, ir.Logic) and e.op == op,
        lambda a, b, span=None: ir.logic(op, a, b),  # pyright: ignore
    )


def make_select(condition: Any, true_value: Any, false_value: Any, span: Any = None) -> Expr:
    """One of two values, converted to a common type."""
    del span
    with mixing(converted):
        other = false_value.dtype if isinstance(false_value, Expr) else None
        x = as_expr(true_value, other and type_beside(true_value, other))
        y = as_expr(false_value, type_beside(false_value, x.dtype))
    if x.dtype != y.dtype:
        x, y = converted(x, y)
    cond = as_expr(condition)
    return ir.Select(cond if cond.dtype.is_bool else ir.ne(cond, 0), x, y)


Add, Sub, Mul = _binary("Add", "add"), _binary("Sub", "sub"), _binary("Mul", "mul")
Div, Mod = _binary("Div", "div", "truncdiv"), _binary("Mod", "truncmod")
FloorDiv, FloorMod = _binary("FloorDiv", "floordiv"), _binary("FloorMod", "floormod")
Min, Max = _binary("Min", "min"), _binary("Max", "max")
EQ, NE, LT = _compare("EQ", "eq"), _compare("NE", "ne"), _compare("LT", "lt")
LE, GT, GE = _compare("LE", "le"), _compare("GT", "gt"), _compare("GE", "ge")
And, Or = _logic("And", "and"), _logic("Or", "or")
Not = _named("Not", lambda e: isinstance(e, ir.Not), lambda a, span=None: ir.Not(as_expr(a)))
BinaryOpExpr = _named("BinaryOpExpr", lambda e: isinstance(e, ir.Binary))
CmpExpr = _named("CmpExpr", lambda e: isinstance(e, ir.Compare))
ConstExpr = _named("ConstExpr", lambda e: isinstance(e, ir.Const))
IntImm = _named(
    "IntImm",
    lambda e: isinstance(e, ir.Const) and not e.dtype.is_float,
    lambda dtype, value, span=None: ir.const(int(value), dtype),
)
FloatImm = _named(
    "FloatImm",
    lambda e: isinstance(e, ir.Const) and e.dtype.is_float,
    lambda dtype, value, span=None: ir.const(float(value), dtype),
)
StringImm = _named("StringImm", lambda e: isinstance(e, str), lambda value, span=None: str(value))
Var = _named(
    "Var",
    lambda e: isinstance(e, ir.Var),
    lambda name, dtype="int32", span=None: ir.Var(str(name), _size_type(dtype)),
)
SizeVar = Var
Select = _named("Select", lambda e: isinstance(e, ir.Select), make_select)
Cast = _named(
    "Cast",
    lambda e: isinstance(e, ir.Cast),
    lambda dtype, value, span=None: ir.cast(value, dtype),
)
Call = _named("Call", lambda e: isinstance(e, ir.Call | ir.Invoke))
Load = _named("Load", lambda e: isinstance(e, ir.Load))
BufferLoad = Load
ProducerLoad = _named(
    "ProducerLoad", lambda e: isinstance(e, ir.Load) and isinstance(e.buffer, Tensor)
)
Reduce = _named("Reduce", lambda e: isinstance(e, _Reduce))
CommReducer = _named("CommReducer", lambda e: isinstance(e, Reducer | ir.Combiner))
Ramp = _named(
    "Ramp",
    lambda e: isinstance(e, ir.Ramp),
    lambda base, stride, lanes, span=None: ir.Ramp(as_expr(base), as_expr(stride), int(lanes)),
)
Broadcast = _named(
    "Broadcast",
    lambda e: isinstance(e, ir.Broadcast),
    lambda value, lanes, span=None: ir.Broadcast(as_expr(value), int(lanes)),
)
Let = _named("Let", lambda e: False)
For = _named("For", lambda s: isinstance(s, ir.For))
IfThenElse = _named("IfThenElse", lambda s: isinstance(s, ir.If))
Store = _named("Store", lambda s: isinstance(s, ir.Store))
BufferStore = Store
Evaluate = _named("Evaluate", lambda s: isinstance(s, ir.Evaluate | ir.Invoke))
SeqStmt = _named("SeqStmt", lambda s: isinstance(s, ir.Seq))
LetStmt = _named("LetStmt", lambda s: isinstance(s, ir.Let))
Allocate = _named("Allocate", lambda s: isinstance(s, ir.Alloc))
AttrStmt = _named("AttrStmt", lambda s: False)


class ForKind(IntEnum):
    """How loops run."""

    SERIAL = 0
    PARALLEL = 1
    VECTORIZED = 2
    UNROLLED = 3
    THREAD_BINDING = 4


CallEffectKind = SimpleNamespace(Pure=1, Opaque=4)


def _size_type(dtype: Any) -> DType:
    """The type of a variable; whole numbers are computed with 64 bits."""
    return ir.const(0).dtype if str(dtype) in ("int32", "int64") else DType.of(dtype)
