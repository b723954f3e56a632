"""Arrays as old programs hold them, around NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmlab.ir import Expr, const_int
from tvmlab.runtime import empty as aligned_empty
from tvmlab.support import DType, ShapeError

from .device import Device, cl, cpu, cuda, device, gpu, metal, opencl, rocm, vulkan
from .missing import missing

__all__ = [
    "NDArray", "array", "cl", "cpu", "cuda", "device", "empty", "from_dlpack", "gpu", "metal",
    "numpyasarray", "opencl", "rocm", "vulkan",
]  # fmt: skip

__getattr__ = missing("tvm.nd")


class NDArray:
    """An array on a device; `numpy()` is a copy of what it holds."""

    def __init__(self, data: np.ndarray[Any, Any], place: Device) -> None:
        self.data = data
        self.device = place

    @property
    def ctx(self) -> Device:
        """The device, by its old name."""
        return self.device

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def dtype(self) -> str:
        return self.data.dtype.name

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy as a NumPy array."""
        return self.data.copy()

    asnumpy = numpy

    def copyfrom(self, source: Any) -> NDArray:
        """Take over the values of another array of the same shape."""
        values = source.data if isinstance(source, NDArray) else np.asarray(source)
        if values.shape != self.shape:
            raise ShapeError(f"an array of shape {values.shape} does not fit into {self.shape}")
        self.data[...] = values
        return self

    def copyto(self, target: NDArray | Device, mem_scope: str | None = None) -> NDArray:
        """Copy into another array, or to a new one on a device."""
        del mem_scope
        if isinstance(target, Device):
            return array(self.data, target)
        return target.copyfrom(self)

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index] = value.data if isinstance(value, NDArray) else value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.data, dtype=dtype, copy=True if copy is None else copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<NDArray {self.shape} of {self.dtype} on {self.device}>\n{self.data!r}"


def array(
    values: Any,
    device: Device | None = None,
    mem_scope: str | None = None,
    ctx: Device | None = None,
) -> NDArray:
    """An array that holds a copy of the values."""
    del mem_scope
    source = values.data if isinstance(values, NDArray) else np.asarray(values)
    data = aligned_empty(source.shape, DType.of(source.dtype))
    data[...] = source
    return NDArray(data, device or ctx or cpu())


def empty(
    shape: Sequence[int | Expr] | int,
    dtype: DType | str = "float32",
    device: Device | None = None,
    mem_scope: str | None = None,
    ctx: Device | None = None,
) -> NDArray:
    """An array whose values are undefined."""
    del mem_scope
    sizes = shape if isinstance(shape, Sequence) else (shape,)
    return NDArray(aligned_empty([_size(s) for s in sizes], dtype), device or ctx or cpu())


def from_dlpack(source: Any) -> NDArray:
    """An array over the memory of another library's."""
    return NDArray(np.from_dlpack(source), cpu())


def numpyasarray(values: np.ndarray[Any, Any]) -> NDArray:
    """An array over the memory of a NumPy array."""
    return NDArray(values, cpu())


def _size(value: int | Expr) -> int:
    known = const_int(value) if isinstance(value, Expr) else int(value)
    if known is None:
        raise ShapeError("the size of an array must be a number")
    return known
