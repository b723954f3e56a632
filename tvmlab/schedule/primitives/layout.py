"""Layouts: transform_layout for buffers, transform_block_layout for the iterations of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from tvmlab.arith import (
    Bounds,
    IndexMap,
    index_map,
    prove,
    simplify,
)
from tvmlab.ir import (
    Attribute,
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    IterKind,
    Load,
    Node,
    Operand,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    conjunction,
    const,
    const_int,
    free_vars,
    substitute,
    transform,
    walk,
)
from tvmlab.schedule.index import ProgramIndex, accesses, index_of
from tvmlab.schedule.kinds import block_kind, plain_iters, single_store
from tvmlab.schedule.layouts import (
    Layout,
    layout_of,
    leaves_padding,
    nest_over,
    new_iters,
    own_loops,
)
from tvmlab.schedule.legality import sole_writer, vars_of
from tvmlab.schedule.notes import ALIGN, PARTIAL, with_note
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import remake_block, replace_stmts
from tvmlab.schedule.verdict import RefusedError, refuse, unsure


def _propose_buffers(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    """Tiles of 16, 8 or 4 along the last dimension of each intermediate that a block touches."""
    touched = dict.fromkeys(access.buffer for access in accesses(block))
    for buffer in touched:
        if buffer in index.program.allocs and buffer.shape:
            yield {"buffer": buffer, "mapping": _tiles(buffer.shape)}


def _propose_block(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    del index
    if block.iters:
        yield {"mapping": _tiles([it.extent for it in block.iters])}


def _tiles(sizes: Sequence[Expr]) -> IndexMap:
    def tiled(*indices: Expr) -> list[Expr]:
        return [*indices[:-1], indices[-1] // factor, indices[-1] % factor]

    last = const_int(sizes[-1])
    factor = next((f for f in (16, 8, 4, 2) if last is not None and last % f == 0), 4)
    return index_map(tiled, len(sizes))


@primitive(
    "transform_layout", "transform layout", "",
    ParamSpec("block", "block", "a block that reads or writes the buffer"),
    ParamSpec("buffer", "buffer", "the buffer to lay out anew"),
    ParamSpec("mapping", "mapping", "new indices in terms of old ones, as a lambda"),
    ParamSpec("pad_value", "value", "what padding holds; nothing if left out", required=False),
    ParamSpec(
        "signature", "bool", "whether a parameter of the kernel may change its shape",
        default=False, required=False,
    ),
    moves_blocks=True, propose=_propose_buffers,
)  # fmt: skip
def transform_layout(
    program: Program,
    block: BlockSymbol,
    buffer: Buffer,
    mapping: IndexMap,
    pad_value: float | None = None,
    signature: bool = False,
) -> Applied:
    """Lay a buffer out anew: each element moves to the indices that a one-to-one map gives.

    Where sizes do not divide, the new shape has padding. Nobody reads it. With `pad_value` it is
    filled: the block that writes the buffer then runs over the new shape, and its loops are
    returned. A parameter of the kernel changes its shape only with `signature=True`, for then
    callers must pass other arrays; without, make a copy by `cache_read` and lay that out: packing.

    Before::

        for k, j in grid(8, 20):
            B[k, j] = A[k, j] * 2
        ...
        C[i, j] += B[k, j]

    After `transform_layout("C", "B", lambda k, j: [j // 16, k, j % 16])`, B being 2 x 8 x 16::

        for k, j in grid(8, 20):
            B[j // 16, k, j % 16] = A[k, j] * 2
        ...
        C[i, j] += B[j // 16, k, j % 16]
    """
    index = index_of(program)
    _require_touched(index, index.blocks[block], buffer, signature)
    layout = layout_of(mapping, buffer.shape, "transform_layout", buffer.name, block)
    new = replace(buffer, shape=layout.shape)
    users = {b: None for b in (*index.readers.get(buffer, []), *index.writers.get(buffer, []))}
    changed: dict[Stmt, Stmt] = {b: _relaid(b, buffer, new, layout) for b in users}
    moved = _with_buffer(replace_stmts(program, changed), buffer, new)
    if pad_value is None or not leaves_padding(layout):
        return Applied(moved)
    return _filled(index, moved, buffer, new, layout, pad_value)


def _require_touched(index: ProgramIndex, block: Block, buffer: Buffer, signature: bool) -> None:
    if all(access.buffer is not buffer for access in accesses(block)):
        raise refuse(
            "transform_layout.not-touched",
            f"cannot lay out {buffer.name} for {block.name}: the block neither reads nor writes it",
            subject=block.symbol,
        )
    if buffer not in index.program.allocs and not signature:
        raise refuse(
            "transform_layout.signature",
            f"cannot lay out {buffer.name}: it is a parameter of the kernel, and callers would "
            f"have to pass arrays of another shape; lay out a copy made by cache_read or "
            f"cache_write, or say signature=True",
            subject=block.symbol,
        )
    for node in walk(index.program.body):
        if isinstance(node, Operand) and node.region.buffer is buffer:
            raise refuse(
                "transform_layout.called",
                f"cannot lay out {buffer.name}: it is handed to code from outside the program, "
                f"which expects its present layout",
                subject=block.symbol,
            )
    for other in index.blocks.values():
        if any(key == ALIGN and _aligns(value, buffer) for key, value in other.annotations):
            raise refuse(
                "transform_layout.aligned",
                f"cannot lay out {buffer.name}: storage_align has set the distance of its rows "
                f"already; lay it out first and align after it",
                subject=block.symbol,
            )


def _aligns(value: object, buffer: Buffer) -> bool:
    rows = cast("tuple[tuple[Attribute, ...], ...]", value)
    return any(row[0] == buffer.name for row in rows)


def _relaid(block: Block, old: Buffer, new: Buffer, layout: Layout) -> Block:
    """The block with its accesses to a buffer at their new places."""
    env = Bounds.of({it.var: it.extent for it in block.iters})

    def visit(current: Node) -> Node:
        if isinstance(current, (Load, Store)) and current.buffer is old:
            places = layout.mapping.apply(current.indices)
            indices = tuple(simplify(place, env) for place in places)
            return replace(current, buffer=new, indices=indices)
        return current

    init = None if block.init is None else transform(block.init, visit)
    return remake_block(block, body=transform(block.body, visit), init=init)


def _with_buffer(program: Program, old: Buffer, new: Buffer) -> Program:
    return replace(
        program,
        params=tuple(new if p is old else p for p in program.params),
        allocs=tuple(new if b is old else b for b in program.allocs),
    )


def _filled(
    index: ProgramIndex,
    moved: Program,
    old: Buffer,
    new: Buffer,
    layout: Layout,
    pad_value: float,
) -> Applied:
    """The program in which the writer runs over the whole new shape and fills the padding."""
    writers = index.writers.get(old, [])
    if not writers:
        raise _no_fill(old, "no block of the program writes it: its padding is the caller's")
    writer = writers[0]
    sole_writer(index, old, writer, "transform_layout")
    store = single_store(writer)
    places = None if store is None else plain_iters(store.indices)
    whole = places is not None and set(places) == {it.var for it in writer.iters}
    if block_kind(writer) != "complete" or store is None or places is None or not whole:
        raise _no_fill(
            old,
            f"{writer.name} does not write each element once from finished values; stage it by "
            f"cache_write and lay out the copy",
        )
    if not old.dtype.holds(pad_value):
        raise _no_fill(old, f"{pad_value!r} is no value of {old.dtype}")
    chain = own_loops(index, writer, "transform_layout")
    if layout.inverse is None:
        raise _no_fill(old, "the way back from new to old indices was not found")
    back = dict(zip(places, layout.inverse.values, strict=True))
    value = substitute(store.value, back)
    inside = conjunction(layout.inverse.inside)
    padded = Select(inside, value, const(pad_value, old.dtype))
    iters = new_iters(layout, None)
    body = Store(new, layout.variables, padded)
    nest, loops = nest_over(
        remake_block(replace(writer, iters=(), bindings=()), body=body, init=None), iters
    )
    # The chain's loops keep their places in the moved program; only blocks were exchanged.
    top = index_of(moved).loops[chain[0].var] if chain else index_of(moved).blocks[writer.symbol]
    return Applied(replace_stmts(moved, {top: nest}), loops)


def _no_fill(buffer: Buffer, why: str) -> RefusedError:
    reason = f"cannot fill the padding of {buffer.name}: {why}"
    return refuse("transform_layout.fill", reason)


@primitive(
    "transform_block_layout", "transform iterations", "",
    ParamSpec("block", "block", "the block"),
    ParamSpec("mapping", "mapping", "new iteration variables in terms of old ones, as a lambda"),
    propose=_propose_block,
)  # fmt: skip
def transform_block_layout(program: Program, block: BlockSymbol, mapping: IndexMap) -> Applied:
    """Run a block over other iteration variables, which a one-to-one map makes of its own.

    Its loops become one for each new variable and are returned; iterations that no old one
    corresponds to are left out by a condition.

    Before::

        for k, j in grid(8, 20):
            with block("P", vk=spatial(8, k), vj=spatial(20, j)):
                P[vj // 16, vk, vj % 16] = B[vk, vj]

    After `transform_block_layout("P", lambda k, j: [j // 16, k, j % 16])`::

        for j_outer, k, j_inner in grid(2, 8, 16):
            with block("P", vj_outer=spatial(2, j_outer), vk=..., vj_inner=...):
                where(j_outer * 16 + j_inner < 20)
                P[vj_outer, vk, vj_inner] = B[vk, vj_outer * 16 + vj_inner]
    """
    index = index_of(program)
    target = index.blocks[block]
    if block_kind(target) == "opaque":
        raise refuse(
            "transform_block_layout.opaque",
            f"cannot transform the iterations of {target.name}: it is neither element-wise nor a "
            f"reduction, so their order is kept; split, skew and reorder its loops instead",
            subject=block,
        )
    chain = own_loops(index, target, "transform_block_layout")
    sizes = [it.extent for it in target.iters]
    layout = layout_of(mapping, sizes, "transform_block_layout", target.name, block)
    kinds = _kinds(target, mapping)
    if layout.inverse is None:
        raise unsure(
            "transform_block_layout.inverse",
            f"cannot transform the iterations of {target.name} by {mapping}: the way back from new "
            f"to old variables was not found",
            subject=block,
        )
    back = {it.var: e for it, e in zip(target.iters, layout.inverse.values, strict=True)}
    env = Bounds.of(dict(zip(layout.variables, layout.shape, strict=True)))

    def visit(current: Node) -> Node:
        if isinstance(current, (Load, Store)):
            return replace(current, indices=tuple(simplify(i, env) for i in current.indices))
        return current

    body = transform(substitute(target.body, back), visit)
    init = None if target.init is None else transform(substitute(target.init, back), visit)
    bare = replace(target, iters=(), bindings=())
    inside = conjunction(layout.inverse.inside)
    if layout.inverse.inside:
        bare = with_note(bare, PARTIAL, True)
        _require_first_round(target, mapping, layout, kinds)
    nest, loops = nest_over(
        remake_block(bare, body=body, init=init), new_iters(layout, kinds), inside
    )
    return Applied(replace_stmts(program, {chain[0] if chain else target: nest}), loops)


def _require_first_round(
    block: Block, mapping: IndexMap, layout: Layout, kinds: Sequence[IterKind]
) -> None:
    """The start value of a sum is set in the round in which all its variables are 0."""
    if block.init is None:
        return
    assert layout.inverse is not None
    summed = [v for v, kind in zip(layout.variables, kinds, strict=True) if kind == "reduce"]
    first: dict[Var, Expr] = {v: const(0, v.dtype) for v in summed}
    env = Bounds.of(dict(zip(layout.variables, layout.shape, strict=True)))
    asked = [c for c in layout.inverse.inside if vars_of(c) & set(summed)]
    # Conditions that link a sum's variables with others say nothing of the first round alone.
    there = all(prove(substitute(c, first), env.assume(c)) for c in asked)
    if not there:
        raise refuse(
            "transform_block_layout.first-round",
            f"cannot transform the iterations of {block.name} by {mapping}: no round of its sum "
            f"is number 0, in which its start value is set; let the new variables start at 0, or "
            f"take decompose_reduction first",
            subject=block.symbol,
        )


def _kinds(block: Block, mapping: IndexMap) -> list[IterKind]:
    """The kind of each new variable: that of the old ones it is made of."""
    kind_of: dict[Var, IterKind] = {}
    for param, it in zip(mapping.params, block.iters, strict=True):
        kind_of[param] = it.kind
    kinds: list[IterKind] = []
    for result in mapping.results:
        used: set[IterKind] = {kind_of[v] for v in free_vars(result) if v in kind_of}
        if len(used) > 1:
            raise refuse(
                "transform_block_layout.mixed",
                f"cannot transform the iterations of {block.name} by {mapping}: a new variable "
                f"would run over elements and over the reduction at once",
                subject=block.symbol,
            )
        kinds.append(used.pop() if used else "spatial")
    return kinds
