"""Padding: iterations of a block up to a multiple, so that loops over them have no tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.arith import bound_of, prove, simplify
from tvmlab.ir import (
    Binary,
    Block,
    BlockSymbol,
    Buffer,
    Const,
    Expr,
    For,
    Load,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    as_expr,
    conjunction,
    conjuncts,
    const,
    const_int,
    loads_of,
    replace_buffers,
    uses_var,
    walk,
)
from tvmlab.schedule.holes import has_holes, require_read_written, require_whole
from tvmlab.schedule.index import ProgramIndex, accesses, index_of
from tvmlab.schedule.kinds import block_kind, plain_iters, single_store
from tvmlab.schedule.layouts import nest_over, own_loops
from tvmlab.schedule.legality import sole_writer, vars_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import Output, remake_block, replace_stmts
from tvmlab.schedule.verdict import RefusedError, refuse, unsure

from .cache import cache_read, cache_write
from .pad_values import (
    adds_nothing,
    leaving,
    neutral_value,
    pad_value,
    padded_bounds,
    reads_buffer,
)

_DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")


def _propose(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    """Multiples of 8 for variables that are longer, if that changes something."""
    del index
    extents = [const_int(it.extent) or 1 for it in block.iters]
    multiples = tuple(8 if extent > 8 else 1 for extent in extents)
    if any(extent % m for extent, m in zip(extents, multiples, strict=True)):
        yield {"multiples": multiples}


@primitive(
    "pad", "pad", "",
    ParamSpec("block", "block", "the block"),
    ParamSpec("multiples", "ints", "for each of its iteration variables, a factor of its extent"),
    moves_blocks=True, propose=_propose,
)  # fmt: skip
def pad(program: Program, block: BlockSymbol, multiples: Sequence[int]) -> Applied:
    """Let a block run over more iterations than asked for, up to multiples of given numbers.

    What the added iterations read is a padded copy of an input, filled so that a reduction adds
    nothing; what they write is padding of an intermediate, which nobody reads. An output gets a
    padded twin, of which the real part is copied out. The blocks that copy are returned.

    Before::

        for i, k in grid(13, 30):
            C[i] += A[i, k]

    After `pad("C", [8, 4])`::

        for i, k in grid(16, 32):
            A_global[i, k] = select(i < 13 and k < 30, A[i, k], 0)
        for i, k in grid(16, 32):
            C_global[i] += A_global[i, k]
        for i in range(13):
            C[i] = C_global[i]
    """
    target = index_of(program).blocks[block]
    sizes = _padded_sizes(target, multiples)
    outputs: list[Output] = []
    buffer = _require_paddable(index_of(program), target)
    _require_written(index_of(program), target, sizes)
    if buffer not in program.allocs:
        staged = cache_write(program, block, "global")
        program, outputs = staged.program, [*staged.outputs]
    whole = index_of(program).blocks[block]
    value, padded = pad_value(whole, sizes), leaving(whole, sizes)
    plan = _Plan(sizes, value, adds_nothing(whole, sizes, padded, value))
    for read in padded:
        program, copy = _padded_copy(program, block, read, plan)
        outputs.append(copy)
    return Applied(_grown(program, block, plan), tuple(outputs))


@dataclass(frozen=True, slots=True)
class _Plan:
    """New extents by variable, what padding of inputs holds, and whether it adds nothing."""

    sizes: dict[Var, int]
    value: float
    nothing: bool


def _refusal(block: Block, rule: str, why: str) -> RefusedError:
    return refuse(f"pad.{rule}", f"cannot pad {block.name}: {why}", subject=block.symbol)


def _padded_sizes(block: Block, multiples: Sequence[int]) -> dict[Var, int]:
    if len(multiples) != len(block.iters) or any(m < 1 for m in multiples):
        raise _refusal(
            block,
            "multiples",
            f"it has {len(block.iters)} iteration variables, each of which needs a positive factor",
        )
    sizes: dict[Var, int] = {}
    for it, multiple in zip(block.iters, multiples, strict=True):
        extent = const_int(it.extent)
        if extent is None and multiple > 1:
            raise _refusal(
                block, "symbolic-extent", f"the extent of {it.var.name} is known only at run time"
            )
        if extent is not None and extent % multiple:
            sizes[it.var] = -(-extent // multiple) * multiple
    if not sizes:
        raise _refusal(block, "nothing", "its extents are such multiples already")
    return sizes


def _require_paddable(index: ProgramIndex, block: Block) -> Buffer:
    store = single_store(block)
    if block_kind(block) == "opaque" or store is None:
        raise _refusal(block, "opaque", "it is neither element-wise nor a reduction")
    spatial = {it.var for it in block.iters if it.kind == "spatial"}
    places = plain_iters(store.indices)
    if places is None or set(places) != spatial:
        raise _refusal(
            block, "layout", f"it does not write one element of {store.buffer.name} for each of "
            f"its spatial variables"
        )  # fmt: skip
    sole_writer(index, store.buffer, block, "pad")
    for node in walk(store.value):
        gathers = isinstance(node, Load) and any(loads_of(i) for i in node.indices)
        divides = (
            isinstance(node, Binary)
            and node.op in _DIVISIONS
            and node.dtype.is_int
            and not isinstance(node.b, Const)
        )
        if gathers or divides:
            raise unsure(
                "pad.may-fail",
                f"cannot pad {block.name}: its formula divides or looks up by what it reads, which "
                f"might fail on padding",
                subject=block.symbol,
            )
    return store.buffer


def _require_written(index: ProgramIndex, block: Block, sizes: dict[Var, int]) -> None:
    """Refuse if an added iteration would read elements of an intermediate that nobody writes."""
    longer = [replace(it, extent=as_expr(sizes.get(it.var, it.extent))) for it in block.iters]
    padded = leaving(block, sizes)
    store = single_store(block)
    for load in loads_of(store.value) if store is not None else ():
        if store is None or load.buffer is store.buffer or load.buffer not in index.writers:
            continue
        if load.buffer in padded:
            require_whole(index, load.buffer, "pad", block.symbol)
        elif uses_var(load, set(sizes)) and has_holes(index, load.buffer):
            require_read_written(index, load, longer, "pad", block.symbol)


def _padded_copy(
    program: Program, block: BlockSymbol, buffer: Buffer, plan: _Plan
) -> tuple[Program, BlockSymbol]:
    """The program in which a block reads a longer copy of a buffer, the block that copies, both."""
    index = index_of(program)
    shape = _reach(index.blocks[block], buffer, plan.sizes)
    staged = cache_read(program, block, buffer, "global")
    symbol = staged.outputs[0]
    assert isinstance(symbol, BlockSymbol)
    index = index_of(staged.program)
    copy = index.blocks[symbol]
    try:
        chain = own_loops(index, copy, "pad")
    except RefusedError:
        raise _refusal(
            index.blocks[block],
            "attached",
            f"{buffer.name} is made in one of its loops, where a padded copy would be only a part; "
            f"pad before attaching",
        ) from None
    store = single_store(copy)
    assert store is not None
    iters = [replace(it, extent=size) for it, size in zip(copy.iters, shape, strict=True)]
    asked = [
        it.var < size
        for it, size, longer in zip(copy.iters, buffer.shape, shape, strict=True)
        if longer is not size
    ]
    filled = Select(conjunction(asked), store.value, const(plan.value, buffer.dtype))
    longer = replace(store.buffer, shape=shape)
    body = Store(store.buffer, store.indices, filled)
    bare = replace(copy, iters=(), bindings=())
    nest, _ = nest_over(remake_block(bare, body=body, init=None), iters)
    moved = replace_stmts(staged.program, {chain[0] if chain else copy: nest})
    return _exchanged(moved, store.buffer, longer), symbol


def _reach(block: Block, buffer: Buffer, sizes: dict[Var, int]) -> tuple[Expr, ...]:
    """The shape that holds all that the added iterations read."""
    env = padded_bounds(block, sizes)
    shape: list[Expr] = list(buffer.shape)
    for access in accesses(block):
        if not isinstance(access, Load) or access.buffer is not buffer:
            continue
        for n, index in enumerate(access.indices):
            span, size = bound_of(simplify(index, env), env), shape[n]
            if prove(index < size, env) and prove(index >= 0, env):
                continue
            known = const_int(size)
            if span.hi is None or span.lo is None or span.lo < 0 or known is None:
                raise unsure(
                    "pad.range",
                    f"cannot pad {block.name}: it could not be told how far it would read in "
                    f"{buffer.name}",
                    subject=block.symbol,
                )
            shape[n] = const(max(known, span.hi + 1))
    return tuple(shape)


def _exchanged(program: Program, old: Buffer, new: Buffer) -> Program:
    allocs = tuple(new if b is old else b for b in program.allocs)
    return replace(program, body=replace_buffers(program.body, {old: new}), allocs=allocs)


def _grown(program: Program, block: BlockSymbol, plan: _Plan) -> Program:
    """The program in which the block runs over the padded extents and its buffer has room."""
    index = index_of(program)
    target = index.blocks[block]
    store = single_store(target)
    assert store is not None
    loops, predicate = _longer_loops(index, target, plan.sizes)
    body = store if plan.nothing else _selected(target, store, plan.sizes)
    iters = tuple(
        replace(it, extent=const(plan.sizes[it.var])) if it.var in plan.sizes else it
        for it in target.iters
    )
    grown = replace(target, iters=iters, predicate=predicate)
    grown = remake_block(grown, body=body, init=target.init)
    changed: dict[Stmt, Stmt] = {target: grown}
    moved = replace_stmts(program, changed)
    for var, extent in loops.items():
        loop = index_of(moved).loops[var]
        moved = replace_stmts(moved, {loop: replace(loop, extent=const(extent))})
    shape = tuple(
        const(plan.sizes[v]) if isinstance(v, Var) and v in plan.sizes else size
        for v, size in zip(store.indices, store.buffer.shape, strict=True)
    )
    return _exchanged(moved, store.buffer, replace(store.buffer, shape=shape))


def _selected(block: Block, store: Store, sizes: dict[Var, int]) -> Store:
    """The reduction with the neutral value in its added iterations."""
    nothing = neutral_value(block)
    asked = [it.var < it.extent for it in block.iters if it.kind == "reduce" and it.var in sizes]
    if nothing is None or not isinstance(store.value, Binary):
        raise _refusal(block, "neutral", "its operation has no neutral value to pad with")
    value = store.value
    own_first = reads_buffer(value.a, store.buffer)
    joined = value.b if own_first else value.a
    kept = Select(conjunction(asked), joined, const(nothing, joined.dtype))
    a, b = (value.a, kept) if own_first else (kept, value.b)
    return replace(store, value=replace(value, a=a, b=b))


def _longer_loops(
    index: ProgramIndex, block: Block, sizes: dict[Var, int]
) -> tuple[dict[Var, int], Expr]:
    """New extents of the loops that run over padded variables, and the guards that remain."""
    around = index.loops_around(block)
    env = index.bounds_around(block)
    loops: dict[Var, int] = {}
    ends = env
    for it, binding in zip(block.iters, block.bindings, strict=True):
        if it.var not in sizes:
            continue
        loop = next((lp for lp in around if lp.var is binding), None)
        if loop is not None and const_int(loop.extent) == const_int(it.extent):
            _require_own(index, block, loop, binding)
            loops[loop.var] = sizes[it.var]
        elif (last := bound_of(binding, env).hi) is not None and last + 1 != sizes[it.var]:
            raise _refusal(
                block,
                "loops",
                f"its loops over {it.var.name} make {last + 1} rounds, not {sizes[it.var]}; "
                f"pad it before splitting",
            )
        ends = ends.assume(binding < it.extent)
    guards = [c for c in conjuncts(block.predicate) if not prove(c, ends)]
    return loops, conjunction(guards)


def _require_own(index: ProgramIndex, block: Block, loop: For, binding: Expr) -> None:
    others = [b.name for b in index.blocks_under(loop) if b is not block]
    shared = [b for b in block.bindings if b is not binding and uses_var(b, {loop.var})]
    if others or shared or loop.var in vars_of(block.predicate):
        raise _refusal(
            block,
            "shared-loop",
            f"{loop.var.name} runs for {', '.join(others) or 'other variables'} too; pad before "
            f"attaching and fusing",
        )
