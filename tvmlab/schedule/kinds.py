"""What kind of work a block does: the structural half of the legality service.

- *complete*: every iteration writes its own elements from values that are final;
- *reduction*: iterations that share their spatial values combine into one element by an
  associative and commutative operation, so their order is free (floating-point sums may round
  differently);
- *opaque*: anything else; its order is kept, or dependences are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

from tvmlab.arith import detect_iter_map
from tvmlab.ir import (
    Binary,
    Block,
    Buffer,
    Expr,
    If,
    Let,
    Load,
    Logic,
    Select,
    Stmt,
    Store,
    Var,
    child_stmts,
    const,
    const_int,
    expand_lets,
    structural_equal,
    uses_var,
    walk,
)

from .assumptions import ASSOCIATIVE, is_assumed

BlockKind: TypeAlias = Literal["complete", "reduction", "opaque"]

_COMBINERS = {"add", "mul", "min", "max", "bitand", "bitor", "bitxor"}
_KINDS: WeakKeyDictionary[Block, BlockKind] = WeakKeyDictionary()


def block_kind(block: Block) -> BlockKind:
    """The kind of a block, decided from its iteration variables and body."""
    kind = _KINDS.get(block)
    if kind is None:
        kind = _KINDS[block] = _decide(block)
    return kind


def is_rolled(block: Block) -> bool:
    """Whether a block fills a window that goes round in a circle, as rolling_buffer makes it."""
    ordered = {it.var for it in block.iters if it.kind == "opaque"}
    places = [i for store in final_stores(block) for i in store.indices]
    turning = [i for i in places if isinstance(i, Binary) and i.op == "floormod"]
    return any(uses_var(i, ordered) for i in turning)


def single_store(block: Block) -> Store | None:
    """The body's store if the body is exactly one, with values in place of their names."""
    if len(final_stores(block)) != 1:
        return None
    body = expand_lets(block.body)
    return body if isinstance(body, Store) else None


def final_stores(block: Block) -> list[Store]:
    """The stores of a body that only names values and then stores them; else none."""
    body = block.body
    while isinstance(body, Let):
        body = body.body
    members = child_stmts(body)
    stores = [s for s in members if isinstance(s, Store)]
    return stores if len(stores) == len(members) else []


def plain_iters(indices: Sequence[Expr]) -> list[Var] | None:
    """The indices as variables if each is a different plain variable, else None."""
    found = [i for i in indices if isinstance(i, Var)]
    return found if len(found) == len(indices) == len(set(found)) else None


def shifted_iters(indices: Sequence[Expr]) -> list[tuple[Var, Expr]] | None:
    """The indices as different variables, each plus what does not depend on any."""
    found: list[tuple[Var, Expr]] = []
    for index in indices:
        if isinstance(index, Var):
            found.append((index, const(0)))
        elif isinstance(index, Binary) and index.op == "add" and isinstance(index.a, Var):
            found.append((index.a, index.b))
        else:
            return None
    variables = {variable for variable, _ in found}
    moving = any(uses_var(shift, variables) for _, shift in found)
    return None if moving or len(variables) < len(found) else found


def joins_lanes(block: Block, loop: Var) -> bool:
    """Whether iterations of a loop update elements so that lanes of a vector can be joined first.

    It is a reduction by one plain operation, over this loop.
    """
    if block_kind(block) != "reduction":
        return False
    kinds = {
        it.kind for it, at in zip(block.iters, block.bindings, strict=True) if uses_var(at, {loop})
    }
    store = single_store(block)
    if store is None or kinds != {"reduce"} or not isinstance(store.value, Binary):
        return False
    plain = store.value.op in ("add", "mul", "min", "max") and not store.value.dtype.is_bool
    return plain and _operation(store.value, store) is not None


def reducer_of(block: Block) -> Hashable:
    """What tells the operation by which a block updates its own elements from others, or None.

    Updates by one operation may change places, also in blocks that are no plain reductions.
    """
    if block.combiner is not None or is_assumed(block.annotations, ASSOCIATIVE):
        lawful = block_kind(block) == "reduction"
        return (block.combiner or block.symbol) if lawful else None
    body = block.body
    while isinstance(body, If) and body.otherwise is None and not _reads_written(body):
        body = body.then
    return _operation(body.value, body) if isinstance(body, Store) else None


