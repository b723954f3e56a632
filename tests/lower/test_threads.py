"""Programs for devices through lowering: values at each stage, and where threads wait."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.devices import (
    barriers,
    product,
    run_on_device,
    softmax,
    softmax_over_threads,
    tile_over_threads,
)
from helpers.steps import ramp

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import Alloc, Barrier, For, const_int, parse, to_text, walk
from tvmlab.lower import lower
from tvmlab.lower.insert_barriers import insert_barriers
from tvmlab.schedule import Schedule
from tvmlab.support import UserError
from tvmlab.target import Target
from tvmlab.te import Tensor

TARGET = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3")


def matmul_inputs(n: int) -> list[np.ndarray]:
    return [ramp(n, n), ramp(n, n)[::-1].copy()]


def test_a_tiled_product_fetches_together_and_adds_up_locally() -> None:
    a, b = matmul_inputs(16)
    program = run_on_device(product(16), lambda s: tile_over_threads(s, 8, 2, 4), [a, b], [a @ b])
    # One wait after the parts have been fetched, one before they are fetched again.
    assert barriers(program) == 2
    sizes = {
        n.buffer.name: n.buffer.const_shape for n in walk(program.body) if isinstance(n, Alloc)
    }
    assert sizes == {"A_shared": (32,), "B_shared": (32,), "C_local": (16,)}


def test_shared_memory_is_given_once_above_the_threads() -> None:
    sch = Schedule(product(32))
    tile_over_threads(sch, 16, 4, 8)
    program = lower(sch.program, TARGET).program
    node = program.body
    order: list[str] = []
    while isinstance(node, (For, Alloc)):
        order.append(node.thread if isinstance(node, For) else node.buffer.scope)
        node = node.body
    threads = ["threadIdx.y", "threadIdx.x"]
    assert order[:7] == ["blockIdx.y", "blockIdx.x", "shared", "shared", *threads, "local"]


def test_without_shared_memory_nobody_waits() -> None:
    a, b = matmul_inputs(16)
    program = run_on_device(
        product(16), lambda s: tile_over_threads(s, 8, 2, 4, fetch=False), [a, b], [a @ b]
    )
    assert barriers(program) == 0


@pytest.mark.parametrize("n", [7, 10])
def test_tiles_that_do_not_divide(n: int) -> None:
    a, b = matmul_inputs(n)
    run_on_device(product(n), lambda s: tile_over_threads(s, 8, 2, 4), [a, b], [a @ b])


def test_virtual_threads_are_interleaved() -> None:
    a, b = matmul_inputs(16)
    program = run_on_device(
        product(16), lambda s: tile_over_threads(s, 8, 2, 4, virtual=2), [a, b], [a @ b]
    )
    assert barriers(program) == 2
    text = to_text(program)
    assert text.count("C_local[i * 2 + j") == 8  # read and written for 2 x 2 virtual threads
    assert "virtual" not in text


def row_sum(n: int, m: int) -> Tensor:
    a = te.placeholder((n, m), name="A")
    k = te.reduce_axis(m, "k")
    return te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="S")


@pytest.mark.parametrize(("m", "threads"), [(40, 8), (37, 8), (24, 5), (6, 1), (3, 8)])
def test_threads_join_their_sums(m: int, threads: int) -> None:
    def steps(sch: Schedule) -> None:
        i, k = sch.loops("S")
        _, ki = sch.split(k, [None, threads])
        sch.bind(i, "blockIdx.x")
        sch.bind(ki, "threadIdx.x")

    a = ramp(5, m)
    run_on_device(row_sum(5, m), steps, [a], [a.sum(1)])


def test_threads_join_inside_a_loop_over_rows_and_sum_at_once() -> None:
    """A loop over rows and the sum at once stays outside, and with it the row's tail."""

    def steps(sch: Schedule) -> None:
        i, k = sch.loops("S")
        io, ii = sch.split(i, [None, 5])
        ko, ki = sch.split(k, [None, 5])
        sch.reorder(ii, ki, ko, io)
        sch.fuse(ko, io)
        sch.bind(ii, "blockIdx.y")
        sch.bind(ki, "threadIdx.x")

    a = ramp(7, 6)
    run_on_device(row_sum(7, 6), steps, [a], [a.sum(1)])


