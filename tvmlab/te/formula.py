"""What may stand in a compute: its own axes, and a reduction only as the whole formula."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import Expr, is_const, structural_equal, walk
from tvmlab.support import TypeMismatch

from .axis import Axis
from .reduction import Reduce, joined


def checked_body(formulas: Sequence[Expr], axes: tuple[Axis, ...], name: str) -> tuple[Expr, ...]:
    """The formulas of a compute, its reductions joined into one.

    Raises
    ------
    TypeMismatch
        If there is none, a reduction hides inside a formula or stands beside one of other axes, or
        an index occurs that nothing runs over.
    """
    if not formulas:
        raise TypeMismatch(
            f"compute {name} has no formula: its function returned an empty tuple",
            hint="return one formula, or a tuple of one for each output",
        )
    reductions = [f for f in formulas if isinstance(f, Reduce)]
    for formula in formulas:
        parts = formula.parts if isinstance(formula, Reduce) else (formula,)
        _refuse_inner_reduction(parts, name)
        _refuse_foreign_axes(formula, parts, axes, name)
    if not reductions:
        return tuple(formulas)
    _refuse_different_reductions(formulas, reductions, name)
    body = joined(reductions)
    states = len(body[0].source)
    if states != len(body):
        raise TypeMismatch(
            f"compute {name} returns {len(body)} of the {states} values that "
            f"te.{body[0].reducer.name} computes together",
            hint="return all of them, as a tuple in their order; use what you need of the tensors",
        )
    return body


def _refuse_different_reductions(
    formulas: Sequence[Expr], reductions: list[Reduce], name: str
) -> None:
    first = reductions[0]
    alike = len(reductions) == len(formulas) and all(
        r.axes == first.axes and _same_condition(r.where, first.where) for r in reductions
    )
    if not alike:
        raise TypeMismatch(
            f"the outputs of compute {name} are not reductions over the same axes and points",
            hint="give each reduction a te.compute of its own",
        )


def _same_condition(a: Expr, b: Expr) -> bool:
    return a is b or (is_const(a, True) and is_const(b, True)) or structural_equal(a, b)


def _refuse_inner_reduction(parts: Sequence[Expr], name: str) -> None:
    if any(isinstance(n, Reduce) for part in parts for n in walk(part)):
        raise TypeMismatch(
            f"compute {name} has a reduction inside a larger formula",
            hint="make the reduction a compute of its own, then use that tensor in the formula",
        )


def _refuse_foreign_axes(
    formula: Expr, parts: Sequence[Expr], axes: tuple[Axis, ...], name: str
) -> None:
    known = {*axes, *(formula.axes if isinstance(formula, Reduce) else ())}
    for current in (n for part in parts for n in walk(part)):
        if isinstance(current, Axis) and current not in known:
            what = "reduction axis" if current.kind == "reduce" else "index of another compute"
            raise TypeMismatch(
                f"compute {name} uses {current.name}, a {what} that nothing in it runs over",
                hint=f"reduce over it, for example te.sum(..., axis={current.name})"
                if current.kind == "reduce"
                else "use the index arguments of this compute's own function",
            )
    starts = formula.init if isinstance(formula, Reduce) else ()
    for current in (n for start in starts for n in walk(start)):
        if isinstance(current, Axis) and current.kind == "reduce":
            raise TypeMismatch(
                f"the start of the reduction of compute {name} uses {current.name}, an axis that "
                f"it runs over",
                hint="a reduction starts from one value: use the compute's own indices only",
            )
