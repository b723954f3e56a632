"""What the user vouches for: facts about sizes, independent iterations, lawful operations.

An assumption is an annotation of the program, a loop or a block, so that it prints, is compared
and goes with the trace. Nothing here is proved; running a program in the interpreter still finds
a race that an assumption denied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from weakref import WeakKeyDictionary

from tvmlab.ir import Annotations, Attribute, Buffer, Expr, For, Program, Var, parse_expr, walk

ASSUME = "assume"
"""The key of the annotation."""
INDEPENDENT = "independent"
ASSOCIATIVE = "associative"

_FACTS: WeakKeyDictionary[Program, tuple[Expr, ...]] = WeakKeyDictionary()


def is_assumed(annotations: Annotations, fact: str) -> bool:
    """Whether an annotated loop or block is assumed to have a property."""
    return fact in _texts(annotations)


def size_facts(program: Program) -> tuple[Expr, ...]:
    """The conditions on sizes that are assumed for a program."""
    facts = _FACTS.get(program)
    if facts is None:
        symbols = scalar_symbols(program)
        texts = _texts(program.annotations)
        facts = _FACTS[program] = tuple(parse_expr(text, symbols) for text in texts)
    return facts


def with_assumption(annotations: Annotations, fact: str) -> Annotations:
    """The annotations with one more assumption."""
    others = tuple(pair for pair in annotations if pair[0] != ASSUME)
    facts: tuple[Attribute, ...] = (*_texts(annotations), fact)
    return (*others, (ASSUME, facts))


def without_assumption(loop: For, fact: str) -> For:
    """A loop of which nobody has vouched for a property: it has become another than was meant."""
    left = tuple(text for text in _texts(loop.annotations) if text != fact)
    others = tuple(pair for pair in loop.annotations if pair[0] != ASSUME)
    if len(left) == len(_texts(loop.annotations)):
        return loop
    return replace(loop, annotations=(*others, (ASSUME, left)) if left else others)


def scalar_symbols(program: Program) -> dict[str, Var]:
    """The sizes and other numbers that a program is given, by name."""
    found: dict[str, Var] = {}
    for variable in _scalars(program):
        found.setdefault(variable.name, variable)
    return found


def _scalars(program: Program) -> Iterable[Var]:
    for param in program.params:
        if isinstance(param, Buffer):
            yield from (n for size in param.shape for n in walk(size) if isinstance(n, Var))
        else:
            yield param


def _texts(annotations: Annotations) -> tuple[str, ...]:
    values = dict(annotations).get(ASSUME, ())
    return tuple(str(v) for v in (values if isinstance(values, tuple) else (values,)))
