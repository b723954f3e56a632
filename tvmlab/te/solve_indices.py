"""Turning reads round: which iterations read a given element.

For a read `A[2 * i + k]` and an element `j` it says that `k` may be anything, and `i` is
`(j - k) // 2`, only where `(j - k) % 2 == 0` and `i` lies in its range. What cannot be solved stays
a condition over all values of its variables, which is slow but right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tvmlab.arith import Bounds, linear_form, prove, simplify
from tvmlab.arith.linear import LinearForm
from tvmlab.ir import Binary, Expr, Var, as_expr, const, const_int, eq, substitute, uses_var

Equation = tuple[Expr, Expr]
"""An index over the variables, and what it must be equal to."""


@dataclass
class Solution:
    """The variables that are still free, the values of the others, and what must hold."""

    free: dict[Var, Expr]
    values: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    conditions: list[Expr] = field(default_factory=list[Expr])


def solve(
    equations: Sequence[Equation], variables: dict[Var, Expr], given: dict[Var, Expr]
) -> Solution:
    """Solve equations of indices for as many variables as possible.

    Parameters
    ----------
    equations
        What must be equal.
    variables, given
        The variables to solve for, and the others that occur, each with its extent.
    """
    return _Solver(equations, variables, given).run()


class _Solver:
    def __init__(
        self, equations: Sequence[Equation], variables: dict[Var, Expr], given: dict[Var, Expr]
    ) -> None:
        self.pending = list(equations)
        self.given = given
        self.original = set(variables)
        self.extents = dict(variables)
        self.result = Solution(dict(variables))

    def run(self) -> Solution:
        while self._split_digits() or self._solve_one() or self._open_one():
            pass
        conditions = [*self.result.conditions, *(eq(a, b) for a, b in self.pending)]
        env = self.env()
        simple = [simplify(c, env) for c in conditions]
        self.result.conditions = [c for c in simple if not prove(c, env)]
        self.result.values = {v: simplify(e, env) for v, e in self.result.values.items()}
        return self.result

    def env(self) -> Bounds:
        return Bounds.of({**self.given, **self.result.free})

    def _solve_one(self) -> bool:
        """Solve the equation that gets rid of the longest range."""
        env = self.env()
        best: tuple[tuple[bool, int, int], int, Var, LinearForm] | None = None
        for number, (index, target) in enumerate(self.pending):
            form = linear_form(simplify(index - target, env), env)
            for atom, factor in form.terms.items():
                if isinstance(atom, Var) and self._alone(atom, form):
                    extent = const_int(self.extents[atom])
                    size = 10**9 if extent is None else extent
                    rank = (atom in self.original, size, -abs(factor))
                    if best is None or rank > best[0]:
                        best = (rank, number, atom, form)
        if best is None:
            return False
        _, number, variable, form = best
        del self.pending[number]
        self._assign(variable, form)
        return True

    def _split_digits(self) -> bool:
        """Take the first digit of a number apart: `6 * i + j` is u where i = u // 6, j = u % 6."""
        env = self.env()
        for number, (index, target) in enumerate(self.pending):
            form = linear_form(simplify(index, env), env)
            if len(form.terms) < 2 or not all(k > 0 for k in form.terms.values()):
                continue
            first = max(form.terms, key=lambda atom: form.terms[atom])
            step = form.terms[first]
            rest = _written({e: k for e, k in form.terms.items() if e is not first}, 0)
            ends = self._range(rest)
            if not isinstance(first, Var) or not self._alone(first, form):
                continue
            if ends is None or not 0 <= ends[0] <= ends[1] < step:
                continue
            place = target - form.const
            self.pending[number] = (rest, place % step)
            self._assign(first, linear_form(first - place // step))
            return True
        return False

    def _alone(self, atom: Var, form: LinearForm) -> bool:
        """Whether a free variable occurs in a form only as a term of its own."""
        others = (e for e in form.terms if e is not atom)
        return atom in self.result.free and not any(uses_var(e, {atom}) for e in others)

    def _assign(self, variable: Var, form: LinearForm) -> None:
        factor = form.terms[variable]
        rest = _written({e: k for e, k in form.terms.items() if e is not variable}, form.const)
        distance = rest if factor < 0 else const(0) - rest
        step = abs(factor)
        value = distance if step == 1 else distance // step
        if step != 1:
            self.result.conditions.append(eq(distance % step, 0))
        del self.result.free[variable]
        env = self.env()
        value = simplify(value, env)
        extent = self.extents[variable]
        self.result.conditions += [value >= 0, value < extent]
        found = {variable: value}
        self.result.values = {v: substitute(e, found) for v, e in self.result.values.items()}
        self.result.values[variable] = value
        self.result.conditions = [substitute(c, found) for c in self.result.conditions]
        self.pending = [(substitute(a, found), substitute(b, found)) for a, b in self.pending]

    def _open_one(self) -> bool:
        """Open a quotient or remainder by a new variable: `u // c` is q where `u = c * q + r`."""
        env = self.env()
        for number, (index, target) in enumerate(self.pending):
            form = linear_form(simplify(index - target, env), env)
            for atom, factor in form.terms.items():
                if abs(factor) == 1 and self._can_open(atom, form):
                    del self.pending[number]
                    self._open(atom, factor, form)
                    return True
        return False

    def _can_open(self, atom: Expr, form: LinearForm) -> bool:
        if not isinstance(atom, Binary) or atom.op not in ("floordiv", "floormod"):
            return False
        divisor = const_int(atom.b)
        inside = linear_form(atom.a).terms
        # Each quotient that is opened solves for one of the first variables, so this ends.
        free = [v for v in self.original if v in inside and v in self.result.free]
        others = [e for e in form.terms if e is not atom]
        return (
            divisor is not None
            and divisor > 0
            and bool(free)
            and (atom.op == "floordiv" or self._range(atom.a) is not None)
            and not any(uses_var(e, {v}) for v in free for e in others)
        )

    def _open(self, atom: Expr, factor: int, form: LinearForm) -> None:
        assert isinstance(atom, Binary)
        divisor = const_int(atom.b)
        assert divisor is not None
        rest = _written({e: k for e, k in form.terms.items() if e is not atom}, form.const)
        wanted = rest if factor < 0 else const(0) - rest
        if atom.op == "floordiv":
            part = Var("part")
            self._add(part, const(divisor))
            self.pending.append((atom.a, wanted * divisor + part))
            return
        ends = self._range(atom.a)
        assert ends is not None
        whole, start = Var("whole"), ends[0] // divisor
        self._add(whole, const(ends[1] // divisor - start + 1))
        self.result.conditions += [wanted >= 0, wanted < divisor]
        self.pending.append((atom.a, (whole + start) * divisor + wanted))

    def _range(self, e: Expr) -> tuple[int, int] | None:
        """The lowest and highest value of an index; None if it is not known."""
        form = linear_form(e)
        low = high = form.const
        for atom, factor in form.terms.items():
            known = {**self.given, **self.extents}.get(atom) if isinstance(atom, Var) else None
            extent = None if known is None else const_int(known)
            if extent is None:
                return None
            ends = sorted((0, factor * (extent - 1)))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def _add(self, variable: Var, extent: Expr | int) -> None:
        self.extents[variable] = self.result.free[variable] = as_expr(extent)


def _written(terms: dict[Expr, int], constant: int) -> Expr:
    total: Expr = const(constant)
    for atom, factor in terms.items():
        total = total + (atom if factor == 1 else atom * factor)
    return total
