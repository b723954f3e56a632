"""Linear forms: an integer expression as a sum of atoms with integer factors, plus a constant.

An atom is a variable or a subexpression that is not linear (`i // 4`, `i * j`, a load). Atoms are
interned by structure, so that two `i // 4` built at different places cancel; sums inside an atom
are compared without regard to order.

>>> linear_form(4 * (i + j) - i + 2).terms      # doctest: +SKIP
{i: 3, j: 4}
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias

from tvmlab.ir import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Var,
    binary,
    wrap_int,
)
from tvmlab.support import INDEX, DType

FormKey: TypeAlias = "tuple[frozenset[tuple[Expr, int]], int]"

_COMMUTATIVE = frozenset(
    {"mul", "min", "max", "bitand", "bitor", "bitxor", "and", "or", "eq", "ne"}
)


class LinearForm:
    """`sum(factor * atom) + const`; no factor is zero. An immutable value."""

    __slots__ = ("const", "terms")

    def __init__(self, terms: dict[Expr, int], const: int) -> None:
        self.terms: Mapping[Expr, int] = terms
        self.const = const

    def __repr__(self) -> str:
        return f"LinearForm({dict(self.terms)!r}, {self.const})"

    @property
    def is_const(self) -> bool:
        """Whether there are no atoms."""
        return not self.terms

    @property
    def atom(self) -> Expr | None:
        """The atom, if the form is just one with factor 1."""
        if self.const == 0 and len(self.terms) == 1:
            [(atom, factor)] = self.terms.items()
            return atom if factor == 1 else None
        return None

    def key(self) -> FormKey:
        """Equal for forms that are equal, whatever the order of their terms."""
        return frozenset(self.terms.items()), self.const

    def plus(self, other: LinearForm, factor: int = 1) -> LinearForm:
        """`self + factor * other`."""
        if not other.terms:
            return LinearForm(dict(self.terms), self.const + factor * other.const)
        terms = dict(self.terms)
        for atom, k in other.terms.items():
            total = terms.get(atom, 0) + factor * k
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        return LinearForm(terms, self.const + factor * other.const)

    def minus(self, other: LinearForm) -> LinearForm:
        """`self - other`."""
        return self.plus(other, -1)

    def times(self, factor: int) -> LinearForm:
        """`factor * self`."""
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return LinearForm({a: k * factor for a, k in self.terms.items()}, self.const * factor)

    def shift(self, amount: int) -> LinearForm:
        """`self + amount`."""
        return LinearForm(dict(self.terms), self.const + amount) if amount else self


ZERO = LinearForm({}, 0)


def constant_form(value: int) -> LinearForm:
    """The form of a number."""
    return LinearForm({}, value)


def is_scalar_int(e: Expr) -> bool:
    """Whether linear forms apply: one integer, not a vector and not a bool."""
    return e.dtype.lanes == 1 and e.dtype.is_int


class Terms:
    """The interning table: one representative for each structure, and the form of each expression.

    Tables live as long as the environments that share them; there is no global one, so that a
    result never depends on what was simplified before.
    """

    __slots__ = ("_forms", "_reps", "_table")

    def __init__(self) -> None:
        self._forms: dict[Expr, LinearForm] = {}
        self._reps: dict[Expr, Expr] = {}
        self._table: dict[Hashable, Expr] = {}

    def form(self, e: Expr) -> LinearForm:
        """The linear form of a scalar integer expression."""
        known = self._forms.get(e)
        if known is None:
            known = self._forms[e] = self.flatten(e, self._plain_atom)
        return known

    def _plain_atom(self, e: Expr) -> LinearForm:
        return LinearForm({e if type(e) is Var else self.rep_atom(e): 1}, 0)

    def rep(self, e: Expr) -> Expr:
        """The representative of all expressions with this structure; `is` compares them."""
        if type(e) is Var:
            return e
        known = self._reps.get(e)
        if known is None:
            known = self._reps[e] = self._representative(e)
        return known

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether two expressions have one structure, up to the order of sums."""
        return a is b or self.rep(a) is self.rep(b)

    def flatten(self, e: Expr, atom_form: Callable[[Expr], LinearForm]) -> LinearForm:
        """Add up sums, differences and multiples, with a stack: a sum may be very deep."""
        terms: dict[Expr, int] = {}
        const = 0
        stack: list[tuple[Expr, int]] = [(e, 1)]
        while stack:
            current, factor = stack.pop()
            if type(current) is Const:
                const += factor * int(current.value)
                continue
            if type(current) is Binary:
                parts = self._parts(current, factor)
                if parts is not None:
                    stack.extend(parts)
                    continue
            part = atom_form(current)
            const += factor * part.const
            for atom, k in part.terms.items():
                total = terms.get(atom, 0) + factor * k
                if total:
                    terms[atom] = total
                else:
                    terms.pop(atom, None)
        return LinearForm(terms, const)

    def is_atom(self, e: Expr) -> bool:
        """Whether a scalar integer expression is not a number, sum, difference or multiple."""
        return type(e) is not Const and not (type(e) is Binary and self._parts(e, 1) is not None)

    def _parts(self, e: Binary, factor: int) -> tuple[tuple[Expr, int], ...] | None:
        """What a sum, difference or multiple consists of; last first, as a stack wants it."""
        if e.op == "add":
            return (e.b, factor), (e.a, factor)
        if e.op == "sub":
            return (e.b, -factor), (e.a, factor)
        if e.op == "mul":
            if type(e.b) is Const:
                return ((e.a, factor * int(e.b.value)),)
            if type(e.a) is Const:
                return ((e.b, factor * int(e.a.value)),)
            left, right = self.form(e.a), self.form(e.b)
            if right.is_const:
                return ((e.a, factor * right.const),)
            if left.is_const:
                return ((e.b, factor * left.const),)
        return None

    def _representative(self, e: Expr) -> Expr:
        if is_scalar_int(e):
            form = self.form(e)
            atom = form.atom
            if atom is not None:
                return atom
            return self._table.setdefault(("form", e.dtype, *form.key()), e)
        return self.rep_atom(e)

    def rep_atom(self, e: Expr) -> Expr:
        """The representative of an expression that is known not to be a sum."""
        return self._table.setdefault(self._key(e), e)

    def _key(self, e: Expr) -> Hashable:
        rep = self.rep
        if isinstance(e, (Binary, Compare, Logic)):
            a, b = rep(e.a), rep(e.b)
            operands = frozenset((a, b)) if e.op in _COMMUTATIVE else (a, b)
            return (e.op, operands)
        if isinstance(e, Const):
            # repr tells -0.0 from 0.0, which compare equal
            return ("const", e.dtype, repr(e.value))
        if isinstance(e, Not):
            return ("not", rep(e.a))
        if isinstance(e, Select):
            return ("select", rep(e.cond), rep(e.then), rep(e.otherwise))
        if isinstance(e, Cast):
            return ("cast", e.dtype, rep(e.value))
        if isinstance(e, Load):
            mask = None if e.mask is None else rep(e.mask)
            return ("load", e.buffer, tuple(rep(i) for i in e.indices), mask)
        if isinstance(e, Call):
            return ("call", e.op, e.dtype, tuple(rep(a) for a in e.args))
        if isinstance(e, Ramp):
            return ("ramp", rep(e.base), rep(e.stride), e.lanes)
        if isinstance(e, Broadcast):
            return ("broadcast", rep(e.value), e.lanes)
        return e


