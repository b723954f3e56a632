"""Lowered programs written by hand, compiled and run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.codegen.llvm import EmitOptions, compile_module, emit_module, kernel_signature
from tvmlab.ir import Buffer, Expr, For, Load, Program, Ramp, Stmt, Store, Var, const
from tvmlab.runtime import Kernel
from tvmlab.support import DType
from tvmlab.target import Target

Function: TypeAlias = (
    Callable[[Any], Expr] | Callable[[Any, Any], Expr] | Callable[[Any, Any, Any], Expr]
)


def buffer(name: str, size: int, dtype: str = "float32", scope: Any = "global") -> Buffer:
    return Buffer(name, (const(size),), DType.of(dtype), scope)


def kernel_of(
    program: Program, target: Target | None = None, options: EmitOptions | None = None
) -> Kernel:
    target = target or Target.host()
    compiled = compile_module(emit_module(program, target, options), target)
    return Kernel(compiled.object_bytes, kernel_signature(program))


def run_program(program: Program, *arrays: Any, target: Target | None = None) -> None:
    kernel_of(program, target)(*arrays)


def vector(buf: Buffer, base: Expr, lanes: int, mask: Expr | None = None) -> Load:
    return Load(buf, (Ramp(base, const(1), lanes),), mask)


def elementwise(
    function: Function,
    inputs: list[NDArray[Any]],
    result: str,
    lanes: int = 1,
    target: Target | None = None,
) -> NDArray[Any]:
    """Apply a function of expressions to arrays, `lanes` elements at a time."""
    size = inputs[0].size
    assert size % lanes == 0
    ins = [buffer(f"in{n}", size, _name(array)) for n, array in enumerate(inputs)]
    out = buffer("out", size, result)
    i = Var("i")
    index: Expr = i if lanes == 1 else Ramp(i * lanes, const(1), lanes)
    apply: Any = function
    value = apply(*(Load(b, (index,)) for b in ins))
    body: Stmt = For(i, const(size // lanes), Store(out, (index,), value))
    output = np.zeros(size, DType.of(result).numpy)
    run_program(Program("f", (*ins, out), body), *inputs, output, target=target)
    return output


def _name(array: NDArray[Any]) -> str:
    return array.dtype.name
