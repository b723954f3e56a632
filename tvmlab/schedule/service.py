"""The legality service: one function that every asker uses, with fixes that were tried.

`attempt` runs a primitive on an immutable program. Its success is the permission and its refusal
the verdict, so the menu, the drag preview and the step itself can never disagree.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.ir import BlockSymbol, Program, Var
from tvmlab.support import deep, items_of

from .dataflow import require_settled
from .independence import require_loops_still_independent
from .index import index_of
from .legality import verb
from .pipelining import require_pipelines_lawful
from .printed_names import with_printed_names
from .refused import Refused
from .registry import PRIMITIVES, Applied
from .repairs import repairs
from .rewrite import Output
from .threads import Asked, require_lawful_threads
from .verdict import ALLOWED, Fix, FixesOnDemand, RefusedError, Verdict

MAX_FIXES = 3
"""More ways out than this are not looked for: the first proposals are the nearest ones."""
MAX_TRIED = 12
"""Proposals that are tried for one refusal."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of trying a step: the verdict, and the result if it was allowed."""

    verdict: Verdict
    applied: Applied | None = None
    subject: object = None


def attempt(
    program: Program, primitive: str, args: Mapping[str, Any], *, fixes: bool = True
) -> Attempt:
    """Try a primitive; fixes of a refusal are kept only if they work on this program.

    Without `fixes` none is looked for, as for one of many choices.
    """
    try:
        return Attempt(ALLOWED, _run(program, primitive, args))
    except RefusedError as refusal:
        if not fixes:
            return Attempt(replace(refusal.verdict, fixes=()), None, refusal.subject)
        return _refused(program, primitive, args, refusal)


def _refused(
    program: Program, primitive: str, args: Mapping[str, Any], refusal: RefusedError
) -> Attempt:
    """The refusal in the names that the program prints, with the fixes that work."""
    named = with_printed_names(program)
    if named.forth:
        args = named.renamed(dict(args))
        try:
            _run(named.program, primitive, args)
        except RefusedError as again:
            refusal = again
    verdict, subject = refusal.verdict, refusal.subject
    asked = Refused(index_of(named.program), primitive, args, verdict, subject)

    def search() -> tuple[Fix, ...]:
        proposals = itertools.islice(itertools.chain(verdict.fixes, repairs(asked)), MAX_TRIED)
        working = itertools.islice(_working(named.program, proposals), MAX_FIXES)
        return tuple(replace(fix, steps=named.restored(fix.steps)) for fix in working)

    later = replace(verdict, fixes=FixesOnDemand(search))
    return Attempt(later, None, named.restored(subject))


@deep
def _run(program: Program, primitive: str, args: Mapping[str, Any]) -> Applied:
    spec = PRIMITIVES[primitive]
    if spec.moves_blocks:
        require_settled(program, primitive, args)
    applied = spec.run(program, **args)
    if spec.moves_blocks:
        require_loops_still_independent(applied.program, primitive)
    if primitive not in ("bind", "set_scope"):
        require_lawful_threads(applied.program, Asked(primitive, f"{verb(primitive)} here"))
    require_pipelines_lawful(applied.program, primitive)
    return applied


def _working(program: Program, fixes: Iterable[Fix]) -> Iterator[Fix]:
    """The fixes that work, of each group the first."""
    taken: set[str] = set()
    for fix in fixes:
        if fix.group not in taken and _works(program, fix):
            yield fix
            taken |= {fix.group} - {""}


def _works(program: Program, fix: Fix) -> bool:
    outputs: list[Output] = []
    for name, args in fix.steps:
        filled = fill_outputs(args, outputs)
        if not _exist(program, filled.values()):
            return False  # It is about loops that a step made on its way to the refusal.
        try:
            applied = _run(program, name, filled)
        except RefusedError:
            return False
        program = applied.program
        outputs.extend(applied.outputs)
    return True


def _exist(program: Program, values: Iterable[object]) -> bool:
    """Whether the loops and blocks among some arguments are in a program."""
    index = index_of(program)
    return all(
        value in index.loops
        if isinstance(value, Var)
        else value in index.blocks
        if isinstance(value, BlockSymbol)
        else _exist(program, items_of(value) or ())
        for value in values
    )


def fill_outputs(args: Mapping[str, Any], outputs: list[Output]) -> dict[str, Any]:
    """The arguments of a fix's step, with "$n" replaced by the n-th output of its steps so far."""

    def fill(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("$"):
            return outputs[int(value[1:])]
        items = items_of(value)
        return value if items is None else tuple(fill(item) for item in items)

    return {name: fill(value) for name, value in args.items()}
