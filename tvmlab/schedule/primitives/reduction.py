"""What a reduction block is made of: its operation, neutral element and stores.

Both kinds are read into one form: built-in operations, recognized from the body, and a user's own,
which the block's combiner tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.arith.laws import law_of
from tvmlab.ir import (
    Binary,
    Block,
    Buffer,
    Combiner,
    Const,
    Expr,
    Let,
    Load,
    Logic,
    Select,
    Stmt,
    Store,
    Var,
    child_stmts,
    const,
    logic,
    seq,
    substitute,
)
from tvmlab.schedule.kinds import block_kind
from tvmlab.schedule.verdict import RefusedError, refuse
from tvmlab.support import DType


@dataclass(frozen=True, slots=True)
class ReductionForm:
    """The operation of a reduction, and the stores of its results, one for each state."""

    combiner: Combiner
    stores: tuple[Store, ...]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(store.buffer for store in self.stores)

    def start(self, places: Sequence[tuple[Buffer, Sequence[Expr]]]) -> Stmt:
        """Set the elements at `places` to the neutral element."""
        return seq(
            [
                Store(buffer, tuple(at), value)
                for (buffer, at), value in zip(places, self.combiner.identity, strict=True)
            ]
        )

    def join(self, into: Sequence[Load], values: Sequence[Expr]) -> Stmt:
        """Join values to the elements that `into` reads; all of them are updated together."""
        left = dict(zip(self.combiner.left, into, strict=True))
        right = dict(zip(self.combiner.right, values, strict=True))
        results = [substitute(e, {**left, **right}) for e in self.combiner.results]
        if len(results) == 1:
            return Store(into[0].buffer, into[0].indices, results[0])
        news = [Var(f"new{n}", e.dtype) for n, e in enumerate(results)]
        body = seq([Store(x.buffer, x.indices, v) for x, v in zip(into, news, strict=True)])
        for var, value in zip(reversed(news), reversed(results), strict=True):
            body = Let(var, value, body)
        return body


def reduction_form(block: Block) -> ReductionForm:
    """The form of a block's reduction.

    Raises
    ------
    RefusedError
        If the block is no reduction, its start value is set elsewhere, or its operation is not
        associative and commutative.
    """
    stores = _stores_of(block.body)
    if not any(it.kind == "reduce" for it in block.iters) or not stores:
        raise _refusal(block, "not-a-reduction", "it is not a reduction")
    if block.init is None:
        raise _refusal(
            block,
            "no-init",
            "its start value is set by a block of its own; factor before decomposing the reduction",
        )
    if block.combiner is not None:
        if not block.combiner.lawful:
            raise _unlawful(block, block.combiner)
        return ReductionForm(block.combiner, stores)
    store = stores[0]
    if block_kind(block) != "reduction" or len(stores) != 1:
        raise _unlawful(block, _operation_of(store))
    return ReductionForm(_built_in(store), stores)


def _stores_of(stmt: Stmt) -> tuple[Store, ...]:
    """The stores at the end of a body, under its lets."""
    while isinstance(stmt, Let):
        stmt = stmt.body
    stores = [s for s in child_stmts(stmt) if isinstance(s, Store)]
    return tuple(stores) if len(stores) == len(child_stmts(stmt)) else ()


def _built_in(store: Store) -> Combiner:
    value = store.value
    while isinstance(value, Select):
        value = value.then
    assert isinstance(value, (Binary, Logic))
    left, right = Var("left", value.dtype), Var("right", value.dtype)
    if isinstance(value, Logic):
        result: Expr = logic(value.op, left, right)
    else:
        result = Binary(value.op, left, right)
    return Combiner((left,), (right,), (result,), (neutral(value.op, value.dtype),))


def neutral(op: str, dtype: DType) -> Const:
    """The element that a built-in operation joins without changing the other side."""
    low: float | int = float("-inf") if dtype.is_float else dtype.min_value
    high: float | int = float("inf") if dtype.is_float else dtype.max_value
    values: dict[str, float | int] = {
        "add": 0, "mul": 1, "min": high, "max": low, "and": 1, "or": 0,
        "bitor": 0, "bitxor": 0, "bitand": high if dtype.kind == "uint" else -1,
    }  # fmt: skip
    return const(values[op], dtype)


def _operation_of(store: Store) -> Combiner | None:
    """The operation that joins a block's element with something else, lawful or not."""
    value = store.value
    if not isinstance(value, Binary) or not isinstance(value.a, Load):
        return None
    if value.a.buffer is not store.buffer or not value.dtype.is_int | value.dtype.is_float:
        return None
    left, right = Var("left", value.dtype), Var("right", value.dtype)
    return Combiner(
        (left,), (right,), (Binary(value.op, left, right),), (const(0, value.dtype),), lawful=False
    )


def _unlawful(block: Block, operation: Combiner | None) -> RefusedError:
    law = None if operation is None else law_of(operation)
    why = "" if law is None or law.holds else f": {law.reason}"
    return _refusal(
        block,
        "unlawful",
        f"its operation is not known to be associative and commutative{why}, so joining partial "
        f"results may give another value",
        None if law is None or law.holds else law.counterexample,
    )


def _refusal(block: Block, rule: str, why: str, witness: str | None = None) -> RefusedError:
    return refuse(
        f"rfactor.{rule}",
        f"cannot factor {block.name}: {why}",
        witness=witness,
        subject=block.symbol,
    )
