"""Skewing: walk two nested loops along diagonals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tvmlab.arith import simplify
from tvmlab.ir import For, Program, Var, conjunction, uses_var
from tvmlab.schedule.assumptions import INDEPENDENT, without_assumption
from tvmlab.schedule.dataflow import is_dataflow
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import require_chain, require_serial
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import rebind, replace_stmts
from tvmlab.schedule.verdict import refuse

from .loops import require_rounds


def _propose(index: ProgramIndex, loop: For) -> Iterator[dict[str, Any]]:
    """The loop directly inside, where the order of iterations matters at all."""
    if isinstance(loop.body, For) and not is_dataflow(index, loop):
        yield {"inner": loop.body.var, "factor": 1}


@primitive(
    "skew", "skew", "",
    ParamSpec("outer", "loop", "the loop along which it is skewed"),
    ParamSpec("inner", "loop", "the loop inside it that is skewed"),
    ParamSpec("factor", "int", "how far each iteration of the outer loop moves the inner one",
              default=1),
    propose=_propose,
)  # fmt: skip
def skew(program: Program, outer: Var, inner: Var, factor: int = 1) -> Applied:
    """Let an inner loop start later in each iteration of an outer one, by `factor` each time.

    Iterations still run in the same order. Once the skewed loop has been moved outside by
    `reorder`, it walks over diagonals; where each element needs its left and upper neighbors, the
    iterations of a diagonal are independent and can run in parallel: a wavefront.

    Before::

        for i in range(7):
            for j in range(9):
                A[i + 1, j + 1] = A[i, j + 1] + A[i + 1, j]

    After `skew(i, j)`::

        for i in range(7):
            for j_skewed in range(15):
                where(j_skewed - i >= 0 and j_skewed - i < 9)
                A[i + 1, j_skewed - i + 1] = A[i, j_skewed - i + 1] + A[i + 1, j_skewed - i]
    """
    index = index_of(program)
    along, target = index.loops[outer], index.loops[inner]
    if factor < 1:
        raise refuse(
            "skew.factor",
            f"cannot skew {inner.name} by {factor}: the factor must be 1 or more",
            subject=inner,
        )
    if not index.is_under(target, along) or target is along:
        raise refuse(
            "skew.not-inside",
            f"cannot skew {inner.name} along {outer.name}: {inner.name} must be inside it",
            subject=inner,
        )
    require_chain(index, [along, target], "skew")
    require_serial(target, "skew")
    require_rounds(index, [along, target], "skew")
    around = {lp.var for lp in index.loops_around(target)}
    if uses_var(along.extent, around) or uses_var(target.extent, around):
        raise refuse(
            "skew.dependent-extent",
            f"cannot skew {inner.name} along {outer.name}: the extent of one of them depends on a "
            f"loop around it",
            subject=inner,
        )
    skewed = Var(f"{inner.name}_skewed", inner.dtype)
    extent = simplify(target.extent + (along.extent - 1) * factor, index.bounds_around(target))
    env = index.bounds_around(target).bind_loop(skewed, extent)
    value = simplify(skewed - outer * factor, env)
    inside = conjunction([value >= 0, value < target.extent])
    body = rebind(target.body, {inner: value}, env, inside)
    loop = For(skewed, extent, body, annotations=target.annotations)
    loop = without_assumption(loop, INDEPENDENT)  # Its iterations hold other elements now.
    return Applied(replace_stmts(program, {target: loop}), (skewed,))
