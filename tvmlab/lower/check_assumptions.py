"""Facts about sizes that a schedule assumes are checked once per call.

    annotate(assume=("n % 16 == 0",))       ->      if n % 16 == 0: ...
    ...                                             else: outside(...)

So a size that does not fit makes the call fail, and no element is left out in silence.
"""

from __future__ import annotations

from dataclasses import replace

from tvmlab.ir import Call, Evaluate, Expr, If, Program, const, free_vars, to_text
from tvmlab.schedule import size_facts
from tvmlab.support import INDEX

from .check_indices import OUTSIDE, texts_of

NO_LIMIT = -1
"""Handed over as the limit: there is none, the text says it all."""


def check_assumptions(program: Program) -> Program:
    """The program with a check of each fact about sizes that it assumes."""
    texts = [*texts_of(program)]
    body = program.body
    for fact in size_facts(program):
        texts.append(f"its schedule assumes {to_text(fact)}, which does not hold")
        failure = Call("outside", (_subject(fact), const(NO_LIMIT), const(len(texts) - 1)), INDEX)
        body = If(fact, body, Evaluate(failure))
    if body is program.body:
        return program
    others = tuple(pair for pair in program.annotations if pair[0] != OUTSIDE)
    return replace(program, body=body, annotations=(*others, (OUTSIDE, tuple(texts))))


def _subject(fact: Expr) -> Expr:
    """A size that the fact is about."""
    return next((v.astype(INDEX) for v in free_vars(fact)), const(0))
