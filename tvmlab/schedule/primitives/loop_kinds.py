"""How a loop runs: vectorize, unroll, parallel, and back to serial."""

from __future__ import annotations

from dataclasses import replace

from tvmlab.ir import For, LoopKind, Program, Var, const_int, is_thread_loop, walk
from tvmlab.schedule.fixes import split_fix
from tvmlab.schedule.independence import require_independent
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import require_const_extent, verb
from tvmlab.schedule.notes import require_unheld
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.turns import require_same_in_turn
from tvmlab.schedule.verdict import refuse

MAX_UNROLL = 1024
"""Iterations (over all unrolled loops of one nest) that may be written out."""

_LOOP = ParamSpec("loop", "loop", "the loop")


@primitive("vectorize", "vectorize", "v", _LOOP)
def vectorize(program: Program, loop: Var) -> Applied:
    """Run the iterations of a loop in the lanes of vectors.

    The iterations must write different elements and the extent must be a constant; an extent that
    is no multiple of the vector width gets a narrower or masked remainder. The iterations of a sum,
    a product, a minimum or a maximum may also be lanes, which are joined at the end: floating-point
    sums then round differently.

    Before::

        for j in range(16):
            C[j] = A[j] + B[j]

    After `vectorize(j)`::

        for j in vectorized(16):
            C[j] = A[j] + B[j]
    """
    index = index_of(program)
    target = index.loops[loop]
    _require_serial_for(target, "vectorize")
    extent = require_const_extent(target, "vectorize")
    if extent > MAX_UNROLL:
        raise refuse(
            "vectorize.too-long",
            f"cannot vectorize {loop.name}: {extent} lanes are too many to write out",
            fixes=(split_fix(loop, 16, "vectorize"),),
            subject=loop,
        )
    _refuse_kinds_inside(target, "vectorize", ("parallel", "vectorized"))
    _refuse_vector_around(index, target, "vectorize")
    require_independent(index, target, "vectorize", private_copies=False)
    return _set_kind(program, target, "vectorized")


@primitive("unroll", "unroll", "u", _LOOP)
def unroll(program: Program, loop: Var) -> Applied:
    """Write out the iterations of a loop one after another.

    Before::

        for i in range(2):
            C[i] = A[i]

    After `unroll(i)`, once lowered::

        C[0] = A[0]
        C[1] = A[1]
    """
    index = index_of(program)
    target = index.loops[loop]
    _require_serial_for(target, "unroll")
    copies = require_const_extent(target, "unroll")
    unrolled = [lp for lp in _loops_in(target) if lp.kind == "unrolled"]
    for other in [*index.loops_around(target), *unrolled]:
        if other.kind == "unrolled":
            copies *= const_int(other.extent) or 1
    if copies > MAX_UNROLL:
        raise refuse(
            "unroll.too-long",
            f"cannot unroll {loop.name}: {copies} copies of its body would be written out, more "
            f"than the limit of {MAX_UNROLL}",
            fixes=(split_fix(loop, 8, "unroll"),) if not unrolled else (),
            subject=loop,
        )
    return _set_kind(program, target, "unrolled")


@primitive("parallel", "parallel", "p", _LOOP)
def parallel(program: Program, loop: Var) -> Applied:
    """Share the iterations of a loop out to threads.

    The iterations must not touch the same element of a buffer when one of them writes it.

    Before::

        for i in range(64):
            C[i] = A[i] * 2

    After `parallel(i)`::

        for i in parallel(64):
            C[i] = A[i] * 2
    """
    index = index_of(program)
    target = index.loops[loop]
    _require_serial_for(target, "parallel")
    _refuse_vector_around(index, target, "parallel")
    require_independent(index, target, "parallel", private_copies=True)
    return _set_kind(program, target, "parallel")


@primitive("serial", "back to serial", "", _LOOP)
def serial(program: Program, loop: Var) -> Applied:
    """Take back vectorize, unroll, parallel or bind: the loop runs its iterations one by one.

    Threads may do blocks together whose order in turn would be another one; then it is refused.

    Before::

        for i in parallel(64): ...

    After `serial(i)`::

        for i in range(64): ...
    """
    target = index_of(program).loops[loop]
    if target.kind == "serial":
        raise refuse("serial.already", f"{loop.name} is a serial loop already", subject=loop)
    if is_thread_loop(target):
        require_same_in_turn(
            program, target, "serial", f"run {loop.name} one iteration after another"
        )
    return Applied(replace_stmts(program, {target: replace(target, kind="serial", thread="")}))


def _set_kind(program: Program, loop: For, kind: LoopKind) -> Applied:
    return Applied(replace_stmts(program, {loop: replace(loop, kind=kind)}))


def _require_serial_for(loop: For, primitive: str) -> None:
    require_unheld(loop, primitive)
    if loop.kind != "serial":
        raise refuse(
            f"{primitive}.annotated",
            f"cannot {verb(primitive)} {loop.var.name}: it is already {loop.kind}",
            subject=loop.var,
        )


def _loops_in(loop: For) -> list[For]:
    return [n for n in walk(loop.body) if isinstance(n, For)]


def _refuse_kinds_inside(loop: For, primitive: str, kinds: tuple[LoopKind, ...]) -> None:
    for inner in _loops_in(loop):
        if inner.kind in kinds:
            raise refuse(
                f"{primitive}.{inner.kind}-inside",
                f"cannot {verb(primitive)} {loop.var.name}: the {inner.kind} loop "
                f"{inner.var.name} is inside it",
                subject=loop.var,
            )


def _refuse_vector_around(index: ProgramIndex, loop: For, primitive: str) -> None:
    for outer in index.loops_around(loop):
        if outer.kind == "vectorized":
            raise refuse(
                f"{primitive}.in-vector",
                f"cannot {verb(primitive)} {loop.var.name}: it is inside the vectorized loop "
                f"{outer.var.name}",
                subject=loop.var,
            )