@pytest.mark.parametrize("kind", ["vectorize", "unroll"])
def test_threads_join_one_element_after_another(kind: str) -> None:
    """The lanes of a vector would all meet in the one place where a group joins its results."""

    def steps(sch: Schedule) -> None:
        i, k = sch.loops("S")
        ko, ki = sch.split(k, [None, 4])
        sch.reorder(ki, ko, i)
        sch.bind(ki, "threadIdx.x")
        sch.apply(kind, i)

    a = ramp(5, 12)
    run_on_device(row_sum(5, 12), steps, [a], [a.sum(1)])


def test_threads_join_in_a_tree() -> None:
    sch = Schedule(row_sum(4, 64))
    i, k = sch.loops("S")
    _, ki = sch.split(k, [None, 16])
    sch.bind(i, "blockIdx.x")
    sch.bind(ki, "threadIdx.x")
    program = lower(sch.program, TARGET).program
    # Before each of four halvings, and before the result is taken.
    assert barriers(program) == 5


def test_rows_of_threads_join_apart() -> None:
    def steps(sch: Schedule) -> None:
        i, k = sch.loops("S")
        io, ii = sch.split(i, [None, 2])
        _, ki = sch.split(k, [None, 4])
        sch.bind(io, "blockIdx.x")
        sch.bind(ii, "threadIdx.y")
        sch.bind(ki, "threadIdx.x")

    a = ramp(6, 12)
    program = run_on_device(row_sum(6, 12), steps, [a], [a.sum(1)])
    join = next(
        n.buffer for n in walk(program.body) if isinstance(n, Alloc) and "join" in n.buffer.name
    )
    assert join.const_shape == (8,)


def test_a_decomposed_reduction_goes_on_from_its_start_value() -> None:
    def steps(sch: Schedule) -> None:
        i, k = sch.loops("S")
        ko, ki = sch.split(k, [None, 4])
        sch.decompose_reduction("S", ko)
        sch.bind(i, "blockIdx.x")
        sch.bind(ki, "threadIdx.x")

    a = ramp(3, 12)
    run_on_device(row_sum(3, 12), steps, [a], [a.sum(1)])


def test_a_reduction_with_rounds_outside_of_the_kernel() -> None:
    def steps(sch: Schedule) -> None:
        i, k = sch.loops("S")
        ko, ki = sch.split(k, [None, 4])
        sch.reorder(ko, i, ki)
        sch.bind(ki, "threadIdx.x")

    a = ramp(3, 12)
    run_on_device(row_sum(3, 12), steps, [a], [a.sum(1)])


def test_each_thread_gets_a_copy_of_what_they_joined() -> None:
    def steps(sch: Schedule) -> None:
        sch.cache_write("S", "local")
        (i,) = sch.loops("S_write")
        sch.bind(i, "blockIdx.x")
        sch.compute_at("S", i)
        sch.bind(sch.split(sch.loops("S")[-1], [None, 4])[1], "threadIdx.x")

    a = ramp(3, 12)
    run_on_device(row_sum(3, 12), steps, [a], [a.sum(1)])


def test_softmax_over_threads() -> None:
    x = np.linspace(-3, 3, 4 * 24, dtype="float32").reshape(4, 24)[:, ::-1].copy()
    e = np.exp(x - x.max(1, keepdims=True))
    program = run_on_device(
        softmax(4, 24), lambda s: softmax_over_threads(s, 8), [x], [e / e.sum(1, keepdims=True)]
    )
    # Twice three halvings, taking over, and giving what was joined to all; E is each thread's own.
    assert barriers(program) == 10


def doubled(n: int) -> Tensor:
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2.0, name="B")
    return te.compute((n,), lambda i: b[n - 1 - i] + 1.0, name="C")


