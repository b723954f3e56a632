"""Old programs that describe their arguments by buffers with strides."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmlab.compat.tvm as tvm
from tvmlab.compat.tvm import te
from tvmlab.support import TvmlabError

Shape = tuple[int, int]


def doubled(shape: Shape) -> tuple[Any, Any, Any]:
    a = te.placeholder(shape, name="A")

    def element(i: Any, j: Any) -> Any:
        return a[i, j] * 2.0

    b = te.compute(shape, element, name="B")
    return te.create_schedule(b.op), a, b


@settings(max_examples=25, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    steps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    transposed=st.booleans(),
    variable=st.booleans(),
)
def test_views_are_read_and_written_where_they_lie(
    shape: Shape, steps: Shape, transposed: bool, variable: bool
) -> None:
    whole = np.arange(shape[0] * steps[0] * shape[1] * steps[1], dtype="float32")
    whole = whole.reshape((shape[0] * steps[0], shape[1] * steps[1]))
    if transposed:
        whole = np.asfortranarray(whole)
    source = whole[:: steps[0], :: steps[1]]
    result = np.full_like(whole, -1.0)
    sch, a, b = doubled(shape)
    strides = [s // 4 for s in source.strides]
    declared: list[Any] = [te.var("s0"), te.var("s1")] if variable else strides
    a_buffer = tvm.tir.decl_buffer(shape, name="Ab", strides=declared)
    b_buffer = tvm.tir.decl_buffer(shape, name="Bb", strides=declared)
    module = tvm.build(sch, [a_buffer, b], "llvm", binds={a: a_buffer, b: b_buffer})
    module(source, result[:: steps[0], :: steps[1]])
    wanted = np.full_like(whole, -1.0)
    wanted[:: steps[0], :: steps[1]] = source * 2
    np.testing.assert_array_equal(result, wanted)


def test_a_lowered_function_keeps_the_strides() -> None:
    sch, a, b = doubled((3, 4))
    buffer = tvm.tir.decl_buffer(a.shape, name="Ab", strides=[1, 3])
    lowered = tvm.lower(sch, [a, b], binds={a: buffer})
    source = np.arange(12, dtype="float32").reshape(4, 3).T
    result = np.zeros((3, 4), "float32")
    tvm.build(lowered, target="llvm")(source, result)
    np.testing.assert_array_equal(result, source * 2)
    assert "A_stride" not in str(tvm.lower(sch, [a, b], simple_mode=True))


@pytest.mark.parametrize("strides", [[8, 1], [te.var("s"), 1], [1, 3]])
def test_a_program_for_a_device_reads_by_indices(strides: list[Any]) -> None:
    sch, a, b = doubled((3, 4))
    row, column = sch[b].op.axis
    sch[b].bind(row, te.thread_axis("blockIdx.x"))
    sch[b].bind(column, te.thread_axis("threadIdx.x"))
    buffer = tvm.tir.decl_buffer((3, 4), name="Ab", strides=strides)
    source, result = np.arange(12, dtype="float32").reshape(3, 4), np.zeros((3, 4), "float32")
    tvm.build(sch, [a, b], "cuda", binds={a: buffer})(source, result)
    np.testing.assert_array_equal(result, source * 2)


def test_a_buffer_without_strides_is_a_compact_array() -> None:
    sch, a, b = doubled((3, 4))
    module = tvm.build(sch, [a, b], "llvm", binds={a: tvm.tir.decl_buffer((3, 4), name="Ab")})
    source = np.arange(12, dtype="float32").reshape(3, 4)
    result = np.zeros_like(source)
    module(source, result)
    np.testing.assert_array_equal(result, source * 2)


def test_another_stride_than_the_declared_one_is_refused_at_the_call() -> None:
    sch, a, b = doubled((3, 4))
    buffer = tvm.tir.decl_buffer((3, 4), name="Ab", strides=[8, 1])
    module = tvm.build(sch, [a, b], "llvm", binds={a: buffer})
    with pytest.raises(
        TvmlabError, match="axis 0 of argument A lie 16 bytes apart, the kernel needs 8 element"
    ):
        module(np.zeros((3, 4), "float32"), np.zeros((3, 4), "float32"))


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"shape": (4, 3)}, "binds describes A, of shape (3, 4), by a buffer of shape (4, 3)"),
        (
            {"shape": (3, 4), "dtype": "int32"},
            "binds describes A, of float32, by a buffer of int32",
        ),
        (
            {"shape": (3, 4), "scope": "shared"},
            "binds describes A by a buffer in shared memory\nhint: arguments lie in main memory",
        ),
    ],
)
def test_a_buffer_that_does_not_fit_its_tensor(declared: dict[str, Any], message: str) -> None:
    sch, a, b = doubled((3, 4))
    buffer = tvm.tir.decl_buffer(**declared, name="Ab")
    with pytest.raises(TvmlabError, match=re.escape(message)):
        tvm.build(sch, [a, b], "llvm", binds={a: buffer})


def test_a_buffer_that_describes_nothing() -> None:
    sch, a, b = doubled((3, 4))
    buffer = tvm.tir.decl_buffer((3, 4), name="Ab")
    with pytest.raises(TvmlabError, match="the buffer Ab among the arguments describes no tensor"):
        tvm.build(sch, [buffer, b], "llvm")
    other = te.placeholder((3, 4), name="Z")
    with pytest.raises(TvmlabError, match="binds describes Z, which is no argument"):
        tvm.build(sch, [a, b], "llvm", binds={other: buffer})
