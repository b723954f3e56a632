"""What can be done with a line, as forms and verdicts: the explorer's right-hand side.

Also what would come of a step, in words: sizes, threads, lanes, data moved, and the learned model's
guess where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tvmlab.arith import IndexMap
from tvmlab.ir import BlockSymbol, Buffer, For, Program, Var, const_int
from tvmlab.schedule import Attempt, Choice, ParamSpec, Schedule, index_of
from tvmlab.target import Target

from .cost import nest_cost
from .families import family_of
from .offers import Offer, offers, value_text
from .symbols import Symbol, SymbolIds
from .verdict import FixToken, VerdictReport, verdict_report
from .wording import plural, times

Predict = Callable[[Program], float | None]
"""The learned model's throughput for a program; None while there is no model."""

_FORM_KINDS = {
    "loop": "choice",
    "block": "choice",
    "buffer": "choice",
    "choice": "choice",
    "factors": "factors",
    "loops": "order",
    "int": "int",
    "ints": "ints",
    "scope": "choice",
    "name": "text",
    "mapping": "text",
    "value": "text",
    "bool": "bool",
    "subject": "choice",
}
_DIVIDED = {"factors": "loop", "fx": "x", "fy": "y"}
"""Parameters that divide a loop, and the argument that is this loop."""
_WORTH_SAYING = 0.03


@dataclass(frozen=True, slots=True)
class ChoiceReport:
    """One value that a parameter may take."""

    value: str
    label: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class ParamReport:
    """One parameter of a form."""

    name: str
    kind: str
    doc: str
    default: Any
    choices: tuple[ChoiceReport, ...]
    extent: int | None
    optional: bool


@dataclass(frozen=True, slots=True)
class ActionReport:
    """A step that a menu offers; the fields are those of the protocol's `Action`."""

    id: str
    primitive: str
    family: str
    title: str
    key: str | None
    summary: str
    params: tuple[ParamReport, ...]
    verdict: VerdictReport


def action_reports(
    schedule: Schedule,
    symbol: Symbol,
    ids: SymbolIds,
    *,
    target: Target,
    token: FixToken | None = None,
    predict: Predict | None = None,
) -> list[ActionReport]:
    """Every step for a line, refused ones included."""
    reports: list[ActionReport] = []
    for offer in offers(schedule, symbol):
        action = offer.action
        summary = ""
        if action.verdict and offer.action.title != "reorder":
            attempt = schedule.preview(action.primitive, **action.args)
            summary = step_summary(schedule, offer, action.args, attempt, target, predict)
        reports.append(
            ActionReport(
                offer.id,
                action.primitive,
                family_of(action.primitive),
                action.title,
                action.key or None,
                summary,
                tuple(_param(schedule, offer, spec, ids) for spec in action.params),
                verdict_report(action.verdict, token),
            )
        )
    return reports


def step_summary(
    schedule: Schedule,
    offer: Offer,
    arguments: dict[str, Any],
    attempt: Attempt,
    target: Target,
    predict: Predict | None = None,
) -> str:
    """What would come of an allowed step, in words; empty for one that is not."""
    if attempt.applied is None:
        return ""
    before, after = schedule.program, attempt.applied.program
    parts = [
        _what(offer, arguments, attempt, schedule, target),
        _movement(before, after, target),
        _prediction(before, after, predict),
    ]
    return ", ".join(part for part in parts if part)


def _what(
    offer: Offer, arguments: dict[str, Any], attempt: Attempt, schedule: Schedule, target: Target
) -> str:
    name = offer.action.primitive
    if name == "split":
        return _split_words(arguments, attempt, schedule)
    loop = arguments.get("loop")
    extent = _extent(schedule.program, loop) if isinstance(loop, Var) else None
    if name == "vectorize" and extent is not None:
        lanes = max(1, min(target.lanes(32), extent))
        return f"{plural(-(-extent // lanes), 'vector')} of {lanes} lanes"
    if name == "unroll" and extent is not None:
        return f"{extent} copies of the body"
    if name == "parallel" and extent is not None:
        return f"{extent} rounds on {plural(target.num_threads, 'thread')}"
    if name == "fuse" and attempt.applied is not None:
        fused = attempt.applied.outputs[0]
        rounds = _extent(attempt.applied.program, fused) if isinstance(fused, Var) else None
        return "" if rounds is None else f"one loop of {rounds}"
    value = arguments.get("buffer") or arguments.get("block")
    if isinstance(value, Buffer):
        return _of_buffer(name, value, arguments)
    if name in ("compute_at", "reverse_compute_at") and isinstance(loop, Var):
        moved = value.name if isinstance(value, BlockSymbol) else ""
        return f"{moved} inside {loop.name}"
    return ""


