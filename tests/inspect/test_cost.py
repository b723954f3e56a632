"""Static cost against what can be counted by hand."""

import pytest
from helpers.schedules import matmul_schedule

from tvmlab import te
from tvmlab.arith import Bounds
from tvmlab.inspect import nest_cost, operations_of
from tvmlab.inspect.cost import levels_of
from tvmlab.inspect.footprint import accesses_of
from tvmlab.inspect.sum_chain import cycles_of_waiting
from tvmlab.ir import Program, parse
from tvmlab.schedule import Schedule, index_of
from tvmlab.target import CacheLevel, Target

CACHES = (CacheLevel(1, 32 << 10, 64, 1), CacheLevel(2, 1 << 20, 64, 1))
MACHINE = Target("cpu", "x86_64-unknown-linux-gnu", "generic", "+avx512f", 512, 32, 2, CACHES)


def shares(schedule: Schedule) -> dict[str, tuple[float, float, float, float, float]]:
    cost = nest_cost(schedule.program, MACHINE)
    assert cost is not None
    index = index_of(schedule.program)
    found = {var.name: cost.share(loop) for var, loop in index.loops.items()}
    return found | {symbol.name: cost.share(b) for symbol, b in index.blocks.items()}


def total_time(schedule: Schedule) -> float:
    cost = nest_cost(schedule.program, MACHINE)
    assert cost is not None
    return cost.total.time


def test_operations_of_a_matrix_product_are_two_per_iteration() -> None:
    sch = matmul_schedule(8, 4, 2)
    cost = nest_cost(sch.program, MACHINE)
    assert cost is not None
    assert cost.total.operations == 2 * 8 * 4 * 2
    [block] = index_of(sch.program).blocks.values()
    assert operations_of(block) == 2
    assert cost.lines[block].executions == 8 * 4 * 2


def test_boxes_of_the_reduction_loop_are_a_row_a_column_and_an_element() -> None:
    sch = matmul_schedule(64, 32, 16)
    cost = nest_cost(sch.program, MACHINE)
    assert cost is not None
    loop = sch.loop_of(sch.loops("C")[2])
    boxes = {buffer.name: box.extents for buffer, box in cost.boxes[loop].items()}
    assert boxes == {"A": (1, 16), "B": (16, 1), "C": (1, 1)}


def test_a_column_moves_whole_cache_lines() -> None:
    sch = matmul_schedule(64, 32, 16)
    cost = nest_cost(sch.program, MACHINE)
    assert cost is not None
    loop = sch.loop_of(sch.loops("C")[2])
    column = next(box for buffer, box in cost.boxes[loop].items() if buffer.name == "B")
    assert column.bytes() == 16 * 4
    assert column.bytes(64) == 16 * 64


def test_a_box_that_spans_whole_rows_is_one_run() -> None:
    sch = matmul_schedule(64, 3, 5)
    cost = nest_cost(sch.program, MACHINE)
    assert cost is not None
    whole = next(
        b for buffer, b in cost.boxes[sch.loop_of(sch.loops("C")[0])].items() if buffer.name == "B"
    )
    assert whole.extents == (5, 3)
    assert whole.bytes(64) == 64  # 15 elements in a row, not five lines


def test_neighbors_of_a_stencil_share_a_box() -> None:
    a = te.placeholder((34,), name="A")
    b = te.compute((32,), lambda i: a[i] + a[i + 1] + a[i + 2], name="B")
    sch = Schedule(b)
    cost = nest_cost(sch.program, MACHINE)
    assert cost is not None
    [i] = sch.loops("B")
    boxes = {buffer.name: box.extents for buffer, box in cost.boxes[sch.loop_of(i)].items()}
    assert boxes == {"A": (34,), "B": (32,)}


def test_fused_loops_are_followed_through_division() -> None:
    sch = matmul_schedule(8, 16, 4)
    i, j, _ = sch.loops("C")
    fused = sch.fuse(i, j)
    cost = nest_cost(sch.program, MACHINE)
    assert cost is not None
    boxes = {buffer.name: box.extents for buffer, box in cost.boxes[sch.loop_of(fused)].items()}
    assert boxes == {"A": (8, 4), "B": (4, 16), "C": (8, 16)}


def test_outer_lines_cost_at_least_as_much_as_inner_ones() -> None:
    found = shares(matmul_schedule(128, 128, 128))
    for part in (0, 2, 4):
        values = [found[name][part] for name in ("i", "j", "k")]
        assert values == sorted(values, reverse=True)
        assert values[0] == pytest.approx(1)


