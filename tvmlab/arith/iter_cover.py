"""Does a map reach every point of the iteration domain? The onto half of `iter_map`.

Loops are first gathered into groups that run over `[0, extent)` independently of each other: a
single loop, or a mixed-radix sum of loops (`io * 14 + ii`), which a predicate may cut short. Then
each binding must be a sum of digits of groups without gaps, and no two digits may share a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.ir import Compare, Expr, Var, conjuncts, free_vars

from .bounds import Bounds
from .compare import decide_forms
from .iter_digits import Digit, digit_of
from .linear import ZERO, LinearForm, constant_form, is_scalar_int
from .ranges import atom_range, is_exact


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A sum that takes each value of `[0, extent)`, whatever the other groups do."""

    form: LinearForm
    extent: LinearForm
    loops: frozenset[Expr]


@dataclass(frozen=True, slots=True)
class _Part:
    """One term of a binding: a factor and the digit `(group // lower) % size`."""

    factor: int
    group: _Group
    lower: int
    size: LinearForm


class _NotProvenError(Exception):
    """Carries the sentence that says what is not proven."""


def cover_reason(
    forms: Sequence[LinearForm],
    extents: Sequence[Expr],
    loops: Sequence[tuple[Var, Expr]],
    predicate: Expr,
    outer: Bounds,
    there: Bounds,
) -> str | None:
    """Why it is not proven that every point is reached; None if it is.

    Parameters
    ----------
    forms, extents
        The bindings, simplified in `there`, and the extents of their iteration variables.
    loops, predicate
        The loops with their extents, and what holds of their iterations.
    outer
        What is known outside the loops. Inside they have run, so there they are never empty.
    there
        What is known inside the loops where the predicate holds.
    """
    try:
        cover = _Cover(loops, outer, there)
        # Limits on the inner sums first: the outer ones are made of them.
        for condition in sorted(conjuncts(predicate), key=lambda c: len(free_vars(c))):
            cover.cut(condition)
        cover.group_sources(forms)
        parts = [cover.parts(n, form) for n, form in enumerate(forms)]
        cover.need_disjoint([p for of_binding in parts for p in of_binding])
        for n, (form, extent) in enumerate(zip(forms, extents, strict=True)):
            cover.need_no_gap(n, parts[n], form.const, extent)
        cover.need_nonempty(parts)
    except _NotProvenError as refused:
        return str(refused)
    return None


