"""Threads by meaning: who sees which memory, what is a race, and where all must wait."""

from __future__ import annotations

from textwrap import dedent, indent

import numpy as np
import pytest

from tvmlab.codegen import interpret
from tvmlab.codegen.interpreter import InterpreterFailure
from tvmlab.ir import parse


def run(body: str, groups: int = 2, threads: int = 4, size: int = 16) -> np.ndarray:
    """Run a kernel's body with group b and thread t; A counts up from 0; returns C."""
    head = f"""
def f(A: float32[{size}], C: float32[{size}]):
    for b in thread({groups}, "blockIdx.x"):
"""
    program = parse(head + indent(dedent(body), " " * 8))
    c = np.full(size, -1, "float32")
    interpret(program, [np.arange(size, dtype="float32"), c])
    return c


SHARED = """
S = alloc(float32[4], scope="shared")
for t in thread(4, "threadIdx.x"):
"""


def fails(body: str, **sizes: int) -> InterpreterFailure:
    with pytest.raises(InterpreterFailure) as caught:
        run(body, **sizes)
    return caught.value


def test_each_thread_runs_its_iteration() -> None:
    c = run(
        """
        for t in thread(4, "threadIdx.x"):
            C[b * 4 + t] = A[b * 4 + t] * 2.0
        """
    )
    np.testing.assert_array_equal(c, [*np.arange(8.0) * 2, *[-1] * 8])


def test_a_loop_of_one_tag_in_another_means_the_same_thread() -> None:
    c = run(
        """
        for t in thread(4, "threadIdx.x"):
            for u in thread(4, "threadIdx.x"):
                C[b * 4 + u] = A[t]
        """
    )
    np.testing.assert_array_equal(c[:8], [0, 1, 2, 3] * 2)


def test_shared_memory_is_seen_by_the_group_after_a_barrier() -> None:
    body = SHARED + "    S[t] = A[b * 4 + t]\n    {}\n    C[b * 4 + t] = S[3 - t]"
    c = run(body.format('barrier("shared")'))
    np.testing.assert_array_equal(c[:8], [3, 2, 1, 0, 7, 6, 5, 4])
    failure = fails(body.format("pass"))
    assert failure.rule in ("race", "uninitialized-read")


def test_a_race_names_both_threads_and_the_element() -> None:
    failure = fails(SHARED + "    S[t // 2] = A[t]")
    assert failure.rule == "race"
    assert (failure.buffer, failure.index) == ("S", (0,))
    assert failure.iterations == ({"threadIdx.x": 0}, {"threadIdx.x": 1})
    assert "S[0] is written by thread (threadIdx.x=0)" in str(failure)
    assert "with no barrier in between" in str(failure)


def test_a_write_after_a_read_is_a_race_too() -> None:
    body = SHARED + '    S[t] = A[t]\n    barrier("shared")\n    S[t] = S[0] + A[t]'
    failure = fails(body)
    assert failure.rule == "race"
    assert "read by thread" in str(failure)


def test_groups_race_on_global_memory() -> None:
    failure = fails('for t in thread(4, "threadIdx.x"):\n    C[t] = A[t]')
    assert failure.rule == "race"
    assert failure.iterations == ({"blockIdx.x": 0}, {"blockIdx.x": 1})
    assert "groups do not wait for each other" in str(failure)


def test_local_memory_belongs_to_one_thread() -> None:
    body = """
    for t in thread(4, "threadIdx.x"):
        L = alloc(float32[1], scope="local")
        L[0] = A[t]
        barrier("shared")
        C[b * 4 + t] = L[0]
    """
    np.testing.assert_array_equal(run(body)[:8], [0, 1, 2, 3] * 2)


def test_a_group_starts_with_fresh_shared_memory() -> None:
    failure = fails(
        SHARED + "    if b == 0:\n        S[t] = A[t]\n    C[b * 4 + t] = S[t]", groups=2
    )
    assert failure.rule == "uninitialized-read"


def test_a_barrier_that_some_threads_miss() -> None:
    failure = fails(SHARED + '    if t < 2:\n        barrier("shared")\n    C[b * 4 + t] = 1.0')
    assert failure.rule == "barrier-divergence"
    assert "must be reached by all threads" in str(failure)
    assert '>                 barrier("shared")' in str(failure)


