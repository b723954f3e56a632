"""What the interpreter reports: which rule a program broke, where, and with which witness."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tvmlab.ir import Buffer, Names, Program, Stmt, Var, marked_text
from tvmlab.support import RuntimeFailure

Rule: TypeAlias = Literal[
    "out-of-bounds", "uninitialized-read", "race", "division-by-zero", "bad-shift", "bad-cast",
    "iteration-domain", "barrier-divergence",
]  # fmt: skip

Iteration: TypeAlias = dict[str, int]
Place: TypeAlias = tuple[tuple[Var | str, int], ...]
"""Loops, or tags of threads, with their values."""


class InterpreterFailure(RuntimeFailure):
    """A program did something that has no meaning, found while it was interpreted.

    Attributes
    ----------
    rule
        The id of the rule that was broken, such as `"out-of-bounds"` or `"race"`.
    buffer, index
        The element concerned, or None.
    iterations
        The loop values when it happened; for a race, the two iterations that collide.
    """

    rule: Rule
    buffer: str | None
    index: tuple[int, ...] | None
    iterations: tuple[Iteration, ...]


class Fault(Exception):  # noqa: N818 - a signal inside the interpreter, never shown to a user
    """The raw form of a failure: raised deep inside, completed by statements on the way out."""

    def __init__(
        self,
        rule: Rule,
        text: str,
        buffer: Buffer | None = None,
        index: tuple[int, ...] | None = None,
    ) -> None:
        Exception.__init__(self, text)
        self.rule: Rule = rule
        self.text = text
        self.buffer = buffer
        self.index = index
        self.stmt: Stmt | None = None
        self.loops: list[tuple[Var, int]] = []
        self.collision: tuple[Place, Place] | None = None

    def at(self, stmt: Stmt) -> None:
        """Note the statement, unless an inner one is known already."""
        if self.stmt is None:
            self.stmt = stmt

    def report(self, program: Program) -> InterpreterFailure:
        """The failure as a user sees it, in the names of the printed program."""
        names = Names(program)
        text, element = self.text, None
        if self.buffer is not None:
            element = names[self.buffer]
            if self.index is not None:
                element += f"[{', '.join(map(str, self.index)) or '()'}]"
            text = f"{element} {text}"
        around = {names[var]: value for var, value in reversed(self.loops)}
        iterations: tuple[Iteration, ...] = (around,)
        if self.collision is not None:
            one, other = (_named(place, names) for place in self.collision)
            iterations = (one, other)
            text = text.format(loop=", ".join(one), one=_in_words(one), other=_in_words(other))
        notes = [marked_text(program, [self.stmt])] if self.stmt is not None else []
        if around:
            where = ", ".join(f"{name} = {value}" for name, value in around.items())
            notes.insert(0, f"  while {where}")
        failure = InterpreterFailure(f"{program.name}: {text}", notes=notes)
        failure.rule = self.rule
        failure.buffer = None if self.buffer is None else names[self.buffer]
        failure.index = self.index
        failure.iterations = iterations
        return failure


def _named(place: Place, names: Names) -> Iteration:
    return {names[key] if isinstance(key, Var) else key: value for key, value in place}


def _in_words(iteration: Iteration) -> str:
    return ", ".join(f"{name} = {value}" for name, value in iteration.items())
