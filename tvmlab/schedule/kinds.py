"""What kind of work a block does: the structural half of the legality service.

- *complete*: every iteration writes its own element from values that are final;
- *reduction*: iterations that share their spatial values combine into one element by an
  associative and commutative operation, so their order is free (floating-point sums may round
  differently);
- *opaque*: anything else; its order is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

from tvmlab.ir import Binary, Block, Expr, Load, Logic, Select, Store, Var, structural_equal, walk

BlockKind: TypeAlias = Literal["complete", "reduction", "opaque"]

_COMBINERS = {"add", "mul", "min", "max", "bitand", "bitor", "bitxor"}
_KINDS: WeakKeyDictionary[Block, BlockKind] = WeakKeyDictionary()


def block_kind(block: Block) -> BlockKind:
    """The kind of a block, decided from its iteration variables and body."""
    kind = _KINDS.get(block)
    if kind is None:
        kind = _KINDS[block] = _decide(block)
    return kind


def single_store(block: Block) -> Store | None:
    """The body's store if the body is exactly one, else None."""
    return block.body if isinstance(block.body, Store) else None


def plain_iters(indices: Sequence[Expr]) -> list[Var] | None:
    """The indices as variables if each is a different plain variable, else None."""
    found = [i for i in indices if isinstance(i, Var)]
    return found if len(found) == len(indices) == len(set(found)) else None


def _decide(block: Block) -> BlockKind:
    store = single_store(block)
    if store is None or any(it.kind == "opaque" for it in block.iters):
        return "opaque"
    reads_own = any(isinstance(n, Load) and n.buffer is store.buffer for n in walk(store))
    reduces = {it.var for it in block.iters if it.kind == "reduce"}
    if not reduces and block.init is None:
        return "opaque" if reads_own else "complete"
    if any(v in reduces for index in store.indices for v in walk(index)):
        return "opaque"
    if block.init is not None and not _init_matches(block.init, store):
        return "opaque"
    return "reduction" if _is_combination(store.value, store) else "opaque"


def _init_matches(init: object, store: Store) -> bool:
    return (
        isinstance(init, Store)
        and init.buffer is store.buffer
        and _same_place(init.indices, store.indices)
        and not any(isinstance(n, Load) for n in walk(init.value))
    )


def _is_combination(value: Expr, store: Store) -> bool:
    """Whether a value is `own element (op) something that does not read the buffer`."""
    if isinstance(value, Select):
        kept = _is_own(value.otherwise, store) and not _reads(value.cond, store)
        return kept and _is_combination(value.then, store)
    if isinstance(value, Logic) or (isinstance(value, Binary) and value.op in _COMBINERS):
        for own, other in ((value.a, value.b), (value.b, value.a)):
            if _is_own(own, store):
                return not _reads(other, store)
    return False


def _is_own(e: Expr, store: Store) -> bool:
    return (
        isinstance(e, Load) and e.buffer is store.buffer and _same_place(e.indices, store.indices)
    )


def _reads(e: Expr, store: Store) -> bool:
    return any(isinstance(n, Load) and n.buffer is store.buffer for n in walk(e))


def _same_place(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return all(x is y for x, y in zip(a, b, strict=True)) or all(
        structural_equal(x, y) for x, y in zip(a, b, strict=True)
    )
