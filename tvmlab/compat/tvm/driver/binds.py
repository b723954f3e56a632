"""Arguments described by buffers: `binds={A: decl_buffer(A.shape, strides=[...])}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from tvmlab.driver import with_strides
from tvmlab.ir import STRIDES, Buffer, Program, const_int
from tvmlab.support import ShapeError, TypeMismatch, UserError
from tvmlab.te import Tensor, View

__all__ = ["described_tensors", "with_binds", "without_binds"]


def described_tensors(
    args: Sequence[Any] | None, binds: Mapping[Tensor, Buffer] | None
) -> list[Any] | None:
    """The arguments, with each buffer among them replaced by the tensor that it describes."""
    if args is None:
        return None
    tensors = {id(buffer): tensor for tensor, buffer in (binds or {}).items()}
    return [_tensor_of(arg, tensors) for arg in args]


def with_binds(
    program: Program,
    args: Sequence[Any] | None,
    binds: Mapping[Tensor, Buffer] | None,
) -> Program:
    """The program whose arguments have the strides that their buffers declare.

    A stride that is a number must be the array's; a variable stands for any.

    Raises
    ------
    ShapeError, TypeMismatch
        If a buffer has another shape or type than the tensor that it describes.
    UserError
        If a buffer describes no argument, or one that is not in main memory.
    """
    if not binds:
        return program
    places = {arg: at for at, arg in enumerate(args or ()) if isinstance(arg, Tensor)}
    strides: dict[str, list[int | None]] = {}
    for tensor, buffer in binds.items():
        if tensor not in places:
            raise UserError(
                f"binds describes {tensor.name}, which is no argument",
                hint=f"leave it out, or add {tensor.name} to the arguments",
            )
        param = program.params[places[tensor]]
        assert isinstance(param, Buffer)
        _require_alike(tensor, buffer)
        if isinstance(buffer, View) and buffer.declared_strides:
            strides[param.name] = [const_int(step) for step in buffer.declared_strides]
    return with_strides(program, strides)


def without_binds(program: Program) -> Program:
    """The program as it is interpreted: by indices, wherever the elements of an array lie."""
    rows = cast(
        "tuple[tuple[str, tuple[int | str, ...]], ...]", dict(program.annotations).get(STRIDES, ())
    )
    distances = {step for _, steps in rows for step in steps}
    return replace(
        program,
        params=tuple(p for p in program.params if p.name not in distances),
        annotations=tuple(note for note in program.annotations if note[0] != STRIDES),
    )


def _tensor_of(arg: Any, tensors: Mapping[int, Tensor]) -> Any:
    if isinstance(arg, Tensor) or not isinstance(arg, Buffer):
        return arg
    found = tensors.get(id(arg))
    if found is None:
        raise UserError(
            f"the buffer {arg.name} among the arguments describes no tensor",
            hint=f"say which one: binds={{tensor: {arg.name}}}",
        )
    return found


def _require_alike(tensor: Tensor, buffer: Buffer) -> None:
    """Refuse a buffer that cannot be the memory of a tensor that is an argument."""
    if buffer.dtype != tensor.dtype:
        raise TypeMismatch(
            f"binds describes {tensor.name}, of {tensor.dtype}, by a buffer of {buffer.dtype}"
        )
    wanted, given = _sizes(tensor.shape), _sizes(buffer.shape)
    if wanted != given:
        raise ShapeError(
            f"binds describes {tensor.name}, of shape {wanted}, by a buffer of shape {given}"
        )
    if buffer.scope != "global":
        raise UserError(
            f"binds describes {tensor.name} by a buffer in {buffer.scope} memory",
            hint="arguments lie in main memory: leave the scope out",
        )


def _sizes(shape: Sequence[Any]) -> str:
    return "(" + ", ".join(str(size) for size in shape) + ")"