def test_threads_of_one_group_wait_for_what_others_write() -> None:
    def steps(sch: Schedule) -> None:
        sch.set_scope("B", "shared")
        (i,) = sch.loops("C")
        one, t = sch.split(i, [1, None])
        sch.bind(one, "blockIdx.x")
        sch.compute_at("B", one)
        sch.bind(t, "threadIdx.x")
        sch.bind(sch.loops("B")[-1], "threadIdx.x")

    a = ramp(16)
    program = run_on_device(doubled(16), steps, [a], [a[::-1] * 2 + 1])
    assert barriers(program) == 1


def test_a_stage_without_threads_runs_in_the_first_one() -> None:
    def steps(sch: Schedule) -> None:
        (i,) = sch.loops("C")
        one, t = sch.split(i, [1, None])
        sch.bind(one, "blockIdx.x")
        sch.compute_at("B", one)
        sch.bind(t, "threadIdx.x")

    a = ramp(8)
    program = run_on_device(doubled(8), steps, [a], [a[::-1] * 2 + 1])
    assert "if i_inner == 0:" in to_text(program)


def test_loops_of_one_tag_become_one_as_long_as_the_longest() -> None:
    a = te.placeholder((24,), name="A")
    b = te.compute((24,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((16,), lambda i: b[i] + b[i + 8], name="C")

    def steps(sch: Schedule) -> None:
        (i,) = sch.loops("C")
        one, t = sch.split(i, [1, None])
        sch.bind(one, "blockIdx.x")
        sch.compute_at("B", one)
        sch.bind(t, "threadIdx.x")
        sch.bind(sch.loops("B")[-1], "threadIdx.x")

    x = ramp(24)
    program = run_on_device(c, steps, [x], [x[:16] * 2 + x[8:] * 2])
    loops = [n for n in walk(program.body) if isinstance(n, For) and n.kind == "thread"]
    assert [(lp.thread, const_int(lp.extent)) for lp in loops] == [
        ("blockIdx.x", 1),
        ("threadIdx.x", 24),
    ]
    assert "< 16" in to_text(program)


def test_virtual_threads_on_a_cpu() -> None:
    def steps(sch: Schedule) -> None:
        (i,) = sch.loops("C")
        v, o, _ = sch.split(i, [2, 4, None])
        sch.compute_at("B", o)
        sch.bind(v, "vthread")

    a = te.placeholder((32,), name="A")
    b = te.compute((32,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((32,), lambda i: b[i] + 1.0, name="C")
    x = ramp(32)
    program = run_on_device(c, steps, [x], [x * 2 + 1])
    alloc = next(n for n in walk(program.body) if isinstance(n, Alloc))
    assert alloc.buffer.const_shape == (8,)  # 2 virtual threads x 4 elements
    sch = Schedule(c)
    steps(sch)
    out = np.zeros(32, "float32")
    build(sch)(x, out)
    np.testing.assert_array_equal(out, x * 2 + 1)


@pytest.mark.parametrize(("n", "outer", "inner"), [(24, 2, 3), (25, 2, 2), (7, 3, 2)])
def test_nested_virtual_threads_equal_the_serial_program(n: int, outer: int, inner: int) -> None:
    """R34: extents nested, with and without tails."""

    def steps(sch: Schedule) -> None:
        i, j = sch.loops("C")
        vi, _ = sch.split(i, [outer, None])
        vj, _ = sch.split(j, [inner, None])
        sch.reorder(vi, vj)
        sch.compute_at("B", vj)
        sch.bind(vi, "vthread")
        sch.bind(vj, "vthread")

    a = te.placeholder((n, 9), name="A")
    b = te.compute((n, 9), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((n, 8), lambda i, j: b[i, j] + b[i, j + 1], name="C")
    x = ramp(n, 9)
    want = x[:, :8] * 2 + x[:, 1:] * 2
    run_on_device(c, steps, [x], [want])
    sch = Schedule(c)
    steps(sch)
    out = np.zeros((n, 8), "float32")
    build(sch)(x, out)
    np.testing.assert_array_equal(out, want)


def test_building_for_a_cpu_names_the_loop_and_what_would_work() -> None:
    """R39."""
    sch = Schedule(row_sum(4, 8))
    i, _ = sch.loops("S")
    sch.bind(i, "threadIdx.x")
    with pytest.raises(UserError, match=r"the loop i is bound to threadIdx\.x") as caught:
        build(sch)
    assert "sch.parallel(i)" in str(caught.value)
    assert 'thread(4, "threadIdx.x")' in to_text(lower(sch.program, TARGET).program)


def kernel(body: str) -> str:
    lines = "\n".join("            " + line for line in body.strip().splitlines())
    return f"""
def f(A: float32[64], C: float32[64]):
    S = alloc(float32[64], scope="shared")
    for b in thread(1, "blockIdx.x"):
        for t in thread(16, "threadIdx.x"):
{lines}
"""


FILL = 'with block("S", vt=spatial(16, t)):\n    S[vt] = A[vt]'


@pytest.mark.parametrize(
    ("reader", "count"),
    [
        ("S[vt]", 0),
        ("S[15 - vt]", 1),
        ("S[0]", 1),
    ],
)
def test_threads_wait_only_for_elements_of_others(reader: str, count: int) -> None:
    use = f'with block("C", vt=spatial(16, t)):\n    C[vt] = {reader}'
    program = insert_barriers(parse(kernel(f"{FILL}\n{use}")))
    assert sum(isinstance(n, Barrier) for n in walk(program.body)) == count
    interpret(program, [np.arange(64, dtype="float32"), np.zeros(64, "float32")])


def test_threads_wait_between_rounds_of_a_loop() -> None:
    body = """
for k in range(4):
    with block("S", vt=spatial(16, t), vk=spatial(4, k)):
        S[vt] = A[vk * 16 + vt]
    with block("C", vt=spatial(16, t), vk=spatial(4, k)):
        C[vk * 16 + vt] = S[15 - vt]
"""
    program = insert_barriers(parse(kernel(body)))
    assert sum(isinstance(n, Barrier) for n in walk(program.body)) == 2
    a, c = np.arange(64, dtype="float32"), np.zeros(64, "float32")
    interpret(program, [a, c])
    np.testing.assert_array_equal(c, a.reshape(4, 16)[:, ::-1].reshape(-1))


def test_one_wait_serves_several_buffers() -> None:
    source = kernel(
        """
with block("S", vt=spatial(16, t)):
    S[vt] = A[vt]
with block("S2", vt=spatial(16, t)):
    S[vt + 16] = A[vt]
with block("C", vt=spatial(16, t)):
    C[vt] = S[15 - vt] + S[31 - vt]
"""
    )
    program = insert_barriers(parse(source))
    assert sum(isinstance(n, Barrier) for n in walk(program.body)) == 1


def test_waiting_in_a_loop_that_threads_run_differently_often_is_refused() -> None:
    body = """
for k in range(t + 1):
    with block("S", vt=spatial(16, t), vk=opaque(16, k)):
        S[vt] = A[vk]
    with block("C", vt=spatial(16, t), vk=opaque(16, k)):
        C[vt] = S[0]
"""
    with pytest.raises(UserError, match="the loop k that not all threads run equally often"):
        insert_barriers(parse(kernel(body)))


def test_virtual_threads_wait_in_a_loop_that_they_run_differently_often() -> None:
    source = """
def f(A: float32[8, 8], C: float32[4, 8]):
    S = alloc(float32[4, 8], scope="shared")
    for z in range(1):
        for v in range(4):
            for k in range(v + 1):
                for t in range(8):
                    with block("S", vv=spatial(4, v), vk=spatial(8, k), vt=spatial(8, t)):
                        S[vv, vt] = A[vk, vt] * 2.0
                for u in range(8):
                    with block("C", vv=spatial(4, v), vk=opaque(8, k), vu=spatial(8, u)):
                        C[vv, vu] = C[vv, vu] + S[vv, 7 - vu]
"""
    sch = Schedule(parse(source))
    binds = [("S", 0, "threadIdx.y"), ("S", 1, "vthread")]
    for block, position, tag in [*binds, ("S", 3, "threadIdx.x"), ("C", 3, "threadIdx.x")]:
        sch.bind(sch.loops(block)[position], tag)
    program = lower(sch.program, TARGET).program
    a, c = ramp(8, 8), np.zeros((4, 8), "float32")
    interpret(program, [a.reshape(-1), c.reshape(-1)])
    sums = np.stack([a[: v + 1].sum(0) * 2 for v in range(4)])
    np.testing.assert_allclose(c, sums[:, ::-1], rtol=1e-6)
    assert barriers(program) == 4


def test_virtual_threads_wait_in_a_vectorized_loop() -> None:
    source = """
def f(A: float32[3, 6, 7], C: float32[4, 3, 7]):
    P = alloc(float32[3, 3, 7])
    for y in range(4):
        for c in virtual(3):
            for t in thread(3, "threadIdx.x"):
                for x in vectorized(7):
                    with block("P", vc=spatial(3, c), vy=opaque(6, y + t), vx=spatial(7, x)):
                        P[vc, vy % 3, vx] = A[vc, vy, vx]
        for i in range(3):
            for j in range(7):
                with block("C", vy=spatial(4, y), vi=spatial(3, i), vj=spatial(7, j)):
                    C[vy, vi, vj] = P[vi, (vy + 2) % 3, vj]
"""
    program = lower(parse(source), TARGET).program
    a, c = ramp(3, 6, 7), np.zeros((4, 3, 7), "float32")
    interpret(program, [a.reshape(-1), c.reshape(-1)])
    np.testing.assert_array_equal(c, a[:, 2:].transpose(1, 0, 2))


def test_threads_join_results_of_several_parts() -> None:
    source = te.placeholder((3, 12), name="A")
    k = te.reduce_axis(12, "k")
    outputs = te.compute(
        (3,), lambda i: te.argmax((te.cast(k, "int32"), source[i, k]), axis=k), name="T"
    )

    def steps(sch: Schedule) -> None:
        i, inner = sch.loops("T")
        sch.bind(i, "blockIdx.x")
        sch.bind(sch.split(inner, [None, 4])[1], "threadIdx.x")

    a = ramp(3, 12)
    run_on_device(outputs, steps, [a], [a.argmax(1).astype("int32"), a.max(1)])


def test_each_row_of_threads_has_its_own_warp_memory() -> None:
    program = parse(
        """
def f(A: float32[3, 4], B: float32[3, 4]):
    T = alloc(float32[3, 4], scope="warp")
    for x in thread(4, "threadIdx.x"):
        for y in thread(3, "threadIdx.y"):
            with block("T", vy=spatial(3, y), vx=spatial(4, x)):
                T[vy, vx] = A[vy, vx]
            with block("B", vy=spatial(3, y), vx=spatial(4, x)):
                B[vy, vx] = T[vy, 3 - vx]
"""
    )
    a = ramp(3, 4)
    for stage in (program, *(step.after for step in lower(program, TARGET).record)):
        b = np.zeros((3, 4), np.float32)
        interpret(stage, [a, b])
        np.testing.assert_array_equal(b, a[:, ::-1])


def test_a_sum_that_virtual_threads_share_is_added_up_once_under_a_condition() -> None:
    program = parse(
        """
def f(A: int32[4, 6], C: int32[4, 6]):
    T = alloc(int32[4])
    for i in range(4):
        for j in virtual(6):
            for k in range(6):
                with block("T", vi=spatial(4, i), vk=reduce(6, k)):
                    where(j < 5)
                    with init():
                        T[vi] = int32(0)
                    T[vi] = T[vi] + A[vi, vk]
            with block("C", vi=spatial(4, i), vj=spatial(6, j)):
                C[vi, vj] = A[vi, vj] * T[vi]
    for i in range(4):
        for j in virtual(6):
            with block("D", vi=spatial(4, i), vj=spatial(6, j)):
                C[vi, vj] = C[vi, vj] + T[vi]
"""
    )
    a = np.arange(24, dtype="int32").reshape(4, 6)
    total = a.sum(1, keepdims=True)
    for stage in (program, *(step.after for step in lower(program, TARGET).record)):
        c = np.zeros((4, 6), np.int32)
        interpret(stage, [a, c])
        np.testing.assert_array_equal(c, a * total + total)
