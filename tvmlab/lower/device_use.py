"""What the kernels of a lowered program ask of a device: threads in a group, and memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tvmlab.ir import GROUP_TAGS, Alloc, For, Program, Stmt, const_int, walk

from .kernels import map_kernels


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """What one kernel asks for; a size that is known only at run time counts as none.

    Attributes
    ----------
    threads
        Threads of a group along each tag, such as "threadIdx.x".
    shared_bytes, local_bytes
        Memory of a group, and of each of its threads.
    """

    threads: dict[str, int]
    shared_bytes: int
    local_bytes: int

    @property
    def group_size(self) -> int:
        """Threads of a group in all."""
        return prod(self.threads.values())


def device_uses(program: Program) -> list[DeviceUse]:
    """What each kernel asks for, in program order."""
    kernels: list[For] = []

    def note(kernel: For) -> Stmt:
        kernels.append(kernel)
        return kernel

    map_kernels(program.body, note)
    return [_use_of(kernel) for kernel in kernels]


def _use_of(kernel: For) -> DeviceUse:
    threads: dict[str, int] = {}
    sizes = {"shared": 0, "local": 0}
    for node in walk(kernel):
        if isinstance(node, For) and node.thread in GROUP_TAGS:
            extent = const_int(node.extent) or 1
            threads[node.thread] = max(extent, threads.get(node.thread, 1))
        elif isinstance(node, Alloc) and node.buffer.scope in sizes:
            shape = [const_int(size) or 0 for size in node.buffer.shape]
            sizes[node.buffer.scope] += prod(shape) * node.buffer.dtype.itemsize
    return DeviceUse(threads, sizes["shared"], sizes["local"])
