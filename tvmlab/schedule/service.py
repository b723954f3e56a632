"""The legality service: one function that every asker uses, with fixes that were tried.

`attempt` runs a primitive on an immutable program. Its success is the permission and its refusal
the verdict, so the menu, the drag preview and the step itself can never disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.ir import Program

from .independence import require_loops_still_independent
from .pipelining import require_pipelines_lawful
from .registry import PRIMITIVES, Applied
from .rewrite import Output
from .threads import Asked, require_lawful_threads
from .verdict import ALLOWED, Fix, RefusedError, Verdict


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of trying a step: the verdict, and the result if it was allowed."""

    verdict: Verdict
    applied: Applied | None = None
    subject: object = None


def attempt(program: Program, primitive: str, args: Mapping[str, Any]) -> Attempt:
    """Try a primitive; fixes of a refusal are kept only if they work on this program."""
    try:
        applied = PRIMITIVES[primitive].run(program, **args)
        if PRIMITIVES[primitive].moves_blocks:
            require_loops_still_independent(applied.program, primitive)
        if primitive not in ("bind", "set_scope"):
            require_lawful_threads(applied.program, Asked(primitive, f"{primitive} here"))
        require_pipelines_lawful(applied.program, primitive)
        return Attempt(ALLOWED, applied)
    except RefusedError as refusal:
        verdict = refusal.verdict
        working = tuple(f for f in verdict.fixes if _works(program, f))
        return Attempt(replace(verdict, fixes=working), None, refusal.subject)


def _works(program: Program, fix: Fix) -> bool:
    outputs: list[Output] = []
    for name, args in fix.steps:
        try:
            applied = PRIMITIVES[name].run(program, **fill_outputs(args, outputs))
        except RefusedError:
            return False
        program = applied.program
        outputs.extend(applied.outputs)
    return True


def fill_outputs(args: Mapping[str, Any], outputs: list[Output]) -> dict[str, Any]:
    """The arguments of a fix's step, with "$n" replaced by the n-th output of its steps so far."""
    return {
        name: outputs[int(value[1:])] if isinstance(value, str) and value.startswith("$") else value
        for name, value in args.items()
    }
