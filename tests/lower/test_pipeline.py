"""The pipeline as a list: names, reasons, records, options."""

from __future__ import annotations

import re

from tvmlab.ir import Program, parse, to_text
from tvmlab.lower import PIPELINE, LowerOptions, VectorUnit, lower
from tvmlab.target import Target

AVX512 = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4")
AVX2 = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3")


def program() -> Program:
    return parse(
        """
def f(A: float32[40], C: float32[40]):
    T = alloc(float32[40])
    for i in vectorized(40):
        T[i] = A[i]
    for i in vectorized(40):
        C[i] = T[i] + 1.0
"""
    )


def test_each_pass_has_a_name_and_a_reason() -> None:
    for step in PIPELINE:
        assert re.fullmatch(r"[a-z_]+", step.name)
        assert len(step.reason) > 20
        assert not step.reason.endswith(".")


def test_the_record_is_a_chain_from_the_program_to_the_result() -> None:
    source = program()
    result = lower(source, AVX512)
    assert [r.name for r in result.record] == [p.name for p in PIPELINE]
    assert result.record[0].before is source
    assert result.record[-1].after is result.program
    for first, second in zip(result.record, result.record[1:], strict=False):
        assert first.after is second.before
    assert all(r.changed == (r.before is not r.after) for r in result.record)
    assert all(r.seconds >= 0 for r in result.record)


def test_a_lowered_program_is_left_as_it_is() -> None:
    once = lower(program(), AVX512).program
    assert to_text(lower(once, AVX512).program) == to_text(once)


def test_the_width_of_vectors_comes_from_the_target_or_the_options() -> None:
    assert "ramp(0, 1, 16)" in to_text(lower(program(), AVX512).program)
    assert "ramp(0, 1, 8)" in to_text(lower(program(), AVX2).program)
    narrow = lower(program(), AVX512, LowerOptions(vector_bits=128)).program
    assert "ramp(0, 1, 4)" in to_text(narrow)


def test_vector_unit_counts_lanes() -> None:
    unit = VectorUnit(512)
    assert [unit.lanes(bits) for bits in (1, 8, 16, 32, 64)] == [64, 64, 32, 16, 8]
    assert VectorUnit(0).lanes(32) == 1


def test_promotion_can_be_switched_off() -> None:
    kept = to_text(lower(program(), AVX512, LowerOptions(promote=False)).program)
    assert "register" not in kept
    assert "register" in to_text(lower(program(), AVX512).program)


def test_partition_can_be_switched_off() -> None:
    source = parse(
        """
def f(A: float32[30], C: float32[30]):
    for i in range(4):
        for j in range(8):
            if i * 8 + j < 30:
                C[i * 8 + j] = A[i * 8 + j]
"""
    )
    assert "if" not in to_text(lower(source, AVX512).program)
    assert "if" in to_text(lower(source, AVX512, LowerOptions(partition=False)).program)


def test_masks_are_used_where_the_machine_has_them() -> None:
    options = LowerOptions()
    assert VectorUnit.of(AVX512, options).can_mask(8)
    avx2 = VectorUnit.of(AVX2, options)
    assert [avx2.can_mask(bits) for bits in (8, 16, 32, 64)] == [False, False, True, True]
    neon = VectorUnit.of(Target.of("cpu -mtriple=aarch64-linux-gnu"), options)
    assert not neon.can_mask(64)
