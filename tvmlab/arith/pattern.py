"""Rewrite rules as data: a pattern, a condition, a result.

Patterns are written with Python's operators over wildcards:

>>> x, c = Wild("x"), Wild("c", literal=True)
>>> rule = Rule("or with zero", x | Num(0), x)

Repeated wildcards must match equal expressions. A rule is tried on one node whose children are
simplified already; every rule of every table is also tested by evaluating both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, Union, cast

from tvmlab.ir import (
    Binary,
    BinaryOp,
    Broadcast,
    Compare,
    CompareOp,
    Const,
    Expr,
    ExprLike,
    Logic,
    Not,
    Ramp,
    Scalar,
    Select,
    as_expr,
    binary,
    compare,
    logic,
)
from tvmlab.support import DType

from .compare import decide_forms
from .environment import Environment
from .interval import Interval
from .linear import is_scalar_int
from .ranges import is_exact, range_of

Domain: TypeAlias = Literal["int", "float", "bool", "vector", "any"]
PatternLike: TypeAlias = "Union[Pattern, int, float, bool]"

_BINARY_HEADS = frozenset({
    "add", "sub", "mul", "div", "floordiv", "floormod", "truncdiv", "truncmod",
    "min", "max", "bitand", "bitor", "bitxor", "shl", "shr",
})  # fmt: skip
_COMPARE_HEADS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


class Pattern:
    """Base of patterns; operators build bigger ones."""

    __slots__ = ()

    def __add__(self, other: PatternLike) -> Op:
        return op("add", self, other)

    def __sub__(self, other: PatternLike) -> Op:
        return op("sub", self, other)

    def __rsub__(self, other: PatternLike) -> Op:
        return op("sub", other, self)

    def __mul__(self, other: PatternLike) -> Op:
        return op("mul", self, other)

    def __truediv__(self, other: PatternLike) -> Op:
        return op("div", self, other)

    def __floordiv__(self, other: PatternLike) -> Op:
        return op("floordiv", self, other)

    def __mod__(self, other: PatternLike) -> Op:
        return op("floormod", self, other)

    def __and__(self, other: PatternLike) -> Op:
        return op("bitand", self, other)

    def __or__(self, other: PatternLike) -> Op:
        return op("bitor", self, other)

    def __xor__(self, other: PatternLike) -> Op:
        return op("bitxor", self, other)

    def __lshift__(self, other: PatternLike) -> Op:
        return op("shl", self, other)

    def __rshift__(self, other: PatternLike) -> Op:
        return op("shr", self, other)


@dataclass(frozen=True, slots=True)
class Wild(Pattern):
    """Stands for any expression, or with `literal` for a number only."""

    name: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Num(Pattern):
    """Stands for this number (0.0 and -0.0 differ)."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Op(Pattern):
    """An operation on patterns; `head` is the operator's name as in the IR."""

    head: str
    args: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Computed(Pattern):
    """In a result: a number worked out from what was matched."""

    value: Callable[[Match], int]


def op(head: str, *args: PatternLike) -> Op:
    """A pattern of one operation: arithmetic, `select`, `not`, `ramp`, `broadcast` ..."""
    return Op(head, tuple(a if isinstance(a, Pattern) else Num(a) for a in args))


class Match:
    """What the wildcards of a rule stand for, and what can be asked about them."""

    __slots__ = ("_found", "env", "root")

    def __init__(self, root: Expr, env: Environment) -> None:
        self.root = root
        self.env = env
        self._found: dict[str, Expr] = {}

    def __getitem__(self, name: str) -> Expr:
        return self._found[name]

    def bind(self, name: str, e: Expr) -> bool:
        """Give a wildcard its meaning; False if it has another one already."""
        known = self._found.setdefault(name, e)
        return known is e or self.env.terms.same(known, e)

    def number(self, name: str) -> int:
        """The value of a literal integer wildcard."""
        found = self._found[name]
        assert isinstance(found, Const)
        return int(found.value)

    def range(self, name: str) -> Interval:
        """The values that a wildcard can take."""
        return range_of(self._found[name], self.env)

    def at_least(self, name: str, low: int) -> bool:
        """Whether all values are at least this."""
        lo = self.range(name).lo
        return lo is not None and lo >= low

    def le(self, a: str, b: str) -> bool:
        """Whether one scalar integer is at most the other, always."""
        x, y = self._found[a], self._found[b]
        if not is_scalar_int(x):
            return False
        fx, fy = self.env.terms.form(x), self.env.terms.form(y)
        if not (is_exact(fx, x.dtype, self.env) and is_exact(fy, y.dtype, self.env)):
            return False
        return decide_forms("le", fx, fy, self.env, deep=True) is True