def _of_buffer(name: str, buffer: Buffer, arguments: dict[str, Any]) -> str:
    """What a step does with a buffer."""
    if name == "set_scope":
        return f"{buffer.name} in {arguments['scope']} memory"
    if name == "prefetch":
        return f"{buffer.name} {plural(arguments.get('offset') or 1, 'iteration')} ahead"
    return f"stage {buffer.name}" if name == "cache_read" else ""


def _split_words(arguments: dict[str, Any], attempt: Attempt, schedule: Schedule) -> str:
    """Such as `86 × 12, last one 4`."""
    assert attempt.applied is not None
    loop = arguments["loop"]
    extents = [_extent(attempt.applied.program, v) for v in attempt.applied.outputs]
    known = [e for e in extents if e is not None]
    total = _extent(schedule.program, loop)
    if total is None or len(known) != len(extents) or not known:
        return ""
    inner = 1
    for extent in known[1:]:
        inner *= extent
    left = total - (known[0] - 1) * inner
    rest = "no tail" if left == inner else f"last one {left}"
    return f"{' × '.join(str(e) for e in known)}, {rest}"


def _movement(before: Program, after: Program, target: Target) -> str:
    """The change of the static estimate of data moved, if there is one worth saying."""
    old, new = nest_cost(before, target), nest_cost(after, target)
    if old is None or new is None or not old.total.moved:
        return ""
    ratio = new.total.moved / old.total.moved
    return "" if abs(ratio - 1) < _WORTH_SAYING else f"moves {ratio:.2f} times the data"


def _prediction(before: Program, after: Program, predict: Predict | None) -> str:
    old, new = (predict(before), predict(after)) if predict is not None else (None, None)
    if old is None or new is None or old <= 0:
        return ""
    ratio = new / old
    return "predicted as fast" if abs(ratio - 1) < _WORTH_SAYING else f"predicted {times(ratio)}"


def _extent(program: Program, symbol: object) -> int | None:
    loop = index_of(program).loops.get(symbol) if isinstance(symbol, Var) else None
    return const_int(loop.extent) if isinstance(loop, For) else None


def _param(schedule: Schedule, offer: Offer, spec: ParamSpec, ids: SymbolIds) -> ParamReport:
    action = offer.action
    default = action.args.get(spec.name, spec.default)
    choices = tuple(_choice(choice, ids) for choice in action.choices.get(spec.name, ()))
    if not choices and spec.choices:
        choices = tuple(ChoiceReport(c, c, "allowed", "") for c in spec.choices)
    if not choices and spec.kind == "loops":
        choices = tuple(ChoiceReport(ids.of(v), v.name, "allowed", "") for v in default)
    if spec.kind == "value" and default is not None:
        default = value_text(default)
    divided = action.args.get(_DIVIDED.get(spec.name, ""))
    extent = _extent(schedule.program, divided)
    return ParamReport(
        spec.name,
        _form_kind(spec, choices),
        spec.doc.replace("None", "auto") if spec.kind == "factors" else spec.doc,
        _value(default, ids),
        choices,
        extent,
        not spec.required,
    )


def _form_kind(spec: ParamSpec, choices: tuple[ChoiceReport, ...]) -> str:
    """How a parameter is asked for: a name of which all are known is a choice."""
    return "choice" if spec.kind == "name" and choices else _FORM_KINDS[spec.kind]


def _choice(choice: Choice, ids: SymbolIds) -> ChoiceReport:
    value = _value(choice.value, ids)
    return ChoiceReport(str(value), choice.label, choice.verdict.status, choice.verdict.reason)


def _value(value: Any, ids: SymbolIds) -> Any:
    if isinstance(value, (Var, BlockSymbol, Buffer)):
        return ids.of(value)
    if isinstance(value, (list, tuple)):
        return [_value(v, ids) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return str(value) if isinstance(value, IndexMap) else value
