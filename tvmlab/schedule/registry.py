"""The table of schedule primitives: what each is called, takes, and does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from tvmlab.ir import Program
from tvmlab.support import UserError

from .rewrite import Output

ParamKind = Literal[
    "loop", "loops", "block", "buffer", "factors", "int", "ints", "choice", "scope", "name",
    "mapping", "value", "bool", "subject",
]  # fmt: skip
Propose = Callable[..., Iterable[dict[str, Any]]]
"""`propose(index, subject)`: good arguments, besides the subject, for a menu to start from."""


@dataclass(frozen=True, slots=True)
class ParamSpec:
    """One parameter of a primitive, for argument checks, menus and forms.

    `kind` says what it takes: "loop" and "block" references, "loops" (several, in order), a
    "buffer" by name, split "factors", a whole number ("int") or several ("ints"), one of a fixed
    "choice", a memory "scope", a "name" that the primitive looks up, a "mapping" of indices, a
    plain "value" (number, text, truth value, or a list of such), "bool", or a "subject" (a loop, a
    block, or nothing).
    """

    name: str
    kind: ParamKind
    doc: str
    choices: tuple[str, ...] = ()
    default: Any = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of a step: the new program, and the loops or blocks that it returns."""

    program: Program
    outputs: tuple[Output, ...] = ()


@dataclass(frozen=True, slots=True)
class Primitive:
    """A pure function on programs, with what people and menus need to know of it.

    Attributes
    ----------
    name, title
        Name of the `Schedule` method, and the words of the menu.
    key
        Letter that applies it to the selected loop in the explorer; empty for none.
    params
        Its parameters; the first is what it acts on.
    run
        `run(program, **params) -> Applied`; raises `RefusedError`.
    moves_blocks
        Whether it changes where buffers are written and read, so that loops which were found to be
        independent must be looked at again.
    propose
        What menus offer besides the entries that they make themselves; None for nothing.
    steps
        For a step of one's own, the function that takes its primitives one by one; else None.
    """

    name: str
    title: str
    key: str
    params: tuple[ParamSpec, ...]
    run: Callable[..., Applied]
    moves_blocks: bool = False
    propose: Propose | None = None
    steps: Callable[..., None] | None = None

    @property
    def subject(self) -> ParamKind:
        """The kind of thing that the primitive acts on."""
        return self.params[0].kind

    @property
    def doc(self) -> str:
        """The docstring of the function: meaning, before and after."""
        return self.run.__doc__ or ""


PRIMITIVES: dict[str, Primitive] = {}


def primitive(
    name: str,
    title: str,
    key: str,
    *params: ParamSpec,
    moves_blocks: bool = False,
    propose: Propose | None = None,
) -> Callable[[Callable[..., Applied]], Callable[..., Applied]]:
    """Register a function as a schedule primitive."""

    def register(run: Callable[..., Applied]) -> Callable[..., Applied]:
        if name in PRIMITIVES:
            raise UserError(f"a schedule primitive named {name!r} exists already")
        PRIMITIVES[name] = Primitive(name, title, key, params, run, moves_blocks, propose)
        return run

    return register
