"""Exercises about the matrix product: sums in registers, and everything together."""

from __future__ import annotations

from tvmlab.ir import Expr
from tvmlab.schedule import LoopRef, Schedule

from .formulas import MATMUL, matmul
from .goals import is_kind, misses_at_most, room_at_most
from .task import Task


def _registers(sch: Schedule, rows: int = 4, columns: int = 4) -> tuple[LoopRef, list[LoopRef]]:
    """Sums of a tile in a local buffer; returns the loop over columns of tiles and the copy's."""
    i, j, k = sch.loops("C")
    i_outer, j_outer, i_inner, j_inner = sch.tile(i, j, rows, columns)
    sch.reorder(j_outer, i_outer, k, i_inner, j_inner)
    write = sch.cache_write("C", "local")
    copy = sch.reverse_compute_at(write, i_outer)
    sch.unroll(i_inner)
    sch.vectorize(j_inner)
    return j_outer, copy


def _tile(sch: Schedule) -> None:
    _registers(sch)


def _panels(k: Expr, j: Expr) -> tuple[Expr, Expr, Expr]:
    return j // 8, k, j % 8


def _whole(sch: Schedule) -> None:
    packed = sch.cache_read("C", "B", "global")
    sch.transform_layout(packed, "B_global", _panels)
    panel, copy = _registers(sch, columns=8)
    sch.vectorize(copy[-1])
    sch.parallel(panel)


TILE_TASKS = (
    Task(
        "registers",
        "A tile in registers",
        "While the sums of a small tile stay in registers, k can run over it again and again. Keep "
        "at most 16 sums in a local buffer, and vectorize the innermost loop.",
        matmul,
        (
            room_at_most("C_local", 16, scope="local"),
            is_kind("C", "vectorized", 4, innermost=True),
            is_kind("C", "unrolled", 2),
            misses_at_most(3100),
        ),
        (
            "Tile i and j, and bring k between the outer and the inner pair.",
            '`cache_write("C", "local")` puts the sums into a buffer of their own.',
            "reverse_compute_at the copy in the inner one of the two outer loops; it shrinks the "
            "buffer to a tile. Then unroll the inner i and vectorize the inner j.",
        ),
        _tile,
    ),
    Task(
        "matmul",
        "The whole matrix product",
        "Everything together: a packed B, a tile of sums in registers, vectors of 8, all cores. "
        "How few misses can it have?",
        matmul,
        (
            room_at_most("C_local", 32, scope="local"),
            room_at_most("B_global", MATMUL**2, scope="global"),
            is_kind("C", "vectorized", 8, innermost=True),
            is_kind("C", "unrolled", 2),
            is_kind("C", "parallel", 2),
            misses_at_most(2400),
        ),
        (
            "Solve the exercise on registers first, with tiles of 4 x 8.",
            "Panels: lay the copy of B out so that 8 columns of all k stand together.",
            "transform_layout with lambda k, j: (j // 8, k, j % 8), and the loop over panels "
            "outermost, parallel.",
        ),
        _whole,
    ),
)