def test_a_barrier_in_different_rounds() -> None:
    failure = fails(SHARED + '    for k in range(t):\n        barrier("shared")')
    assert failure.rule == "barrier-divergence"


def test_warp_memory_belongs_to_a_row_of_threads() -> None:
    body = """
    for u in thread(2, "threadIdx.y"):
        W = alloc(float32[4], scope="warp")
        for t in thread(4, "threadIdx.x"):
            W[t] = A[b * 8 + u * 4 + t]
            barrier("warp")
            C[b * 8 + u * 4 + t] = W[3 - t]
    """
    want = np.arange(16.0).reshape(4, 4)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(run(body), want)


def test_blocks_keep_their_order_without_barriers() -> None:
    body = SHARED + (
        '    with block("S", vt=spatial(4, t), vb=spatial(2, b)):\n'
        "        S[vt] = A[vb * 4 + vt]\n"
        '    with block("C", vt=spatial(4, t), vb=spatial(2, b)):\n'
        "        C[vb * 4 + vt] = S[3 - vt]"
    )
    np.testing.assert_array_equal(run(body)[:8], [3, 2, 1, 0, 7, 6, 5, 4])


def test_a_block_that_all_threads_would_repeat_runs_in_the_first() -> None:
    body = SHARED + (
        '    with block("S", vb=spatial(2, b)):\n'
        "        S[0] = A[vb]\n"
        '    with block("C", vt=spatial(4, t), vb=spatial(2, b)):\n'
        "        C[vb * 4 + vt] = S[0]"
    )
    np.testing.assert_array_equal(run(body)[:8], [0, 0, 0, 0, 1, 1, 1, 1])


def test_threads_of_a_block_that_reduces_add_into_one_element() -> None:
    body = (
        'for t in thread(4, "threadIdx.x"):\n'
        '    with block("C", vb=spatial(2, b), vk=reduce(4, t)):\n'
        "        with init():\n            C[vb] = 0.0\n"
        "        C[vb] = C[vb] + A[vb * 4 + vk]"
    )
    np.testing.assert_array_equal(run(body)[:2], [6, 22])


def test_three_dimensions_of_threads() -> None:
    program = parse(
        """
def f(C: int32[2, 3, 4]):
    for z in thread(2, "threadIdx.z"):
        for y in thread(3, "threadIdx.y"):
            for x in thread(4, "threadIdx.x"):
                C[z, y, x] = int32(z * 100 + y * 10 + x)
"""
    )
    c = np.zeros((2, 3, 4), "int32")
    interpret(program, [c])
    z, y, x = np.indices(c.shape)
    np.testing.assert_array_equal(c, z * 100 + y * 10 + x)


def test_two_kernels_run_one_after_the_other() -> None:
    program = parse(
        """
def f(A: float32[4], C: float32[4]):
    T = alloc(float32[4])
    for t in thread(4, "threadIdx.x"):
        T[t] = A[t] + 1.0
    for u in thread(4, "threadIdx.x"):
        C[u] = T[3 - u]
"""
    )
    a, c = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    interpret(program, [a, c])
    np.testing.assert_array_equal(c, [4, 3, 2, 1])


def test_iterations_of_a_parallel_loop_race() -> None:
    program = parse(
        """
def f(A: float32[4], C: float32[4]):
    for i in parallel(4):
        C[i // 2] = A[i]
"""
    )
    with pytest.raises(InterpreterFailure) as caught:
        interpret(program, [np.zeros(4, "float32"), np.zeros(4, "float32")])
    assert caught.value.rule == "race"
    assert caught.value.iterations == ({"i": 0}, {"i": 1})


def test_a_sum_of_all_threads_begins_anew_in_each_round() -> None:
    c = run(
        """
        for again in range(3):
            for t in thread(4, "threadIdx.x"):
                with block("S", vb=spatial(2, b), vt=reduce(4, t)):
                    combine(lambda x, y: x + y, 0.0)
                    with init():
                        C[vb] = 0.0
                    C[vb] = C[vb] + A[vt]
        """
    )
    np.testing.assert_array_equal(c[:2], [6, 6])


