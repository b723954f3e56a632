"""The steps that a view offers for a line: each with an id, its form, and the way back from what a
form holds to arguments of the primitive.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tvmlab.ir import BlockSymbol, For, Program, Var
from tvmlab.schedule import PRIMITIVES, Action, ParamSpec, Schedule, index_of
from tvmlab.support import UserError

from .symbols import Symbol, SymbolIds

_SYMBOLIC = ("loop", "block", "buffer")


@dataclass(frozen=True, slots=True)
class Offer:
    """An action of the schedule under the id by which views name it."""

    id: str
    action: Action

    def arguments(self, params: Mapping[str, Any], ids: SymbolIds) -> dict[str, Any]:
        """The primitive's arguments: the action's own, with what the form says in their place.

        Raises
        ------
        UserError
            If the form names a parameter that the action does not ask for, or an unknown line.
        """
        specs = {spec.name: spec for spec in self.action.params}
        arguments = dict(self.action.args)
        for name, value in params.items():
            if name not in specs:
                raise UserError(f"{self.action.title} does not ask for {name!r}")
            arguments[name] = _argument(specs[name], value, ids)
        return arguments


def offers(schedule: Schedule, symbol: Symbol) -> list[Offer]:
    """The offers for a loop or block; a buffer has none.

    Raises
    ------
    UserError
        If the line is not in the current program.
    """
    program = schedule.program
    if not isinstance(symbol, (Var, BlockSymbol)):
        return []
    if not schedule.has(symbol):
        raise UserError(f"{symbol.name} is not in the current program")
    actions = schedule.actions(symbol)
    if isinstance(symbol, Var):
        order = _order(schedule, program, symbol)
        actions += [] if order is None else [order]
    taken: dict[str, int] = {}
    result: list[Offer] = []
    for action in actions:
        number = taken.get(action.primitive, 0)
        taken[action.primitive] = number + 1
        name = action.primitive if number == 0 else f"{action.primitive}:{number}"
        result.append(Offer(name, action))
    return result


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


def _order(schedule: Schedule, program: Program, loop: Var) -> Action | None:
    """Putting the loops of a chain into any order; allowed if any swap of neighbours is."""
    chain = chain_around(program, loop)
    if len(chain) < 2:
        return None
    swaps = [(b, a) for a, b in pairwise(chain)]
    verdicts = [schedule.check("reorder", *swap) for swap in swaps]
    verdict = next((v for v in verdicts if v), verdicts[0])
    spec = PRIMITIVES["reorder"]
    arguments = {"loops": tuple(chain)}
    return Action("reorder", "reorder", spec.key, arguments, spec.params, {}, verdict)


def _argument(spec: ParamSpec, value: Any, ids: SymbolIds) -> Any:
    if spec.kind in _SYMBOLIC:
        return ids.find(str(value))
    if spec.kind == "loops":
        if not isinstance(value, (list, tuple)):
            raise UserError(f"{spec.name} must be a list of lines")
        return tuple(ids.find(str(v)) for v in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return _plain_value(value) if spec.kind == "value" else value


def value_text(value: object) -> str:
    """How a form shows a plain value: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _plain_value(text: object) -> Any:
    """What a text in a form stands for: a number, true, false, a list, else itself."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return text
