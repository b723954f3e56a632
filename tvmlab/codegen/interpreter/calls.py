"""Calls of outside code: each part of a buffer is handed over as storage of its own.

The called code works on copies of the parts: copied in where it reads, copied back where it wrote.
So what leaves a part, and what is read before it was written, is found inside the call too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from tvmlab.codegen.llvm.link import imported_symbol
from tvmlab.ir import Buffer, Invoke, Operand, Procedure, Stmt
from tvmlab.runtime import call_symbol, packed_function
from tvmlab.support import RuntimeFailure

from .expressions import ExprCompiler
from .failure import Fault
from .linear import Value
from .memory import Shadow, Slot

Action: TypeAlias = Callable[[], None]


class Part:
    """One operand of a call: where its elements lie, and their copy while the call runs."""

    def __init__(self, c: ExprCompiler, operand: Operand, param: Buffer | None) -> None:
        region = operand.region
        self.access = operand.access
        self.outer = c.slot(region.buffer)
        self.inner = Slot(region.buffer) if param is None else c.declare(param)
        # Its elements may be unwritten: accesses inside have to look.
        self.inner.written = bytearray()
        self._mins = [c.expr(e) for e in region.mins]
        self._extents = [c.expr(e) for e in region.extents]
        self._sizes = [c.expr(e) for e in operand.sizes]
        self._strides = [c.expr(e) for e in operand.strides]
        self._shadows: tuple[Shadow, ...] = c.shadows(region.buffer)
        self._offsets: np.ndarray[Any, Any] = np.zeros(0, np.int64)

    @property
    def address(self) -> int:
        """Where the first element lies in memory."""
        return int(self.outer.flat.ctypes.data) + self._first() * self.outer.flat.itemsize

    def enter(self) -> None:
        """Copy the part in; what is only written starts with nothing in it."""
        outer, inner = self.outer, self.inner
        self._offsets = offsets = self._place()
        inner.allocate(tuple(size() for size in self._sizes))
        inner.flat[:] = outer.flat[offsets]
        if self.access == "write":
            return
        for at in offsets.tolist() if self._shadows else ():
            for shadow in self._shadows:
                shadow.read(at)
        known = outer.written
        if known is None:
            inner.written = bytearray(b"\1" * len(offsets))
        else:
            inner.written = bytearray(np.frombuffer(known, np.uint8)[offsets].tobytes())

    def leave(self) -> None:
        """Copy back what was written."""
        if self.access == "read":
            return
        written = np.frombuffer(self.inner.written or b"", np.bool_)
        offsets = self._offsets[written]
        for at in offsets.tolist():
            for shadow in self._shadows:
                shadow.write(at)
            if self.outer.written is not None:
                self.outer.written[at] = 1
        self.outer.flat[offsets] = self.inner.flat[written]

    def need_all(self) -> None:
        """Outside code may read the whole part, so all of it must have been written."""
        assert self.inner.written is not None
        if self.access in ("read", "update") and not all(self.inner.written):
            missing = self.inner.written.index(0)
            raise self.outer.unwritten(int(self._offsets[missing]))
        self.inner.written = bytearray(b"\1" * len(self._offsets))

    def refresh(self) -> None:
        """Take over what outside code wrote into the program's own memory."""
        self.inner.flat[:] = self.outer.flat[self._offsets]

    def array(self) -> np.ndarray[Any, Any]:
        """The part as outside code sees it."""
        view = self.inner.flat.reshape(self.inner.dims)
        view.flags.writeable = self.access != "read"
        return view

    def _first(self) -> int:
        at = 0
        for low, dim in zip(self._mins, self.outer.dims, strict=True):
            at = at * dim + low()
        return at

    def _place(self) -> np.ndarray[Any, Any]:
        """The row-major offsets of all elements, each checked."""
        dims = self.outer.dims
        for number, (low, extent) in enumerate(zip(self._mins, self._extents, strict=True)):
            first, count = low(), extent()
            if count < 0 or first < 0 or first + count > dims[number]:
                index = [m() for m in self._mins]
                text = (
                    f"begins a part of {count} element(s) in dimension {number} that leaves the "
                    f"buffer, whose indices there are 0 to {dims[number] - 1}"
                )
                raise Fault("out-of-bounds", text, self.outer.buffer, tuple(index))
        strides = [s() for s in self._strides] or _row_major(dims)
        offsets = np.full((), self._first(), np.int64)
        for size, stride in zip(self._sizes, strides, strict=False):
            offsets = offsets[..., None] + np.arange(size(), dtype=np.int64) * stride
        return self._checked(offsets.reshape(-1))

    def _checked(self, offsets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        bad = (offsets < 0) | (offsets >= len(self.outer.flat))
        if bad.any():
            at = int(offsets[int(np.argmax(bad))])
            text = f"belongs to a part, but the buffer has {len(self.outer.flat)} element(s)"
            raise Fault("out-of-bounds", text, self.outer.buffer, (at,))
        return offsets


def compile_call(c: ExprCompiler, s: Invoke, compile_stmt: Callable[[Stmt], Action]) -> Action:
    """The closure of a call: its meaning, else the function it names."""
    if s.callee == "prefetch" and s.meaning is None:
        return lambda: None
    params = (None,) * len(s.args) if s.meaning is None else s.meaning.params
    values: list[Part | Value] = []
    for arg, param in zip(s.args, params, strict=True):
        if isinstance(arg, Operand):
            buffer = param if isinstance(param, Buffer) else None
            values.append(Part(c, arg, buffer))
        else:
            values.append(c.expr(arg))
    if s.meaning is not None:
        run = _meaning(c, s.meaning, values, compile_stmt)
    else:
        run = _outside(c, s, values)
    parts = [v for v in values if isinstance(v, Part) and v.access != "address"]

    def call() -> None:
        for part in parts:
            part.enter()
        run()
        for part in parts:
            part.leave()

    return call


def _meaning(
    c: ExprCompiler,
    meaning: Procedure,
    values: Sequence[Part | Value],
    compile_stmt: Callable[[Stmt], Action],
) -> Action:
    frame = c.frame
    scalars = [
        (c.place(param), value)
        for param, value in zip(meaning.params, values, strict=True)
        if not isinstance(value, Part) and not isinstance(param, Buffer)
    ]
    body = compile_stmt(meaning.body)

    def run() -> None:
        for place, value in scalars:
            frame[place] = value()
        body()

    return run


def _outside(c: ExprCompiler, s: Invoke, values: Sequence[Part | Value]) -> Action:
    kind, _, name = s.callee.partition(":")
    if kind not in ("packed", "symbol") or not name:
        raise RuntimeFailure(
            f"the interpreter cannot call {s.callee}: the program does not say what it means",
            hint="give the call a meaning, or name a registered function as packed:NAME",
        )
    types = [None if isinstance(a, Operand) else a.dtype for a in s.args]

    def run() -> None:
        for value in values:
            if isinstance(value, Part) and value.access != "address":
                value.need_all()
        if kind == "packed":
            packed_function(name)(*[v.array() if isinstance(v, Part) else v() for v in values])
            return
        given = [v.address if isinstance(v, Part) else v() for v in values]
        call_symbol(name, given, types, imported_symbol(c.imported_code, name))
        for value in values:
            if isinstance(value, Part) and value.access != "address":
                value.refresh()

    return run


def _row_major(dims: tuple[int, ...]) -> list[int]:
    strides = [1] * len(dims)
    for n in range(len(dims) - 2, -1, -1):
        strides[n] = strides[n + 1] * dims[n + 1]
    return strides
