"""Stages that store only where a condition over threads holds.

Such a condition may leave elements unwritten, so it is no step of the eager schedule: it is put on
the blocks once all steps are taken. Threads that a result does not depend on all have its value;
the condition then says which of them stores it, and one is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

from tvmlab.arith import Bounds, simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Expr,
    For,
    Program,
    Stmt,
    Var,
    conjunction,
    const,
    const_int,
    free_vars,
    is_const,
    logic,
    substitute,
)
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import binding_vars
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.support import ScheduleError
from tvmlab.te import Axis, ThreadAxis

_MOST = 4096
"""How many threads are tried out, one after the other."""


def guard_stores(
    program: Program,
    predicates: Mapping[BlockSymbol, Expr],
    loops: Mapping[Axis, Var | None],
) -> Program:
    """The program in which blocks run only where their conditions hold.

    Raises
    ------
    ScheduleError
        If a condition speaks of threads or axes that have no loop around its block.
    """
    index = index_of(program)
    new: dict[Stmt, Stmt] = {}
    for symbol, predicate in predicates.items():
        block = index.blocks[symbol]
        guard = _guard(index, block, predicate, loops)
        if not is_const(guard, True):
            parts = [] if is_const(block.predicate, True) else [block.predicate]
            new[block] = replace(block, predicate=conjunction([*parts, guard]))
    return replace_stmts(program, new) if new else program


def _guard(
    index: ProgramIndex, block: Block, predicate: Expr, loops: Mapping[Axis, Var | None]
) -> Expr:
    around = index.loops_around(block)
    values: dict[Var, Expr] = {}
    for var in free_vars(predicate):
        found = _loop_of(var, around, loops)
        if found is not None:
            values[var] = found.var
        elif isinstance(var, Axis) and var in loops:
            values[var] = const(0)
        elif isinstance(var, (Axis, ThreadAxis)):
            raise ScheduleError(
                f"set_store_predicate of stage {block.name}: no loop around the stage is bound to "
                f"{var.name}",
                hint="bind a loop of the stage to it, or name a thread that is bound",
            )
    here = substitute(predicate, values)
    own = binding_vars(block, "spatial")
    alike = [lp for lp in around if lp.var in free_vars(here) and lp.var not in own]
    return simplify(_for_some(here, alike, block.name), index.bounds_around(block))


def _loop_of(var: Var, around: Sequence[For], loops: Mapping[Axis, Var | None]) -> For | None:
    """The loop that a thread or an axis of a stage stands for."""
    if isinstance(var, ThreadAxis):
        return next((lp for lp in reversed(around) if lp.thread == var.thread_tag), None)
    loop = loops.get(var) if isinstance(var, Axis) else None
    return next((lp for lp in around if lp.var is loop), None)


def _for_some(predicate: Expr, threads: Sequence[For], name: str) -> Expr:
    """Whether a condition holds for some of the threads that all have the value."""
    if not threads:
        return predicate
    sizes = [const_int(lp.extent) for lp in threads]
    count = 1
    for size in sizes:
        count *= _MOST + 1 if size is None else size
    if count > _MOST:
        raise ScheduleError(
            f"set_store_predicate of stage {name}: the condition speaks of "
            f"{', '.join(lp.var.name for lp in threads)}, which have too many threads to look at",
            hint="compare a thread index with a constant, as in tx.equal(0)",
        )
    found: dict[str, Expr] = {}
    for point in product(*(range(size or 0) for size in sizes)):
        values: dict[Var, Expr] = {lp.var: const(i) for lp, i in zip(threads, point, strict=True)}
        held = simplify(substitute(predicate, values), Bounds.of({}))
        if is_const(held, True):
            return held
        if not is_const(held, False):
            found[str(held)] = held
    return reduce(lambda a, b: logic("or", a, b), found.values(), const(False))
