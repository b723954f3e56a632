"""Conditions of formulas: asked once outside of a loop, and once for several choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tvmlab.arith import simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Expr,
    For,
    If,
    Logic,
    Node,
    Not,
    Program,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    children,
    conjunction,
    is_pure,
    make_block,
    seq,
    structural_key,
    substitute,
    transform,
    walk,
)
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.kinds import single_store
from tvmlab.schedule.legality import binding_vars, vars_of
from tvmlab.schedule.notes import PARTIAL, require_unheld, with_note
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import fresh_copy, remake_block, replace_stmts
from tvmlab.schedule.verdict import Fix, refuse
from tvmlab.support import Namer

from .cut import require_blocks_only


def _propose_hoist(index: ProgramIndex, loop: For) -> Iterator[dict[str, Any]]:
    if any(_invariant(index, loop, block) for block in index.blocks_under(loop)):
        yield {}


@primitive(
    "hoist_condition", "decide a condition outside", "",
    ParamSpec("loop", "loop", "a loop that does not change the condition"),
    moves_blocks=True, propose=_propose_hoist,
)  # fmt: skip
def hoist_condition(program: Program, loop: Var) -> Applied:
    """Decide a condition of a formula once before a loop: one loop if it holds, one if not.

    The condition reads no memory, and its value is the same in all iterations of the loop. The
    loop and its blocks stay for where it holds; a copy of them runs where it does not. Returns both
    loops. Lowering asks the condition outside of them.

    Before::

        for i in range(4):
            for j in range(8):
                C[i, j] = select(i < 3, A[i, j], 0)

    After `hoist_condition(j)`::

        for i in range(4):
            for j in range(8):
                where(i < 3)
                C[i, j] = A[i, j]
            for j_1 in range(8):
                where(not i < 3)
                C[i, j_1] = 0
    """
    index = index_of(program)
    target = index.loops[loop]
    require_unheld(target, "hoist_condition")
    require_blocks_only(target, "hoist_condition")
    for inner in (lp for lp in [target, *walk(target.body)] if isinstance(lp, For)):
        if inner.kind in ("thread", "virtual"):
            raise refuse(
                "hoist_condition.threads",
                f"cannot decide a condition before {loop.name}: {inner.var.name} is run by "
                f"threads, which must all come to the same loops; hoist before binding",
                subject=inner.var,
            )
    found = [c for b in index.blocks_under(target) for c in _invariant(index, target, b)]
    if not found:
        raise refuse(
            "hoist_condition.none",
            f"cannot decide a condition before {loop.name}: no formula in it chooses by a "
            f"condition that stays the same in {loop.name} and the loops inside, and reads no "
            f"memory",
            subject=loop,
        )
    condition = found[0]
    _require_no_rounds(index, target, condition)
    names = Namer(s.name for s in index.blocks)
    holds = _version(target, condition, True, None)
    fails = _version(target, condition, False, names)
    assert isinstance(fails, For)
    return Applied(replace_stmts(program, {target: seq([holds, fails])}), (loop, fails.var))


def _invariant(index: ProgramIndex, loop: For, block: Block) -> list[Expr]:
    """The conditions of a block that a loop does not change, in terms of the loops around it."""
    around = index.loops_around(block)
    changing = {lp.var for lp in around[around.index(loop) :]}
    outside = {lp.var for lp in around} - changing
    sizes = {p for p in index.program.params if isinstance(p, Var)}
    values = dict(zip((it.var for it in block.iters), block.bindings, strict=True))
    found: dict[tuple[str, ...], Expr] = {}
    for condition in _choices(block):
        cond = substitute(condition, values)
        used = vars_of(cond)
        if used and used <= outside | sizes and is_pure(cond):
            found.setdefault(structural_key(cond), cond)
    return list(found.values())


def _choices(block: Block) -> Iterator[Expr]:
    for node in walk(block.body):
        if isinstance(node, (Select, If)) and node.cond.dtype.lanes == 1:
            yield node.cond


def _require_no_rounds(index: ProgramIndex, loop: For, condition: Expr) -> None:
    """A sum that begins in one version and goes on in the other would begin twice."""
    for block in index.blocks_under(loop):
        rounds = vars_of(condition) & binding_vars(block, "reduce")
        if block.init is not None and rounds:
            outer = next(lp for lp in index.loops_around(block) if lp.var in rounds)
            decompose = ("decompose_reduction", {"block": block.symbol, "loop": outer.var})
            title = f"decompose {block.name} at {outer.var.name} first, then hoist the condition"
            raise refuse(
                "hoist_condition.rounds",
                f"cannot decide a condition before {loop.var.name}: it depends on the reduction "
                f"loop {outer.var.name} of {block.name}, whose start value would be set in both "
                f"versions of the loop",
                fixes=(Fix(title, (decompose, ("hoist_condition", {"loop": loop.var}))),),
                subject=loop.var,
            )


def _version(stmt: Stmt, condition: Expr, holds: bool, names: Namer | None) -> Stmt:
    """A nest for where a condition holds, or does not; a copy if it is given names for blocks."""
    if names is not None:
        stmt = fresh_copy(stmt)
    key = structural_key(condition)
    asked = condition if holds else simplify(Not(condition))

    def visit(current: Stmt) -> Stmt:
        if isinstance(current, For):
            return replace(current, body=visit(current.body))
        if isinstance(current, Seq):
            return seq([visit(s) for s in current.stmts])
        assert isinstance(current, Block)
        return block_of(current)

    def block_of(block: Block) -> Block:
        values = dict(zip((it.var for it in block.iters), block.bindings, strict=True))

        def decide(node: Any) -> Any:
            if not isinstance(node, (Select, If)):
                return node
            if structural_key(substitute(node.cond, values)) != key:
                return node
            return node.then if holds else _or_nothing(node.otherwise)

        body = transform(block.body, decide)
        iters = block.iters
        symbol, init = block.symbol, block.init
        if names is not None:
            fresh = {it.var: Var(it.var.name, it.var.dtype) for it in iters}
            iters = tuple(replace(it, var=fresh[it.var]) for it in iters)
            body = substitute(body, fresh)
            init = None if init is None else substitute(init, fresh)
            symbol = BlockSymbol(names.fresh(f"{block.name}_else"))
        return replace(
            make_block(
                symbol,
                iters,
                block.bindings,
                body,
                init=init,
                predicate=conjunction([asked, block.predicate]),
                annotations=with_note(block, PARTIAL, True).annotations,
            ),
            combiner=block.combiner,
        )

    return visit(stmt)


def _or_nothing(branch: Expr | Stmt | None) -> Expr | Stmt:
    return Seq(()) if branch is None else branch


def _propose_merge(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    del index
    if _repeated(block) is not None:
        yield {}


@primitive(
    "merge_conditions", "merge equal conditions", "",
    ParamSpec("block", "block", "a block whose formula chooses several times by one condition"),
    propose=_propose_merge,
)  # fmt: skip
def merge_conditions(program: Program, block: BlockSymbol) -> Applied:
    """Ask a condition once for all choices of a formula that depend on it.

    Before::

        C[i] = select(i < 3, A[i], 0) + select(i < 3, B[i], 1)

    After `merge_conditions("C")`::

        C[i] = select(i < 3, A[i] + B[i], 1)
    """
    target = index_of(program).blocks[block]
    store = single_store(target)
    condition = _repeated(target)
    if store is None or condition is None:
        why = (
            "its formula does not choose twice by one condition"
            if store is not None
            else "it is more than one formula"
        )
        raise refuse(
            "merge_conditions.none", f"cannot merge conditions of {target.name}: {why}",
            subject=block,
        )  # fmt: skip
    together = _smallest_around(store.value, structural_key(condition))
    parts = [_decided(together, condition, holds) for holds in (True, False)]
    choice = Select(condition, *parts)
    value = transform(store.value, lambda node: choice if node is together else node)
    body = replace(store, value=value)
    merged = remake_block(target, body=body, init=target.init)
    return Applied(replace_stmts(program, {target: merged}))


def _repeated(block: Block) -> Expr | None:
    """The first condition by which a formula chooses more than once, where it always chooses.

    A choice inside the branch of another one is not always made: asking first for what it asks
    might fail, as reading where nothing is.
    """
    store = single_store(block)
    seen: set[tuple[str, ...]] = set()
    for condition in () if store is None else _always_asked(store):
        key = structural_key(condition)
        if key in seen:
            return condition
        seen.add(key)
    return None


def _always_asked(store: Store) -> Iterator[Expr]:
    stack: list[Node] = [store.value]
    while stack:
        node = stack.pop()
        if isinstance(node, Select):
            yield node.cond
        elif not isinstance(node, Logic):
            stack.extend(reversed(list(children(node))))


def _smallest_around(value: Expr, key: tuple[str, ...]) -> Expr:
    """The smallest part of a formula that has all the choices by a condition in it."""
    while True:
        parts = [c for c in children(value) if isinstance(c, Expr) and _chooses(c, key)]
        if len(parts) != 1 or isinstance(value, Select):
            return value
        value = parts[0]


def _chooses(value: Expr, key: tuple[str, ...]) -> bool:
    return any(isinstance(n, Select) and structural_key(n.cond) == key for n in walk(value))


def _decided(value: Expr, condition: Expr, holds: bool) -> Expr:
    key = structural_key(condition)

    def decide(node: Any) -> Any:
        if isinstance(node, Select) and structural_key(node.cond) == key:
            return node.then if holds else node.otherwise
        return node

    return simplify(transform(value, decide))
