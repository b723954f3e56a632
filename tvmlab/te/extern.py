"""`extern`: tensors that code from outside the formulas writes.

>>> from tvmlab import te
>>> A = te.placeholder((8,), name="A")
>>> B = te.extern((8,), [A], lambda ins, outs: te.call_packed("my.sort", ins[0], outs[0]), name="B")
>>> C = te.numpy_function((8,), [A], np.sort, name="C")             # doctest: +SKIP
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union, cast

import numpy as np

from tvmlab.ir import (
    Attribute,
    Buffer,
    Evaluate,
    Expr,
    ExprLike,
    Load,
    Stmt,
    seq,
    walk,
    written_buffers,
)
from tvmlab.runtime import register_function
from tvmlab.support import (
    DType,
    RuntimeFailure,
    ShapeError,
    TypeMismatch,
    identifier,
    items_of,
    user_span,
)

from .axis import shape_of
from .buffers import View, view_of
from .calls import call_packed
from .tags import attributes_of, current_tag
from .tensor import ExternOp, Tensor, add_outputs

Shape: TypeAlias = Union[ExprLike, tuple[ExprLike, ...]]
Body: TypeAlias = Callable[[list[View], list[View]], Any]

_numbers = itertools.count()


def extern(
    shape: Shape | Sequence[tuple[ExprLike, ...]],
    inputs: Sequence[Tensor],
    fcompute: Body,
    name: str = "extern",
    dtype: DType | str | Sequence[DType | str] | None = None,
    in_buffers: Sequence[View] | None = None,
    out_buffers: Sequence[View] | None = None,
    tag: str = "",
    attrs: Mapping[str, Attribute] | None = None,
) -> Any:
    """One tensor or several that a statement writes, such as a call of outside code.

    Parameters
    ----------
    shape
        The shape of the output, or a list of shapes for several outputs.
    inputs
        The tensors that the statement reads.
    fcompute
        Takes buffers for the inputs and buffers for the outputs, and returns what fills these: a
        call (`te.call_packed` of a Python function, `te.call_extern` of a C function), or what a
        `te.ir_builder` gives.
    name, tag, attrs
        The name shown everywhere, and free labels.
    dtype
        The element type of the output, or one for each; by default that of the inputs.
    in_buffers, out_buffers
        Buffers declared by `te.decl_buffer` to hand to `fcompute` instead.

    Raises
    ------
    TypeMismatch
        If `fcompute` returns no statement, or the statement writes something else than the outputs.
    """
    sources = _tensors(inputs, name)
    shapes = _shapes(shape, name)
    dtypes = _dtypes(dtype, sources, len(shapes), name)
    ins = list(in_buffers or [view_of(t, "read") for t in sources])
    outs = list(out_buffers or _outputs(name, shapes, dtypes))
    if len(ins) != len(sources) or len(outs) != len(shapes):
        raise ShapeError(
            f"extern {name} has {len(sources)} input(s) and {len(shapes)} output(s), but buffers "
            f"for {len(ins)} and {len(outs)}"
        )
    body = _statement(fcompute(ins, outs), name)
    _check(body, ins, outs, name)
    op = ExternOp(
        identifier(name),
        tuple(sources),
        tuple(ins),
        tuple(outs),
        body,
        tag=current_tag(tag),
        attrs=attributes_of(attrs),
        span=user_span(),
    )
    made = add_outputs(op, shapes, dtypes)
    return made[0] if len(made) == 1 else made


def numpy_function(
    shape: Shape | Sequence[tuple[ExprLike, ...]],
    inputs: Sequence[Tensor],
    function: Callable[..., Any],
    name: str = "numpy_function",
    dtype: DType | str | Sequence[DType | str] | None = None,
) -> Any:
    """One tensor or several computed by a Python function over NumPy arrays.

    Parameters
    ----------
    shape, inputs, name, dtype
        As of `extern`.
    function
        Takes an array for each input, which it must not change, and returns the array of the
        output, or a tuple of one for each.
    """
    packed = f"te.{identifier(name)}.{next(_numbers)}"
    count = len(inputs)

    def fill(*arrays: Any) -> None:
        results = function(*arrays[:count])
        outputs = arrays[count:]
        given = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
        _fill(name, outputs, given)

    register_function(packed)(fill)
    return extern(
        shape, inputs, lambda ins, outs: call_packed(packed, *ins, *outs), name=name, dtype=dtype
    )


def _fill(name: str, outputs: Sequence[Any], results: Sequence[Any]) -> None:
    if len(results) != len(outputs):
        raise RuntimeFailure(
            f"the function of {name} returned {len(results)} value(s) for {len(outputs)} output(s)"
        )
    for output, result in zip(outputs, results, strict=True):
        # A single number may come to code as an array of no dimension or of one element.
        single = np.size(result) == output.size == 1
        if np.shape(result) != output.shape and not single:
            raise RuntimeFailure(
                f"the function of {name} returned an array of shape {np.shape(result)}, the "
                f"output has {output.shape}"
            )
        output[...] = np.reshape(result, output.shape) if single else result


def _listed(value: object) -> list[Any] | None:
    """What a tuple or list holds; None for anything else."""
    return list(cast("Sequence[Any]", value)) if isinstance(value, (tuple, list)) else None


def _tensors(inputs: object, name: str) -> list[Tensor]:
    given = _listed(inputs)
    tensors = [inputs] if given is None else given
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeMismatch(
                f"the inputs of extern {name} are tensors, not {type(tensor).__name__}",
                hint="pass the list of tensors that the code reads; numbers go into the call",
            )
    return cast("list[Tensor]", tensors)


def _shapes(shape: Any, name: str) -> list[tuple[Expr, ...]]:
    parts = _listed(shape)
    if parts is None or all(_listed(part) is None for part in parts):
        return [shape_of(shape, name)]
    return [shape_of(part, f"output {n} of {name}") for n, part in enumerate(parts)]


def _dtypes(dtype: Any, sources: list[Tensor], count: int, name: str) -> list[DType]:
    if dtype is None:
        found = {t.dtype for t in sources}
        if len(found) != 1:
            raise TypeMismatch(
                f"the element type of extern {name} is not clear: its inputs have {len(found)}",
                hint='say it: dtype="float32"',
            )
        return [*found] * count
    given = _listed(dtype) or [dtype] * count
    if len(given) != count:
        raise TypeMismatch(f"extern {name} has {count} output(s), but {len(given)} type(s)")
    return [DType.of(t) for t in given]


def _outputs(name: str, shapes: Sequence[tuple[Expr, ...]], dtypes: Sequence[DType]) -> list[View]:
    buffers = [
        Buffer(f"{identifier(name)}_out{n}", shape, dtype)
        for n, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    ]
    return [view_of(buffer, "write") for buffer in buffers]


def _statement(result: object, name: str) -> Stmt:
    if isinstance(result, Stmt):
        return result
    if isinstance(result, Expr):
        return Evaluate(result)
    parts = items_of(result)
    if parts:
        return seq([_statement(part, name) for part in parts])
    raise TypeMismatch(
        f"the function of extern {name} returned {type(result).__name__}, which is no statement",
        hint="return te.call_packed(...), te.call_extern(...) or the get() of a te.ir_builder; "
        "for a Python function over arrays use te.numpy_function",
    )


def _check(body: Stmt, ins: Sequence[Buffer], outs: Sequence[Buffer], name: str) -> None:
    written = written_buffers(body)
    changed = [b.name for b in ins if b in written]
    if changed:
        raise TypeMismatch(
            f"extern {name} writes {changed[0]}, which is an input",
            hint="inputs are only read: pass them by access_ptr('r'), and results by the outputs",
        )
    idle = [n for n, b in enumerate(outs) if b not in written]
    if idle:
        raise TypeMismatch(f"the statement of extern {name} does not write output {idle[0]}")
    for read in (n for n in walk(body) if isinstance(n, Load)):
        if isinstance(read.buffer, Tensor):
            raise TypeMismatch(
                f"the statement of extern {name} reads the tensor {read.buffer.name} itself",
                hint="list it among the inputs, and read the buffer that stands for it",
            )
