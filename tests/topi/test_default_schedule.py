"""The default schedule of any graph: right values, and the shape of the nests that it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.random_tensors import random_tensors
from helpers.te_values import assert_same, fresh, scheduled_values, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab import te, topi
from tvmlab.driver import build
from tvmlab.ir import Buffer, const_int, parse, structural_equal, to_text
from tvmlab.schedule import Schedule
from tvmlab.support import ParseError
from tvmlab.target import CacheLevel, Target
from tvmlab.te import Tensor

Array = NDArray[Any]
Step = Callable[[Tensor], Tensor]
TWO = Target.host().with_threads(2)
SMALL = replace(TWO, caches=tuple(CacheLevel(n, 64 << 2 * n, 64, 1) for n in (1, 2, 3)))
"""With caches that hold next to nothing, so that small arrays are treated as large ones are."""

STEPS: dict[str, Step] = {
    "exp": topi.exp,
    "relu": topi.relu,
    "softmax": topi.softmax,
    "softmax of columns": lambda x: topi.softmax(x, 0),
    "scaled": lambda x: topi.multiply(topi.add(x, 1.0), 0.5),
    "transposed": topi.transpose,
    "centered": lambda x: topi.subtract(x, topi.sum(x, -1, keepdims=True)),
    "centered columns": lambda x: topi.subtract(x, topi.max(x, 0, keepdims=True)),
    "squared": lambda x: topi.multiply(x, x),
    "flattened": topi.flatten,
    "padded": lambda x: topi.pad(x, [0] * (len(x.shape) - 1) + [1]),
    "product": lambda x: topi.dense(topi.flatten(x), topi.flatten(topi.exp(x))),
}
ENDS: dict[str, Step] = {
    "as it is": lambda x: x,
    "sum": topi.sum,
    "row sums": lambda x: topi.sum(x, -1),
    "column maxima": lambda x: topi.max(x, 0),
    "all but the last": lambda x: topi.min(x, list(range(max(1, len(x.shape) - 1)))),
}


def inputs_of(tensors: list[Tensor], seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [(rng.random(t.const_shape) - 0.5).astype(t.dtype.numpy) for t in tensors]


MACHINES = {"this one": TWO, "small caches": SMALL, "one thread": SMALL.with_threads(1)}


def run(sch: Schedule, output: Tensor, inputs: list[Array]) -> list[Array]:
    made = fresh([output])
    build(sch, target=TWO)(*inputs, *made)
    return made


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 100_000), dtype=st.sampled_from(["float32", "int32", "float64"]))
def test_any_program(seed: int, dtype: str) -> None:
    _, output = random_tensors(np.random.default_rng(seed), dtype)
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for param in te.create_program([output]).params[:-1]:
        assert isinstance(param, Buffer)
        shape = [const_int(size) or 0 for size in param.shape]
        arrays.append(rng.integers(-3, 4, shape).astype(param.dtype.numpy))
    wanted = values_of(output, arrays)
    assert_same(scheduled_values(topi.schedule(output, TWO), [output], arrays), wanted)


@settings(max_examples=12, deadline=None)
@given(
    shape=st.lists(st.integers(1, 70), min_size=1, max_size=3).filter(lambda s: np.prod(s) < 9000),
    names=st.lists(st.sampled_from(sorted(STEPS)), max_size=3),
    end=st.sampled_from(sorted(ENDS)),
    machine=st.sampled_from(sorted(MACHINES)),
)
def test_chains_of_operators(shape: list[int], names: list[str], end: str, machine: str) -> None:
    x = te.placeholder(tuple(shape), name="x")
    output = x
    for name in names:
        made = STEPS[name](output)
        known = made.const_shape
        if known is not None and np.prod(known) < 20_000:
            output = made
    output = topi.add(ENDS[end](output), 0.25)
    inputs = inputs_of([x])
    plain = fresh([output])
    build([output])(*inputs, *plain)
    got = run(topi.schedule(output, MACHINES[machine]), output, inputs)
    np.testing.assert_allclose(got[0], plain[0], rtol=1e-4, atol=1e-4)


def test_long_rows_wait_in_place_and_are_asked_for_ahead() -> None:
    x = te.placeholder((64, 1000), name="x")
    output = topi.softmax(x)
    caches = [CacheLevel(1, 4 << 10, 64, 1), CacheLevel(2, 64 << 10, 64, 1)]
    sch = topi.schedule(output, replace(TWO, caches=(*caches, CacheLevel(3, 1 << 30, 64, 1))))
    assert "exp = alloc" not in str(sch)
    assert 'prefetch=(("x", 1, True),)' in str(sch)
    inputs = inputs_of([x])
    spread = np.exp(inputs[0].astype("d"))
    wanted = spread / spread.sum(1, keepdims=True)
    np.testing.assert_allclose(run(sch, output, inputs)[0], wanted, rtol=1e-5)


@pytest.mark.parametrize(
    "function", [topi.softmax, topi.transpose, topi.exp, topi.layer_norm], ids=lambda f: f.__name__
)
def test_large_results_go_past_the_caches(function: Step) -> None:
    x = te.placeholder((48, 64), name="x")
    output = function(x)
    sch = topi.schedule(output, SMALL)
    assert "stream=" in str(sch)
    inputs, plain = inputs_of([x]), fresh([output])
    build([output])(*inputs, *plain)
    np.testing.assert_allclose(run(sch, output, inputs)[0], plain[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(100, 101), (64, 99), (67, 128), (131, 5)])
def test_odd_edges_of_transposes_are_cut_off(shape: tuple[int, int]) -> None:
    x = te.placeholder(shape, name="x")
    output = topi.transpose(x)
    inputs = inputs_of([x])
    got = run(topi.schedule(output, TWO), output, inputs)[0]
    np.testing.assert_array_equal(got, inputs[0].T)


def test_squares_of_a_transpose_are_done_along_what_is_written() -> None:
    sch = topi.schedule(topi.transpose(te.placeholder((512, 512), name="x")), TWO)
    (block,) = sch.blocks()
    assert [loop.extent for loop in sch.loops(block)][-2:] == [2, 8]


@pytest.mark.parametrize("shape", [(1024, 16), (1024, 48), (2048, 64), (3072, 80), (3, 1024, 32)])
def test_rows_a_page_apart_are_written_one_after_the_other(shape: tuple[int, ...]) -> None:
    x = te.placeholder(shape, name="x")
    output = topi.transpose(x, (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2))
    inputs = inputs_of([x])
    sch = topi.schedule(output, TWO)
    assert [block.name for block in sch.blocks()][-1] == "transpose_write"
    assert "transpose_local" in str(sch)
    np.testing.assert_array_equal(run(sch, output, inputs)[0], inputs[0].swapaxes(-1, -2))


@pytest.mark.parametrize("shape", [(1000, 64), (1536, 64), (1024, 100), (3072, 65), (1024, 1001)])
def test_others_are_written_square_by_square(shape: tuple[int, int]) -> None:
    x = te.placeholder(shape, name="x")
    output = topi.transpose(x)
    sch = topi.schedule(output, TWO)
    assert all(block.name != "transpose_write" for block in sch.blocks())
    inputs = inputs_of([x])
    np.testing.assert_array_equal(run(sch, output, inputs)[0], inputs[0].T)


@pytest.mark.parametrize(("first", "squares"), [(32 << 10, 2), (48 << 10, 4)])
def test_a_small_buffer_leaves_room_in_the_first_cache(first: int, squares: int) -> None:
    caches = (CacheLevel(1, first, 64, 1), CacheLevel(2, 1 << 20, 64, 1))
    machine = replace(Target.of("llvm -mcpu=znver4"), caches=caches)
    sch = topi.schedule(topi.transpose(te.placeholder((1024, 1024), name="x")), machine)
    block = sch.blocks()[0]
    assert [loop.extent for loop in sch.loops(block)][-2:] == [8, squares]


@pytest.mark.parametrize("length", [40_000, 40_003, 1000])
def test_long_rows_are_summed_while_they_are_computed(length: int) -> None:
    x = te.placeholder((8, length), name="x")
    output = topi.softmax(x)
    sch = topi.schedule(output, TWO)
    names = [block.name for block in sch.blocks()]
    together = "sum_rf" in names and sch.loops("sum_rf")[:-1] == sch.loops("exp")[:-1]
    assert together == (length > 1000)
    inputs = inputs_of([x])
    shifted = np.exp(inputs[0] - inputs[0].max(-1, keepdims=True))
    expected = shifted / shifted.sum(-1, keepdims=True)
    np.testing.assert_allclose(run(sch, output, inputs)[0], expected, rtol=1e-5)


def test_small_squares_side_by_side_read_whole_lines() -> None:
    machine = Target.of("llvm -mcpu=znver4")  # 1000 is 125 squares of 8, and a line has 16 numbers
    sch = topi.schedule(topi.transpose(te.placeholder((1000, 1000), name="x")), machine)
    assert [loop.extent for loop in sch.loops(sch.blocks()[0])][-2:] == [5, 5]


def test_the_code_of_intrinsics_is_not_printed_with_a_schedule() -> None:
    sch = topi.schedule(topi.transpose(te.placeholder((64, 64), name="x")), "llvm -mcpu=znver4")
    assert "import_llvm=..." in str(sch)
    assert "shufflevector" not in str(sch)
    with pytest.raises(ParseError, match="left out of this text") as caught:
        parse(str(sch))
    assert "to_text(sch.program) has all" in str(caught.value)
    assert structural_equal(parse(to_text(sch.program)), sch.program)


@pytest.mark.parametrize("rows", [1, 3])
def test_few_long_rows_are_divided_among_threads(rows: int) -> None:
    x = te.placeholder((rows, 40_000), name="x")
    output = topi.softmax(x)
    sch = topi.schedule(output, TWO)
    parallel = [b.name for b in sch.blocks() if sch.loops(b)[0].kind == "parallel"]
    assert {"max_rf", "sum_rf"} <= {name.removesuffix("_rf") for name in parallel} | set(parallel)
    # Parts of rows, which need a division each, are long.
    shared = {b.name: sch.loops(b)[0].extent for b in sch.blocks() if b.name in ("exp", "multiply")}
    assert shared.keys() == {"exp", "multiply"}
    assert all(parts is not None and 2 <= parts <= 64 for parts in shared.values())
    inputs = inputs_of([x])
    spread = np.exp(inputs[0].astype("d"))
    wanted = spread / spread.sum(1, keepdims=True)
    np.testing.assert_allclose(run(sch, output, inputs)[0], wanted, rtol=1e-4)


def test_rows_of_a_softmax_stay_together() -> None:
    x = te.placeholder((64, 1000), name="x")
    sch = topi.schedule(topi.softmax(x), TWO)
    outer = {sch.loops(block)[0] for block in sch.blocks()}
    assert [loop.kind for loop in outer] == ["parallel"]
    assert {block.name for block in sch.blocks()} >= {"max_rf", "exp", "sum_rf", "divide"}
    assert "subtract" not in {block.name for block in sch.blocks()}


def test_columns_of_a_softmax_stay_together() -> None:
    x = te.placeholder((200, 1000), name="x")
    sch = topi.schedule(topi.softmax(x, 0), TWO)
    assert len({sch.loops(block)[0] for block in sch.blocks()}) == 1
    assert all(sch.loops(block)[-1].kind == "vectorized" for block in sch.blocks())


def test_an_elementwise_chain_is_one_loop_over_vectors() -> None:
    x = te.placeholder((33, 100, 77), name="x")
    sch = topi.schedule(topi.relu(topi.multiply(topi.add(x, 1.0), 2.0)), TWO)
    (block,) = sch.blocks()
    assert [loop.kind for loop in sch.loops(block)] == ["parallel", "vectorized"]


def test_a_large_sum_is_divided_among_threads() -> None:
    x = te.placeholder((500, 1000), name="x")
    output = topi.sum(x)
    sch = topi.schedule(output, TWO)
    kinds = {b.name: [loop.kind for loop in sch.loops(b)] for b in sch.blocks()}
    assert kinds["sum_rf_rf"] == ["parallel", "serial", "vectorized"]
    inputs = inputs_of([x])
    np.testing.assert_allclose(run(sch, output, inputs)[0], inputs[0].sum(dtype="d"), rtol=1e-4)


def test_small_work_needs_no_threads() -> None:
    x = te.placeholder((8, 16), name="x")
    sch = topi.schedule(topi.softmax(x), TWO)
    assert all(loop.kind != "parallel" for b in sch.blocks() for loop in sch.loops(b))


def test_a_product_keeps_a_tile_of_sums() -> None:
    a, b = te.placeholder((64, 96), name="a"), te.placeholder((96, 80), name="b")
    k = te.reduce_axis(96, "k")
    c = te.compute((64, 80), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    sch = topi.schedule(c, TWO)
    assert [loop.kind for loop in sch.loops("C")][-2:] == ["unrolled", "vectorized"]


def test_sizes_known_only_at_run_time() -> None:
    n = te.var("n")
    x = te.placeholder((n, 100), name="x")
    output = topi.softmax(x)
    sch = topi.schedule(output, TWO)
    assert len({sch.loops(block)[0] for block in sch.blocks()}) == 1
    data = np.random.default_rng(0).random((37, 100), dtype=np.float32)
    (got,) = scheduled_values(sch, [output], [data], [(37, 100)])
    spread = np.exp(data - data.max(1, keepdims=True))
    np.testing.assert_allclose(got, spread / spread.sum(1, keepdims=True), rtol=1e-5)


def test_arguments_and_name_are_passed_on() -> None:
    x, y = te.placeholder((4,), name="x"), te.placeholder((4,), name="y")
    z = topi.subtract(x, y)
    sch = topi.schedule(z, args=[z, y, x], name="minus")
    assert sch.program.name == "minus"
    assert [b.name for b in sch.program.params] == ["subtract", "y", "x"]


@pytest.mark.parametrize("axis", [0, 1, 2, None])
def test_argmax_and_scans_are_left_right(axis: int | None) -> None:
    x = te.placeholder((5, 6, 70), name="x")
    output = topi.sum(x, axis)
    inputs = inputs_of([x])
    got = run(topi.schedule(output, TWO), output, inputs)[0]
    np.testing.assert_allclose(got, inputs[0].sum(axis, dtype="d"), rtol=1e-4, atol=1e-5)
