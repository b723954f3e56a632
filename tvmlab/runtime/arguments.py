"""Checking what a kernel is called with, before its machine code trusts it.

Every refusal names the argument, says what was expected and what came, and what would work. Nothing
is copied: an array that does not fit is refused, not converted.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import INDEX, DType, RuntimeFailure, ShapeError, TypeMismatch

from .quick import address_of
from .signature import BufferParam, Param, ScalarParam, Signature, evaluate_dim

LARGEST_INDEX = 1 << 48
"""No address space is larger; products of this with any stride in use stay within 64 bits."""

_STRUCT_CODES = {"int": {8: "b", 16: "h", 32: "i", 64: "q"},
                 "uint": {8: "B", 16: "H", 32: "I", 64: "Q"},
                 "float": {16: "e", 32: "f", 64: "d"}}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BoundArguments:
    """Checked arguments: the array of slots that the kernel reads, and what keeps it valid."""

    slots: Any
    arrays: tuple[NDArray[Any], ...]


def bind_arguments(signature: Signature, arguments: Sequence[Any]) -> BoundArguments:
    """Check arguments against a signature and lay them out in 8-byte slots.

    Raises
    ------
    RuntimeFailure, ShapeError, TypeMismatch
        If an argument does not fit.
    """
    given = _pair_up(signature, arguments)
    arrays: dict[str, NDArray[Any]] = {}
    scalars: dict[str, int | float] = {}
    for param, value in given:
        if isinstance(param, BufferParam):
            arrays[param.name] = _as_array(param, value)
        else:
            scalars[param.name] = _as_scalar(param, value)
    sizes = {name: value for name, value in scalars.items() if isinstance(value, int)}
    _infer_sizes(signature, arrays, sizes)
    for param in signature.params:
        if isinstance(param, BufferParam):
            _check_array(param, arrays[param.name], sizes)
            if param.strides:
                _note_strides(param, arrays[param.name], sizes)
    _check_overlap(signature, arrays)
    slots = (ctypes.c_uint64 * max(1, len(signature.params)))()
    for number, param in enumerate(signature.params):
        if isinstance(param, BufferParam):
            slots[number] = address_of(arrays[param.name])
        else:
            slots[number] = _scalar_bits(param, scalars.get(param.name, sizes.get(param.name)))
    return BoundArguments(slots, tuple(arrays.values()))


def _pair_up(signature: Signature, arguments: Sequence[Any]) -> list[tuple[Param, Any]]:
    """Parameters with their arguments; scalars that shapes give may be left out, all together."""
    params: Sequence[Param] = signature.callable_params
    if len(arguments) != len(params):
        inferred = signature.inferred
        params = [p for p in params if p.name not in inferred]
    if len(arguments) != len(params):
        raise RuntimeFailure(
            f"{signature.name} takes {len(params)} argument(s), not {len(arguments)}",
            hint=f"call it as {signature}; outputs are passed too and written in place",
        )
    return list(zip(params, arguments, strict=True))


def _as_array(param: BufferParam, value: Any) -> NDArray[Any]:
    """The argument as a NumPy array over the same memory."""
    if isinstance(value, np.ndarray):
        return cast("NDArray[Any]", value)
    if not hasattr(value, "__dlpack__"):
        raise TypeMismatch(
            f"argument {param.name} is a {type(value).__name__}, not an array",
            hint="pass a NumPy array, or any object with __dlpack__ such as a torch tensor",
        )
    try:
        return np.from_dlpack(value)
    except Exception as error:  # whatever the producer raises
        raise RuntimeFailure(
            f"argument {param.name} ({type(value).__name__}) gives no DLPack view: {error}",
            hint="it must be on the CPU, detached from autograd, and of a type that NumPy has",
        ) from error


def _as_scalar(param: ScalarParam, value: object) -> int | float:
    if not isinstance(value, (int, float, np.integer, np.floating)):  # np.bool is neither
        raise TypeMismatch(
            f"argument {param.name} is a {type(value).__name__}, not a number of type {param.dtype}"
        )
    given = cast("int | float", value)
    try:
        number = float(given) if param.dtype.is_float else int(given)
    except (ValueError, OverflowError):  # a NaN or infinity where an integer is wanted
        number = None
    if number is None or not _is_value(number, given, param.dtype):
        raise TypeMismatch(f"argument {param.name} is {value}, not a value of type {param.dtype}")
    if param.dtype == INDEX and abs(number) > LARGEST_INDEX:
        raise RuntimeFailure(
            f"argument {param.name} is {value}: int64 scalars are taken for sizes and indices, "
            f"whose arithmetic must not overflow, so they may be at most {LARGEST_INDEX}",
            hint="a number that is no index can be passed as uint64, or as an array of one element",
        )
    return number


def _is_value(number: float, given: float, dtype: DType) -> bool:
    """Whether a number is one of a type: whole and in range, or a float that does not overflow."""
    if dtype.is_float:
        return not math.isfinite(number) or abs(number) <= dtype.max_value
    return dtype.min_value <= number <= dtype.max_value and number == given


def _infer_sizes(
    signature: Signature, arrays: dict[str, NDArray[Any]], sizes: dict[str, int]
) -> None:
    """Read scalars that were not passed off the first array that has them as a dimension."""
    inferred = signature.inferred
    for param in signature.params:
        if isinstance(param, BufferParam) and arrays[param.name].ndim == len(param.shape):
            for dim, size in zip(param.shape, arrays[param.name].shape, strict=True):
                if isinstance(dim, str) and dim in inferred:
                    sizes.setdefault(dim, size)


def _check_array(param: BufferParam, array: NDArray[Any], sizes: dict[str, int]) -> None:
    if array.dtype != param.dtype.numpy:
        raise TypeMismatch(
            f"argument {param.name} has element type {array.dtype}, the kernel needs {param.dtype}",
            hint=f"convert it, for example with .astype({param.dtype.name!r})",
        )
    wanted = tuple(evaluate_dim(dim, sizes) for dim in param.shape)
    fits = array.ndim == len(wanted) and all(
        want is None or want == size for want, size in zip(wanted, array.shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"argument {param.name} has shape {array.shape}, the kernel needs "
            f"{_shape_text(param, wanted)}"
        )
    if not param.strides and not array.flags.c_contiguous:
        raise RuntimeFailure(
            f"argument {param.name} is not contiguous in row-major order (strides {array.strides})",
            hint=f"pass np.ascontiguousarray({param.name})"
            + (", and copy the result back" if param.written else ""),
        )
    alignment = param.alignment or param.dtype.itemsize
    if address_of(array) % alignment:
        raise RuntimeFailure(
            f"argument {param.name} is not aligned to {alignment} bytes",
            hint="make it with tvmlab.runtime.empty(shape, dtype), or copy it",
        )
    if param.written and not array.flags.writeable:
        raise RuntimeFailure(
            f"argument {param.name} is written by the kernel but is read-only",
            hint="arrays imported through DLPack are read-only unless the producer allows writing: "
            f"pass a writable NumPy array over the same memory (torch: {param.name}.numpy()), "
            "or a copy",
        )


def _note_strides(param: BufferParam, array: NDArray[Any], sizes: dict[str, int]) -> None:
    """Read the distances of neighbors off a view, and check those that are fixed."""
    for axis, (step, size, given) in enumerate(
        zip(param.strides, array.shape, array.strides, strict=True)
    ):
        distance, rest = divmod(given, array.itemsize)
        fits = rest == 0 and (isinstance(step, str) or step == distance or size <= 1)
        if not fits:
            raise RuntimeFailure(
                f"neighbors along axis {axis} of argument {param.name} lie {given} bytes apart, "
                f"the kernel needs {'whole elements' if rest else f'{step} element(s)'}",
                hint=f"pass np.ascontiguousarray({param.name}), or build with other strides",
            )
        if isinstance(step, str):
            sizes[step] = distance
    if param.written and _meets_itself(array):
        raise RuntimeFailure(
            f"argument {param.name} is written by the kernel, and elements of it share memory",
            hint="pass a view whose elements lie apart, or a copy",
        )


def _meets_itself(array: NDArray[Any]) -> bool:
    """Whether elements of a view may share memory: apart are axes that step over each other."""
    reach = array.itemsize
    axes = zip(array.strides, array.shape, strict=True)
    for step, size in sorted((abs(step), size) for step, size in axes if size > 1):
        if step < reach:
            return True
        reach = step * size
    return False


def _span(array: NDArray[Any]) -> tuple[int, int]:
    """The addresses between which the elements of a view lie."""
    low = high = address_of(array)
    for step, size in zip(array.strides, array.shape, strict=True):
        low, high = low + min(step, 0) * (size - 1), high + max(step, 0) * (size - 1)
    return low, high + array.itemsize


def _shape_text(param: BufferParam, wanted: tuple[int | None, ...]) -> str:
    parts = [
        str(dim) if size is None or isinstance(dim, int) else f"{dim} = {size}"
        for dim, size in zip(param.shape, wanted, strict=True)
    ]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _check_overlap(signature: Signature, arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse an output that shares memory with another argument: the code assumes it does not."""
    spans = [
        (*_span(array), param)
        for param in signature.params
        if isinstance(param, BufferParam) and (array := arrays[param.name]).nbytes
    ]
    spans.sort(key=lambda span: span[0])
    for position, (_, end, param) in enumerate(spans):
        for start, _, other in spans[position + 1 :]:
            if start >= end:
                break
            if param.written or other.written:
                output, second = (param, other) if param.written else (other, param)
                raise RuntimeFailure(
                    f"argument {output.name} is written by the kernel and shares memory with "
                    f"argument {second.name}",
                    hint=f"pass a copy of one of them, for example {second.name}.copy()",
                )


def _scalar_bits(param: ScalarParam, value: int | float | None) -> int:
    if value is None:
        raise RuntimeFailure(f"argument {param.name} is neither given nor the size of an array")
    code = _STRUCT_CODES[param.dtype.kind][param.dtype.bits]
    return int.from_bytes(struct.pack(f"<{code}", value), "little")
