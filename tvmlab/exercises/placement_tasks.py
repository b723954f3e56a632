"""Exercises about where values are computed, and in what layout they lie."""

from __future__ import annotations

from tvmlab.ir import Expr
from tvmlab.schedule import Schedule

from .formulas import BLUR, MATMUL, blur, line, matmul, two_stages
from .goals import bound_to, computed_at_most, is_kind, misses_at_most, room_at_most
from .task import Task

_STRIP = 4


def _fuse(sch: Schedule) -> None:
    sch.compute_at("X", sch.loops("Y")[0])


def _pack(sch: Schedule) -> None:
    packed = sch.cache_read("C", "B", "global")
    sch.transform_layout(packed, "B_global", _turned)


def _turned(k: Expr, j: Expr) -> tuple[Expr, Expr]:
    return j, k


def _halo(sch: Schedule) -> None:
    y, _ = sch.loops("B")
    outer, _ = sch.split(y, [None, _STRIP])
    sch.compute_at("X", outer)
    sch.parallel(outer)


def _threads(sch: Schedule) -> None:
    (i,) = sch.loops("B")
    group, member = sch.split(i, [None, 16])
    sch.bind(group, "blockIdx.x")
    sch.bind(member, "threadIdx.x")


PLACEMENT_TASKS = (
    Task(
        "fuse",
        "Fuse a producer into its consumer",
        "X is computed whole before Y reads it. Keep X a stage of its own, but let it take no more "
        "than one element of memory.",
        two_stages,
        (room_at_most("X", 1), computed_at_most("X", 256)),
        (
            "How long must an element of X live?",
            "`compute_at` moves a producer into a loop of its consumer.",
            'ex.schedule.compute_at("X", ex.schedule.loops("Y")[0]).',
        ),
        _fuse,
    ),
    Task(
        "pack",
        "Pack an operand",
        "This time the loops i, j, k of the matrix product stay as they are. Give it a copy of B "
        "in which k walks along rows.",
        matmul,
        (misses_at_most(3000), room_at_most("B_global", MATMUL**2, scope="global")),
        (
            "A copy of an input is a stage like any other: `cache_read` makes it.",
            '`cache_read("C", "B", "global")` gives a block that writes B_global.',
            'transform_layout(copy, "B_global", lambda k, j: (j, k)) turns the copy around.',
        ),
        _pack,
    ),
    Task(
        "halo",
        "Strips with a halo",
        "A row of B needs three rows of X. Compute X in strips: at most 6 of its rows exist at a "
        "time, it is computed at most 1.5 times, and strips run in parallel.",
        blur,
        (
            room_at_most("X", 6 * BLUR),
            computed_at_most("X", 3 * BLUR * BLUR // 2),
            is_kind("B", "parallel", 2),
        ),
        (
            "With compute_at in loop y, each row of X is computed three times. Let a turn do more.",
            "A strip of n rows of B needs n + 2 rows of X.",
            "Split y by 4, compute_at X in the outer loop, and make that loop parallel.",
        ),
        _halo,
    ),
    Task(
        "threads",
        "Threads of a device",
        "Give 64 elements to 4 groups of 16 threads.",
        lambda: line(64),
        (bound_to("B", "blockIdx.x", 4), bound_to("B", "threadIdx.x", 16)),
        (
            "Each level of threads needs a loop of its own.",
            "`bind(loop, thread)` gives a loop to threads.",
            'split(i, [None, 16]); bind the first to "blockIdx.x", the second to "threadIdx.x".',
        ),
        _threads,
    ),
)
