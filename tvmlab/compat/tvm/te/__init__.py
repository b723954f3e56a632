"""The tensor language with the arguments and the silent conversions of old programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tvmlab.te as _te
from tvmlab.compat.tvm.folds import max, min, prod, sum
from tvmlab.compat.tvm.ir.ranges import Range
from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.mixing import converted, old_index
from tvmlab.compat.tvm.tir.build import IN_FORMULA, all, any, if_then_else
from tvmlab.compat.tvm.transform import PassContext
from tvmlab.ir import Equality, Expr, Var
from tvmlab.ir.mixed import mixing
from tvmlab.support import INDEX, DType, TypeMismatch, items_of
from tvmlab.te import ThreadAxis as IterVar

from . import operation, schedule, tensor
from .bounded import bounded
from .intrin import compute_of_slices, decl_tensor_intrin, tensorize_calls
from .tensors import OldAttributes, adopted

_missing = missing(
    "tvm.te",
    hybrid="write the loops with tvmlab.kernel, or as te.compute",
)


def __getattr__(name: str) -> Any:
    found = getattr(_te, name, None)
    return _missing(name) if found is None else found


def var(name: str = "tindex", dtype: DType | str = "int32", span: Any = None) -> Var:
    """A scalar; whole numbers of old programs are sizes, which tvmlab computes with 64 bits."""
    del span
    return Var(name, INDEX if str(dtype) in ("int32", "int64") else DType.of(dtype))


size_var = var


def placeholder(shape: Any, dtype: DType | str | None = None, name: str = "placeholder") -> Any:
    """An input tensor."""
    return adopted(_te.placeholder(_shape(shape), dtype or "float32", name))


def compute(
    shape: Any,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Any = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """A tensor, or a tuple of tensors, given by a formula of its indices."""
    del varargs_names
    given = OldAttributes.of(attrs)
    options = {} if given is None else {"attrs": given}
    rank = len(_shape(shape))
    takes = inspect.signature(fcompute).parameters.values()
    free = [p for p in takes if p.kind is p.VAR_POSITIONAL or p.default is p.empty]
    count = rank if builtin_any(p.kind is p.VAR_POSITIONAL for p in free) else len(free)
    if count < rank:
        return compute_of_slices(_shape(shape), fcompute, count, name, tag)

    def formula(*indices: Any) -> Any:
        token = IN_FORMULA.set(True)
        try:
            result = fcompute(*indices)
        finally:
            IN_FORMULA.reset(token)
        several = items_of(result)
        given = [r.formula if isinstance(r, Equality) else r for r in several or (result,)]
        values = tuple(bounded(old_index(r), indices) for r in given)
        return values[0] if several is None else values

    formula.__signature__ = inspect.signature(fcompute)
    with mixing(converted):
        return adopted(_te.compute(_shape(shape), formula, name, tag, **options))


def reduce_axis(dom: Any, name: str = "rv", thread_tag: str = "", span: Any = None) -> Any:
    """An axis to reduce over: the pair (start, end), or the number of values."""
    del thread_tag, span
    if isinstance(dom, _te.Range):
        dom = (dom.min, dom.min + dom.extent)
    return _te.reduce_axis(_pair(dom), name)


def thread_axis(dom: Any = None, tag: str = "", name: str = "", span: Any = None) -> Any:
    """An index of threads."""
    del span
    if isinstance(dom, _te.Range):
        dom = (dom.min, dom.min + dom.extent)
    return _te.thread_axis(_pair(dom), tag, name)


def comm_reducer(
    fcombine: Callable[..., Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> Any:
    """A reduction by an operation of your own, under old conversions."""

    def combine(x: Any, y: Any) -> Any:
        with mixing(converted):
            return fcombine(x, y)

    made = _te.comm_reducer(combine, fidentity, name)

    def reduce(value: Any, *more: Any, **named: Any) -> Any:
        several = items_of(value)
        given = old_index(value) if several is None else tuple(map(old_index, several))
        return made(given, *more, **named)

    reduce.reducer = made  # pyright: ignore[reportFunctionMemberAccess]
    return reduce


def extern(*args: Any, **options: Any) -> Any:
    """Outputs written by outside code."""
    with mixing(converted):
        return adopted(_te.extern(*args, **options))


def scan(init: Any, update: Any, state_placeholder: Any, inputs: Any = None, **options: Any) -> Any:
    """States that follow from their earlier values, step by step."""
    if inputs is not None and items_of(inputs) is None:
        inputs = [inputs]
    options.pop("attrs", None)
    return adopted(_te.scan(init, update, state_placeholder, inputs or (), **options))


def create_schedule(ops: Any) -> Any:
    """A schedule; it keeps a record of its steps if the pass context asks for one."""
    s = _te.create_schedule(ops)
    tensorize_calls(s)
    keep = PassContext.current().config.get("te.keep_schedule_record", False)
    s.schedule_record = s.primitive_record if keep else []
    return s


class tag_scope(_te.tag_scope):  # noqa: N801 - TVM's name
    """A tag for the computes made inside a `with` block, or in a function that it decorates."""

    def __enter__(self) -> Any:
        try:
            return super().__enter__()
        except TypeMismatch as error:
            raise NestedTagError(error.message, hint=error.hint) from error


class NestedTagError(TypeMismatch, ValueError):
    """A tag scope inside another one."""


def _pair(dom: Any) -> Any:
    """A range as a pair, given as a list or a tuple; a number as it is."""
    several = items_of(dom)
    return dom if several is None else tuple(several)


def _shape(shape: Any) -> tuple[Any, ...]:
    """A shape; a whole number that division made a float counts as the integer it is."""
    several = items_of(shape)
    sizes: Sequence[Any] = (shape,) if several is None else several
    return tuple(int(s) if isinstance(s, float) and s.is_integer() else s for s in sizes)


def builtin_any(values: Any) -> bool:
    """Python's own `any`, which the name of te's hides here."""
    return next((True for v in values if v), False)


__all__ = [
    "Expr", "IterVar", "Range", "all", "any", "comm_reducer", "compute", "create_schedule",
    "decl_tensor_intrin", "extern", "if_then_else", "max", "min", "operation", "placeholder",
    "prod", "reduce_axis", "scan", "schedule", "size_var", "sum", "tensor", "thread_axis", "var",
]  # fmt: skip