@dataclass(frozen=True, slots=True)
class Rule:
    """`lhs -> rhs where condition`. The domain is the kind of value that the rule is about."""

    name: str
    lhs: Op
    rhs: PatternLike
    where: Callable[[Match], bool] | None = None
    domain: Domain = field(default="int", kw_only=True)


class RuleTable:
    """Rules by the operator at their root, tried in order."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_head: dict[str, list[tuple[Rule, tuple[str | None, ...]]]] = {}
        for rule in rules:
            needs = tuple(_needed_head(arg) for arg in rule.lhs.args)
            self._by_head.setdefault(rule.lhs.head, []).append((rule, needs))

    def apply(self, e: Expr, env: Environment) -> Expr | None:
        """The result of the first rule that fits, None if none does."""
        head = head_of(e)
        rules = None if head is None else self._by_head.get(head)
        if rules is None:
            return None
        heads = tuple([_NUMBER if type(x) is Const else head_of(x) for x in _operands(e)])
        for rule, needs in rules:
            # Most rules ask for operands that are not there.
            if all([need is None or need == got for need, got in zip(needs, heads, strict=True)]):
                result = apply_rule(rule, e, env)
                if result is not None:
                    return result
        return None


_NUMBER = "number"


def _needed_head(pattern: Pattern) -> str | None:
    """What an operand must be for a pattern to fit; None if that is not known so easily."""
    if isinstance(pattern, Op):
        return pattern.head
    number = isinstance(pattern, Num) or (isinstance(pattern, Wild) and pattern.literal)
    return _NUMBER if number else None


def apply_rule(rule: Rule, e: Expr, env: Environment) -> Expr | None:
    """The result of one rule on one node, None if it does not fit."""
    match = Match(e, env)
    if not _fits(rule.lhs, e, match):
        return None
    if rule.where is not None and not rule.where(match):
        return None
    return build(rule.rhs, match)


def head_of(e: Expr) -> str | None:
    """The name of the operation at the root, as patterns spell it."""
    if isinstance(e, (Binary, Compare, Logic)):
        return e.op
    return _OTHER_HEADS.get(type(e))


_OTHER_HEADS: Mapping[type, str] = {
    Not: "not", Select: "select", Ramp: "ramp", Broadcast: "broadcast",
}  # fmt: skip


def _operands(e: Expr) -> tuple[Expr, ...]:
    if isinstance(e, (Binary, Compare, Logic)):
        return (e.a, e.b)
    if isinstance(e, Not):
        return (e.a,)
    if isinstance(e, Select):
        return (e.cond, e.then, e.otherwise)
    if isinstance(e, Ramp):
        return (e.base, e.stride)
    return (e.value,) if isinstance(e, Broadcast) else ()


def _fits(pattern: Pattern, e: Expr, match: Match) -> bool:
    if isinstance(pattern, Wild):
        return (not pattern.literal or isinstance(e, Const)) and match.bind(pattern.name, e)
    if isinstance(pattern, Num):
        # repr tells 0.0 from -0.0, and the types of numbers from each other
        return isinstance(e, Const) and repr(e.value) == repr(pattern.value)
    if isinstance(pattern, Op):
        if head_of(e) != pattern.head:
            return False
        return all(_fits(p, x, match) for p, x in zip(pattern.args, _operands(e), strict=True))
    return False


def build(pattern: PatternLike, match: Match) -> Expr:
    """The expression that a result pattern stands for."""
    made = _build(pattern, match)
    return made if isinstance(made, Expr) else as_expr(made, match.root.dtype)


def _build(pattern: PatternLike, match: Match) -> ExprLike:
    if isinstance(pattern, Wild):
        return match[pattern.name]
    if isinstance(pattern, Num):
        return pattern.value
    if isinstance(pattern, Computed):
        return pattern.value(match)
    if not isinstance(pattern, Op):
        return cast("Scalar", pattern)
    args = [_build(a, match) for a in pattern.args]
    return _make(pattern.head, args, match.root.dtype)


def _make(head: str, args: list[ExprLike], dtype: DType) -> Expr:
    if head in _BINARY_HEADS:
        return binary(cast(BinaryOp, head), args[0], args[1])
    if head in _COMPARE_HEADS:
        return compare(cast(CompareOp, head), args[0], args[1])
    if head in ("and", "or"):
        return logic("and" if head == "and" else "or", args[0], args[1])
    if head == "not":
        return Not(as_expr(args[0]))
    if head == "select":
        then, otherwise = as_expr(args[1], dtype), as_expr(args[2], dtype)
        return Select(as_expr(args[0]), then, otherwise)
    if head == "ramp":
        base = args[0] if isinstance(args[0], Expr) else as_expr(args[0], dtype.scalar)
        return Ramp(base, as_expr(args[1], base.dtype), dtype.lanes)
    value = args[0] if isinstance(args[0], Expr) else as_expr(args[0], dtype.scalar)
    return Broadcast(value, dtype.lanes)
