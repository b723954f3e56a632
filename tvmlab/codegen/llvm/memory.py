"""Loads and stores: contiguous, strided, gathered, masked, for buffers and registers.

The index of a vector access is looked at as `base + stride * lane`; stride 1 becomes one vector
instruction, stride 0 a broadcast, small strides a few vector loads and a shuffle, everything else a
gather or scatter (which LLVM splits into lanes where the target has none).
"""

from __future__ import annotations

from tvmlab.ir import (
    Binary,
    Broadcast,
    Buffer,
    Expr,
    Load,
    Ramp,
    Store,
    binary,
    const,
    const_int,
    is_const,
)
from tvmlab.support import BOOL, INDEX, DType, InternalError

from .context import Context, LaneMask, any_lane, emits, guarded, runs, splat
from .streaming import store_past_caches
from .types import literal, llvm_type, memory_type, suffix, vector_literal

_MAX_SHUFFLED_STRIDE = 4
_STREAMED_SIZES = (16, 32, 64)
"""Bytes of the vectors that can be stored past the caches."""


@emits(Load)
def _load(ctx: Context, expr: Load) -> str:
    dtype, index = expr.dtype, flat_index(expr.buffer, expr.indices)
    if dtype.lanes == 1:
        return _load_scalar(ctx, expr, index)
    mask = _effective_mask(ctx, expr.mask, dtype.lanes)
    affine = ramp_form(index)
    if affine is None:
        return _gather(ctx, expr.buffer, index, mask)
    base, stride = affine
    step = const_int(stride)
    if step == 0:
        return _load_broadcast(ctx, expr.buffer, base, dtype, mask)
    if step == 1:
        return _load_contiguous(ctx, expr.buffer, base, dtype, mask)
    if step == -1:
        return _load_reversed(ctx, expr.buffer, base, dtype, mask)
    if step is not None and 1 < step <= _MAX_SHUFFLED_STRIDE:
        return _load_shuffled(ctx, expr.buffer, base, step, dtype, mask)
    return _gather(ctx, expr.buffer, index, mask)


@runs(Store)
def _store(ctx: Context, stmt: Store) -> None:
    buffer, index = stmt.buffer, flat_index(stmt.buffer, stmt.indices)
    dtype = stmt.value.dtype
    value = _to_memory(ctx, ctx.expr(stmt.value), dtype)
    if dtype.lanes == 1:
        _store_scalar(ctx, stmt, index, value)
        return
    mask = _effective_mask(ctx, stmt.mask, dtype.lanes)
    affine = ramp_form(index)
    step = None if affine is None else const_int(affine[1])
    if affine is None or step not in (1, -1):
        _scatter(ctx, buffer, index, value, dtype, mask)
        return
    base = affine[0]
    if step == -1:
        base = binary("sub", base, const(dtype.lanes - 1, base.dtype))
        value = _reverse(ctx, value, memory_type(dtype), dtype.lanes)
        if mask is not None:
            flipped = _reverse(ctx, mask.value, _mask_type(dtype.lanes), dtype.lanes)
            mask = LaneMask(flipped, dtype.lanes)
    _store_contiguous(ctx, buffer, base, value, dtype, mask)


