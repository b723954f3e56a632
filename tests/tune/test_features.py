"""Features: always the same length, invariant to names, known values, batch equals single."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.tune_programs import matmul, program, tiled_matmul
from helpers.workloads import WORKLOADS
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tvmlab.ir import Program, parse, to_text
from tvmlab.schedule import Schedule
from tvmlab.tune import extract_batch, extract_features, feature_names


def named(of: Program, threads: int = 2) -> dict[str, float]:
    return dict(zip(feature_names(), extract_features(of, threads).tolist(), strict=True))


def size(log: float) -> int:
    return round(2**log - 1)


@given(seed=st.integers(0, 10_000), kind=st.integers(0, len(WORKLOADS) - 1))
@hypothesis_settings(max_examples=20, deadline=None)
def test_any_schedule_gives_a_finite_row_of_fixed_length(seed: int, kind: int) -> None:
    rng = np.random.default_rng(seed)
    schedule = Schedule(list(WORKLOADS[kind](rng).outputs))
    random_steps(schedule, rng, 6)
    row = extract_features(schedule.program)
    assert row.shape == (len(feature_names()),)
    assert np.isfinite(row).all()


def test_names_are_unique_and_fixed() -> None:
    names = feature_names()
    assert len(set(names)) == len(names) > 200
    assert names == feature_names()


def test_a_matmul_counted_by_hand() -> None:
    got = named(Schedule(matmul(32, m=16, k=8)).program)
    assert size(got["main.iterations"]) == size(got["main.ops.mad"]) == 32 * 16 * 8
    assert size(got["main.out.unique_bytes"]) == 32 * 16 * 4
    assert size(got["main.in0.unique_bytes"]) == 32 * 8 * 4
    assert size(got["main.in1.unique_bytes"]) == 8 * 16 * 4
    assert size(got["main.in0.reuse"]) == 16
    assert size(got["main.in1.stride"]) == 16  # k steps over a row of B
    assert size(got["main.in0.contiguous_bytes"]) == 32 * 8 * 4  # j stands still: all of A in a row
    assert got["main.sum.last"] == 1
    assert got["main.has_init"] == 1
    assert size(got["main.loop0.extent"]) == 8
    assert got["nests"] == 1


def test_footprints_at_cache_sizes() -> None:
    """A matrix of 32 x 32 floats has 2 lines a row; the three of them have 12 KB."""
    got = named(Schedule(matmul(32)).program)
    whole = 3 * 32 * 2 * 64
    assert size(got["main.within_16384.iterations"]) == 32**3
    assert size(got["main.through_16384.bytes"]) == whole
    # 8 KB hold B, and a row of A and C: level 1; passing through it 32 times.
    assert size(got["main.within_8192.iterations"]) == 32**2
    assert size(got["main.through_8192.bytes"]) == 32 * (32 * 2 + 2 + 2) * 64


def test_annotations_are_seen() -> None:
    schedule = tiled_matmul(64, rows=4, lanes=16)
    i, *_ = schedule.loops("C")
    schedule.parallel(i)
    got = named(schedule.program)
    assert size(got["main.vectorized.innermost"]) == 16
    assert got["main.vectorized.at.inner_space"] == 1
    assert size(got["main.unrolled.product"]) == 4
    assert got["main.parallel.at.outer_space"] == 1
    assert size(got["main.tile.accumulators"]) == 4
    assert size(got["main.tile.serial"]) == 1
    assert got["main.in0.vector_zero"] == got["main.in1.vector_one"] == 1
    assert got["main.out.local"] == 1
    assert got["other0.present"] == got["other1.present"] == 1
    assert got["main.threads.balance"] == 1
    assert named(schedule.program, threads=12)["main.threads.balance"] == pytest.approx(16 / 24)


def test_a_fused_loop_is_seen_through() -> None:
    """Fusing i and j changes no footprint."""
    plain, fused = Schedule(matmul(16)), Schedule(matmul(16))
    i, j, _ = fused.loops("C")
    fused.fuse(i, j)
    before, after = named(plain.program), named(fused.program)
    for name in ("out.unique_bytes", "in0.unique_bytes", "in1.unique_bytes", "iterations"):
        assert before[f"main.{name}"] == after[f"main.{name}"]


def test_names_of_loops_and_buffers_do_not_matter() -> None:
    text = to_text(tiled_matmul().program)
    renamed = text.replace("i_outer", "first").replace("A:", "Left:").replace("A[", "Left[")
    assert (extract_features(parse(renamed)) == extract_features(parse(text))).all()


def test_a_batch_gives_the_rows_of_single_programs() -> None:
    programs = [tiled_matmul(64, rows=r, lanes=n).program for r in (1, 2, 4, 8) for n in (8, 16)]
    programs += [Schedule(matmul(8)).program]
    single = np.stack([extract_features(p) for p in programs])
    assert np.allclose(extract_batch(programs), single, rtol=1e-6)
    assert extract_batch([]).shape == (0, len(feature_names()))


def test_programs_without_blocks_and_without_stores() -> None:
    lowered = program("def f(A: float32[64]):\n    for i in range(64):\n        A[i] = A[i] * 2.0")
    assert size(named(lowered)["main.ops.mul"]) == 64
    empty = program("def f(A: float32[64]):\n    pass")
    assert not extract_features(empty).any()


def test_an_index_read_from_memory_counts_as_a_jump() -> None:
    text = """
def gather(I: int64[64], A: float32[4096], B: float32[64]):
    for i in range(64):
        B[i] = A[I[i]]
"""
    got = named(program(text))
    assert size(got["main.in0.unique_lines"]) == 64  # A: one line for each element
    assert size(got["main.in0.contiguous_bytes"]) == 4


def test_extraction_is_quick() -> None:
    """About 2 ms of CPU a program, less in a batch; a bound with room for a busy machine."""
    of = tiled_matmul().program
    extract_features(of)
    start = process_time()
    for _ in range(10):
        extract_features(of)
    single = (process_time() - start) / 10
    start = process_time()
    extract_batch([of] * 100)
    batched = (process_time() - start) / 100
    assert single < 0.015
    assert batched < single / 2
