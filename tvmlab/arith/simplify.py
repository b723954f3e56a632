"""`simplify`: the same value by a shorter expression, and `prove`, which asks for the value TRUE.

Children first, then linear forms (sums, quotients and remainders by numbers), decisions by bounds,
and the rule tables. Nothing changed means the very same object comes back.

>>> simplify((i * 4 + j) // 4, Bounds.of({i: 8, j: 4}))       # doctest: +SKIP
i
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmlab.ir import (
    FALSE,
    TRUE,
    Binary,
    Broadcast,
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
    cast,
    compare,
    map_children,
)

from .bounds import Bounds
from .compare import decide_forms, reduce_comparison
from .divmod import merge_digits, quotient, remainder
from .interval import Interval
from .linear import LinearForm, constant_form, form_to_expr, is_scalar_int, is_written
from .pattern import RuleTable
from .ranges import atom_range, decide, is_exact, range_of
from .rules_bool import BOOL_TABLE
from .rules_float import FLOAT_TABLE
from .rules_int import INT_TABLE
from .rules_vector import VECTOR_TABLE
from .same_tree import same_tree
from .symbolic_divmod import divide_by_symbol

_SWAPPABLE = frozenset({"mul", "min", "max", "bitand", "bitor", "bitxor"})


def simplify(expr: Expr, env: Bounds | None = None) -> Expr:
    """An expression of the same value under what the environment knows, simpler if possible."""
    return _simplify(expr, env or Bounds())


def simplify_indices(expr: Expr, env: Bounds) -> Expr:
    """As `simplify`, for a formula in which nothing but integers may have become simpler."""
    known = env.simplified.get(expr)
    if known is not None:
        return known
    kind = type(expr)
    if kind not in _PASSED_THROUGH or (kind is Binary and not expr.dtype.is_float):
        return _simplify(expr, env)
    known = env.simplified[expr] = map_children(expr, lambda e: simplify_indices(e, env))
    env.simplified.setdefault(known, known)
    return known


_PASSED_THROUGH = frozenset({Binary, Load, Broadcast, Ramp})


def prove(cond: Expr, env: Bounds | None = None) -> bool:
    """Whether a condition holds for all values that the environment allows.

    False means "not proven", never "does not hold".
    """
    known = env or Bounds()
    return _prove(_simplify(cond, known), known)


def _prove(cond: Expr, env: Bounds) -> bool:
    if isinstance(cond, Const):
        return bool(cond.value)
    if isinstance(cond, Logic):
        if cond.op == "and":
            return _prove(cond.a, env) and _prove(cond.b, env)
        return (
            _prove(cond.a, env)
            or _prove(cond.b, env)
            or prove(cond.b, env.assume(cond.a, holds=False))
        )
    if isinstance(cond, Broadcast):
        return _prove(cond.value, env)
    if isinstance(cond, Compare) and is_scalar_int(cond.a):
        a, b = env.terms.form(cond.a), env.terms.form(cond.b)
        if is_exact(a, cond.a.dtype, env) and is_exact(b, cond.a.dtype, env):
            return decide_forms(cond.op, a, b, env, deep=True) is True
    return False


def _simplify(e: Expr, env: Bounds) -> Expr:
    known = env.simplified.get(e)
    if known is None:
        if is_scalar_int(e):
            form = _form(e, env)
            known = e
            if not is_written(e, form, e.dtype, env.shown):
                written = form_to_expr(form, e.dtype, env.shown)
                known = e if same_tree(e, written) else written
        else:
            known = _rules(e, env)
        env.simplified[e] = known
        # What is simplified stays as it is: asking again must not cost again.
        env.simplified.setdefault(known, known)
    return known


def _form(e: Expr, env: Bounds) -> LinearForm:
    """The simplified form of a scalar integer."""
    known = env.forms.get(e)
    if known is not None:
        return known
    form = env.terms.flatten(e, lambda atom: _atom_form(atom, env))
    if len(form.terms) > 1 or any(k != 1 for k in form.terms.values()):
        form = merge_digits(form, e.dtype, env)
    env.forms[e] = form
    return form


def _atom_form(e: Expr, env: Bounds) -> LinearForm:
    """The simplified form of what is not a sum."""
    known = env.forms.get(e)
    if known is not None:
        return known
    if isinstance(e, Var):
        form = LinearForm({e: 1}, 0)
    elif isinstance(e, Binary) and e.op in ("floordiv", "floormod"):
        form = _division_form(e, env)
    else:
        form = _result_form(e, _rules(e, env), env)
    atom = form.atom
    if atom is not None and atom not in env.kept:
        interval = atom_range(atom, env)
        if interval.lo is not None and interval.lo == interval.hi:
            form = constant_form(interval.lo)
    env.forms[e] = form
    return form


def _division_form(e: Binary, env: Bounds) -> LinearForm:
    divisor = _form(e.b, env)
    if divisor.is_const and divisor.const > 0:
        rule = quotient if e.op == "floordiv" else remainder
        return rule(_form(e.a, env), divisor.const, e.dtype, env)
    a, b = _simplify(e.a, env), _simplify(e.b, env)
    node = e if a is e.a and b is e.b else Binary(e.op, a, b)
    shorter = divide_by_symbol(node, env)
    return _result_form(e, _finish(node, INT_TABLE, env) if shorter is None else shorter, env)


def _result_form(e: Expr, result: Expr, env: Bounds) -> LinearForm:
    """The form of what an atom became: itself an atom, or something to be simplified further."""
    if isinstance(result, Const):
        return constant_form(int(result.value))
    if type(result) is type(e) and env.terms.is_atom(result):
        rep = env.terms.rep_atom(result)
        env.shown.setdefault(rep, result)
        return LinearForm({rep: 1}, 0)
    return _form(result, env)


def _rules(e: Expr, env: Bounds) -> Expr:
    """Anything but a sum or a quotient by a number: children, then decisions and rules."""
    rule = _BY_TYPE.get(type(e))
    if rule is not None:
        return rule(e, env)
    return _finish(map_children(e, lambda child: _simplify(child, env)), None, env)


def _finish(e: Expr, table: RuleTable | None, env: Bounds) -> Expr:
    """Apply the tables to a node whose children are simplified; simplify what comes out."""
    result = VECTOR_TABLE.apply(e, env) if e.dtype.lanes > 1 else None
    if result is None and table is not None:
        result = table.apply(e, env)
    return e if result is None else _simplify(result, env)


def _simplify_binary(e: Binary, env: Bounds) -> Expr:
    a, b = _simplify(e.a, env), _simplify(e.b, env)
    if isinstance(a, Const) and isinstance(b, Const):
        folded = binary(e.op, a, b)
        if isinstance(folded, Const):
            return folded
    if e.op in _SWAPPABLE and isinstance(a, Const) and not e.dtype.is_float:
        a, b = b, a
    node = e if a is e.a and b is e.b else Binary(e.op, a, b)
    return _finish(node, FLOAT_TABLE if e.dtype.is_float else INT_TABLE, env)


def _simplify_compare(e: Compare, env: Bounds) -> Expr:
    a, b = _simplify(e.a, env), _simplify(e.b, env)
    if isinstance(a, Const) and isinstance(b, Const):
        return compare(e.op, a, b)
    node = e if a is e.a and b is e.b else Compare(e.op, a, b)
    held = _held(node, env)
    if held is not None:
        return held
    if is_scalar_int(a):
        return _simplify_integer_compare(node, env)
    if not a.dtype.is_float:
        decided = decide(e.op, range_of(a, env).sub(range_of(b, env)))
        if decided is not None:
            return _truth(decided, node)
    # A NaN is not even equal to itself; it is not less than itself either.
    if env.terms.same(a, b) and (e.op in ("lt", "gt") or not a.dtype.is_float):
        return _truth(e.op in ("eq", "le", "ge"), node)
    return _finish(node, None, env)


def _simplify_integer_compare(e: Compare, env: Bounds) -> Expr:
    a, b = env.terms.form(e.a), env.terms.form(e.b)
    dtype = e.a.dtype
    if a.key() == b.key():
        return TRUE if e.op in ("eq", "le", "ge") else FALSE
    if not (is_exact(a, dtype, env) and is_exact(b, dtype, env)):
        return e
    decided = decide_forms(e.op, a, b, env)
    if decided is not None:
        return TRUE if decided else FALSE
    reduced = reduce_comparison(e.op, a, b, dtype, env)
    return e if reduced is None or same_tree(e, reduced) else _simplify(reduced, env)


def _simplify_logic(e: Logic, env: Bounds) -> Expr:
    a = _simplify(e.a, env)
    value = _literal(a)
    if value is not None:
        return a if value == (e.op == "or") else _simplify(e.b, env)
    # The right side only matters where the left one leaves the result open.
    inner = env if a.dtype.lanes > 1 else env.assume(a, holds=e.op == "and")
    b = _simplify(e.b, inner)
    value = _literal(b)
    if value is not None:
        return b if value == (e.op == "or") else a
    node = e if a is e.a and b is e.b else Logic(e.op, a, b)
    held = _held(node, env)
    return _finish(node, BOOL_TABLE, env) if held is None else held


def _literal(e: Expr) -> bool | None:
    """The value of a condition that is one literal for all lanes."""
    value = e.value if isinstance(e, Broadcast) else e
    return bool(value.value) if isinstance(value, Const) else None


def _simplify_not(e: Not, env: Bounds) -> Expr:
    a = _simplify(e.a, env)
    value = _literal(a)
    if value is not None:
        return _truth(not value, e)
    node = e if a is e.a else Not(a)
    held = _held(node, env)
    return _finish(node, BOOL_TABLE, env) if held is None else held


def _simplify_select(e: Select, env: Bounds) -> Expr:
    cond = _simplify(e.cond, env)
    value = cond.value if isinstance(cond, Broadcast) else cond
    if isinstance(value, Const):
        return _simplify(e.then if value.value else e.otherwise, env)
    then = _simplify(e.then, _under(cond, e.then, True, env))
    otherwise = _simplify(e.otherwise, _under(cond, e.otherwise, False, env))
    if cond is e.cond and then is e.then and otherwise is e.otherwise:
        node = e
    else:
        node = Select(cond, then, otherwise)
    return _finish(node, BOOL_TABLE, env)


def _under(cond: Expr, branch: Expr, holds: bool, env: Bounds) -> Bounds:
    if cond.dtype.lanes > 1 or isinstance(branch, (Const, Var)):
        return env
    return env.assume(cond, holds)


def _simplify_cast(e: Cast, env: Bounds) -> Expr:
    value = _simplify(e.value, env)
    if value.dtype == e.dtype:
        return value
    if isinstance(value, Broadcast):
        return _simplify(Broadcast(cast(value.value, e.dtype.scalar), value.lanes), env)
    if isinstance(value, Const):
        folded = cast(value, e.dtype)
        if isinstance(folded, Const):
            return folded
    if isinstance(value, Cast) and _keeps_integer(value, env):
        return _simplify(cast(value.value, e.dtype), env)
    return e if value is e.value else Cast(value, e.dtype)


def _keeps_integer(e: Cast, env: Bounds) -> bool:
    """Whether a cast between integer types changes no value."""
    if not (e.dtype.is_int and e.value.dtype.is_int):
        return False
    return range_of(e.value, env).within(Interval.of_dtype(e.dtype))


def _simplify_broadcast(e: Broadcast, env: Bounds) -> Expr:
    value = _simplify(e.value, env)
    return e if value is e.value else Broadcast(value, e.lanes)


def _simplify_const(e: Const, env: Bounds) -> Expr:
    return e


def _simplify_var(e: Var, env: Bounds) -> Expr:
    held = _held(e, env) if e.dtype.is_bool else None
    return e if held is None else held


def _held(e: Expr, env: Bounds) -> Expr | None:
    """The literal for a condition whose value the environment knows."""
    if not env.known:
        return None
    value = env.known.get(env.terms.rep(e))
    return None if value is None else _truth(value, e)


def _truth(value: bool, like: Expr) -> Expr:
    literal = TRUE if value else FALSE
    return literal if like.dtype.lanes == 1 else Broadcast(literal, like.dtype.lanes)


_BY_TYPE: dict[type, Callable[[Any, Bounds], Expr]] = {
    Const: _simplify_const,
    Var: _simplify_var,
    Binary: _simplify_binary,
    Compare: _simplify_compare,
    Logic: _simplify_logic,
    Not: _simplify_not,
    Select: _simplify_select,
    Cast: _simplify_cast,
    Broadcast: _simplify_broadcast,
}
