"""Turns each expression into a Python closure that computes its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from tvmlab.codegen.llvm.link import imported_symbol
from tvmlab.ir import (
    CALLS,
    JOIN_LANES,
    SYMBOL,
    Binary,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Stride,
    Var,
)
from tvmlab.runtime import value_of_symbol

from .addressing import lane_offsets, row_offsets, scalar_offset
from .arithmetic import (
    COMPARE,
    ActiveLanes,
    scalar_binary,
    scalar_call,
    scalar_cast,
    vector_binary,
    vector_call,
    vector_cast,
)
from .linear import LinearSum, Value
from .memory import ConcurrentLoop, Shadow, Slot


class ExprCompiler:
    """Compiles expressions over one frame of variables and one set of buffers.

    `frame` holds the value of each variable at its place; the closures read it there. `concurrent`
    are the parallel and vectorized loops around the expression being compiled.
    """

    def __init__(self, imported_code: tuple[str, ...] = ()) -> None:
        self.imported_code = imported_code
        self.frame: list[Any] = []
        self.active = ActiveLanes()
        self.concurrent: list[ConcurrentLoop] = []
        self._places: dict[Var, int] = {}
        self._slots: dict[Buffer, Slot] = {}
        self._born: dict[Buffer, int] = {}
        self._seen_in: dict[Buffer, tuple[ConcurrentLoop, ...]] = {}
        self._shadows: dict[tuple[ConcurrentLoop, Slot], Shadow] = {}
        self._private: set[tuple[Var, Buffer]] = set()
        self.unwatched: frozenset[Buffer] = frozenset()

    def place(self, var: Var) -> int:
        """The place of a variable in the frame."""
        if var not in self._places:
            self._places[var] = len(self.frame)
            self.frame.append(0)
        return self._places[var]

    def declare(self, buffer: Buffer, *, seen_in: ConcurrentLoop | None = None) -> Slot:
        """Make the slot of a buffer; loops around this point cannot race on it.

        All iterations of `seen_in` can: they see one storage nevertheless.
        """
        self._slots[buffer] = slot = Slot(buffer)
        self._born[buffer] = len(self.concurrent)
        self._seen_in[buffer] = () if seen_in is None else (seen_in,)
        return slot

    def keep_private(self, var: Var, buffer: Buffer) -> None:
        """Let each iteration of the loop over `var` have its own copy of the buffer."""
        self._private.add((var, buffer))

    def slot(self, buffer: Buffer) -> Slot:
        return self._slots[buffer]

    def shadows(self, buffer: Buffer) -> tuple[Shadow, ...]:
        """The shadows that an access at this point has to tell."""
        slot = self._slots[buffer]
        found: list[Shadow] = []
        if buffer in self.unwatched:
            return ()
        for loop in (*self._seen_in[buffer], *self.concurrent[self._born[buffer] :]):
            # What no iteration writes, all may read.
            if buffer not in loop.writes:
                continue
            shadow = self._shadows.get((loop, slot))
            if shadow is None:
                shadow = Shadow(loop, slot, (loop.var, buffer) in self._private)
                self._shadows[loop, slot] = shadow
            found.append(shadow)
        return tuple(found)

    def expr(self, e: Expr) -> Value:
        """The closure of an expression."""
        return _RULES[type(e)](self, e)

    def offset(self, buffer: Buffer, indices: Sequence[Expr], doing: str) -> Value:
        """The closure of a checked row-major offset for scalar indices."""
        return scalar_offset(self._slots[buffer], [self.expr(i) for i in indices], doing)

    def lanes(
        self, buffer: Buffer, indices: Sequence[Expr], mask: Expr | None, lanes: int, doing: str
    ) -> Value:
        """The closure of (lanes that count, their checked offsets) for an access by vectors."""
        slot = self._slots[buffer]
        if mask is None and len(indices) == 1 and isinstance(indices[0], Ramp):
            base, stride = self.expr(indices[0].base), self.expr(indices[0].stride)
            return row_offsets(slot, base, stride, lanes, self.active, doing)
        test = None if mask is None else self.expr(mask)
        parts = [self.expr(i) for i in indices]
        return lane_offsets(slot, parts, test, lanes, self.active, doing)


def _const(c: ExprCompiler, e: Const) -> Value:
    del c
    value = e.dtype.numpy.type(e.value) if e.dtype.is_float else e.value
    return lambda: value


def _var(c: ExprCompiler, e: Var) -> Value:
    frame, place = c.frame, c.place(e)
    return lambda: frame[place]


def _binary(c: ExprCompiler, e: Binary) -> Value:
    if e.dtype.is_int and e.dtype.lanes == 1 and e.op in ("add", "sub", "mul"):
        total = LinearSum()
        total.add(e)
        if total.others != [(e, 1)]:
            return total.value(e.dtype, c.frame, c.place, c.expr)
    a, b = c.expr(e.a), c.expr(e.b)
    if e.dtype.lanes != 1:
        function = vector_binary(e.op, e.dtype, c.active)
    elif e.dtype.is_float and e.op in ("add", "sub", "mul"):
        return _float_binary(e.op, a, b)
    else:
        function = scalar_binary(e.op, e.dtype)
    return lambda: function(a(), b())


def _float_binary(op: str, a: Value, b: Value) -> Value:
    """The commonest operations on floats, without a call in between."""
    if op == "add":
        return lambda: a() + b()
    return (lambda: a() * b()) if op == "mul" else (lambda: a() - b())


def _compare(c: ExprCompiler, e: Compare) -> Value:
    a, b, function = c.expr(e.a), c.expr(e.b), COMPARE[e.op]
    return lambda: function(a(), b())


def _logic(c: ExprCompiler, e: Logic) -> Value:
    a, b = c.expr(e.a), c.expr(e.b)
    if e.dtype.lanes > 1:
        return _logic_lanes(c, e.op == "and", a, b)
    return (lambda: a() and b()) if e.op == "and" else (lambda: a() or b())


def _logic_lanes(c: ExprCompiler, needs_both: bool, a: Value, b: Value) -> Value:
    """The right side for those lanes that the left one leaves open."""
    active = c.active

    def run() -> Any:
        result, around = np.array(a()), active.mask
        open_lanes = result if needs_both else ~result
        asked = open_lanes if around is None else open_lanes & around
        if asked.any():
            active.mask = asked
            try:
                result[asked] = b()[asked]
            finally:
                active.mask = around
        return result

    return run


def _not(c: ExprCompiler, e: Not) -> Value:
    a = c.expr(e.a)
    return (lambda: not a()) if e.dtype.lanes == 1 else (lambda: ~a())


def _select(c: ExprCompiler, e: Select) -> Value:
    cond, then, otherwise = c.expr(e.cond), c.expr(e.then), c.expr(e.otherwise)
    if e.cond.dtype.lanes == 1:
        return lambda: then() if cond() else otherwise()
    active, count, kind = c.active, e.dtype.lanes, e.dtype.numpy

    def run() -> Any:
        chosen, around = cond(), active.mask
        taken = chosen if around is None else chosen & around
        left = ~chosen if around is None else ~chosen & around
        result = np.zeros(count, kind)
        try:
            for lanes, branch in ((taken, then), (left, otherwise)):
                if lanes.any():
                    active.mask = lanes
                    result[lanes] = branch()[lanes]
        finally:
            active.mask = around
        return result

    return run


def _cast(c: ExprCompiler, e: Cast) -> Value:
    value = c.expr(e.value)
    if e.dtype.lanes == 1:
        function = scalar_cast(e.value.dtype, e.dtype)
    else:
        function = vector_cast(e.value.dtype, e.dtype, c.active)
    return lambda: function(value())


def _load(c: ExprCompiler, e: Load) -> Value:
    if e.dtype.lanes != 1:
        return _vector_load(c, e)
    slot, shadows = c.slot(e.buffer), c.shadows(e.buffer)
    offset = c.offset(e.buffer, e.indices, "read")
    is_float = e.dtype.is_float

    def plain() -> Any:
        at = offset()
        return slot.flat[at] if is_float else slot.flat.item(at)

    def checked() -> Any:
        at = offset()
        if slot.written is not None and not slot.written[at]:
            raise slot.unwritten(at)
        for shadow in shadows:
            shadow.read(at)
        return slot.flat[at] if is_float else slot.flat.item(at)

    run = checked if shadows or slot.written is not None else plain
    if e.mask is None:
        return run
    mask, zero = c.expr(e.mask), e.dtype.numpy.type(0)
    zero = zero if is_float else zero.item()
    return lambda: run() if mask() else zero


def _vector_load(c: ExprCompiler, e: Load) -> Value:
    slot, shadows = c.slot(e.buffer), c.shadows(e.buffer)
    lanes = c.lanes(e.buffer, e.indices, e.mask, e.dtype.lanes, "read")
    count, kind = e.dtype.lanes, e.dtype.numpy

    def run() -> Any:
        where, offsets = lanes()
        if slot.written is not None or shadows:
            for at in offsets.tolist():
                if slot.written is not None and not slot.written[at]:
                    raise slot.unwritten(at)
                for shadow in shadows:
                    shadow.read(at)
        result = np.zeros(count, kind)
        result[where] = slot.flat[offsets]
        return result

    return run


def _stride(c: ExprCompiler, e: Stride) -> Value:
    slot, axis = c.slot(e.buffer), e.axis
    return lambda: prod(slot.dims[axis + 1 :])


def _call(c: ExprCompiler, e: Call) -> Value:
    args = tuple(c.expr(a) for a in e.args)
    if e.op.startswith(SYMBOL):
        return _symbol(c, e, args)
    if e.op.startswith(JOIN_LANES):
        return _joined_lanes(c, e)
    function = (scalar_call if e.dtype.lanes == 1 else vector_call)(e.op, e.dtype)
    if len(args) == 1:
        (only,) = args
        return lambda: function(only())
    return lambda: function(*[a() for a in args])


def _joined_lanes(c: ExprCompiler, e: Call) -> Value:
    """The lanes of a vector, joined to one value of its type."""
    vector, join, kind = c.expr(e.args[0]), CALLS[e.op].meaning, e.dtype.numpy
    plain = int if e.dtype.is_int else kind.type
    return lambda: plain(join(vector(), dtype=kind))


def _symbol(c: ExprCompiler, e: Call, args: Sequence[Value]) -> Value:
    """A C function; on vectors, one lane after the other."""
    name, kind = e.op.removeprefix(SYMBOL), e.dtype.numpy
    address = imported_symbol(c.imported_code, name)
    types = [a.dtype.scalar for a in e.args]
    call = value_of_symbol(name, types, e.dtype.scalar, address)
    if e.dtype.lanes == 1:
        plain = bool if e.dtype.is_bool else int if e.dtype.is_int else kind.type
        return lambda: plain(call(*[a() for a in args]))
    return lambda: np.array(
        [call(*lane) for lane in zip(*[a().tolist() for a in args], strict=True)], kind
    )


def _ramp(c: ExprCompiler, e: Ramp) -> Value:
    base, stride = c.expr(e.base), c.expr(e.stride)
    steps = np.arange(e.lanes).astype(e.dtype.numpy)
    kind = e.dtype.numpy.type
    return lambda: kind(base()) + kind(stride()) * steps


def _broadcast(c: ExprCompiler, e: Broadcast) -> Value:
    value, lanes, kind = c.expr(e.value), e.lanes, e.dtype.numpy
    return lambda: np.full(lanes, value(), kind)


_RULES: dict[type, Callable[[ExprCompiler, Any], Value]] = {
    Const: _const,
    Var: _var,
    Binary: _binary,
    Compare: _compare,
    Logic: _logic,
    Not: _not,
    Select: _select,
    Cast: _cast,
    Load: _load,
    Stride: _stride,
    Call: _call,
    Ramp: _ramp,
    Broadcast: _broadcast,
}
