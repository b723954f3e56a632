"""Functions of formulas that a program adds: names with a rule that says what they are.

A rule is used where the function is called, so the formula holds what it returns. The functions
that tvmlab has are computed by tvmlab; a rule for one of them changes nothing, and says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tvmlab.ir import Expr, as_expr
from tvmlab.support import DType

Rule = Callable[[Any], Any]

_rules: dict[str, Rule] = {}
_OWN = ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "erf", "power", "floor", "ceil", "round")


def register_op_attr(op_name: str, attr_key: str, value: Any = None, level: int = 10) -> Any:
    """Accepted for a function whose rule is registered too; attributes change nothing here."""
    del op_name, attr_key, level
    return value


def register_intrin_lowering(op_name: str, target: str, *, f: Any = None, level: int = 10) -> Any:
    """Say what a function of formulas is: `f` gets the call and returns an expression.

    Parameters
    ----------
    target, level
        Of several rules for one name the last counts, for whatever target.
    """
    del target, level
    if f is None:
        return lambda function: register_intrin_lowering(op_name, "", f=function) or function  # pyright: ignore
    if op_name.removeprefix("tir.") in _OWN:
        warnings.warn(
            f"tvmlab computes {op_name} itself; the rule for it is not used", stacklevel=2
        )
    else:
        _rules[op_name] = f
    return None


def by_rule(dtype: Any, name: str, args: tuple[Any, ...]) -> Expr | None:
    """What the rule of a function makes of a call; None without a rule."""
    rule = _rules.get(name)
    if rule is None:
        return None
    call = SimpleNamespace(
        op=SimpleNamespace(name=name), args=[as_expr(a) for a in args], dtype=DType.of(dtype)
    )
    made = rule(call)
    return made if isinstance(made, Expr) else None
