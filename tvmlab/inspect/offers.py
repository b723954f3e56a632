"""The steps that a view offers for a line: each with an id, its form, and the way back from what a
form holds to arguments of the primitive.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvmlab.ir import BlockSymbol, Var
from tvmlab.schedule import Action, ParamSpec, Schedule
from tvmlab.support import UserError

from .families import place_of
from .further import further_actions
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
    """The offers for a loop or block, family by family; a buffer has none.

    Raises
    ------
    UserError
        If the line is not in the current program.
    """
    if not isinstance(symbol, (Var, BlockSymbol)):
        return []
    if not schedule.has(symbol):
        raise UserError(f"{symbol.name} is not in the current program")
    actions = [*schedule.actions(symbol), *further_actions(schedule, symbol)]
    taken: dict[str, int] = {}
    result: list[Offer] = []
    for action in actions:
        number = taken.get(action.primitive, 0)
        taken[action.primitive] = number + 1
        name = action.primitive if number == 0 else f"{action.primitive}:{number}"
        result.append(Offer(name, action))
    return sorted(result, key=lambda offer: place_of(offer.action.primitive))


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
