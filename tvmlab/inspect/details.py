"""A line of the nest in words: what it does, how often, what it touches, who made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvmlab.ir import Block, BlockSymbol, Buffer, For, Var, const_int
from tvmlab.schedule import Schedule, index_of
from tvmlab.support import UserError
from tvmlab.target import Target

from .cost import NestCost, nest_cost
from .footprint import Box
from .history import step_label
from .nest import reduction_loops
from .provenance import origins
from .symbols import Symbol
from .wording import count, listing, percent, plural, shape, size

_KINDS = {
    "serial": "one after another",
    "parallel": "shared among threads",
    "vectorized": "as lanes of vectors",
    "unrolled": "written out one by one",
    "virtual": "interleaved as virtual threads",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth knowing of a line."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class LineReport:
    """A sentence and facts on one line."""

    sentence: str
    facts: tuple[Fact, ...]


def line_report(schedule: Schedule, symbol: Symbol, target: Target | None = None) -> LineReport:
    """What there is to say about a loop, block or buffer of the current program.

    Raises
    ------
    UserError
        If it is not in the current program.
    """
    target = target or Target.host()
    index = index_of(schedule.program)
    cost = nest_cost(schedule.program, target)
    stmt: For | Block | None = None
    if isinstance(symbol, Var):
        stmt = index.loops.get(symbol)
    elif isinstance(symbol, BlockSymbol):
        stmt = index.blocks.get(symbol)
    elif symbol in schedule.program.buffers:
        return _buffer_report(schedule, symbol)
    if stmt is None:
        raise UserError(f"{symbol.name} is not in the current program")
    sentence = _loop_sentence(schedule, stmt) if isinstance(stmt, For) else _block_sentence(stmt)
    touched = "" if cost is None else _touched(cost, stmt)
    facts = _cost_facts(cost, stmt, target) if cost is not None else []
    origin = origins(schedule.history).get(symbol)
    facts.append(Fact("made by", "the formula" if origin is None else step_label(origin.step)))
    return LineReport(f"{sentence} {touched}".strip(), tuple(facts))


def _loop_sentence(schedule: Schedule, loop: For) -> str:
    extent = const_int(loop.extent)
    rounds = (
        "Runs as often as is known only at run time"
        if extent is None
        else (f"Runs {plural(extent, 'iteration')}")
    )
    adds = ""
    if loop.var in reduction_loops(index_of(schedule.program)):
        adds = " that add into one result"
    how = f"by threads {loop.thread}" if loop.thread else _KINDS.get(loop.kind, loop.kind)
    return f"{rounds}{adds}, {how}."


def _block_sentence(block: Block) -> str:
    written = list(dict.fromkeys(r.buffer.name for r in block.writes))
    read = [n for n in dict.fromkeys(r.buffer.name for r in block.reads) if n not in written]
    source = f" from {listing(read)}" if read else ""
    reduces = [it for it in block.iters if it.kind == "reduce"]
    verb = "Adds up" if reduces else "Computes"
    return f"{verb} {listing(written)}{source}."


def _touched(cost: NestCost, stmt: For | Block) -> str:
    boxes: Mapping[Buffer, Box] = cost.boxes[stmt]
    parts = [f"{size(box.bytes())} of {buffer.name}" for buffer, box in boxes.items()]
    if not parts:
        return ""
    home = cost.home(stmt)
    where = f"which fits in {home.name}" if home else "more than the caches hold"
    once = "One iteration" if isinstance(stmt, Block) else "One run"
    return f"{once} touches {listing(parts)}, {where}."


def _cost_facts(cost: NestCost, stmt: For | Block, target: Target) -> list[Fact]:
    line = cost.lines[stmt]
    compute, _, moved, _, time = cost.share(stmt)
    facts = [Fact("runs in all", count(line.executions))]
    if isinstance(stmt, For) and (extent := const_int(stmt.extent)) is not None:
        facts.append(Fact("iterations in all", count(line.executions * extent)))
        if stmt.kind == "vectorized":
            facts.append(Fact("lanes of a register", str(target.lanes(32))))
    facts += [
        Fact("operations", f"{count(line.operations)} ({percent(compute)})"),
        Fact("share of data moved", percent(moved)),
        Fact("estimated share of time", percent(time)),
    ]
    return facts


def _buffer_report(schedule: Schedule, buffer: Buffer) -> LineReport:
    index = index_of(schedule.program)
    writers = [b.name for b in index.writers.get(buffer, [])]
    readers = [b.name for b in index.readers.get(buffer, []) if b.name not in writers]
    sentence = f"Holds what {listing(writers) or 'nobody'} {_verb('write', writers)}"
    sentence += f" and {listing(readers)} {_verb('read', readers)}." if readers else "."
    facts = [Fact("lives in", buffer.scope)]
    if buffer.const_shape is not None:
        facts.insert(0, Fact("whole shape", shape(buffer.const_shape, buffer.dtype)))
    return LineReport(sentence, tuple(facts))


def _verb(stem: str, subjects: list[str]) -> str:
    return stem if len(subjects) > 1 else f"{stem}s"
