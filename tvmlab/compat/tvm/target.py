"""Targets by description, and the current one."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from tvmlab.support import OptionError, items_of, user_span
from tvmlab.target import Target as Machine

from .missing import missing

__all__ = ["Target", "arm_cpu", "create", "cuda"]

__getattr__ = missing("tvm.target")

_current: list[Target] = []
_CPU_KINDS = ("llvm", "cpu", "c", "stackvm", "ext_dev")
_DEVICE_KINDS = (
    "cuda", "nvptx", "rocm", "opencl", "metal", "vulkan", "webgpu", "opengl", "hexagon", "sdaccel",
    "aocl", "aocl_sw_emu",
)  # fmt: skip
_KINDS = (*_CPU_KINDS, *_DEVICE_KINDS)
_KEPT = ("-mcpu", "-mtriple", "-mattr", "-num-threads")


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a target, such as "llvm"."""

    name: str

    def __str__(self) -> str:
        return self.name


class Target(AbstractContextManager["Target"]):
    """A machine to build for, described as a text or a dictionary: "llvm -mcpu=core-avx2"."""

    def __init__(self, target: Any = "llvm", host: Any = None) -> None:
        self.text = _as_text(target)
        self.host = None if host is None else host if isinstance(host, Target) else Target(host)
        words = self.text.split()
        if words[0] not in _KINDS and "/" not in words[0]:
            raise OptionError(
                f"there is no target of kind {words[0]!r}",
                hint=f"kinds are {', '.join(_KINDS)}; options follow, as in llvm -mcpu=core-avx2",
                span=user_span(),
            )
        self.kind = Kind(words[0])
        self.options = [w for w in words[1:] if w.split("=")[0].replace("_", "-") in _KEPT]

    @staticmethod
    def of(target: Any = None) -> Target:
        """A target from a description; the current one, or the host, for none."""
        if isinstance(target, Target):
            return target
        return Target(target) if target is not None else Target.current() or Target("llvm")

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with` block around."""
        del allow_none
        return _current[-1] if _current else None

    @property
    def is_cpu(self) -> bool:
        """Whether code for it runs on this machine."""
        return self.kind.name in _CPU_KINDS

    @property
    def described(self) -> Machine:
        """The machine as tvmlab describes it; what old kinds say beyond that is left out."""
        return Machine.of(" ".join(["llvm", *self.options]))

    @property
    def keys(self) -> list[str]:
        """What schedules are chosen by."""
        return ["cpu"] if self.is_cpu else [self.kind.name, "gpu"]

    @property
    def max_num_threads(self) -> int:
        """Threads of one group, as the target says by -max_num_threads."""
        return 1 if self.is_cpu else self._stated("max_num_threads", 1024)

    @property
    def max_shared_memory_per_block(self) -> int:
        """Bytes that a group shares, as the target says by -max_shared_memory_per_block."""
        return self._stated("max_shared_memory_per_block", 48 * 1024)

    def _stated(self, name: str, usual: int) -> int:
        words = [w.lstrip("-").replace("-", "_").partition("=") for w in self.text.split()[1:]]
        found = next((value for key, _, value in words if key == name), "")
        return int(found) if found.isdigit() else usual

    @property
    def thread_warp_size(self) -> int:
        """Threads that run in step."""
        return 1 if self.is_cpu else 32

    def __enter__(self) -> Target:
        _current.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _current.pop()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Target({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


create = Target


def build_config(**options: Any) -> AbstractContextManager[None]:
    """Options for what is built inside a `with` block; buffers need none of them here."""
    del options
    return nullcontext()


def cuda(model: str = "unknown", arch: str | None = None, options: Any = None) -> Target:
    """The target of NVIDIA devices."""
    del model, arch, options
    return Target("cuda")


def arm_cpu(model: str = "unknown", options: Any = None) -> Target:
    """The target of ARM processors of 64 bits."""
    del model, options
    return Target("llvm -mtriple=aarch64-linux-gnu -mattr=+neon")


def _as_text(target: Any) -> str:
    if isinstance(target, Target):
        return target.text
    if isinstance(target, dict):
        fields: dict[str, Any] = dict(target)  # pyright: ignore[reportUnknownArgumentType]
        kind = str(fields.pop("kind", "llvm"))
        options = [f"-{k}={_listed(v)}" for k, v in fields.items()]
        return " ".join([kind, *options])
    text = str(target).strip() or "llvm"
    return _as_text(_json(text)) if text.startswith("{") else text


def _json(text: str) -> dict[str, Any]:
    try:
        return json.loads(text)
    except ValueError as error:
        raise OptionError(f"this target is no JSON text: {text}", hint=str(error)) from error


def _listed(value: Any) -> str:
    several = items_of(value)
    return str(value) if several is None else ",".join(str(item) for item in several)
