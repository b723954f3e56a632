"""Index expressions as small forms: how an index moves when one loop steps, and how far it ranges.

A form keeps structure and numbers apart: the numbers (factors, divisors) go to a list, the form
holds their places in it. Programs that differ in numbers only, such as the points of one schedule
space, then share their forms and are evaluated together as arrays.

>>> numbers = []
>>> form_of(4 * i + j, {i: 0, j: 1}, numbers), numbers
((('atom', 0, 0), ('atom', 1, 1)), [4, 1])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import Binary, Cast, Const, Expr, Var, const_int, walk

Floats: TypeAlias = NDArray[np.float64]
Form: TypeAlias = tuple[tuple[Any, ...], ...]
"""A sum of terms: ("atom", n, f), ("div" | "mod", form, divisor, f) or ("any", atoms, f), where f
is the place of the term's factor in the list of numbers. The constant part is left out."""

_Terms: TypeAlias = list[tuple[tuple[Any, ...], float]]


def form_of(index: Expr, atoms: Mapping[Var, int], numbers: list[float]) -> Form:
    """The form of an index over numbered variables; others count as constants."""
    found: dict[tuple[Any, ...], float] = {}
    for term, factor in _terms(index, atoms, 1.0, numbers):
        found[term] = found.get(term, 0.0) + factor
    return tuple((*term, _place(factor, numbers)) for term, factor in found.items() if factor)


def atoms_in(form: Form) -> set[int]:
    """The numbers of the variables that a form depends on."""
    found: set[int] = set()
    for term in form:
        if term[0] == "atom":
            found.add(term[1])
        elif term[0] == "any":
            found.update(term[1])
        else:
            found |= atoms_in(term[1])
    return found


def _place(number: float, numbers: list[float]) -> int:
    numbers.append(number)
    return len(numbers) - 1


def _terms(e: Expr, atoms: Mapping[Var, int], factor: float, numbers: list[float]) -> _Terms:
    match e:
        case Var():
            return [(("atom", atoms[e]), factor)] if e in atoms else []
        case Const():
            return []
        case Cast(value=value):
            return _terms(value, atoms, factor, numbers)
        case Binary(op="add", a=a, b=b):
            return _terms(a, atoms, factor, numbers) + _terms(b, atoms, factor, numbers)
        case Binary(op="sub", a=a, b=b):
            return _terms(a, atoms, factor, numbers) + _terms(b, atoms, -factor, numbers)
        case Binary(op="mul", a=a, b=b):
            return _product(e, a, b, atoms, factor, numbers)
        case Binary(op="floordiv" | "truncdiv", a=a, b=b):
            return _quotient("div", e, a, b, atoms, factor, numbers)
        case Binary(op="floormod" | "truncmod", a=a, b=b):
            return _quotient("mod", e, a, b, atoms, factor, numbers)
        case Binary(op="min" | "max", a=a, b=Const()):  # a clamped index moves like its free part
            return _terms(a, atoms, factor, numbers)
        case _:
            return _opaque(e, atoms, factor)


def _product(
    e: Expr, a: Expr, b: Expr, atoms: Mapping[Var, int], factor: float, numbers: list[float]
) -> _Terms:
    for known, other in ((const_int(b), a), (const_int(a), b)):
        if known is not None:
            return _terms(other, atoms, factor * known, numbers)
    return _opaque(e, atoms, factor)


def _quotient(
    kind: str,
    e: Expr,
    a: Expr,
    b: Expr,
    atoms: Mapping[Var, int],
    factor: float,
    numbers: list[float],
) -> _Terms:
    divisor = const_int(b)
    if not divisor:
        return _opaque(e, atoms, factor)
    inner = form_of(a, atoms, numbers)
    return [((kind, inner, _place(divisor, numbers)), factor)] if inner else []


def _opaque(e: Expr, atoms: Mapping[Var, int], factor: float) -> _Terms:
    used = tuple(sorted({atoms[v] for v in walk(e) if isinstance(v, Var) and v in atoms}))
    return [(("any", used), factor)] if used else []


@dataclass(frozen=True, slots=True)
class Motion:
    """How one value moves over a nest of `L` loops, for a batch of nests.

    Attributes
    ----------
    steps : (batch, L)
        Change when a loop takes one step. A quotient moves by a fraction: its mean.
    ranges : (batch, L + 1)
        Largest minus smallest value when the loops from a level inwards run and the others stand.
    """

    steps: Floats
    ranges: Floats

    def distinct(self, extents: Floats) -> Floats:
        """How many values it takes when the loops from a level inwards run: at most the range, at
        most one per iteration of the loops that move it.
        """
        moving = np.where(self.steps != 0, extents, 1.0)
        return np.minimum(np.floor(self.ranges) + 1.0, inner_products(moving))


def inner_products(values: Floats) -> Floats:
    """Products over the loops from each level inwards: (batch, L) to (batch, L + 1)."""
    result = np.ones((values.shape[0], values.shape[1] + 1))
    np.multiply.accumulate(values[:, ::-1], axis=1, out=result[:, -2::-1])
    return result


def loop_motions(extents: Floats) -> list[Motion]:
    """The loop variables themselves."""
    batch, count = extents.shape
    motions: list[Motion] = []
    for loop in range(count):
        steps = np.zeros((batch, count))
        steps[:, loop] = 1.0
        ranges = np.zeros((batch, count + 1))
        ranges[:, : loop + 1] = extents[:, loop : loop + 1] - 1.0
        motions.append(Motion(steps, ranges))
    return motions


def motion_of(form: Form, atoms: list[Motion], numbers: Floats, extents: Floats) -> Motion:
    """Evaluate a form; `numbers` is (batch, n)."""
    if len(form) == 1 and form[0][0] == "atom" and bool((numbers[:, form[0][2]] == 1.0).all()):
        only: int = form[0][1]
        return atoms[only]
    steps = np.zeros_like(extents)
    ranges = np.zeros((extents.shape[0], extents.shape[1] + 1))
    for term in form:
        factor = np.abs(numbers[:, term[-1], None])
        part = _term_motion(term, atoms, numbers, extents)
        steps = steps + factor * part.steps
        ranges = ranges + factor * part.ranges
    return Motion(steps, ranges)


def _term_motion(
    term: tuple[Any, ...], atoms: list[Motion], numbers: Floats, extents: Floats
) -> Motion:
    if term[0] == "atom":
        place: int = term[1]
        return atoms[place]
    if term[0] == "any":
        return _unknown_motion([atoms[a] for a in term[1]], extents)
    inner = motion_of(term[1], atoms, numbers, extents)
    divisor = np.abs(numbers[:, term[2], None])
    if term[0] == "div":
        return Motion(inner.steps / divisor, np.floor(inner.ranges / divisor))
    return Motion(np.mod(inner.steps, divisor), np.minimum(inner.ranges, divisor - 1.0))


def _unknown_motion(parts: list[Motion], extents: Floats) -> Motion:
    """A value of unknown form, such as one that is read from a buffer: it jumps with every step."""
    jump = 61.0  # not a line, not a page, not a power of two
    moves = np.maximum.reduce([p.steps for p in parts]) != 0
    steps = np.where(moves, jump, 0.0)
    return Motion(steps, jump * (inner_products(np.where(moves, extents, 1.0)) - 1.0))
