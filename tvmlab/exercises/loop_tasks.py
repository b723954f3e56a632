"""Exercises about the order and the kinds of loops."""

from __future__ import annotations

from tvmlab.schedule import Schedule

from .formulas import line, matmul, total, transpose, wavefront
from .goals import Goal, innermost_runs_over, is_kind, misses_at_most, no_guard_around, tile_at_most
from .task import Task

_LANES = 8


def _reorder(sch: Schedule) -> None:
    i, j, k = sch.loops("C")
    sch.reorder(i, k, j)


def _tile(sch: Schedule) -> None:
    i, j = sch.loops("T")
    sch.tile(i, j, 4, 4)


def _vectorize(sch: Schedule) -> None:
    (i,) = sch.loops("B")
    sch.vectorize(sch.split(i, [None, _LANES])[1])


def _tail(sch: Schedule) -> None:
    (i,) = sch.loops("B")
    most, _ = sch.peel(i, last=100 % _LANES)
    sch.vectorize(sch.split(most, [None, _LANES])[1])


def _sum(sch: Schedule) -> None:
    _, k = sch.loops("S")
    outer, _ = sch.split(k, [4, None])
    sch.rfactor("S", outer)
    sch.parallel(outer)


def _skew(sch: Schedule) -> None:
    i, j = sch.loops(sch.blocks()[0])
    diagonal = sch.skew(i, j)
    sch.reorder(diagonal, i)
    sch.parallel(i)


def _some_parallel() -> Goal:
    def look(schedule: Schedule) -> tuple[bool, str]:
        kinds = [lp.kind for b in schedule.blocks() for lp in map(
            schedule.loop_of, schedule.loops(b))]  # fmt: skip
        return "parallel" in kinds, "loops: " + ", ".join(kinds)

    return Goal("structure", "some loop is parallel", look)


LOOP_TASKS = (
    Task(
        "reorder",
        "Reorder loops for locality",
        "A matrix product reads B down its columns: each step of k touches another cache line. "
        "Change the order of the three loops so that the innermost one walks along rows.",
        matmul,
        (innermost_runs_over("C", "j"), misses_at_most(3000)),
        (
            "In row-major memory, neighbors differ in the last index. Which loop is the last "
            "index of B and of C?",
            "The loop j belongs innermost; k may go anywhere outside of it.",
            'i, j, k = ex.schedule.loops("C"), then ex.schedule.reorder(i, k, j).',
        ),
        _reorder,
    ),
    Task(
        "tile",
        "Tile a transpose",
        "One side of a transpose always walks across rows. Cut both loops so that a small square "
        "is finished while its lines are still in a cache.",
        transpose,
        (tile_at_most("T", "i", 8, "j"), misses_at_most(600, level=1)),
        (
            "A line holds 4 numbers. Who uses the other 3, and how much later?",
            "Split both loops, and bring the two short ones inside: `tile` does it in one step.",
            "The caches hold squares of 4 x 4: ex.schedule.tile(i, j, 4, 4).",
        ),
        _tile,
        level=1,
    ),
    Task(
        "vectorize",
        "Vectorize",
        "64 elements, each on its own. Compute 8 of them at a time.",
        lambda: line(64),
        (is_kind("B", "vectorized", _LANES, innermost=True),),
        (
            "A vectorized loop should be as long as a vector of the machine.",
            "`split(loop, [None, 8])` makes an inner loop of 8.",
            "Split, then ex.schedule.vectorize of the second loop that split returned.",
        ),
        _vectorize,
    ),
    Task(
        "tail",
        "A tail without a guard",
        "100 is no multiple of 8. A split by 8 asks a condition for every element. Vectorize by 8 "
        "so that no condition is left in the vectorized loop.",
        lambda: line(100),
        (is_kind("B", "vectorized", _LANES, innermost=True), no_guard_around("vectorized")),
        (
            "Only the last 4 elements are odd. Could they have a loop of their own?",
            "`peel(loop, last=4)` takes the last rounds off; `partition` after a split works, too.",
            "peel first, then split the first loop that it returned, then vectorize.",
        ),
        _tail,
    ),
    Task(
        "sum",
        "A reduction in parallel",
        "All rounds of a sum write the same element, so `parallel` is refused: try it, and ask for "
        "a hint. Give each worker a sum of its own.",
        total,
        (is_kind("S_rf", "parallel", 4),),
        (
            "Split the loop of the reduction: the outer part counts the workers.",
            '`rfactor("S", outer)` makes partial sums, one for each round of that loop.',
            "split(k, [4, None]), rfactor of the first, then parallel of the same loop.",
        ),
        _sum,
    ),
    Task(
        "skew",
        "Skew a stencil",
        "Each element needs its left and its upper neighbor: neither loop can run in parallel as "
        "it stands. But the elements of a diagonal need nothing of each other.",
        wavefront,
        (_some_parallel(),),
        (
            "Let each row start one round later than the one above it. Which primitive does that?",
            "After `skew(i, j)`, rounds of equal number form a diagonal. It goes outside.",
            "d = skew(i, j), reorder(d, i), parallel(i).",
        ),
        _skew,
    ),
)
