"""Tensor intrinsics: a computation in the tensor language, and code that does it at once.

>>> gemv = decl_tensor_intrin(c.op, code, binds={a: Ab, b: Bb}, name="gemv")   # doctest: +SKIP
>>> sch.tensorize(yi, gemv)                                                    # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union

from tvmlab.ir import (
    Block,
    Buffer,
    Evaluate,
    Expr,
    Invoke,
    Program,
    Stmt,
    Stride,
    Var,
    const_int,
    parse,
    replace_buffers,
    substitute,
    walk,
)
from tvmlab.support import (
    Namer,
    ShapeError,
    TypeMismatch,
    UserError,
    identifier,
    items_of,
    node,
)

from .buffers import View, operand_of, view_of
from .order import inputs_of
from .program import create_program
from .tensor import ComputeOp, Tensor

HandWritten: TypeAlias = Callable[[Sequence[View], Sequence[View]], Any]
Implementation: TypeAlias = Union[HandWritten, Program, Stmt, str]


@node
class TensorIntrin:
    """A computation and the code that does it.

    Attributes
    ----------
    description
        The computation as an unscheduled program; its buffers are what the code works on.
    inputs, output
        Those buffers.
    body, reset, update
        The whole computation; setting the start values of its sums; and adding to these. Those
        that are None are not known.
    strides
        For each buffer, from the first, what its strides must be; None for any.
    """

    name: str
    description: Program
    inputs: tuple[Buffer, ...]
    output: Buffer
    body: Stmt | None
    reset: Stmt | None
    update: Stmt | None
    strides: tuple[tuple[int | None, ...] | None, ...]
    llvm: str = ""
    """LLVM IR that defines the functions which the code calls; it is linked in with the code."""

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The inputs, then the output."""
        return (*self.inputs, self.output)


Family: TypeAlias = Callable[[str], "TensorIntrin | None"]

_DECLARED: dict[str, TensorIntrin] = {}
_FAMILIES: list[Family] = []


def decl_tensor_intrin(
    op: Tensor | ComputeOp | Any,
    fcompute: HandWritten,
    name: str = "",
    binds: Mapping[Tensor, Buffer] | None = None,
    scalar_params: Sequence[Var] | None = None,
    default_buffer_params: Mapping[str, Any] | None = None,
    llvm: str = "",
) -> TensorIntrin:
    """Declare code for a computation.

    Parameters
    ----------
    op
        The computation, as a tensor or its operation.
    fcompute
        Called with lists of buffers for inputs and outputs; returns a statement, or three: the
        whole computation, setting the start values of its sums (or None), and adding to them.
    name
        The intrinsic's name; a later declaration of the same name takes its place.
    binds
        Buffers with the strides and memory that the code needs of its operands.
    scalar_params, default_buffer_params
        Taken for the sake of old programs; scalars are found in the computation.
    llvm
        LLVM IR of functions that the code calls, to be linked in.

    Raises
    ------
    ShapeError, TypeMismatch, UserError
        If the computation has no constant shape, or what `fcompute` returns is no statement.
    """
    del scalar_params, default_buffer_params
    tensor = _tensor_of(op)
    inputs = inputs_of(tensor)
    views = [_bound_view(t, binds or {}, tensor) for t in (*inputs, tensor)]
    ins = [view_of(v, "read") for v in views[:-1]]
    outs = [view_of(views[-1], "write")]
    made = _statements(fcompute(ins, outs))
    return _declare(name, tensor, made, [*ins, *outs], llvm)