class _Cover:
    def __init__(self, loops: Sequence[tuple[Var, Expr]], outer: Bounds, there: Bounds) -> None:
        self._env = outer
        self._there = there
        self._vars = {var for var, _ in loops}
        self._groups: list[_Group] = []
        for var, extent in loops:
            size = outer.terms.form(extent)
            if any(self._moves(atom) for atom in size.terms):
                raise _NotProvenError(f"the extent of loop {var.name} depends on another loop")
            self._groups.append(_Group(LinearForm({var: 1}, 0), size, frozenset({var})))

    def cut(self, condition: Expr) -> None:
        """Take a predicate `sum < limit` into account: the sum becomes a group of that extent."""
        if not isinstance(condition, Compare) or not is_scalar_int(condition.a):
            raise _NotProvenError(
                "the predicate is not a conjunction of upper limits on sums of loops"
            )
        a, b = self._env.terms.form(condition.a), self._env.terms.form(condition.b)
        exact = all(is_exact(form, condition.a.dtype, self._there) for form in (a, b))
        op = condition.op
        if op in ("gt", "ge"):
            a, b, op = b, a, "lt" if op == "gt" else "le"
        if not exact or op not in ("lt", "le"):
            raise _NotProvenError(
                "the predicate is not a conjunction of upper limits on sums of loops"
            )
        # Loops go to one side, everything that stands still to the other.
        difference = self._visible(a.minus(b))
        if difference.is_const:
            return
        moving = {t: k for t, k in difference.terms.items() if self._moves(t)}
        still = {t: -k for t, k in difference.terms.items() if t not in moving}
        limit = LinearForm(still, (1 if op == "le" else 0) - difference.const)
        group = self._gather(LinearForm(moving, 0), limit)
        if group is None:
            raise _NotProvenError("the predicate does not limit a sum of loops that has no gaps")
        if decide_forms("le", limit, group.extent, self._env, deep=True) is True:
            self._replace(group, limit)
        elif decide_forms("le", group.extent, limit, self._env, deep=True) is not True:
            raise _NotProvenError("it is not known whether the predicate cuts off whole iterations")
        else:
            self._replace(group, group.extent)

    def group_sources(self, forms: Sequence[LinearForm]) -> None:
        """Make a group of each sum that bindings take quotients or remainders of."""
        for form in forms:
            for atom in form.terms:
                digit = digit_of(atom, self._there)
                if digit is None or len(digit.source.terms) < 2:
                    continue
                group = self._gather(digit.source)
                if group is not None:
                    self._replace(group, group.extent)

    def _replace(self, group: _Group, extent: LinearForm) -> None:
        self._groups = [g for g in self._groups if not g.loops & group.loops]
        self._groups.append(_Group(group.form, extent, group.loops))

    def _visible(self, form: LinearForm) -> LinearForm:
        """The form without atoms that have one value, as they are gone from the bindings.

        For a loop it may be the predicate that says so; what stands still must have it anyway.
        """
        for atom, k in form.terms.items():
            value = atom_range(atom, self._there if self._moves(atom) else self._env)
            if value.is_point and value.lo is not None:
                form = form.plus(LinearForm({atom: 1}, 0), -k).shift(k * value.lo)
        return form

    def _moves(self, atom: Expr) -> bool:
        return any(v in self._vars for v in free_vars(atom))

    def _gather(self, form: LinearForm, limit: LinearForm | None = None) -> _Group | None:
        """A sum as a group: whole groups, each factor the product of the extents below it.

        Only values below `limit` count, so that a part may reach no further than that.
        """
        if form.const or not form.terms:
            return None
        members = self._members(form)
        if members is None:
            return None
        members.sort(key=lambda m: m[0])
        reach = constant_form(1)
        for factor, group in members:
            extent = group.extent
            if extent.is_const:
                size = extent.const
                if limit is not None and limit.is_const and factor > 0:
                    size = min(size, -(-limit.const // factor))
                if size <= 1:
                    continue
                extent = constant_form(size)
            if not reach.is_const or factor != reach.const:
                return None
            reach = extent.times(factor)
        loops: frozenset[Expr] = frozenset[Expr]().union(*(group.loops for _, group in members))
        return _Group(form, reach, loops)

    def _members(self, form: LinearForm) -> list[tuple[int, _Group]] | None:
        """The groups that a sum consists of, with their factors; None if it has other parts."""
        rest = form
        members: list[tuple[int, _Group]] = []
        for group in self._groups:
            factor = _multiple_in(group.form, rest)
            if factor is not None:
                rest = rest.plus(group.form, -factor)
                members.append((factor, group))
        return None if rest.terms else members

    def parts(self, binding: int, form: LinearForm) -> list[_Part]:
        """The digits that a binding is made of."""
        found: list[_Part] = []
        rest = LinearForm(dict(form.terms), 0)
        for group in self._groups:
            factor = _multiple_in(group.form, rest)
            if factor is not None:
                rest = rest.plus(group.form, -factor)
                found.append(_Part(factor, group, 1, group.extent))
        while rest.terms:
            atom = next((t for t in rest.terms if not isinstance(t, Var)), None)
            if atom is None:
                raise _NotProvenError(f"binding {binding} uses a loop that is part of another sum")
            part, used = self._digit_part(binding, atom, rest)
            rest = rest.minus(used)
            found.append(part)
        return found

    def _digit_part(self, binding: int, atom: Expr, form: LinearForm) -> tuple[_Part, LinearForm]:
        """A digit of a group in a sum, and the terms of the sum that it stands for."""
        digit, factor = digit_of(atom, self._there), form.terms[atom]
        for group in self._groups if digit is not None else ():
            assert digit is not None
            used = _digit_in_group(digit, LinearForm({atom: factor}, 0), factor, group.form, form)
            if used is None:
                continue
            if not group.extent.is_const:
                raise _NotProvenError(
                    f"binding {binding} takes a loop apart whose extent is not a number"
                )
            size = -(-group.extent.const // digit.lower)
            size = size if digit.size is None else min(size, digit.size)
            return _Part(factor, group, digit.lower, constant_form(size)), used
        raise _NotProvenError(
            f"binding {binding} is not a sum of quotients and remainders of independent loops"
        )

    def need_disjoint(self, parts: Sequence[_Part]) -> None:
        """Each group's digits must take every combination of values."""
        for group in self._groups:
            mine = sorted((p for p in parts if p.group is group), key=lambda p: p.lower)
            if len(mine) == 1 and mine[0].lower == 1 and mine[0].size is group.extent:
                continue
            top, reach = 0, 1
            for part in mine:
                size = part.size.const
                if not part.size.is_const or part.lower < reach:
                    raise _NotProvenError("two bindings use the same part of a loop")
                reach = part.lower * size
                top += part.lower * (size - 1)
            if mine and top > group.extent.const - 1:
                raise _NotProvenError(
                    "a loop does not divide evenly, so some combinations of its quotient and "
                    "remainder never occur"
                )

    def need_no_gap(self, binding: int, parts: Sequence[_Part], base: int, extent: Expr) -> None:
        """The sum must reach each number of `[0, extent)`."""
        low, high = constant_form(base), constant_form(base)
        travel = ZERO
        for part in sorted(parts, key=lambda p: abs(p.factor)):
            if decide_forms("le", part.size, constant_form(1), self._env) is True:
                self._need_one(part.size)
                continue
            step = abs(part.factor)
            if decide_forms("gt", constant_form(step), travel.shift(1), self._env) is not False:
                raise _NotProvenError(
                    f"binding {binding} skips values: it moves in steps of {step}"
                )
            reach = part.size.shift(-1).times(step)
            travel = travel.plus(reach)
            if part.factor > 0:
                high = high.plus(reach)
            else:
                low = low.minus(reach)
        size = self._env.terms.form(extent)
        starts = decide_forms("le", low, ZERO, self._env, deep=True)
        if starts is not True or not self._reaches(high, size):
            raise _NotProvenError(
                f"binding {binding} is not proven to reach all values of its iteration variable"
            )

    def _reaches(self, high: LinearForm, size: LinearForm) -> bool:
        return decide_forms("ge", high.shift(1), size, self._env, deep=True) is True

    def need_nonempty(self, parts: Sequence[Sequence[_Part]]) -> None:
        """A loop that no binding uses must run at least once, or nothing is reached."""
        used = {id(p.group) for of_binding in parts for p in of_binding}
        for group in self._groups:
            if id(group) not in used:
                self._need_one(group.extent)

    def _need_one(self, extent: LinearForm) -> None:
        if decide_forms("ge", extent, constant_form(1), self._env) is not True:
            raise _NotProvenError("a loop that adds nothing to the bindings may be empty")


def _multiple_in(part: LinearForm, form: LinearForm) -> int | None:
    """The factor with which all terms of `part` stand in `form`."""
    factor: int | None = None
    for atom, k in part.terms.items():
        own = form.terms.get(atom)
        if own is None or own % k:
            return None
        if factor is None:
            factor = own // k
        elif factor != own // k:
            return None
    return factor


def _digit_in_group(
    digit: Digit, this: LinearForm, factor: int, group: LinearForm, form: LinearForm
) -> LinearForm | None:
    """The terms of `form` that are `factor` times this digit of the group; None if they are not.

    The group may have multiples of the digit's unit on top of the digit's source:
    `(x * 40 + y) // 10` is written as `x * 4 + y // 10`, and `(x * 40 + y) % 10` as `y % 10`.
    """
    above = group.minus(digit.source)
    unit = digit.lower * (digit.size or 1)
    if above.const or any(k % unit for k in above.terms.values()):
        return None
    if digit.size is not None:
        return this
    spread = {t: factor * (k // unit) for t, k in above.terms.items()}
    if any(form.terms.get(t) != k for t, k in spread.items()):
        return None
    return this.plus(LinearForm(spread, 0))
