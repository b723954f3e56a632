"""Where a line may be dropped: the verdict of every place, before anything is let go.

A loop goes between the loops that are nested directly, a block goes into a loop. A place has the
step that dropping there takes, so the picture and the step cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tvmlab.ir import Block, BlockSymbol, Buffer, For, Stmt, Var, child_stmts
from tvmlab.schedule import Schedule, Verdict, index_of
from tvmlab.support import UserError

from .further import chain_around
from .symbols import Symbol, SymbolIds
from .verdict import FixToken, VerdictReport, verdict_report

Place = Literal["before", "into"]
_HERE = "it is here already"
_MOVES = ("compute_at", "reverse_compute_at")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place to drop at: just outside of a line ("before"), or inside a loop ("into").

    `status` is "here" where nothing would change; `verdict` is None there, and where no step leads
    to at all.
    """

    row: str
    place: Place
    status: str
    reason: str
    verdict: VerdictReport | None


@dataclass(frozen=True, slots=True)
class SlotsReport:
    """All places for one line."""

    row: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """The step that dropping at a place takes, and what the legality service says of it."""

    primitive: str
    args: dict[str, Any]
    verdict: Verdict


def slots_report(
    schedule: Schedule, symbol: Symbol, ids: SymbolIds, token: FixToken | None = None
) -> SlotsReport:
    """Every place where a loop or block may be dropped, with its verdict.

    Raises
    ------
    UserError
        If the line is a buffer: that has no place of its own.
    """
    place: Place = "into" if _block(symbol) else "before"
    found: list[Slot] = []
    for row in _places(schedule, symbol):
        move = move_to(schedule, symbol, row, place)
        if isinstance(move, str):
            status = "here" if move == _HERE else "refused"
            found.append(Slot(ids.of(row), place, status, move, None))
            continue
        report = verdict_report(move.verdict, token)
        reason = _words(symbol, row, place) if move.verdict else move.verdict.reason
        found.append(Slot(ids.of(row), place, move.verdict.status, reason, report))
    return SlotsReport(ids.of(symbol), tuple(found))


def move_to(schedule: Schedule, symbol: Symbol, row: Symbol, place: Place) -> Move | str:
    """The step that brings a line to a place, or in words why there is none."""
    if isinstance(symbol, Var) and place == "before":
        return _reordering(schedule, symbol, row)
    if isinstance(symbol, BlockSymbol) and place == "into" and isinstance(row, Var):
        return _computing_at(schedule, symbol, row)
    return "a loop goes between loops, and a block into a loop"


def _block(symbol: Symbol) -> bool:
    if isinstance(symbol, Buffer):
        raise UserError(
            f"{symbol.name} is a buffer: it stands where it is used",
            hint="move the block that fills it",
        )
    return isinstance(symbol, BlockSymbol)


def _places(schedule: Schedule, symbol: Symbol) -> list[Symbol]:
    index = index_of(schedule.program)
    if not isinstance(symbol, Var):
        return list(index.loops)
    inside = _innermost(schedule, chain_around(schedule.program, symbol))
    return [*index.loops, *([inside] if isinstance(inside, BlockSymbol) else [])]


def _innermost(schedule: Schedule, chain: list[Var]) -> Symbol | None:
    """The first line within the last loop, which marks the place inside of it."""
    return next(_lines_in(index_of(schedule.program).loops[chain[-1]].body), None)


def _lines_in(stmt: Stmt) -> Iterator[Symbol]:
    """The outermost loops and blocks within a statement."""
    if isinstance(stmt, For):
        yield stmt.var
    elif isinstance(stmt, Block):
        yield stmt.symbol
    else:
        for child in child_stmts(stmt):
            yield from _lines_in(child)


def _reordering(schedule: Schedule, loop: Var, row: Symbol) -> Move | str:
    chain = chain_around(schedule.program, loop)
    places: list[Symbol | None] = [*chain, _innermost(schedule, chain)]
    if row not in places:
        nest = ", ".join(v.name for v in chain)
        return f"only loops nested directly in one another trade places, here {nest}"
    at, to = chain.index(loop), places.index(row)
    if to in (at, at + 1):
        return _HERE
    order = chain[:at] + chain[at + 1 :]
    order.insert(to if to < at else to - 1, loop)
    moved = tuple(order[min(at, to) : max(at + 1, to)])
    return Move("reorder", {"loops": moved}, schedule.check("reorder", *moved))


def _computing_at(schedule: Schedule, block: BlockSymbol, loop: Var) -> Move | str:
    """Into a loop by the first way that is allowed; else the refusal that fits better."""
    index = index_of(schedule.program)
    own, target = index.blocks[block], index.loops[loop]
    if target in index.loops_around(own):
        return _HERE
    inside = set(index.blocks_under(target))
    consumes = bool(inside & set(index.consumers_of(own)))
    if not consumes and not inside & set(index.producers_of(own)):
        return f"{block.name} and what runs in {loop.name} hand no values to one another"
    args = {"block": block, "loop": loop}
    name = _MOVES[0] if consumes else _MOVES[1]
    return Move(name, args, schedule.check(name, **args))


def _words(symbol: Symbol, row: Symbol, place: Place) -> str:
    if place == "into":
        return f"{symbol.name} may go into {row.name}"
    where = "outside of" if isinstance(row, Var) else "right around"
    return f"{symbol.name} may go {where} {row.name}"
