"""Reads what a loop runs over: `range(16)`, `parallel(n, grain=2)`, `thread(128, "threadIdx.x")`.

A reader may also write `range(2, n)` and `range(n - 1, -1, -1)`: the loop then starts at 0 as all
loops do, and its variable stands for a sum in the body.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .expr import Expr, Var, as_size, binary, const, is_const
from .folding_tree import fold
from .parse_decl import DeclarationParser, callee, text_of
from .parse_source import near_miss
from .printer import LOOP_WORDS
from .stmt import Annotations, LoopKind

LOOP_KINDS: dict[str, LoopKind] = {word: kind for kind, word in LOOP_WORDS.items()}


@dataclass(frozen=True, slots=True)
class Domain:
    """What a loop runs over: `start`, `start + step` ... as often as `extent` says."""

    kind: LoopKind
    extent: Expr
    start: Expr
    step: int
    annotations: Annotations
    thread: str

    def value(self, var: Var) -> Expr:
        """What the loop's name stands for in its body."""
        scaled = var if self.step == 1 else binary("mul", var, const(self.step, var.dtype))
        return scaled if is_const(self.start, 0) else binary("add", scaled, self.start)


def read_domain(decls: DeclarationParser, call: ast.expr) -> Domain:
    """The domain that stands after `in`."""
    word = callee(call) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or word not in LOOP_KINDS:
        words = ", ".join(LOOP_KINDS)
        decls.fail(call, f"a loop runs over one of {words}", near_miss(word or "", LOOP_KINDS))
    args, tag = call.args, ""
    if word == "thread":
        tag = text_of(args[1]) if len(args) == 2 else ""
        if not tag:
            decls.fail(call, "a thread loop names its axis", 'write thread(128, "threadIdx.x")')
        args = args[:1]
    if not 1 <= len(args) <= 3:
        decls.fail(
            call,
            f"{word} takes how many iterations there are, or a first value and an end",
            f"write {word}(16) or {word}(1, 16)",
        )
    notes = decls.annotations(call.keywords)
    if len(args) == 1:
        extent = as_size(decls.exprs.expr(args[0]))
        return Domain(LOOP_KINDS[word], extent, const(0, extent.dtype), 1, notes, tag)
    step = 1 if len(args) < 3 else decls.exprs.number(args[2])
    if type(step) is not int or step == 0:
        decls.fail(args[2], "the step of a loop is a literal whole number other than 0")
    start, stop = map(as_size, decls.exprs.pair(call, args[0], args[1]))
    distance = binary("sub", stop, start) if step > 0 else binary("sub", start, stop)
    if abs(step) != 1:
        distance = binary("add", distance, const(abs(step) - 1, start.dtype))
        distance = binary("floordiv", distance, const(abs(step), start.dtype))
    # A loop whose end lies before its start runs no iteration.
    extent = binary("max", distance, const(0, distance.dtype))
    return Domain(LOOP_KINDS[word], fold(extent), start, step, notes, tag)
