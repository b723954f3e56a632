"""The runtime's view of a program: which arguments its kernel takes."""

from __future__ import annotations

from typing import cast

from tvmlab.ir import STRIDES, Binary, Buffer, Cast, Const, Expr, Program, Var
from tvmlab.runtime import BufferParam, Dim, ScalarParam, Signature
from tvmlab.support import Namer, UnsupportedOp

from .emit import kernel_name
from .signature import BufferUse, buffer_uses, nodes_of

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "floormod": "%"}


def kernel_signature(program: Program, like: Program | None = None) -> Signature:
    """The signature of a program's kernel.

    Parameters
    ----------
    like
        The program before lowering, whose parameters still have all their dimensions. Default: the
        program itself.
    """
    uses = buffer_uses(nodes_of(program))
    shown = program if like is None else like
    names = Namer()
    for var in (p for p in shown.params if isinstance(p, Var)):
        names.name(var, var.name)  # scalars first: their names appear in shapes
    strides = _strides(shown, names)
    params: list[BufferParam | ScalarParam] = []
    for param, flat in zip(shown.params, program.params, strict=True):
        name = names.name(param, param.name)
        if isinstance(param, Var):
            params.append(ScalarParam(name, param.dtype))
            continue
        steps = strides.get(param.name, ())
        written = isinstance(flat, Buffer) and uses.get(flat, BufferUse()).written
        shape = tuple(_dim(size, names) for size in param.shape)
        params.append(BufferParam(name, param.dtype, shape, written, 0, steps))
    return Signature(kernel_name(program), tuple(params))


def _strides(program: Program, names: Namer) -> dict[str, tuple[Dim, ...]]:
    """What a program says of the distances in its parameters, with the scalars' final names."""
    rows = cast(
        "tuple[tuple[str, tuple[Dim, ...]], ...]", dict(program.annotations).get(STRIDES, ())
    )
    scalars = {p.name: names.name(p, p.name) for p in program.params if isinstance(p, Var)}
    return {
        name: tuple(scalars[step] if isinstance(step, str) else step for step in steps)
        for name, steps in rows
    }


def _dim(size: Expr, names: Namer) -> Dim:
    return int(size.value) if isinstance(size, Const) else _text(size, names)


def _text(size: Expr, names: Namer) -> str:
    match size:
        case Const():
            return str(size.value)
        case Cast(value=value) if size.dtype.is_int and value.dtype.is_int:
            return _text(value, names)  # a size of 32 bits, widened
        case Var():
            return names.name(size, size.name)
        case Binary(op=op, a=a, b=b) if op in _SIGNS:
            return f"({_text(a, names)} {_SIGNS[op]} {_text(b, names)})"
        case Binary(op=("min" | "max") as op, a=a, b=b):
            return f"{op}({_text(a, names)}, {_text(b, names)})"
        case _:
            raise UnsupportedOp(
                "a buffer's dimension may use + - * // % min and max of scalar parameters only"
            )
