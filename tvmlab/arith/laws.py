"""Whether a reduction's operation is associative and commutative, so that its order is free.

Known forms (a sum of each state, a minimum, a conjunction ...) are proved from their shape. For any
other operation counterexamples are searched for, at the edges of the types, at the constants that
the operation mentions, and at random. If none is found the laws are taken to hold.

Partial results are what the laws speak about: values that come from joining something to the
neutral element. So an arg-max whose neutral element is the smallest finite number is not blamed for
never finding minus infinity, which it does not find in any order. Floats are judged on finite
values, and up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from tvmlab.ir import Binary, Combiner, Const, Expr, Logic, Var, walk
from tvmlab.support import DType

from .sampling import Samples, evaluate_at, sample_type

State: TypeAlias = tuple[Samples, ...]

_PROVED = frozenset({"add", "mul", "min", "max", "bitand", "bitor", "bitxor"})
_COUNT = 4096
_TOLERANCE = 1e-6
_KNOWN: WeakKeyDictionary[Combiner, Law] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Law:
    """The verdict on an operation.

    `reason` names the law that fails, or says how it is known that all hold; `counterexample` shows
    values with which one fails, and is empty if none does.
    """

    holds: bool
    reason: str
    counterexample: str = ""


def law_of(combiner: Combiner) -> Law:
    """Whether joining partial results in any order and grouping gives the same."""
    known = _KNOWN.get(combiner)
    if known is None:
        known = _KNOWN[combiner] = _decide(combiner)
    return known


def _decide(combiner: Combiner) -> Law:
    if all(_is_proved(combiner, n) for n in range(len(combiner.results))):
        return Law(True, "each value is joined by an associative and commutative operation")
    try:
        failure = _Search(combiner).run()
    except KeyError:
        return Law(False, "it uses more than the two partial results", "")
    return failure or Law(True, f"no counterexample among {_COUNT} cases")


def _is_proved(combiner: Combiner, n: int) -> bool:
    """Whether a state is joined on its own by a known operation, from its neutral element."""
    e, pair = combiner.results[n], {combiner.left[n], combiner.right[n]}
    if not isinstance(e, (Binary, Logic)) or {e.a, e.b} != pair:
        return False
    identity = combiner.identity[n]
    if not isinstance(identity, Const):
        return False
    if isinstance(e, Logic):
        return identity.value == (e.op == "and")
    return e.op in _PROVED and identity.value in _neutral(e.op, e.dtype)


def _neutral(op: str, dtype: DType) -> tuple[float, ...]:
    low, high = dtype.min_value, dtype.max_value
    return {
        "add": (0,), "mul": (1,), "bitor": (0,), "bitxor": (0,),
        "bitand": (-1, high) if dtype.kind == "uint" else (-1,),
        "min": (high, float("inf")), "max": (low, float("-inf")),
    }[op]  # fmt: skip


class _Search:
    """Looks for partial results with which a law fails; the simplest one found is shown."""

    def __init__(self, combiner: Combiner) -> None:
        self.combiner = combiner
        self.rng = np.random.default_rng(0)
        self.neutral = tuple(evaluate_at(e, {}) for e in combiner.identity)
        self.edges = _mentioned(combiner)

    def run(self) -> Law | None:
        a, b, c = (self.join(self.neutral, self.sample(k)) for k in range(3))
        return (
            self.compare("commutative", "{a} with {b}", self.join(a, b), "{b} with {a}",
                         self.join(b, a), (a, b))
            or self.compare("associative", "({a} with {b}) with {c}", self.join(self.join(a, b), c),
                            "{a} with ({b} with {c})", self.join(a, self.join(b, c)), (a, b, c))
            or self.compare("neutral at its identity", "the identity with {a}",
                            self.join(self.neutral, a), "{a} alone", a, (a,))
        )  # fmt: skip

    def join(self, a: Sequence[Samples], b: Sequence[Samples]) -> State:
        values: Mapping[Var, Samples] = dict(
            zip((*self.combiner.left, *self.combiner.right), (*a, *b), strict=True)
        )
        joined = (evaluate_at(e, values) for e in self.combiner.results)
        return tuple(np.broadcast_to(v, (_COUNT,)) for v in joined)

    def sample(self, turn: int) -> State:
        return tuple(self.column(v.dtype, turn, n) for n, v in enumerate(self.combiner.left))

    def column(self, dtype: DType, turn: int, state: int) -> Samples:
        """Values of one state: first small numbers that tie often, then edges, then any."""
        kind = sample_type(dtype)
        if dtype.is_bool:
            return self.rng.integers(0, 2, _COUNT).astype(kind)
        low = 0 if dtype.kind == "uint" else -3
        small = self.rng.integers(low, 4, _COUNT)
        # Consecutive numbers at the very start, so that the simplest case is found first.
        small[:64] = (np.arange(64) // 4 ** (2 - turn) + state) % 4
        column = small.astype(kind)
        third = _COUNT // 3
        edges = np.asarray([e for e in self.edges if _fits(e, dtype)], kind)
        column[third : 2 * third] = self.rng.choice(edges, third)
        if dtype.is_float:
            column[2 * third :] = self.rng.normal(scale=4.0, size=_COUNT - 2 * third)
        else:
            ends = (int(dtype.min_value), int(dtype.max_value))
            column[2 * third :] = self.rng.integers(
                ends[0], ends[1], _COUNT - 2 * third, dtype=kind, endpoint=True
            )
        return column

    def compare(
        self, law: str, first: str, x: State, second: str, y: State, values: Sequence[State]
    ) -> Law | None:
        differs = np.zeros(_COUNT, bool)
        judged = np.ones(_COUNT, bool)
        for u, v in zip(x, y, strict=True):
            off, finite = _differences(u, v, values)
            differs |= off
            judged &= finite
        found = np.flatnonzero(differs & judged)
        if not len(found):
            return None
        at = int(found[0])
        names = {
            name: _text([s[at] for s in state]) for name, state in zip("abc", values, strict=False)
        }
        example = (
            f"{first.format(**names)} gives {_text([u[at] for u in x])}, "
            f"but {second.format(**names)} gives {_text([v[at] for v in y])}"
        )
        return Law(False, f"it is not {law}", example)


def _differences(u: Samples, v: Samples, values: Sequence[State]) -> tuple[Samples, Samples]:
    """Where two results differ by more than rounding, and where both are finite."""
    if u.dtype.kind != "f":
        return u != v, np.ones(u.shape, bool)
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(u), np.abs(v)) + 1e-30
        for column in (s for state in values for s in state if s.dtype.kind == "f"):
            scale = np.maximum(scale, np.abs(column))
        off = np.abs(u - v) > _TOLERANCE * scale
        return off, np.isfinite(u) & np.isfinite(v) & np.isfinite(scale)


def _mentioned(combiner: Combiner) -> list[float]:
    """Numbers at which an operation may change: zero, one, limits, its constants and around."""
    numbers: set[float] = {0, 1, -1, 2}
    roots: Iterator[Expr] = iter((*combiner.results, *combiner.identity))
    for root in roots:
        for e in walk(root):
            if isinstance(e, Const) and not e.dtype.is_bool:
                numbers |= {e.value, -e.value}
                if abs(e.value) < 1e15:
                    numbers |= {e.value - 1, e.value + 1}
    for v in combiner.left:
        if v.dtype.is_int:
            numbers |= {v.dtype.min_value, v.dtype.max_value}
    return sorted(numbers, key=abs)


def _fits(value: float, dtype: DType) -> bool:
    if not np.isfinite(value):
        return False
    if dtype.is_float:
        return abs(value) < 1e15  # beyond, sums and products leave what rounding explains
    return dtype.min_value <= value <= dtype.max_value and value == int(value)


def _text(values: Sequence[Any]) -> str:
    shown = [_number(v.item()) for v in values]
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
