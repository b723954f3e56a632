"""A step that was refused, as those who look for a way out see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tvmlab.ir import Block, BlockSymbol, Buffer, For, Var, const_int

from .index import ProgramIndex
from .legality import binding_vars, verb
from .verdict import Fix, Verdict

FixStep = tuple[str, dict[str, Any]]
MAX_PLACES = 4
"""Loops that are tried for one proposal: each costs a question."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What was asked of which program, and the answer; its loops have the names they print as."""

    index: ProgramIndex
    primitive: str
    args: Mapping[str, Any]
    verdict: Verdict
    subject: object

    @property
    def rule(self) -> str:
        """The rule that refused."""
        return self.verdict.rule

    @property
    def loop(self) -> For | None:
        """The loop of the step."""
        var = self.args.get("loop")
        return self.index.loops.get(var) if isinstance(var, Var) else None

    @property
    def block(self) -> Block | None:
        """The block of the step."""
        symbol = self.args.get("block")
        return self.index.blocks.get(symbol) if isinstance(symbol, BlockSymbol) else None

    @property
    def subject_loop(self) -> For | None:
        """The loop that the refusal is about."""
        return self.index.loops.get(self.subject) if isinstance(self.subject, Var) else None

    def again(self, **changed: Any) -> FixStep:
        """The step with other arguments."""
        return (self.primitive, {**self.args, **changed})

    def after(self, what: str, *steps: FixStep, group: str = "") -> Fix:
        """Other steps, then the one asked for."""
        return Fix(f"{what}, then {self.words}", (*steps, self.again()), group)

    @property
    def words(self) -> str:
        """The step in a few words."""
        doing = {
            "compute_at": "compute {block} at {loop}",
            "compute_inline": "inline {block}",
            "compute_root": "move {block} to the root",
            "double_buffer": "double buffer {block}",
            "reverse_compute_at": "compute {block} at {loop}",
            "rolling_buffer": "keep a rolling window of {block}",
        }.get(self.primitive)
        block, loop = self.block, self.loop
        if doing is not None and block is not None:
            return doing.format(block=block.name, loop="" if loop is None else loop.var.name)
        about = "" if loop is None else f" {loop.var.name}"
        return f"{verb(self.primitive)}{about or ' as asked'}"


def iterating(loops: list[For]) -> list[For]:
    """Those loops that have more than one iteration, or all if none has."""
    return [lp for lp in loops if const_int(lp.extent) != 1] or loops


def loops_of_results(index: ProgramIndex, block: Block) -> list[For]:
    """The loops around a block in which its sums are whole, innermost first."""
    reducing = binding_vars(block, "reduce")
    found: list[For] = []
    for loop in index.loops_around(block):
        if loop.var in reducing:
            break
        found.append(loop)
    return iterating(found)[::-1]


def intermediates(refused: Refused) -> Iterator[Buffer]:
    """The intermediates that a refusal speaks of, or else those written in its loop."""
    index, loop = refused.index, refused.loop
    witness = refused.verdict.witness
    told = None if witness is None or isinstance(witness, str) else witness.buffer
    for buffer in index.program.allocs:
        writers = index.writers.get(buffer, [])
        inside = loop is not None and any(index.is_under(w, loop) for w in writers)
        if inside and told in (None, buffer.name):
            yield buffer
