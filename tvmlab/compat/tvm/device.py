"""Devices by name. All runs on this machine's CPU; programs for others are interpreted."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.support import OptionError

_CODES = {"cpu": 1, "cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10, "ext_dev": 12}
_OTHER_NAMES = {"llvm": "cpu", "c": "cpu", "stackvm": "cpu", "gpu": "cuda", "nvptx": "cuda",
                "cl": "opencl"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Device:
    """A device by kind and number."""

    kind: str
    device_id: int = 0

    @property
    def device_type(self) -> int:
        """The kind as DLPack's number."""
        return _CODES[self.kind]

    @property
    def exist(self) -> bool:
        """Whether programs run on it: only the CPU's do."""
        return self.kind == "cpu" and self.device_id == 0

    def sync(self) -> None:
        """Wait until everything is done, which it is when a call returns."""

    def __str__(self) -> str:
        return f"{self.kind}({self.device_id})"


def device(name: str = "cpu", index: int = 0) -> Device:
    """A device of a kind, such as "cpu", "llvm" or "cuda".

    Raises
    ------
    OptionError
        If there is no such kind.
    """
    words = str(name).split()
    kind = _OTHER_NAMES.get(words[0], words[0]) if words else ""
    if kind not in _CODES:
        raise OptionError(
            f"there is no device of kind {name!r}", hint=f"kinds are {', '.join(_CODES)}"
        )
    return Device(kind, index)


context = device


def cpu(index: int = 0) -> Device:
    """The processor of this machine."""
    return Device("cpu", index)


def cuda(index: int = 0) -> Device:
    """An NVIDIA device; programs for it are interpreted."""
    return Device("cuda", index)


gpu = cuda


def rocm(index: int = 0) -> Device:
    """An AMD device; programs for it are interpreted."""
    return Device("rocm", index)


def opencl(index: int = 0) -> Device:
    """An OpenCL device; programs for it are interpreted."""
    return Device("opencl", index)


cl = opencl


def metal(index: int = 0) -> Device:
    """An Apple device; programs for it are interpreted."""
    return Device("metal", index)


def vulkan(index: int = 0) -> Device:
    """A Vulkan device; programs for it are interpreted."""
    return Device("vulkan", index)