def tensor_intrin(
    name: str,
    description: Tensor,
    body: Implementation | None = None,
    *,
    reset: Implementation | None = None,
    update: Implementation | None = None,
    binds: Mapping[Tensor, Buffer] | None = None,
    llvm: str = "",
) -> TensorIntrin:
    """Declare code for a computation, each part in the form that suits it.

    Parameters
    ----------
    name
        The intrinsic's name.
    description
        The computation.
    body, reset, update
        The whole computation, setting the start values of its sums, and adding to them. Each is a
        function of lists of buffers as in `decl_tensor_intrin`, a program over the inputs and the
        output (or its text), or "symbol:NAME" for a C function that takes pointers to the output
        and the inputs (`reset`: to the output alone).
    binds
        Buffers with the strides and memory that the code needs of its operands.
    llvm
        LLVM IR of functions that the code calls, to be linked in.

    Examples
    --------
    >>> tensor_intrin("add4", c, '''
    ... def add4(a: float32[4], b: float32[4], c: float32[4]):
    ...     for i in vectorized(4):
    ...         c[i] = a[i] + b[i]
    ... ''')                                                                 # doctest: +SKIP
    """
    description = _tensor_of(description)
    inputs = inputs_of(description)
    views = [_bound_view(t, binds or {}, description) for t in (*inputs, description)]
    ins = [view_of(v, "read") for v in views[:-1]]
    parts: list[Stmt | None] = []
    for part, given in (("body", body), ("reset", reset), ("update", update)):
        out = view_of(views[-1], "update" if part == "update" else "write")
        # What sets start values reads nothing, so a C function for it is handed no input.
        operands = [out] if part == "reset" else [out, *ins]
        made = None if given is None else _implemented(given, ins, out, operands)
        parts.append(None if made is None else replace_buffers(made, {out: views[-1]}))
    return _declare(name, description, parts, [*ins, views[-1]], llvm)


def intrinsic_named(name: str) -> TensorIntrin:
    """The intrinsic declared under a name.

    Raises
    ------
    UserError
        If there is none.
    """
    if name not in _DECLARED and not any(family(name) for family in _FAMILIES):
        known = ", ".join(sorted(_DECLARED)) or "there are none yet"
        raise UserError(
            f"no tensor intrinsic is declared as {name!r}",
            hint=f"declare it with te.decl_tensor_intrin; declared: {known}",
        )
    return _DECLARED[name]


def intrinsic_family(declare: Family) -> Family:
    """Have a function declare intrinsics of a family when they are first asked for by name.

    It is handed a name, and returns the intrinsic that it declared, or None if the name is of no
    member of its family. So a trace that names a member can be replayed by who never made one.
    """
    _FAMILIES.append(declare)
    return declare


def intrinsics() -> tuple[str, ...]:
    """The names of all declared intrinsics, the latest last."""
    return tuple(_DECLARED)


def _declare(
    name: str,
    tensor: Tensor,
    parts: Sequence[Stmt | None],
    views: Sequence[Buffer],
    llvm: str,
) -> TensorIntrin:
    description = _description(tensor)
    buffers = [p for p in description.params if isinstance(p, Buffer)]
    for buffer in buffers:
        if buffer.const_shape is None:
            raise ShapeError(
                f"the intrinsic's operand {buffer.name} has no constant shape",
                hint="an intrinsic works on tiles of one size",
            )
    bound = [_over(part, views, buffers) for part in parts]
    body, reset, update = (*bound, None, None, None)[:3]
    if update is None and reset is None and len(parts) == 1:
        body = bound[0]
    chosen = identifier(name) if name else Namer(_DECLARED).fresh(tensor.name)
    made = TensorIntrin(
        chosen,
        description,
        tuple(buffers[:-1]),
        buffers[-1],
        body,
        reset,
        update,
        tuple(_needed_strides(v) for v in views),
        llvm,
    )
    _DECLARED.pop(chosen, None)
    _DECLARED[chosen] = made
    return made


def _description(tensor: Tensor) -> Program:
    sizes = [p for p in create_program(tensor).params if isinstance(p, Var)]
    return create_program(tensor, args=[*sizes, *inputs_of(tensor), tensor])