def flat_index(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
    """The one index of a flat buffer."""
    if len(indices) == 1:
        return indices[0]
    if not indices:
        return const(0)
    raise InternalError(f"buffer {buffer.name} has {len(indices)} dimensions: flatten it first")


def ramp_form(index: Expr) -> tuple[Expr, Expr] | None:
    """A vector of integers as (base, stride) with lane n = base + n * stride; None if it is not."""
    if isinstance(index, Ramp):
        return index.base, index.stride
    if isinstance(index, Broadcast):
        return index.value, const(0, index.value.dtype)
    if not isinstance(index, Binary) or index.op not in ("add", "sub", "mul"):
        return None
    a, b = ramp_form(index.a), ramp_form(index.b)
    if a is None or b is None:
        return None
    if index.op != "mul":
        return binary(index.op, a[0], b[0]), binary(index.op, a[1], b[1])
    if is_const(a[1], 0):
        a, b = b, a
    if not is_const(b[1], 0):
        return None
    return binary("mul", a[0], b[0]), binary("mul", a[1], b[0])


def element_pointer(ctx: Context, buffer: Buffer, index: Expr) -> str:
    """The address of an element; index arithmetic is done in 64 bits."""
    base = ctx.address(buffer)
    if is_const(index, 0):
        return base
    kind = llvm_type(index.dtype)
    element = memory_type(buffer.dtype)
    if type(index) is Binary and index.op == "add" and index.dtype == INDEX:
        distance = const_int(index.b)
        if distance is not None:
            # Neighbors share the address that they are a known distance from. It may itself be
            # outside of the buffer, so LLVM is not told that it is not.
            near = f"getelementptr {element}, ptr {base}, i64 {ctx.expr(index.a)}"
            size = distance * buffer.dtype.itemsize
            return ctx.fn.value(f"getelementptr i8, ptr {ctx.fn.value(near, 'p')}, i64 {size}", "p")
    value = ctx.expr(index)
    if index.dtype.kind == "uint" and index.dtype.bits < 64:
        value = ctx.fn.value(f"zext {kind} {value} to i64")
        kind = "i64"
    return ctx.fn.value(f"getelementptr inbounds {element}, ptr {base}, {kind} {value}", "p")


def _load_scalar(ctx: Context, expr: Load, index: Expr) -> str:
    """One element; where a mask or an enclosing vector Select says no, nothing is read."""

    def emit() -> str:
        return _read(ctx, expr.buffer, element_pointer(ctx, expr.buffer, index))

    cond = None if expr.mask is None else ctx.expr(expr.mask)
    if ctx.mask is not None:
        lanes_on = any_lane(ctx, ctx.mask)
        cond = lanes_on if cond is None else ctx.fn.value(f"and i1 {lanes_on}, {cond}", "c")
    if cond is None:
        return emit()
    return guarded(ctx, cond, expr.dtype, emit, literal(0, expr.dtype))


def _read(ctx: Context, buffer: Buffer, pointer: str) -> str:
    dtype = buffer.dtype
    _note_load(ctx, buffer, pointer)
    load = f"load {memory_type(dtype)}, ptr {pointer}, align {dtype.itemsize}"
    return _from_memory(ctx, ctx.fn.value(load, steady=buffer in ctx.steady), dtype)


def _load_broadcast(
    ctx: Context, buffer: Buffer, base: Expr, dtype: DType, mask: LaneMask | None
) -> str:
    lane = llvm_type(dtype.scalar)
    if mask is None:
        value = _read(ctx, buffer, element_pointer(ctx, buffer, base))
        return splat(ctx.fn, value, lane, dtype.lanes)

    def emit() -> str:
        return _read(ctx, buffer, element_pointer(ctx, buffer, base))

    value = guarded(ctx, any_lane(ctx, mask), dtype.scalar, emit, literal(0, dtype.scalar))
    return _keep(ctx, mask, splat(ctx.fn, value, lane, dtype.lanes), dtype)


def _load_contiguous(
    ctx: Context, buffer: Buffer, base: Expr, dtype: DType, mask: LaneMask | None
) -> str:
    pointer, kind, align = element_pointer(ctx, buffer, base), memory_type(dtype), dtype.itemsize
    if mask is None or buffer.scope == "register":
        _note_load(ctx, buffer, pointer)
        # A register always exists as a whole, so reading it all is safe and keeps it a value.
        load = f"load {kind}, ptr {pointer}, align {align}"
        value = _from_memory(ctx, ctx.fn.value(load, steady=buffer in ctx.steady), dtype)
        return value if mask is None else _keep(ctx, mask, value, dtype)
    value = ctx.intrinsic(
        f"masked.load.{_memory_suffix(dtype)}.p0",
        kind,
        (f"ptr align {align}", pointer),
        (_mask_type(dtype.lanes), mask.value),
        (kind, "zeroinitializer"),
    )
    return _from_memory(ctx, value, dtype)


def _note_load(ctx: Context, buffer: Buffer, pointer: str) -> None:
    if buffer not in ctx.steady and buffer.scope != "register":
        place = ctx.address(buffer), pointer
        ctx.module.reloads |= place in ctx.fn.loads or place in ctx.fn.stores
        ctx.fn.loads.add(place)


def _load_reversed(
    ctx: Context, buffer: Buffer, base: Expr, dtype: DType, mask: LaneMask | None
) -> str:
    if mask is not None:
        flipped = _reverse(ctx, mask.value, _mask_type(dtype.lanes), dtype.lanes)
        mask = LaneMask(flipped, dtype.lanes)
    first = binary("sub", base, const(dtype.lanes - 1, base.dtype))
    value = _load_contiguous(ctx, buffer, first, dtype, mask)
    return _reverse(ctx, value, llvm_type(dtype), dtype.lanes)


def _load_shuffled(
    ctx: Context, buffer: Buffer, base: Expr, step: int, dtype: DType, mask: LaneMask | None
) -> str:
    """A small stride as `step` overlapping vector loads that together span exactly the lanes."""
    lanes, kind = dtype.lanes, llvm_type(dtype)
    starts = [part * (lanes - 1) for part in range(step)]
    owner = [
        min((lane * step) // (lanes - 1), step - 1) if lanes > 1 else 0 for lane in range(lanes)
    ]
    parts: list[str] = []
    for part, start in enumerate(starts):
        wanted = {lane * step - start: lane for lane in range(lanes) if owner[lane] == part}
        some = None if mask is None else _spread_mask(ctx, mask, wanted)
        first = binary("add", base, const(start, base.dtype))
        parts.append(_load_contiguous(ctx, buffer, first, dtype, some))
    result = parts[0]
    chosen = [lane * step if owner[lane] == 0 else 0 for lane in range(lanes)]
    for part in range(1, step):
        picks = [
            lanes + lane * step - starts[part] if owner[lane] == part
            else (chosen[lane] if part == 1 else lane)
            for lane in range(lanes)
        ]  # fmt: skip
        indices = vector_literal(picks, "i32")
        result = ctx.fn.value(
            f"shufflevector {kind} {result}, {kind} {parts[part]}, <{lanes} x i32> {indices}"
        )
    return result


def _spread_mask(ctx: Context, mask: LaneMask, wanted: dict[int, int]) -> LaneMask:
    """A mask whose lanes are those of another at given places, and off elsewhere."""
    lanes, kind = mask.lanes, _mask_type(mask.lanes)
    picks = vector_literal([wanted.get(place, lanes) for place in range(lanes)], "i32")
    spread = f"shufflevector {kind} {mask.value}, {kind} zeroinitializer, <{lanes} x i32> {picks}"
    return LaneMask(ctx.fn.value(spread, "mask"), lanes)


def _gather(ctx: Context, buffer: Buffer, index: Expr, mask: LaneMask | None) -> str:
    lanes = index.dtype.lanes
    dtype = buffer.dtype.with_lanes(lanes)
    pointers, kind = _pointers(ctx, buffer, index), memory_type(dtype)
    value = ctx.intrinsic(
        f"masked.gather.{_memory_suffix(dtype)}.v{lanes}p0",
        kind,
        (f"<{lanes} x ptr> align {dtype.itemsize}", pointers),
        (_mask_type(lanes), _mask_operand(mask)),
        (kind, "zeroinitializer"),
    )
    return _from_memory(ctx, value, dtype)


def _scatter(
    ctx: Context, buffer: Buffer, index: Expr, value: str, dtype: DType, mask: LaneMask | None
) -> None:
    lanes, kind = dtype.lanes, memory_type(dtype)
    pointers = _pointers(ctx, buffer, index)
    name = f"llvm.masked.scatter.{_memory_suffix(dtype)}.v{lanes}p0"
    types = f"{kind}, <{lanes} x ptr>, {_mask_type(lanes)}"
    function = ctx.module.declare(name, "void", types)
    ctx.fn.effect(
        f"call void {function}({kind} {value}, <{lanes} x ptr> align {dtype.itemsize} {pointers}, "
        f"{_mask_type(lanes)} {_mask_operand(mask)})"
    )


def _pointers(ctx: Context, buffer: Buffer, index: Expr) -> str:
    """A vector of addresses; 32-bit offsets where they suffice, for the faster gathers."""
    lanes, value, kind = index.dtype.lanes, ctx.expr(index), llvm_type(index.dtype)
    low, high = ctx.ranges.of(index)
    if index.dtype.bits == 64 and low >= -(1 << 31) and high < 1 << 31:
        narrow = f"<{lanes} x i32>"
        value, kind = ctx.fn.value(f"trunc nsw {kind} {value} to {narrow}"), narrow
    elif index.dtype.kind == "uint" and index.dtype.bits < 64:
        wide = f"<{lanes} x i64>"
        value, kind = ctx.fn.value(f"zext {kind} {value} to {wide}"), wide
    base, element = ctx.address(buffer), memory_type(buffer.dtype)
    return ctx.fn.value(f"getelementptr inbounds {element}, ptr {base}, {kind} {value}", "p")


def _store_scalar(ctx: Context, stmt: Store, index: Expr, value: str) -> None:
    dtype, fn = stmt.value.dtype, ctx.fn
    cond = None if stmt.mask is None else ctx.expr(stmt.mask)
    done, available = "", None
    if cond is not None:
        then, done = fn.label("store"), fn.label("stored")
        available = fn.available()
        fn.branch(cond, then, done)
        fn.start(then, available)
    pointer = element_pointer(ctx, stmt.buffer, index)
    fn.stores.add((ctx.address(stmt.buffer), pointer))
    fn.effect(f"store {memory_type(dtype)} {value}, ptr {pointer}, align {dtype.itemsize}")
    if available is not None:
        fn.jump(done)
        fn.start(done, available)


def _store_contiguous(
    ctx: Context, buffer: Buffer, base: Expr, value: str, dtype: DType, mask: LaneMask | None
) -> None:
    pointer, kind, align = element_pointer(ctx, buffer, base), memory_type(dtype), dtype.itemsize
    mask_type = _mask_type(dtype.lanes)
    if mask is not None and buffer.scope == "register":
        old = ctx.fn.value(f"load {kind}, ptr {pointer}, align {align}")
        value = ctx.fn.value(f"select {mask_type} {mask.value}, {kind} {value}, {kind} {old}")
        mask = None
    if mask is None:
        ctx.fn.stores.add((ctx.address(buffer), pointer))
        size = dtype.itemsize * dtype.lanes
        if buffer.name in ctx.streamed and size in _STREAMED_SIZES:
            store_past_caches(ctx, pointer, kind, value, size, align)
        else:
            ctx.fn.effect(f"store {kind} {value}, ptr {pointer}, align {align}")
        return
    name = f"llvm.masked.store.{_memory_suffix(dtype)}.p0"
    function = ctx.module.declare(name, "void", f"{kind}, ptr, {mask_type}")
    ctx.fn.effect(
        f"call void {function}({kind} {value}, ptr align {align} {pointer}, "
        f"{mask_type} {mask.value})"
    )


def _effective_mask(ctx: Context, mask: Expr | None, lanes: int) -> LaneMask | None:
    """The mask of an access together with that of an enclosing vector Select."""
    own = None if mask is None else ctx.expr(mask)
    if ctx.mask is None:
        return None if own is None else LaneMask(own, lanes)
    if own is None:
        return ctx.mask
    both = ctx.fn.value(f"and {_mask_type(lanes)} {ctx.mask.value}, {own}", "mask")
    return LaneMask(both, lanes)


def _mask_operand(mask: LaneMask | None) -> str:
    return "splat (i1 true)" if mask is None else mask.value


def _mask_type(lanes: int) -> str:
    return llvm_type(BOOL.with_lanes(lanes))


def _memory_suffix(dtype: DType) -> str:
    return suffix(DType("uint", 8, dtype.lanes) if dtype.is_bool else dtype)


def _keep(ctx: Context, mask: LaneMask, value: str, dtype: DType) -> str:
    """The value with zero in the lanes that are off."""
    kind = llvm_type(dtype)
    on = f"{_mask_type(dtype.lanes)} {mask.value}"
    return ctx.fn.value(f"select {on}, {kind} {value}, {kind} zeroinitializer")


def _reverse(ctx: Context, value: str, kind: str, lanes: int) -> str:
    order = vector_literal(list(range(lanes - 1, -1, -1)), "i32")
    return ctx.fn.value(f"shufflevector {kind} {value}, {kind} poison, <{lanes} x i32> {order}")


def _from_memory(ctx: Context, value: str, dtype: DType) -> str:
    if not dtype.is_bool:
        return value
    kind = memory_type(dtype)
    zero = "zeroinitializer" if dtype.lanes > 1 else "0"
    return ctx.fn.value(f"icmp ne {kind} {value}, {zero}", "c")


def _to_memory(ctx: Context, value: str, dtype: DType) -> str:
    if not dtype.is_bool:
        return value
    return ctx.fn.value(f"zext {llvm_type(dtype)} {value} to {memory_type(dtype)}")