def test_threads_wait_where_a_later_round_writes_elements_of_other_threads() -> None:
    c = run(
        """
        for again in range(3):
            for t in thread(4, "threadIdx.x"):
                with block("S", va=opaque(3, again), vt=spatial(4, t)):
                    C[vt + va] = float32(va)
        """
    )
    np.testing.assert_array_equal(c[:6], [0, 1, 2, 2, 2, 2])
    kept = run(
        """
        for again in range(3):
            for t in thread(4, "threadIdx.x"):
                with block("S", va=spatial(3, again), vt=spatial(4, t)):
                    C[va * 4 + vt] = A[vt]
        """
    )
    np.testing.assert_array_equal(kept[:12], [0, 1, 2, 3] * 3)


@pytest.mark.parametrize("outer", ['thread(4, "blockIdx.y")', 'thread(4, "threadIdx.x")'])
@pytest.mark.parametrize("inner", ["parallel(6)", "vectorized(6)", "range(6)"])
def test_memory_of_an_iteration_inside_a_thread_is_its_own(outer: str, inner: str) -> None:
    program = parse(f"""
def f(A: float32[24], C: float32[24]):
    for i in {outer}:
        for j in {inner}:
            S = alloc(float32[1], scope="register")
            S[0] = A[i * 6 + j]
            for k in range(3):
                S[0] = S[0] + 1.0
            C[i * 6 + j] = S[0]
""")
    a, c = np.arange(24, dtype="float32"), np.zeros(24, "float32")
    interpret(program, [a, c])
    np.testing.assert_array_equal(c, a + 3)


@pytest.mark.parametrize(
    ("loops", "row"),
    [
        (["b in thread(1, 'blockIdx.x')", "t in range(4)", "i in thread(2, 'threadIdx.x')"], "t"),
        (["b in thread(1, 'blockIdx.x')", "i in thread(2, 'threadIdx.x')", "t in range(4)"], "t"),
        (
            ["i in thread(2, 'threadIdx.x')", "o in range(2)", "t in range(2)"],
            "o * 2 + t",
        ),
    ],
)
def test_threads_wait_in_rounds_that_read_what_others_wrote_before(
    loops: list[str], row: str
) -> None:
    """One block alone, whose next round needs elements of another thread."""
    nest = "".join("    " * (n + 1) + f"for {loop}:\n" for n, loop in enumerate(loops))
    program = parse(
        f"""
def f(A: float32[5, 2], C: float32[5, 2]):
    T = alloc(float32[5, 2], scope="shared")
    for q in range(2):
        with block("first", v=spatial(2, q)):
            T[0, v] = A[0, v]
{nest}                with block("step", vt=opaque(4, {row}), vi=spatial(2, i)):
                    T[vt + 1, vi] = T[vt, 1 - vi] * 0.5 + A[vt + 1, vi]
    for u in range(5):
        for j in range(2):
            with block("C", vt=spatial(5, u), vi=spatial(2, j)):
                C[vt, vi] = T[vt, vi]
""".replace("'", '"')
    )
    a = np.random.default_rng(0).random((5, 2), dtype=np.float32)
    want, got = a.copy(), np.empty_like(a)
    for t in range(4):
        want[t + 1] += want[t, ::-1] * np.float32(0.5)
    interpret(program, [a, got])
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("few", [1, 2])
def test_threads_that_a_short_loop_leaves_out_wait_and_do_nothing(few: int) -> None:
    program = parse(f"""
def f(A: float32[4, 3], C: float32[4, 3]):
    R = alloc(float32[4, 3])
    for i in thread(4, "blockIdx.y"):
        for j in thread({few}, "threadIdx.y"):
            for k in range(3):
                with block("R", vi=spatial(4, i), vk=spatial(3, k)):
                    R[vi, vk] = A[vi, vk]
            for k2 in range(3):
                with block("C", vi=spatial(4, i), vk=spatial(3, k2)):
                    C[vi, vk] = R[vi, vk]
        for z in thread(3, "threadIdx.y"):
            with block("more", vi=spatial(4, i), vz=spatial(3, z)):
                R[vi, vz] = 5.0
""")
    a, c = np.arange(12, dtype="float32").reshape(4, 3), np.zeros((4, 3), "float32")
    interpret(program, [a, c])
    np.testing.assert_array_equal(c, a)
