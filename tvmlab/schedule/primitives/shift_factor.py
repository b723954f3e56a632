"""Another type for a factor of a sum of products: shift_factor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.ir import (
    Binary,
    Block,
    BlockSymbol,
    Buffer,
    Cast,
    Const,
    Expr,
    IterVar,
    Load,
    Program,
    Stmt,
    Store,
    Var,
    const,
    loads_of,
    make_block,
    substitute,
)
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.kinds import block_kind, plain_iters, single_store
from tvmlab.schedule.layouts import nest_over, own_loops
from tvmlab.schedule.legality import vars_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import (
    insert_at,
    remake_block,
    replace_stmts,
    with_alloc,
    without_alloc,
)
from tvmlab.schedule.verdict import RefusedError, refuse
from tvmlab.support import DType, Namer

from .cache import cache_read, cache_write

_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")


def _propose(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    """Bytes with a sign can become bytes without one, as many dot instructions want them."""
    if block_kind(block) == "reduction" and index.loops_around(block):
        for load in loads_of(block.body):
            if str(load.dtype) == "int8":
                yield {"buffer": load.buffer, "by": 128, "dtype": "uint8"}


@primitive(
    "shift_factor", "shift a factor", "",
    ParamSpec("block", "block", "a sum of products of whole numbers"),
    ParamSpec("buffer", "buffer", "one of the factors"),
    ParamSpec("by", "int", "what is added to each of its elements", default=128),
    ParamSpec("dtype", "choice", "the type of the copy, which must hold these", _TYPES, "uint8"),
    moves_blocks=True, propose=_propose,
)  # fmt: skip
def shift_factor(
    program: Program, block: BlockSymbol, buffer: Buffer, by: int, dtype: str
) -> Applied:
    """Add a number to one factor of a sum of products, and take away what that adds to the sum.

    The factor is copied, in another type if wanted: instructions that multiply bytes mostly want
    the one kind with a sign and the other without. What is too much is the number times the sum of
    the other factor, which is found once and not for each element of the result. Whole numbers wrap
    around, so that this is exact. Returns the blocks of the copy, of the sums of the other factor,
    and of the result.

    Before::

        for i, j, k in grid(64, 64, 64):
            C[i, j] += int32(A[i, k]) * int32(B[k, j])

    After `shift_factor("C", "A", 128, "uint8")`::

        for i, k in grid(64, 64):
            A_shifted[i, k] = uint8(A[i, k]) + 128
        for k, j in grid(64, 64):
            B_sum[j] += int32(B[k, j])
        for i, j, k in grid(64, 64, 64):
            C_global[i, j] += int32(A_shifted[i, k]) * int32(B[k, j])
        for i, j in grid(64, 64):
            C[i, j] = C_global[i, j] - B_sum[j] * 128
    """
    index = index_of(program)
    target = index.blocks[block]
    found = _product(target, buffer)
    if index.loops_around(target) != own_loops(index, target, "shift_factor"):
        raise _refusal(target, "loops", "it stands in loops of other blocks")
    narrow = DType.of(dtype)
    _require_room(target, found, by, narrow)
    sums, summing, nest = _sum_of_other(program, target, found)
    program, copy = _shifted(program, target, found, by, narrow)
    staged = cache_write(program, block, "global")
    (result,) = staged.outputs
    assert isinstance(result, BlockSymbol)
    program = _corrected(staged.program, result, found, sums, by)
    after = index_of(program)
    position, _ = after.child_holding(None, after.blocks[block])
    program = with_alloc(insert_at(program, None, position, nest), sums)
    return Applied(program, (copy, summing, result))


@dataclass(frozen=True, slots=True)
class _Product:
    """`store.buffer[...] += factor * other`, of which the factor is an element of the buffer."""

    store: Store
    places: list[Var]
    factor: Load
    other: Expr
    left: bool


def _refusal(block: Block, rule: str, why: str) -> RefusedError:
    return refuse(
        f"shift_factor.{rule}",
        f"cannot shift a factor of {block.name}: {why}",
        subject=block.symbol,
    )


def _product(block: Block, buffer: Buffer) -> _Product:
    """The sum of products that a block is, with a buffer as one factor."""
    store = single_store(block)
    value = None if store is None else store.value
    if (
        store is None
        or block_kind(block) != "reduction"
        or not isinstance(value, Binary)
        or value.op != "add"
        or not isinstance(value.b, Binary)
        or value.b.op != "mul"
        or not value.dtype.is_int
    ):
        raise _refusal(
            block, "kind", "it is no sum of products of whole numbers; others are rounded, so that "
            "what is added could not be taken away exactly",
        )  # fmt: skip
    places = plain_iters(store.indices)
    if places is None or set(places) != {it.var for it in block.iters if it.kind == "spatial"}:
        raise _refusal(block, "places", "its results do not lie at plain variables")
    for one, other, left in ((value.b.a, value.b.b, True), (value.b.b, value.b.a, False)):
        factor = one.value if isinstance(one, Cast) else one
        once = [load for load in loads_of(block.body) if load.buffer is buffer] == [factor]
        if once and isinstance(factor, Load) and factor.dtype.is_int:
            return _Product(store, places, factor, other, left)
    raise _refusal(
        block, "no-factor", f"{buffer.name} is not one of its two factors, read once in each term"
    )


def _require_room(block: Block, found: _Product, by: int, dtype: DType) -> None:
    """Refuse if the new type does not hold all values that the factor may have after the shift."""
    held = found.factor.dtype
    low, high = int(held.min_value) + by, int(held.max_value) + by
    if low < dtype.min_value or high > dtype.max_value:
        raise _refusal(
            block, "range",
            f"{found.factor.buffer.name} has values from {held.min_value} to {held.max_value}, "
            f"which become {low} to {high}: more than {dtype} holds",
        )  # fmt: skip


def _shifted(
    program: Program, block: Block, found: _Product, by: int, dtype: DType
) -> tuple[Program, BlockSymbol]:
    """The program in which the block reads a shifted copy of its factor, and the copy's block."""
    source = found.factor.buffer
    staged = cache_read(program, block.symbol, source, "global")
    (symbol,) = staged.outputs
    assert isinstance(symbol, BlockSymbol)
    index = index_of(staged.program)
    copy, reader = index.blocks[symbol], index.blocks[block.symbol]
    plain = single_store(copy)
    assert plain is not None
    target = replace(plain.buffer, name=_fresh(program, f"{source.name}_shifted"), dtype=dtype)
    shifted = Binary("add", Cast(plain.value, dtype), _wrapped(by, dtype))
    wide = found.store.buffer.dtype
    factor: Expr = Load(target, found.factor.indices)
    factor = factor if dtype == wide else Cast(factor, wide)
    pair = (factor, found.other) if found.left else (found.other, factor)
    own = Load(found.store.buffer, found.store.indices)
    total = replace(found.store, value=Binary("add", own, Binary("mul", *pair)))
    renamed = BlockSymbol(target.name)
    changed: dict[Stmt, Stmt] = {
        copy: replace(
            remake_block(copy, body=Store(target, plain.indices, shifted), init=None),
            symbol=renamed,
        ),
        reader: remake_block(reader, body=total, init=reader.init),
    }
    result = with_alloc(without_alloc(staged.program, plain.buffer), target)
    return replace_stmts(result, changed), renamed


