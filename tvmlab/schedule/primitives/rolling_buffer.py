"""Reuse of a sliding window: rolling_buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.arith import Bounds, detect_iter_map, linear_form, prove, simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Compare,
    Expr,
    For,
    Load,
    Node,
    Program,
    Stmt,
    Store,
    Var,
    conjunction,
    conjuncts,
    const,
    const_int,
    logic,
    transform,
    uses_var,
)
from tvmlab.schedule.index import ProgramIndex, buffers_read, index_of
from tvmlab.schedule.kinds import block_kind, is_rolled, plain_iters, single_store
from tvmlab.schedule.legality import binding_vars, sole_writer, vars_of, written_buffer
from tvmlab.schedule.notes import PARTIAL, note_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import remake_block, replace_stmts
from tvmlab.schedule.verdict import RefusedError, refuse, unsure
from tvmlab.schedule.windows import touched_window


def _propose(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    if index.loops_around(block) and index.consumers_of(block):
        yield {}


@primitive(
    "rolling_buffer", "rolling buffer", "",
    ParamSpec("block", "block", "a producer attached to a loop along which its window slides"),
    propose=_propose,
)  # fmt: skip
def rolling_buffer(program: Program, block: BlockSymbol) -> Applied:
    """Keep a sliding window of values in a circle: each iteration computes only the new ones.

    The producer stands in the loop that it shares with its consumers. The first iteration computes
    the whole window; the others what they do not find there. The buffer holds one window.

    Before::

        for y in range(62):
            for r in range(3):
                B[y + r, ...] = f(A[y + r, ...])
            C[y, ...] = B[y, ...] + B[y + 2, ...]

    After `rolling_buffer("B")`, B having three rows::

        for y in range(62):
            for r in range(3):
                where(y <= 0 or y + r >= y + 2)
                B[(y + r) % 3, ...] = f(A[y + r, ...])
            C[y, ...] = B[y % 3, ...] + B[(y + 2) % 3, ...]
    """
    index = index_of(program)
    producer = index.blocks[block]
    buffer = _require_rollable(index, producer)
    window = _sliding_window(index, producer, buffer)
    _require_unbroken(index, producer, window)
    _require_steady(index, producer, producer, window)
    new = replace(
        buffer,
        shape=tuple(
            const(window.length) if n == window.dim else size for n, size in enumerate(buffer.shape)
        ),
    )
    changed: dict[Stmt, Stmt] = {
        user: _in_circle(user, buffer, new, window) for user in index.consumers(buffer)
    }
    changed[producer] = _only_new(_in_circle(producer, buffer, new, window), window)
    result = replace_stmts(program, changed)
    allocs = tuple(new if b is buffer else b for b in result.allocs)
    return Applied(replace(result, allocs=allocs))


@dataclass(frozen=True, slots=True)
class _Window:
    """The run of one dimension that each iteration of a loop needs; it moves on by `step`."""

    loop: For
    dim: int
    variable: Var
    binding: Expr
    start: Expr
    length: int
    step: int


def _refusal(producer: Block, rule: str, why: str) -> RefusedError:
    return refuse(
        f"rolling_buffer.{rule}",
        f"cannot keep a rolling window of {producer.name}: {why}",
        subject=producer.symbol,
    )


def _require_rollable(index: ProgramIndex, producer: Block) -> Buffer:
    buffer = written_buffer(producer, "rolling_buffer")
    if buffer not in index.program.allocs:
        raise _refusal(producer, "output", f"{buffer.name} must be written whole for the caller")
    sole_writer(index, buffer, producer, "rolling_buffer")
    if block_kind(producer) == "opaque" or note_of(producer, PARTIAL) is not None:
        raise _refusal(producer, "opaque", "it is neither element-wise nor a reduction")
    return buffer


def _sliding_window(index: ProgramIndex, producer: Block, buffer: Buffer) -> _Window:
    consumers = index.consumers(buffer)
    shared = index.common_loops(producer, *consumers) if consumers else []
    if not shared:
        raise _refusal(
            producer, "no-loop", "it shares no loop with its consumers; compute_at it into one"
        )
    loop = shared[-1]
    if loop.kind != "serial":
        raise _refusal(producer, "kind", f"{loop.var.name} is {loop.kind}, not serial")
    store = single_store(producer)
    places = None if store is None else plain_iters(store.indices)
    bound = dict(zip((it.var for it in producer.iters), producer.bindings, strict=True))
    moving = [v for v, binding in bound.items() if uses_var(binding, {loop.var})]
    if places is None or len(moving) != 1 or moving[0] not in places:
        raise _refusal(
            producer,
            "dimension",
            f"{loop.var.name} must move its window along exactly one dimension of {buffer.name}",
        )
    dim = places.index(moving[0])
    span = touched_window(index, [producer], buffer, Store, loop)[dim]
    form = linear_form(span.min, index.bounds_around(producer))
    step, length = form.terms.get(loop.var, 0), const_int(span.extent)
    others = [atom for atom in form.terms if atom is not loop.var]
    if length is None or any(uses_var(atom, {loop.var}) for atom in others) or step < 1:
        raise _refusal(
            producer, "shape", f"its window does not move on evenly with {loop.var.name}"
        )
    if step >= length:
        raise _refusal(
            producer,
            "no-overlap",
            f"the window of {length} moves on by {step} with each iteration of {loop.var.name}, so "
            f"nothing in it can be used again",
        )
    return _Window(loop, dim, moving[0], bound[moving[0]], span.min, length, step)


def _require_unbroken(index: ProgramIndex, producer: Block, window: _Window) -> None:
    """Each iteration writes its window without gaps, and none before the last is left out."""
    around = index.loops_around(producer)
    inner = around[around.index(window.loop) + 1 :]
    variables = {lp.var for lp in inner}
    env = index.bounds_around(producer)
    own: list[Expr] = []
    extents = {it.var: it.extent for it in producer.iters}
    inside = env.assume(window.binding >= 0).assume(window.binding < extents[window.variable])
    for guard in conjuncts(producer.predicate):
        used = vars_of(guard)
        if used <= variables:
            own.append(guard)
        elif window.loop.var in used and not (
            prove(guard, inside) or (not used & variables and _ends_late(guard, window.loop, env))
        ):
            raise _unsure_unbroken(producer, window)
    place = simplify(window.binding - window.start, env)
    used = [(lp.var, lp.extent) for lp in inner if uses_var(place, {lp.var})]
    wanted = conjunction([c for c in own if vars_of(c) <= {v for v, _ in used}])
    mapping = detect_iter_map([place], used, [const(window.length)], wanted)
    if not mapping.surjective:
        raise _unsure_unbroken(producer, window)


def _require_steady(index: ProgramIndex, producer: Block, reader: Block, window: _Window) -> None:
    """An element must be the same in whichever iteration it is computed: it is not made again."""
    for buffer in buffers_read(reader):
        for writer in index.writers.get(buffer, []):
            if writer is reader or not index.is_under(writer, window.loop):
                continue
            again = window.loop.var in binding_vars(writer, "reduce")
            made = buffer in index.program.allocs and block_kind(writer) != "opaque" and not again
            if not (made or is_rolled(writer)):
                raise _refusal(
                    producer, "changing-values",
                    f"{writer.name} changes {buffer.name} in {window.loop.var.name}, so that what "
                    f"an iteration before has computed may be another value",
                )  # fmt: skip
            _require_steady(index, producer, writer, window)


def _ends_late(guard: Expr, loop: For, env: Bounds) -> bool:
    """Whether a condition leaves out only last iterations of a loop."""
    if not isinstance(guard, Compare) or guard.op not in ("lt", "le"):
        return False
    form = linear_form(guard.a, env).minus(linear_form(guard.b, env))
    others = [atom for atom in form.terms if atom is not loop.var]
    return form.terms.get(loop.var, 0) > 0 and not any(uses_var(a, {loop.var}) for a in others)


def _unsure_unbroken(producer: Block, window: _Window) -> RefusedError:
    return unsure(
        "rolling_buffer.gaps",
        f"cannot keep a rolling window of {producer.name}: it could not be shown that every "
        f"iteration of {window.loop.var.name} fills its window without gaps",
        subject=producer.symbol,
    )


def _in_circle(block: Block, old: Buffer, new: Buffer, window: _Window) -> Block:
    env = Bounds.of({it.var: it.extent for it in block.iters})

    def place(indices: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple(
            simplify(index % window.length, env) if n == window.dim else index
            for n, index in enumerate(indices)
        )

    def visit(current: Node) -> Node:
        if isinstance(current, (Load, Store)) and current.buffer is old:
            return replace(current, buffer=new, indices=place(current.indices))
        return current

    init = None if block.init is None else transform(block.init, visit)
    return remake_block(block, body=transform(block.body, visit), init=init)


def _only_new(producer: Block, window: _Window) -> Block:
    """The producer where the window is new. Its iterations depend on those before: order counts."""
    first_new = window.start + (window.length - window.step)
    new = logic("or", window.loop.var <= 0, window.binding >= first_new)
    iters = tuple(
        replace(it, kind="opaque") if it.var is window.variable else it for it in producer.iters
    )
    return replace(
        producer, iters=iters, predicate=conjunction([*conjuncts(producer.predicate), new])
    )
