"""The tensor language with the arguments and the silent conversions of old programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tvmlab import te as _te
from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.mixing import converted, old_index
from tvmlab.compat.tvm.tir.build import all, any, if_then_else
from tvmlab.ir import Expr, Var
from tvmlab.ir.mixed import mixing
from tvmlab.support import INDEX, DType
from tvmlab.te import *  # noqa: F403
from tvmlab.te import ThreadAxis as IterVar
from tvmlab.te import create_schedule

from . import operation, schedule, tensor

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
    return _te.placeholder(_shape(shape), dtype or "float32", name)


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
    options = {} if not attrs else {"attrs": dict(attrs)}
    rank = len(_shape(shape))
    takes = inspect.signature(fcompute).parameters.values()
    free = [p for p in takes if p.kind is p.VAR_POSITIONAL or p.default is p.empty]
    count = rank if builtin_any(p.kind is p.VAR_POSITIONAL for p in free) else len(free)
    if count < rank:
        return compute_of_tensors(_shape(shape), fcompute, count, name, tag)

    def formula(*indices: Any) -> Any:
        result = fcompute(*indices)
        if isinstance(result, tuple | list):
            return tuple(old_index(r) for r in result)  # pyright: ignore
        return old_index(result)

    formula.__signature__ = inspect.signature(fcompute)  # pyright: ignore[reportFunctionMemberAccess]
    with mixing(converted):
        return _te.compute(_shape(shape), formula, name, tag, **options)


def compute_of_tensors(
    shape: tuple[Any, ...], fcompute: Callable[..., Any], count: int, name: str, tag: str
) -> Any:
    """A tensor whose last dimensions a tensor intrinsic computes at once."""
    from tvmlab.compat.tvm.missing import refused

    del shape, fcompute, count, tag
    raise refused(
        f"compute {name} over fewer indices than dimensions",
        "write the formula of each element, and call s[C].tensorize with the intrinsic",
    )


def reduce_axis(dom: Any, name: str = "rv", thread_tag: str = "", span: Any = None) -> Any:
    """An axis to reduce over: the pair (start, end), or the number of values."""
    del thread_tag, span
    if hasattr(dom, "extent"):
        dom = (dom.min, dom.min + dom.extent)
    return _te.reduce_axis(tuple(dom) if isinstance(dom, list) else dom, name)


def thread_axis(dom: Any = None, tag: str = "", name: str = "", span: Any = None) -> Any:
    """An index of threads."""
    del span
    return _te.thread_axis(tuple(dom) if isinstance(dom, list) else dom, tag, name)


def comm_reducer(
    fcombine: Callable[..., Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> Any:
    """A reduction by an operation of your own, under old conversions."""

    def combine(x: Any, y: Any) -> Any:
        with mixing(converted):
            return fcombine(x, y)

    made = _te.comm_reducer(combine, fidentity, name)

    def reduce(
        value: Any, axis: Any = None, where: Any = None, init: Any = None, *more: Any
    ) -> Any:
        given = (
            tuple(old_index(v) for v in value)
            if isinstance(value, tuple | list)
            else old_index(value)
        )
        return made(given, axis, where, init, *more)

    reduce.reducer = made  # pyright: ignore[reportFunctionMemberAccess]
    return reduce


def extern(*args: Any, **options: Any) -> Any:
    """Outputs written by outside code."""
    with mixing(converted):
        return _te.extern(*args, **options)


def scan(*args: Any, **options: Any) -> Any:
    """States that follow from their earlier values, step by step."""
    return _te.scan(*args, **options)


def _shape(shape: Any) -> tuple[Any, ...]:
    """A shape; a whole number that division made a float counts as the integer it is."""
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(int(s) if isinstance(s, float) and s.is_integer() else s for s in sizes)


def builtin_any(values: Any) -> bool:
    """Python's own `any`, which the name of te's hides here."""
    return next((True for v in values if v), False)


__all__ = [
    "Expr", "IterVar", "all", "any", "comm_reducer", "compute", "create_schedule", "extern",
    "if_then_else", "operation", "placeholder", "reduce_axis", "scan", "schedule", "size_var",
    "tensor", "thread_axis", "var",
]  # fmt: skip
