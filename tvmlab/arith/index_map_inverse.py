"""Old indices in terms of new ones: an index map read backwards.

    i, j -> i // 16, j, i % 16          i = a * 16 + c,  j = b       for new indices a, b, c

A new index is a sum of strided digits of old ones. The digits are told apart by division, and put
together again; what is found is exact on every image, and says which new indices are no image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tvmlab.ir import Expr, Var, as_expr, const_int

from .bounds import Bounds, bound_of
from .index_map import IndexMap
from .iter_digits import Digit, digit_of
from .linear import FormKey, LinearForm, form_to_expr
from .simplify import prove, simplify


@dataclass(frozen=True, slots=True)
class Inverse:
    """Old indices as expressions of new ones, and the conditions under which there is an old one.

    `inside` is empty if every new index (in the new shape) is the image of an old one.
    """

    values: tuple[Expr, ...]
    inside: tuple[Expr, ...]


def invert(
    mapping: IndexMap, sizes: Sequence[Expr], variables: Sequence[Var], shape: Sequence[Expr]
) -> Inverse | None:
    """The inverse of a one-to-one map; None if it cannot be read as a sum of digits.

    Parameters
    ----------
    sizes, shape
        The old and the new shape.
    variables
        The new indices.
    """
    old = Bounds.of(dict(zip(mapping.params, sizes, strict=True)))
    new = Bounds.of(dict(zip(variables, shape, strict=True)))
    reading = _Reading(old, new, mapping.params)
    for result, variable in zip(mapping.results, variables, strict=True):
        reading.known.append((old.terms.form(simplify(result, old)), variable))
    if not reading.finish():
        return None
    values = tuple(simplify(reading.values[param], new) for param in mapping.params)
    domain = [
        limit
        for value, size in zip(values, sizes, strict=True)
        for limit in (value >= 0, value < size)
    ]
    conditions: list[Expr] = []
    for condition in (*domain, *reading.conditions):
        if not prove(condition, new):
            conditions.append(simplify(condition, new))
            new = new.assume(condition)
    return Inverse(values, tuple(conditions))


@dataclass(slots=True)
class _Reading:
    """What has been told so far: values of sums, of digits, of old indices."""

    old: Bounds
    new: Bounds
    params: Sequence[Var]
    known: list[tuple[LinearForm, Expr]] = field(default_factory=list[tuple[LinearForm, Expr]])
    values: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    conditions: list[Expr] = field(default_factory=list[Expr])
    digits: dict[FormKey, dict[int, tuple[Digit, Expr]]] = field(
        default_factory=dict[FormKey, dict[int, tuple[Digit, Expr]]]
    )

    def finish(self) -> bool:
        """Read all sums; whether every old index has been told."""
        for param in self.params:
            span = bound_of(param, self.old)
            if span.is_point and span.lo is not None:
                self.values[param] = as_expr(span.lo)
        while self.known:
            form, value = self.known.pop()
            if not self._read_sum(form, value):
                return False
            self._complete_sources()
        return all(param in self.values for param in self.params)

    def _read_sum(self, form: LinearForm, value: Expr) -> bool:
        terms = sorted(form.terms.items(), key=lambda term: -abs(term[1]))
        rest = value - form.const if form.const else value
        if not terms:
            self.conditions += [rest <= 0, rest >= 0]
            return True
        for atom, factor in terms:
            digit = digit_of(atom, self.old)
            span = bound_of(atom, self.old)
            if factor <= 0 or digit is None or span.lo != 0:
                return False
            told = simplify(rest // factor, self.new) if factor != 1 else rest
            rest = simplify(rest % factor, self.new) if factor != 1 else as_expr(0)
            if span.hi is not None:
                self.conditions.append(told <= span.hi)
            self.digits.setdefault(digit.source.key(), {})[digit.lower] = (digit, told)
        if const_int(rest) != 0:
            self.conditions.append(rest <= 0)
        return True

    def _complete_sources(self) -> None:
        for key, digits in list(self.digits.items()):
            value = self._put_together(digits)
            if value is None:
                continue
            del self.digits[key]
            source = next(iter(digits.values()))[0].source
            if source.atom is not None and isinstance(source.atom, Var):
                self.values[source.atom] = value
            else:
                self.known.append((source, value))

    def _put_together(self, digits: dict[int, tuple[Digit, Expr]]) -> Expr | None:
        """The value of a source whose digits follow on each other without a gap."""
        total: Expr | None = None
        reach: int | None = 1
        for lower, (digit, value) in sorted(digits.items()):
            if lower != reach:
                return None
            part = value * lower if lower != 1 else value
            total = part if total is None else part + total
            reach = None if digit.size is None else lower * digit.size
        if reach is not None:
            source = next(iter(digits.values()))[0].source
            # The last digit keeps all that there is if the source never reaches beyond it.
            last = bound_of(form_to_expr(source), self.old).hi
            if last is None or last >= reach:
                return None
        return total
