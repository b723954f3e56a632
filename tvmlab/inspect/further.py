"""Steps that a menu offers besides those of `Schedule.actions`: they need a word of the user, or
an order of several loops.

Nothing that walks over actions at random should take them: what a user vouches for is not proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tvmlab.ir import BlockSymbol, For, Program, Var
from tvmlab.schedule import PRIMITIVES, Action, Schedule, index_of
from tvmlab.schedule.assumptions import ASSOCIATIVE, INDEPENDENT, scalar_symbols


def further_actions(schedule: Schedule, symbol: Var | BlockSymbol) -> Iterator[Action]:
    """Putting loops in order, skewing, noting, and vouching for what cannot be proved."""
    program = schedule.program
    index = index_of(program)
    if isinstance(symbol, Var):
        yield from _order(schedule, program, symbol)
        inner = index.loops[symbol].body
        if isinstance(inner, For):
            args: dict[str, Any] = {"outer": symbol, "inner": inner.var, "factor": 1}
            yield _asking(schedule, "skew", args, f"skew {inner.var.name}", "factor")
        yield _noting(schedule, "annotate", {"loop": symbol})
        yield _vouching(schedule, INDEPENDENT, symbol)
    else:
        yield _noting(schedule, "annotate_block", {"block": symbol})
        if index.blocks[symbol].init is not None:
            yield _vouching(schedule, ASSOCIATIVE, symbol)
    size = next(iter(scalar_symbols(program)), None)
    if size is not None:
        args = {"fact": f"{size} % 16 == 0", "subject": None}
        yield _asking(schedule, "assume", args, "assume of sizes", "fact")


def chain_around(program: Program, loop: Var) -> list[Var]:
    """The loops that a loop may trade places with: those nested directly, one in another."""
    index = index_of(program)
    top = index.loops[loop]
    while isinstance(parent := index.parent[top], For):
        top = parent
    chain = [top]
    while isinstance(chain[-1].body, For):
        chain.append(chain[-1].body)
    return [member.var for member in chain]


def _order(schedule: Schedule, program: Program, loop: Var) -> Iterator[Action]:
    """Putting the loops of a chain into any order; allowed if any swap of neighbors is."""
    chain = chain_around(program, loop)
    if len(chain) < 2:
        return
    verdict = schedule.check("reorder", chain[1], chain[0])
    for outer, inner in pairwise(chain[1:]):
        verdict = verdict if verdict else schedule.check("reorder", inner, outer) or verdict
    spec = PRIMITIVES["reorder"]
    arguments = {"loops": tuple(chain)}
    yield Action("reorder", "reorder", spec.key, arguments, spec.params, {}, verdict)


def _noting(schedule: Schedule, name: str, subject: dict[str, Any]) -> Action:
    args = {**subject, "key": "hint", "value": True}
    return _asking(schedule, name, args, PRIMITIVES[name].title, "key", "value")


def _vouching(schedule: Schedule, fact: str, subject: Var | BlockSymbol) -> Action:
    return _asking(schedule, "assume", {"fact": fact, "subject": subject}, f"assume {fact}")


def _asking(schedule: Schedule, name: str, args: dict[str, Any], title: str, *ask: str) -> Action:
    """An action with proposed arguments, some of which its form asks for."""
    spec = PRIMITIVES[name]
    params = tuple(p for p in spec.params if p.name in ask)
    return Action(name, title, spec.key, args, params, {}, schedule.check(name, **args))
