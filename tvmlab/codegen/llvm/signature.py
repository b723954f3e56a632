"""How a function's buffer arguments are described to LLVM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tvmlab.ir import Alloc, Buffer, Load, Node, Operand, Program, Stmt, Store, walk


@lru_cache(maxsize=1)
def nodes_below(stmt: Stmt) -> tuple[Node, ...]:
    """All nodes of a statement, in order; those of the last one are kept."""
    return tuple(walk(stmt))


def nodes_of(program: Program) -> tuple[Node, ...]:
    """All nodes of a program's body, in order."""
    return nodes_below(program.body)


@dataclass(slots=True)
class BufferUse:
    """Whether a piece of code reads and writes a buffer."""

    read: bool = False
    written: bool = False


def steady_buffers(uses: Mapping[Buffer, BufferUse]) -> frozenset[Buffer]:
    """The buffers whose elements stay what they are while the code runs."""
    return frozenset(b for b, use in uses.items() if not use.written)


def buffer_uses(nodes: Iterable[Node]) -> dict[Buffer, BufferUse]:
    """The buffers that code uses but does not allocate, in order of occurrence."""
    uses: dict[Buffer, BufferUse] = {}
    own: set[Buffer] = set()
    for node in nodes:
        if isinstance(node, Alloc):
            own.add(node.buffer)
        elif isinstance(node, Load):
            uses.setdefault(node.buffer, BufferUse()).read = True
        elif isinstance(node, Store):
            uses.setdefault(node.buffer, BufferUse()).written = True
        elif isinstance(node, Operand):
            use = uses.setdefault(node.region.buffer, BufferUse())
            use.read |= node.access in ("read", "update")
            use.written |= node.access in ("write", "update")
    return {buffer: use for buffer, use in uses.items() if buffer not in own}


def buffer_argument(buffer: Buffer, use: BufferUse) -> str:
    """The type and attributes of a pointer argument.

    `noalias` holds because the runtime refuses arguments that overlap an output.
    """
    parts = ["ptr", "noalias", "noundef"]
    if not use.written:
        parts.append("readonly")
    elif not use.read:
        parts.append("writeonly")
    parts.append(f"align {buffer.dtype.itemsize}")
    shape = buffer.const_shape
    if shape is not None:
        size = buffer.dtype.itemsize
        for extent in shape:
            size *= extent
        if size > 0:
            parts.append(f"dereferenceable({size})")
    return " ".join(parts)
