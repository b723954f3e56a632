"""`tvmlab apply`: take a step on a saved session, or say why it is refused."""

from __future__ import annotations

import argparse
import json
from typing import Any

from tvmlab.inspect import nest_report, nest_text, refusal_lines, verdict_report
from tvmlab.schedule import PRIMITIVES, ParamSpec, RefusedError, Schedule, index_of
from tvmlab.support import UserError
from tvmlab.widgets import save_session

from .parser import close_match
from .saved import fill_common, opened, print_json

SUMMARY = "take a step on a saved session"
DESCRIPTION = """\
Take a step of a schedule on a saved session and save it again. Arguments are NAME=VALUE; loops and
blocks go by the names that `tvmlab inspect` prints, other values are JSON.

  tvmlab apply product.tvmlab.json split loop=i factors=[null,8]
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    fill_common(parser)
    parser.add_argument("primitive", help="the step, such as split, reorder or vectorize")
    parser.add_argument("arguments", nargs="*", metavar="NAME=VALUE", help="its arguments")
    parser.add_argument("--output", metavar="FILE", help="save here; by default the same file")
    parser.add_argument("--check", action="store_true", help="only say whether it is allowed")


def run(arguments: argparse.Namespace) -> int:
    """Take the step; 1 if it is refused."""
    session = opened(arguments)
    schedule = session.schedule
    if arguments.primitive not in PRIMITIVES:
        near = close_match(arguments.primitive, PRIMITIVES)
        raise UserError(f"there is no step {arguments.primitive!r}{near}")
    named = dict(_named(schedule, arguments.primitive, text) for text in arguments.arguments)
    verdict = schedule.check(arguments.primitive, **named)
    if not verdict:
        if arguments.json:
            print_json({"verdict": verdict_report(verdict, None)})
        else:
            print("\n".join(refusal_lines(RefusedError(verdict))))
        return 1
    if not arguments.check:
        schedule.apply(arguments.primitive, **named)
        save_session(session, arguments.output or arguments.file)
    if arguments.json:
        print_json({"verdict": verdict_report(verdict, None), "state": session.state})
    else:
        print(nest_text(nest_report(schedule, target=session.target)))
    return 0


def _named(schedule: Schedule, primitive: str, text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    specs = {spec.name: spec for spec in PRIMITIVES[primitive].params}
    if not sign or name not in specs:
        raise UserError(
            f"{text!r} is no argument of {primitive}", hint=f"it takes {', '.join(specs)}"
        )
    return name, _value(schedule, specs[name], value)


def _value(schedule: Schedule, spec: ParamSpec, text: str) -> Any:
    if spec.kind == "loop":
        return _loop(schedule, text)
    if spec.kind == "loops":
        return tuple(_loop(schedule, part.strip()) for part in text.split(","))
    if spec.kind in ("block", "buffer", "scope", "name", "mapping", "choice"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _loop(schedule: Schedule, name: str) -> Any:
    report = nest_report(schedule)
    loops = [row.name for row in report.rows if row.type == "loop"]
    if name not in loops:
        raise UserError(f"there is no loop {name!r}", hint=f"loops are {', '.join(loops)}")
    return list(index_of(schedule.program).loops)[loops.index(name)]