def form_to_expr(
    form: LinearForm, dtype: DType = INDEX, shown: Mapping[Expr, Expr] | None = None
) -> Expr:
    """Write a form as an expression: positive terms, then negative ones, then the constant.

    `shown` may give for an atom the expression to write for it.
    """
    names: Mapping[Expr, Expr] = {} if shown is None else shown
    result: Expr | None = None
    for atom, k in form.terms.items():
        if k > 0:
            term = _term(names.get(atom, atom), k, dtype)
            result = term if result is None else Binary("add", result, term)
    const = form.const
    if result is None:
        if not form.terms:
            return Const(wrap_int(const, dtype), dtype)
        result, const = Const(wrap_int(const, dtype), dtype), 0
    for atom, k in form.terms.items():
        if k < 0:
            result = Binary("sub", result, _term(names.get(atom, atom), -k, dtype))
    if const:
        op = "add" if const > 0 else "sub"
        result = Binary(op, result, Const(wrap_int(abs(const), dtype), dtype))
    return result


def is_written(e: Expr, form: LinearForm, dtype: DType, shown: Mapping[Expr, Expr]) -> bool:
    """Whether an expression is just what `form_to_expr` makes of a form; True only if it is.

    Atoms are compared by identity: a simple expression is told from one that may have changed.
    """
    names = shown
    ordered = [(a, k) for a, k in form.terms.items() if k > 0]
    if not ordered:
        return type(e) is Const and not form.terms and _is_number(e, form.const, dtype)
    current = e
    if form.const:
        op = "add" if form.const > 0 else "sub"
        if type(current) is not Binary or current.op != op:
            return False
        if not _is_number(current.b, abs(form.const), dtype):
            return False
        current = current.a
    if len(ordered) < len(form.terms):
        for atom, k in reversed([(a, -k) for a, k in form.terms.items() if k < 0]):
            if type(current) is not Binary or current.op != "sub":
                return False
            if not _is_term(current.b, names.get(atom, atom), k, dtype):
                return False
            current = current.a
    for atom, k in reversed(ordered[1:]):
        if type(current) is not Binary or current.op != "add":
            return False
        if not _is_term(current.b, names.get(atom, atom), k, dtype):
            return False
        current = current.a
    atom, k = ordered[0]
    return _is_term(current, names.get(atom, atom), k, dtype)


def _is_term(e: Expr, atom: Expr, factor: int, dtype: DType) -> bool:
    if factor == 1:
        return e is atom
    if type(e) is not Binary or e.op != "mul" or e.a is not atom:
        return False
    return _is_number(e.b, factor, dtype)


def _is_number(e: Expr, value: int, dtype: DType) -> bool:
    if type(e) is not Const or (e.dtype is not dtype and e.dtype != dtype):
        return False
    return e.value == wrap_int(value, dtype)


def _term(atom: Expr, factor: int, dtype: DType) -> Expr:
    if factor == 1:
        return atom
    return binary("mul", atom, Const(wrap_int(factor, dtype), dtype))
