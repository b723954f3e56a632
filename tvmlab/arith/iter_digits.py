"""Reading loops back from sums of digits: the one-to-one half of `iter_map`.

A digit is `(x // lower) % size` of a source x: a loop variable or a sum that has digits itself.
From the value of a sum the term with the largest factor can be told if all others together travel
less than that factor; then the next one. A source can be told if its digits leave no gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.ir import Binary, Const, Expr, Var, free_vars

from .bounds import Bounds
from .linear import FormKey, LinearForm
from .ranges import form_range, is_exact


@dataclass(frozen=True, slots=True)
class Digit:
    """`(source // lower) % size`; size None means that nothing is cut off above."""

    source: LinearForm
    lower: int
    size: int | None


class Digits:
    """The analysis of one map under one environment (which includes the predicate)."""

    def __init__(self, env: Bounds, loops: Sequence[Var]) -> None:
        self._env = env
        # A loop that runs once has nothing to be told.
        self._loops = [v for v in loops if not env.interval(v).is_point]
        self._sources: dict[FormKey, LinearForm] = {}
        self._known: dict[FormKey, set[tuple[int, int | None]]] = {}
        self._told: set[Expr] = set()

    def lost_loop(self, forms: Sequence[LinearForm]) -> Var | None:
        """The first loop that cannot be told from the values of the forms, None if all can."""
        self._told = set()
        self._known = {}
        self._sources = {}
        pending = list(forms)
        while True:
            before = len(self._told)
            for form in pending:
                self._read_sum(form)
            pending.extend(self._complete_sources())
            if len(self._told) == before:
                break
        return next((v for v in self._loops if v not in self._told), None)

    def unread(self, forms: Sequence[LinearForm]) -> tuple[int, Var] | None:
        """A binding with a part that is no digit, and a loop in that part."""
        for n, form in enumerate(forms):
            for atom in form.terms:
                used = [v for v in free_vars(atom) if v in self._loops]
                if used and digit_of(atom, self._env) is None:
                    return n, used[0]
        return None

    def _read_sum(self, form: LinearForm) -> None:
        """Tell the terms of a known sum, largest factor first, as long as the rest is small."""
        open_terms = [
            (abs(k), atom, k) for atom, k in form.terms.items() if not self._is_told(atom)
        ]
        open_terms.sort(key=lambda term: -term[0])
        for n, (size, atom, _) in enumerate(open_terms):
            rest = LinearForm({a: k for _, a, k in open_terms[n + 1 :]}, 0)
            travel = form_range(rest, self._env).size
            if travel is None or travel > size:
                return
            self._tell(atom)

    def _is_told(self, atom: Expr) -> bool:
        if atom in self._told:
            return True
        if isinstance(atom, Var):
            return atom not in self._loops
        return all(v in self._told or v not in self._loops for v in free_vars(atom))

    def _tell(self, atom: Expr) -> None:
        self._told.add(atom)
        digit = None if isinstance(atom, Var) else digit_of(atom, self._env)
        if digit is not None:
            key = digit.source.key()
            self._sources[key] = digit.source
            self._known.setdefault(key, set()).add((digit.lower, digit.size))

    def _complete_sources(self) -> list[LinearForm]:
        """Sources whose digits are all known: their values are sums to be read in turn."""
        done = [key for key, digits in self._known.items() if self._has_no_gap(key, digits)]
        for key in done:
            del self._known[key]
        return [self._sources[key] for key in done]

    def _has_no_gap(self, key: FormKey, digits: set[tuple[int, int | None]]) -> bool:
        values = form_range(self._sources[key], self._env)
        reach = 1  # the source is known modulo this
        for lower, size in sorted(digits, key=lambda d: d[0]):
            if lower > reach or reach % lower:
                return False
            if size is None:
                return True
            reach = max(reach, lower * size)
        return values.size is not None and values.size <= reach


def digit_of(atom: Expr, env: Bounds) -> Digit | None:
    """An atom as a digit; None if it is something else."""
    if isinstance(atom, Var):
        return Digit(LinearForm({atom: 1}, 0), 1, None)
    size: int | None = None
    current = atom
    if isinstance(current, Binary) and current.op == "floormod":
        size = _positive(current.b)
        inner = env.terms.form(current.a)
        if size is None or not is_exact(inner, current.dtype, env):
            return None
        current = inner.atom
        if current is None or isinstance(current, Var):
            return Digit(inner, 1, size)
    if isinstance(current, Binary) and current.op == "floordiv":
        lower = _positive(current.b)
        inner = env.terms.form(current.a)
        if lower is None or not is_exact(inner, current.dtype, env):
            return None
        return Digit(inner, lower, size)
    return None


def _positive(e: Expr) -> int | None:
    return int(e.value) if isinstance(e, Const) and int(e.value) > 0 else None