def _tensor_of(op: Any) -> Tensor:
    made = op.op if isinstance(op, Tensor) else op
    if not isinstance(made, ComputeOp):
        raise TypeMismatch(
            f"an intrinsic describes a computed tensor, not {op!r}",
            hint="pass what te.compute returned, or its op",
        )
    if made.num_outputs != 1:
        raise TypeMismatch(
            f"an intrinsic describes one tensor, but {made.name} makes {made.num_outputs}"
        )
    return made.output(0)


def _bound_view(tensor: Tensor, binds: Mapping[Tensor, Buffer], output: Tensor) -> View:
    given = binds.get(tensor)
    if given is None and tensor is output:
        given = next((b for t, b in binds.items() if t.op is output.op), None)
    if given is None:
        return View(tensor.name, tensor.shape, tensor.dtype)
    shape = [const_int(s) for s in given.shape]
    if given.dtype != tensor.dtype or shape != [const_int(s) for s in tensor.shape]:
        raise ShapeError(
            f"the buffer bound to {tensor.name} is {given.dtype}{shape}, "
            f"but {tensor.name} is {tensor.dtype}{[const_int(s) for s in tensor.shape]}"
        )
    return given if isinstance(given, View) else view_of(given, "update")


def _statements(returned: Any) -> list[Stmt | None]:
    several = items_of(returned) or (returned,)
    if not 1 <= len(several) <= 3:
        raise TypeMismatch(
            f"an intrinsic's function returned {len(several)} things",
            hint="return one statement, or (body, reset, update)",
        )
    return [None if s is None else _statement(s) for s in several]


def _statement(value: object) -> Stmt:
    if isinstance(value, Expr):
        return Evaluate(value)
    if isinstance(value, Stmt):
        return value
    raise TypeMismatch(
        f"an intrinsic's function returned {type(value).__name__}, which is no statement",
        hint="build one with te.ir_builder, or return te.call_extern(...)",
    )


def _implemented(
    given: Implementation, ins: Sequence[View], out: View, operands: Sequence[View]
) -> Stmt:
    if isinstance(given, str) and given.startswith("symbol:"):
        return Invoke(given, tuple(operand_of(v, v.role) for v in operands))
    program = parse(given) if isinstance(given, str) else given
    if isinstance(program, Program):
        return _program_body(program, [*ins, out])
    if isinstance(program, Stmt):
        return program
    return _statement(program(ins, [out]))


def _program_body(program: Program, views: Sequence[View]) -> Stmt:
    params = [p for p in program.params if isinstance(p, Buffer)]
    shapes = [(str(p.dtype), p.const_shape) for p in params]
    wanted = [(str(v.dtype), v.const_shape) for v in views]
    if shapes != wanted:
        raise ShapeError(
            f"the program {program.name} works on {shapes}, but the computation on {wanted}",
            hint="its parameters are the inputs in order of first use, then the output",
        )
    if program.allocs or any(isinstance(n, Block) for n in walk(program.body)):
        raise ShapeError(f"the code {program.name} of an intrinsic has blocks or intermediates")
    return replace_buffers(program.body, dict(zip(params, views, strict=True)))


def _over(part: Stmt | None, views: Sequence[Buffer], buffers: Sequence[Buffer]) -> Stmt | None:
    """A statement with the description's buffers in place of the views it was written for."""
    if part is None:
        return None
    strides: dict[Var, Expr] = {}
    for view, buffer in zip(views, buffers, strict=True):
        for axis, stride in enumerate(view.declared_strides if isinstance(view, View) else ()):
            if isinstance(stride, Var):
                strides[stride] = Stride(buffer, axis)
    places = dict(zip(views, buffers, strict=True))
    return substitute(replace_buffers(part, places), strides)


def _needed_strides(view: Buffer) -> tuple[int | None, ...] | None:
    if not isinstance(view, View) or not view.declared_strides:
        return None
    return tuple(const_int(s) for s in view.declared_strides)
