"""Blocks made of loop nests: their variables and regions, values, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.refusals import assert_refused
from helpers.schedules import matmul_schedule
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.ir import to_text
from tvmlab.schedule import Schedule, index_of
from tvmlab.te import Tensor


def product(m: int, n: int, k: int) -> Tensor:
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "k")
    return te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def tile_block(sch: Schedule) -> None:
    """Tiles of 8 x 16 elements over 4 products each, as one block."""
    i, j, k = sch.loops("C")
    xo, yo, xi, yi = sch.tile(i, j, 8, 16)
    ko, ki = sch.split(k, [None, 4])
    sch.reorder(xo, yo, ko, xi, yi, ki)
    assert sch.blockize(xi).name == "C"


def test_variables_and_regions_are_those_of_tiles() -> None:
    sch = matmul_schedule(64, 64, 32)
    tile_block(sch)
    (block,) = index_of(sch.program).blocks.values()
    assert [(it.kind, to_text(it.extent)) for it in block.iters] == [
        ("spatial", "8"), ("spatial", "4"), ("reduce", "8"),
    ]  # fmt: skip
    text = str(sch)
    assert "writes(C[vi * 8:vi * 8 + 8, vj * 16:vj * 16 + 16])" in text
    assert "if " not in text
    assert [lp.name for lp in sch.loops("C")] == ["i_outer", "j_outer", "k_outer"]


@pytest.mark.parametrize("shape", [(16, 32, 8), (13, 37, 7)], ids=["exact", "tails"])
def test_values_stay(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    after_steps(product(m, n, k), tile_block, [ramp(m, k), ramp(k, n)])


def test_the_whole_nest_as_one_block() -> None:
    def steps(sch: Schedule) -> None:
        sch.blockize(sch.loops("C")[0])
        assert sch.loops("C") == []

    after_steps(product(5, 6, 7), steps, [ramp(5, 7), ramp(7, 6)])


def test_start_values_are_set_apart_before_the_outer_sum() -> None:
    def steps(sch: Schedule) -> None:
        tile_block(sch)
        init = sch.decompose_reduction("C", sch.loops("C")[2])
        assert len(sch.loops(init)) == 2

    after_steps(product(16, 32, 8), steps, [ramp(16, 8), ramp(8, 32)])


def test_a_tile_of_a_window_and_a_tile_that_reads_more() -> None:
    a = te.placeholder((34,), name="A")
    c = te.compute((32,), lambda i: a[i] + a[i + 1] + a[i + 2], name="C")

    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[0], [None, 8])
        sch.blockize(inner)
        assert "A[vi * 8 + 2:vi * 8 + 2 + 8]" in str(sch)

    after_steps(c, steps, [ramp(34)])


def test_loops_that_stop_before_the_last_tile() -> None:
    a = te.placeholder((20,), name="A")
    b = te.compute((20,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((18,), lambda i: b[i] + 1.0, name="C")

    def steps(sch: Schedule) -> None:
        outer, _ = sch.split(sch.loops("C")[0], [None, 3])
        sch.compute_at("B", outer)
        sch.blockize(sch.loops("B")[-1])
        assert "vi=spatial(6, i_outer)" in str(sch)

    after_steps(c, steps, [ramp(20)])


def test_a_sum_that_is_computed_again_and_again_is_no_tile() -> None:
    a, k = te.placeholder((9, 14), name="A"), te.reduce_axis(14, "k")
    t = te.compute((9,), lambda i: te.sum(a[i, k], axis=k), name="T")
    c = te.compute((9, 14), lambda i, j: a[i, j] * t[i], name="C")
    sch = Schedule(c)
    sch.compute_at("T", sch.loops("C")[1])
    sch.cache_write("C", "local")
    sch.compute_at("C", sch.loops("C_write")[1])
    again = sch.loops("T")[1]
    verdict = sch.check("blockize", again)
    assert (verdict.status, verdict.rule) == ("refused", "blockize.repeated-sum")
    assert "the sum of T is computed more than once" in verdict.reason
    fused = sch.fuse(again, sch.loops("T")[2])
    assert sch.check("blockize", fused).rule == "blockize.repeated-sum"


def test_loops_that_go_on_past_the_last_tile() -> None:
    """A tail of the middle loop: of the tiles that loops count, the last has no element."""

    def steps(sch: Schedule) -> None:
        _, j, _ = sch.loops("C")
        *_, inner = sch.split(j, [2, None, 3])
        sch.reorder(sch.loops("C")[4], inner)
        sch.blockize(inner)

    after_steps(product(4, 7, 10), steps, [ramp(4, 10), ramp(10, 7)])


def _two_blocks() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.compute((8,), lambda i: b[i] * 2.0, name="C"))
    i = sch.loops("C")[0]
    sch.compute_at("B", i)
    sch.blockize(i)


def _divided() -> None:
    sch = matmul_schedule(8, 8, 8)
    i, j, _ = sch.loops("C")
    _, inner = sch.split(sch.fuse(i, j), [None, 3])
    sch.blockize(inner)


def _overlapping() -> None:
    a = te.placeholder((17,), name="A")
    b = te.compute((17,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.compute((16,), lambda i: b[i] * b[i + 1], name="C"))
    (inner,) = sch.compute_at("B", sch.loops("C")[0])
    sch.blockize(inner)


def _mixed() -> None:
    sch = matmul_schedule(8, 8, 8)
    i, j, k = sch.loops("C")
    sch.blockize(sch.fuse(i, j, k))


def _lanes_joined() -> None:
    a, k = te.placeholder((4, 8), name="A"), te.reduce_axis(8, "k")
    sch = Schedule(te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="C"))
    i, k_loop = sch.loops("C")
    sch.vectorize(k_loop)
    sch.blockize(i)


REFUSALS: list[tuple[Callable[[], None], str, str]] = [
    (_two_blocks, "blockize.several", "it does not hold one nest with one block, but B, C"),
    (_divided, "blockize.division", "outer and inner loops meet inside a division"),
    (_mixed, "blockize.mixed", "runs over elements and over the reduction at once"),
    (_lanes_joined, "blockize.joined-lanes", "k is vectorized, and lanes that add to one sum are"),
    (_overlapping, "blockize.overlap", "the tiles of 2 begin at i"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[1] for r in REFUSALS])
def test_refusals(run: Callable[[], None], rule: str, text: str) -> None:
    assert_refused(run, rule, text)


def test_menu_offers_it_for_a_loop() -> None:
    sch = matmul_schedule(8, 8, 8)
    action = next(a for a in sch.actions(sch.loops("C")[1]) if a.primitive == "blockize")
    assert action.verdict
    assert action.params == ()


def test_start_values_do_not_ask_for_the_round_of_the_outer_sum() -> None:
    """Skewing puts a condition on both loops of the sum around each element of the tile."""
    a = te.placeholder((4, 6), name="A")
    r = te.reduce_axis(6, "k")
    c = te.compute((4,), lambda i: te.sum(a[i, r], axis=r), name="C")

    def steps(sch: Schedule) -> None:
        ko, ki = sch.split(sch.loops("C")[1], [None, 4])
        skewed = sch.skew(ko, ki, 4)
        sch.reorder(skewed, ko)
        sch.blockize(ko)

    after_steps(c, steps, [ramp(4, 6)])
