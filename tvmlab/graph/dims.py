"""Sizes of dimensions: whole numbers, or formulas over names such as `batch`.

A formula is kept as a polynomial in normal form, so that equal sizes compare equal: `n + n` is
`2 * n`. A quotient or another function of sizes is one indivisible factor of it.

>>> n = Sym.name("n")
>>> (n + n) * 3 == 6 * n, str(6 * n + 1)
(True, '6 * n + 1')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Union, cast

from tvmlab.runtime import evaluate_dim
from tvmlab.support import ShapeError, identifier, parse_expression, shown

_NAME = re.compile(r"[A-Za-z_]\w*")
_FUNCTIONS = {"min", "max"}
LARGEST_SIZE = 1 << 40
"""No dimension is larger: more would not fit into any memory."""


@dataclass(frozen=True, slots=True)
class Sym:
    """A size that is not a number yet: a sum of products of names, each with a factor."""

    terms: tuple[tuple[tuple[str, ...], int], ...]

    @staticmethod
    def name(name: str) -> Sym:
        """The size of a name."""
        return Sym((((identifier(name),), 1),))

    @property
    def names(self) -> frozenset[str]:
        """The names that it is a formula of."""
        return frozenset(_NAME.findall(str(self))) - _FUNCTIONS

    def bind(self, values: Mapping[str, int]) -> Dim:
        """The size when names have these values; those without a value stay."""
        if self.names <= values.keys():
            value = evaluate_dim(str(self), values)
            assert value is not None
            return value
        total: Dim = 0
        for factors, number in self.terms:
            product: Dim = number
            for factor in factors:
                product = product * values.get(factor, _atom(factor))
            total = total + product
        return total

    def __add__(self, other: Dim) -> Dim:
        return _made((*self.terms, *_terms(other)))

    def __mul__(self, other: Dim) -> Dim:
        return _made(
            (tuple(sorted((*a, *b))), x * y) for a, x in self.terms for b, y in _terms(other)
        )

    def __sub__(self, other: Dim) -> Dim:
        return self + -other

    def __rsub__(self, other: int) -> Dim:
        return -self + other

    def __neg__(self) -> Dim:
        return self * -1

    def __floordiv__(self, other: Dim) -> Dim:
        if isinstance(other, int) and other and all(x % other == 0 for _, x in self.terms):
            return _made((factors, x // other) for factors, x in self.terms)
        exact = _quotient(self, other)
        return exact if exact is not None else _atom(f"({self} // {_enclosed(other)})")

    def __rfloordiv__(self, other: int) -> Dim:
        return _atom(f"({other} // {_enclosed(self)})")

    def __mod__(self, other: Dim) -> Dim:
        return self - self // other * other

    __radd__, __rmul__ = __add__, __mul__

    def __str__(self) -> str:
        parts: list[str] = []
        for factors, number in self.terms:
            words = [str(number)] if number not in (1, -1) or not factors else []
            sign = "-" if number == -1 and factors else ""
            parts.append(sign + " * ".join([*words, *factors]))
        return " + ".join(parts).replace("+ -", "- ")

    __repr__ = __str__


Dim: TypeAlias = Union[int, Sym]


def as_dim(value: object) -> Dim:
    """A size from a number, a `Sym`, or a text such as `"2 * n + 1"`.

    Raises
    ------
    ShapeError
        If it is none of these, negative or huge.
    """
    if isinstance(value, Sym):
        return value
    if isinstance(value, str):
        return _parsed(value)
    try:
        number = int(cast("Any", value).__index__())
    except AttributeError:
        raise ShapeError(f"a size cannot be {shown(value)}") from None
    if not 0 <= number <= LARGEST_SIZE:
        raise ShapeError(f"a size cannot be {number}", hint=f"it is from 0 to {LARGEST_SIZE}")
    return number


def product(sizes: Iterable[Dim]) -> Dim:
    """The number of elements of a shape."""
    total: Dim = 1
    for size in sizes:
        total = total * size
    return total


def known(sizes: Sequence[Dim]) -> tuple[int, ...] | None:
    """The sizes as numbers, if all are."""
    return None if any(isinstance(s, Sym) for s in sizes) else cast("tuple[int, ...]", tuple(sizes))


def least(a: Dim, b: Dim) -> Dim:
    """The smaller of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return a if a == b else _atom(f"min({a}, {b})")


def _parsed(text: str) -> Dim:
    names = {n: Sym.name(n) for n in _NAME.findall(text)}
    try:
        value = _evaluate(text, names)
    except (SyntaxError, KeyError, TypeError, ValueError):
        raise ShapeError(
            f"{text!r} is no size", hint='write a formula such as "2 * n + 1"'
        ) from None
    return value


def _evaluate(text: str, names: Mapping[str, Sym]) -> Dim:
    import ast

    def value(node: ast.AST) -> Dim:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name):
                return names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = value(left), value(right)
                match op:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                    case ast.FloorDiv():
                        return a // b
                    case _:
                        raise ValueError
            case ast.Call(func=ast.Name(id="min"), args=[first, second]):
                return least(value(first), value(second))
            case _:
                raise ValueError

    if len(text) > 200:
        raise ValueError
    return value(parse_expression(text))


def _atom(text: str) -> Sym:
    return Sym((((text,), 1),))


def _enclosed(value: Dim) -> str:
    return f"({value})" if isinstance(value, Sym) else str(value)


def _terms(value: Dim) -> tuple[tuple[tuple[str, ...], int], ...]:
    return value.terms if isinstance(value, Sym) else (((), value),)


def _made(terms: Iterable[tuple[tuple[str, ...], int]]) -> Dim:
    total: dict[tuple[str, ...], int] = {}
    for factors, number in terms:
        total[factors] = total.get(factors, 0) + number
    kept = tuple(sorted(((f, x) for f, x in total.items() if x), key=lambda t: (-len(t[0]), t[0])))
    if not kept:
        return 0
    return kept[0][1] if kept[0][0] == () else Sym(kept)


def _quotient(a: Sym, b: Dim) -> Dim | None:
    """`a // b` where `b` is a single product that divides each term."""
    terms = _terms(b)
    if len(terms) != 1 or terms[0][1] == 0:
        return None
    factors, number = terms[0]
    found: list[tuple[tuple[str, ...], int]] = []
    for own, x in a.terms:
        rest = list(own)
        for factor in factors:
            if factor not in rest:
                return None
            rest.remove(factor)
        if x % number:
            return None
        found.append((tuple(rest), x // number))
    return _made(found)
