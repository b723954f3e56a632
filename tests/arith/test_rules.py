"""Every row of every rule table: both sides are evaluated wherever the rule fires."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from helpers.random_exprs import UndefinedError, evaluate

from tvmlab.arith import Bounds, Interval
from tvmlab.arith.pattern import Match, Num, Op, Pattern, Rule, Wild, apply_rule, build
from tvmlab.arith.rules_bool import BOOL_RULES
from tvmlab.arith.rules_float import FLOAT_RULES
from tvmlab.arith.rules_int import INT_RULES
from tvmlab.arith.rules_vector import VECTOR_RULES
from tvmlab.ir import Broadcast, Const, Expr, Select, Var, const
from tvmlab.support import BOOL, FLOAT32, INDEX, DType

INT8, UINT8 = DType.of("int8"), DType.of("uint8")
ALL_RULES = (*INT_RULES, *BOOL_RULES, *FLOAT_RULES, *VECTOR_RULES)
FLOATS = (-0.0, 0.0, -3.0, float("inf"))
LANES = 4


class Instance:
    """A rule's left side with wildcards replaced by variables and numbers."""

    def __init__(self, rule: Rule, dtype: DType, rng: random.Random) -> None:
        self.rule = rule
        self.dtype = dtype
        self.rng = rng
        self.env = Bounds()
        self.ranges: dict[Var, tuple[int, int]] = {}
        self.made: dict[str, Expr] = {}
        vector = rule.domain == "vector" or "broadcast" in str(rule.lhs)
        root = Var("root", dtype.with_lanes(LANES) if vector else dtype)
        self.match = Match(root, self.env)
        self._fill(rule.lhs, None)
        self.expr = build(rule.lhs, self.match)

    def _fill(self, pattern: Pattern, parent: str | None) -> None:
        if isinstance(pattern, Op):
            for arg in pattern.args:
                is_branch = pattern.head == "select" and arg is not pattern.args[0]
                self._fill(arg, "value" if is_branch else pattern.head)
        elif isinstance(pattern, Wild):
            if pattern.name not in self.made:
                self.made[pattern.name] = self._value(pattern, parent)
            self.match.bind(pattern.name, self.made[pattern.name])

    def _value(self, wild: Wild, parent: str | None) -> Expr:
        if wild.name in ("p", "q") or parent in ("and", "or"):
            return self._variable(wild.name, BOOL)
        if wild.literal:
            low = -6 if self.dtype.kind == "int" else 0
            return const(self.rng.choice([n for n in range(low, 9)]), self.dtype)
        return self._variable(wild.name, self.dtype)

    def _variable(self, name: str, dtype: DType) -> Var:
        var = Var(name, dtype)
        if dtype.is_int:
            low = self.rng.randint(-6 if dtype.kind == "int" else 0, 8)
            high = low + self.rng.choice([0, 1, 5])
            if self.rng.random() < 0.3:
                low, high = int(max(dtype.min_value, -130)), int(min(dtype.max_value, 260))
            self.ranges[var] = (low, high)
            self.env = self.env.bind(var, Interval(low, high))
        return var

    def points(self) -> list[dict[Var, object]]:
        """A sample of the values that the variables may take, with the ends of their ranges."""
        axes: list[Sequence[object]] = []
        variables = [v for v in self.made.values() if isinstance(v, Var)]
        for var in variables:
            if var.dtype.is_bool:
                axes.append([False, True])
            elif var.dtype.is_float:
                axes.append(list(FLOATS))
            else:
                lo, hi = self.ranges[var]
                inside = {lo, hi, *(self.rng.randint(lo, hi) for _ in range(2))}
                axes.append(sorted(inside))
        return [dict(zip(variables, values, strict=True)) for values in itertools.product(*axes)]


def dtypes_of(rule: Rule) -> tuple[DType, ...]:
    if rule.domain == "float":
        return (FLOAT32,)
    if rule.domain == "bool":
        return (BOOL,)
    if rule.domain == "any":
        return (FLOAT32,) if "div of" in rule.name else (BOOL,)
    return (INDEX, INT8, UINT8)


def fires(rule: Rule, dtype: DType, rng: random.Random) -> bool:
    instance = Instance(rule, dtype, rng)
    result = apply_rule(rule, instance.expr, instance.env)
    if result is None:
        return False
    assert result.dtype == instance.expr.dtype
    for values in instance.points():
        try:
            expected = evaluate(instance.expr, values)
        except (UndefinedError, ZeroDivisionError):
            continue
        assert repr(evaluate(result, values)) == repr(expected), (rule.name, values)
    return True


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
def test_both_sides_agree(rule: Rule) -> None:
    rng = random.Random(rule.name)
    fired = sum(fires(rule, dtype, rng) for dtype in dtypes_of(rule) for _ in range(25))
    assert fired >= 3, "the rule hardly ever applies in this test, so it is not tested"


def test_names_are_unique_in_each_table() -> None:
    for table in (INT_RULES, BOOL_RULES, FLOAT_RULES, VECTOR_RULES):
        names = [rule.name for rule in table]
        assert len(names) == len(set(names))


def test_repeated_wildcards_must_match_equal_expressions() -> None:
    x = Wild("x")
    rule = Rule("twice", x & x, x)
    i, j = Var("i"), Var("j")
    env = Bounds()
    assert apply_rule(rule, (i + j) & (j + i), env) is not None
    assert apply_rule(rule, i & j, env) is None


def test_numbers_match_by_type_and_sign() -> None:
    x = Wild("x")
    minus = Rule("minus zero", x - 0.0, x)
    f = Var("f", FLOAT32)
    assert apply_rule(minus, f - 0.0, Bounds()) is f
    assert apply_rule(minus, f - Const(-0.0, FLOAT32), Bounds()) is None
    truth = Rule("select true or false", Op("select", (x, Num(True), Num(False))), x)
    p = Var("p", BOOL)
    number = Select(p, const(1.0), const(0.0))
    assert apply_rule(truth, number, Bounds()) is None


def test_vector_rules_see_only_vectors_of_equal_lanes() -> None:
    i = Var("i")
    rule = next(r for r in VECTOR_RULES if r.name == "add of broadcasts")
    result = apply_rule(rule, Broadcast(i, 3) + Broadcast(i, 3), Bounds())
    assert isinstance(result, Broadcast)
    assert result.lanes == 3