def _sum_of_other(
    program: Program, block: Block, found: _Product
) -> tuple[Buffer, BlockSymbol, Stmt]:
    """The sums of the other factor for each value of the variables that it has; their nest."""
    used = vars_of(found.other)
    kept = [it for it in block.iters if it.kind == "reduce" or it.var in used]
    values: dict[Var, Expr] = {it.var: Var(it.var.name) for it in kept}
    iters: list[IterVar] = []
    for it in kept:
        var = values[it.var]
        assert isinstance(var, Var)
        iters.append(replace(it, var=var))
    order = [v for v in found.places if v in used]
    extents = {it.var: it.extent for it in kept}
    shape, at = tuple(extents[v] for v in order), tuple(values[v] for v in order)
    loads = loads_of(found.other)
    name = _fresh(program, f"{loads[0].buffer.name if loads else block.name}_sum")
    sums = Buffer(name, shape, found.store.buffer.dtype)
    total = Binary("add", Load(sums, at), substitute(found.other, values))
    start = Store(sums, at, const(0, sums.dtype))
    # Rows of the other factor from end to end, as most of them lie in memory.
    ordered = sorted(iters, key=lambda it: it.kind != "reduce")
    symbol, unbound = BlockSymbol(name), [const(0)] * len(iters)
    made = make_block(symbol, iters, unbound, Store(sums, at, total), init=start)
    return sums, symbol, nest_over(made, ordered)[0]


def _corrected(
    program: Program, result: BlockSymbol, found: _Product, sums: Buffer, by: int
) -> Program:
    """The program in which the block of the result takes away what the shift has added."""
    block = index_of(program).blocks[result]
    store = single_store(block)
    assert store is not None
    used = vars_of(found.other)
    at = tuple(i for i, var in zip(store.indices, found.places, strict=True) if var in used)
    extra = Binary("mul", Load(sums, at), _wrapped(by, sums.dtype))
    body = replace(store, value=Binary("sub", store.value, extra))
    return replace_stmts(program, {block: remake_block(block, body=body, init=None)})


def _wrapped(value: int, dtype: DType) -> Const:
    """A number as a type has it that wraps around."""
    size = value % (1 << dtype.bits)
    return const(size - (1 << dtype.bits) if size > dtype.max_value else size, dtype)


def _fresh(program: Program, name: str) -> str:
    taken = [b.name for b in program.buffers] + [s.name for s in index_of(program).blocks]
    return Namer(taken).fresh(name)