def test_streaming_rows_moves_less_than_walking_columns() -> None:
    column, row = matmul_schedule(1024, 1024, 1024), matmul_schedule(1024, 1024, 1024)
    i, j, k = row.loops("C")
    row.reorder(i, k, j)
    old, new = nest_cost(column.program, MACHINE), nest_cost(row.program, MACHINE)
    assert old is not None
    assert new is not None
    assert new.total.moved < old.total.moved / 1.5


def test_each_good_step_lowers_the_estimated_time() -> None:
    sch = matmul_schedule(1024, 1024, 1024)
    seen = [total_time(sch)]
    i, j, k = sch.loops("C")
    sch.reorder(i, k, j)
    seen.append(total_time(sch))
    sch.vectorize(j)
    seen.append(total_time(sch))
    sch.parallel(i)
    seen.append(total_time(sch))
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == 4


def test_a_sum_side_by_side_with_others_waits_less_than_one_alone() -> None:
    sch = matmul_schedule(64, 64, 8)
    i, j, k = sch.loops("C")
    assert waits(sch) == pytest.approx(4.0)
    outer, inner = sch.split(j, [None, 32])
    sch.vectorize(inner)
    assert waits(sch) == pytest.approx(4 / 16), "a vector of sums, one after the other"
    sch.reorder(i, outer, k, inner)
    assert waits(sch) == pytest.approx(4 / 16 / 2), "two vectors in each round of k"
    sch.reorder(i, k, outer, inner)
    assert waits(sch) == pytest.approx(4 / 16 / 4)


def test_whole_numbers_and_plain_computations_do_not_wait() -> None:
    a, counts = te.placeholder((16, 8), name="A"), te.placeholder((16, 8), "int32", name="N")
    k = te.reduce_axis(8, "k")
    assert waits(Schedule(te.compute((16,), lambda i: te.sum(a[i, k], axis=k), name="C"))) == 4.0
    assert waits(Schedule(te.compute((16,), lambda i: te.sum(counts[i, k], axis=k), name="C"))) == 0
    assert waits(Schedule(te.compute((16, 8), lambda i, j: a[i, j] * 2.0, name="C"))) == 0


def waits(sch: Schedule) -> float:
    """Least cycles an iteration."""
    [block] = index_of(sch.program).blocks.values()
    around = [sch.loop_of(loop) for loop in sch.loops("C")]
    vector = next((loop.var for loop in around if loop.kind == "vectorized"), None)
    accesses = accesses_of(block, Bounds.of({loop.var: 64 for loop in around}))
    assert accesses is not None
    return cycles_of_waiting(block, accesses, around, vector, 1 if vector is None else 16)


def test_lanes_that_lie_apart_in_memory_are_worth_no_vector() -> None:
    sch = matmul_schedule(64, 64, 64)
    i, j, k = sch.loops("C")
    sch.reorder(i, k, j)
    row_by_row = total_time(sch)
    sch.vectorize(j)
    assert total_time(sch) < row_by_row
    sch.undo()
    sch.vectorize(k)  # a lane each of a column of B
    assert total_time(sch) >= row_by_row


def test_a_program_of_copies_has_no_arithmetic() -> None:
    a = te.placeholder((16,), name="A")
    b = te.compute((16,), lambda i: a[i], name="B")
    found = shares(Schedule(b))
    assert found["B"][0] == 0
    assert found["i"][2] == pytest.approx(1)


def test_sizes_known_only_at_run_time_have_no_cost() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2.0, name="B")
    assert nest_cost(Schedule(b).program, MACHINE) is None


def test_the_same_question_is_answered_from_memory() -> None:
    program = matmul_schedule(8, 8, 8).program
    assert nest_cost(program, MACHINE) is nest_cost(program, MACHINE)
    assert nest_cost(program, MACHINE.with_threads(1)) is not nest_cost(program, MACHINE)


def test_a_body_of_several_statements_and_loops_is_counted() -> None:
    program: Program = parse(
        """
def f(A: float32[4], B: float32[4]):
    for i in range(4):
        with block("B", vi=spatial(4, i)):
            B[vi] = A[vi] + 1.0
            for r in range(3):
                B[vi] = B[vi] * A[vi] + exp(A[vi])
"""
    )
    [block] = index_of(program).blocks.values()
    assert operations_of(block) == 1 + 3 * 3


def test_a_machine_that_tells_no_caches_gets_usual_ones() -> None:
    levels = levels_of(Target("cpu", "x86_64-x", "generic", "", 128, 16, 1))
    assert [level.name for level in levels] == ["registers", "L1", "L2"]