def _reads_written(s: If) -> bool:
    return _reads(s.cond, {n.buffer for n in walk(s.then) if isinstance(n, Store)})


def same_place(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    """Whether two accesses have the same indices."""
    return all(x is y for x, y in zip(a, b, strict=True)) or all(
        structural_equal(x, y) for x, y in zip(a, b, strict=True)
    )


def _decide(block: Block) -> BlockKind:
    stores = final_stores(block)
    written = {s.buffer for s in stores}
    if not stores or len(written) != len(stores):
        return "opaque"
    if any(it.kind == "opaque" for it in block.iters):
        return "opaque"
    if not all(_own_element(block, s) for s in stores):
        return "opaque"
    reduces = any(it.kind == "reduce" for it in block.iters)
    if not reduces and block.init is None and not _reads(block.body, written):
        return "complete"
    if block.init is not None and not _init_matches(block.init, stores):
        return "opaque"
    return "reduction" if _combines(block, stores, written) else "opaque"


def _own_element(block: Block, store: Store) -> bool:
    """Whether iterations with different spatial values store to different elements."""
    spatial = [it for it in block.iters if it.kind == "spatial" and const_int(it.extent) != 1]
    reduced = {it.var for it in block.iters if it.kind == "reduce"}
    if any(v in reduced for index in store.indices for v in walk(index)):
        return False
    plain = {i for i in store.indices if isinstance(i, Var)}
    if all(it.var in plain for it in spatial):
        return True
    axes = [(it.var, it.extent) for it in spatial]
    return detect_iter_map(store.indices, axes, store.buffer.shape).injective


def _init_matches(init: Stmt, stores: Sequence[Store]) -> bool:
    members = child_stmts(init)
    places = {s.buffer: s.indices for s in stores}
    return len(members) == len(stores) and all(
        isinstance(s, Store)
        and s.buffer in places
        and same_place(s.indices, places[s.buffer])
        and not any(isinstance(n, Load) for n in walk(s.value))
        for s in members
    )


def _combines(block: Block, stores: Sequence[Store], written: set[Buffer]) -> bool:
    if block.combiner is not None:
        lawful = block.combiner.lawful or is_assumed(block.annotations, ASSOCIATIVE)
        return lawful and _reads_own_only(block, stores, written)
    if is_assumed(block.annotations, ASSOCIATIVE):
        return _reads_own_only(block, stores, written)
    if len(stores) != 1 or _operation(stores[0].value, stores[0]) is None:
        return False
    return not _names_result(block.body, written)


def _names_result(body: Stmt, written: set[Buffer]) -> bool:
    """Whether a name stands for a value that depends on the result so far."""
    while isinstance(body, Let):
        if any(isinstance(n, Load) and n.buffer in written for n in walk(body.value)):
            return True
        body = body.body
    return False


def _reads_own_only(block: Block, stores: Sequence[Store], written: set[Buffer]) -> bool:
    places = {s.buffer: s.indices for s in stores}
    return all(
        same_place(n.indices, places[n.buffer])
        for n in walk(block.body)
        if isinstance(n, Load) and n.buffer in written
    )


def reads_other_results(block: Block) -> bool:
    """Whether a block with start values looks at elements that another of its iterations sets."""
    stores = [n for n in walk(block.body) if isinstance(n, Store)]
    written = {s.buffer for s in stores}
    return any(
        n.buffer in written
        and not any(s.buffer is n.buffer and same_place(n.indices, s.indices) for s in stores)
        for n in walk(block.body)
        if isinstance(n, Load)
    )


def _operation(value: Expr, store: Store) -> str | None:
    """The operation of `own element (op) something that does not read the buffer`."""
    if isinstance(value, Select):
        kept = _is_own(value.otherwise, store) and not _reads(value.cond, {store.buffer})
        return _operation(value.then, store) if kept else None
    if isinstance(value, Logic) or (isinstance(value, Binary) and value.op in _COMBINERS):
        for own, other in ((value.a, value.b), (value.b, value.a)):
            if _is_own(own, store):
                return None if _reads(other, {store.buffer}) else value.op
    return None


def _is_own(e: Expr, store: Store) -> bool:
    return isinstance(e, Load) and e.buffer is store.buffer and same_place(e.indices, store.indices)


def _reads(e: Expr | Stmt, buffers: set[Buffer]) -> bool:
    return any(isinstance(n, Load) and n.buffer in buffers for n in walk(e))
