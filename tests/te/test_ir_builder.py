"""Statements written step by step, buffers with pointers and vectors, and calls of outside code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import Invoke, Operand, Program, Stmt, Var, to_text, verify
from tvmlab.support import UserError, node
from tvmlab.te.ir_builder import IRBuilder


@node
class ThreadIndex(Var):
    """A thread axis: a variable with a tag."""

    thread_tag: str = "threadIdx.x"


def run(body: Stmt, *buffers: te.View, inputs: tuple[Any, ...], size: int) -> np.ndarray[Any, Any]:
    """The last buffer after the statement ran, by the interpreter and by machine code."""
    program = Program("f", buffers, body)
    verify(program)
    interpreted, compiled = np.zeros(size, np.float32), np.zeros(size, np.float32)
    interpret(program, [*inputs, interpreted])
    build(program)(*inputs, compiled)
    np.testing.assert_array_equal(interpreted, compiled)
    return interpreted


def test_loops_conditions_names_and_storage() -> None:
    a, c = te.decl_buffer((10,), name="A"), te.decl_buffer((10,), name="C")
    ib = te.ir_builder.create()
    source, target = ib.buffer_ptr(a), ib.buffer_ptr(c)
    with ib.for_range(0, 10, "i", kind="serial") as i:
        twice = ib.let("twice", source[i] * 2.0)
        cell = ib.allocate("float32", 1, "cell")
        cell[0] = twice + 1.0
        with ib.if_scope(ib.likely(i < 5)):
            target[i] = cell[0]
        with ib.else_scope():
            target[i] = -cell[0]
    x = np.arange(10, dtype=np.float32)
    want = np.where(np.arange(10) < 5, x * 2 + 1, -(x * 2 + 1))
    np.testing.assert_array_equal(run(ib.get(), a, c, inputs=(x,), size=10), want)


@pytest.mark.parametrize("kind", ["serial", "parallel", "vectorize", "unroll"])
def test_kinds_of_loops_and_ranges_that_begin_later(kind: str) -> None:
    c = te.decl_buffer((8,), name="C")
    ib = te.ir_builder.create()
    target = ib.buffer_ptr(c)
    with ib.for_range(2, 6, "i", kind=kind) as i:
        target[i] = 1.0
    want = [0, 0, 1, 1, 1, 1, 0, 0]
    np.testing.assert_array_equal(run(ib.get(), c, inputs=(), size=8), want)


def test_one_index_counts_elements_row_by_row() -> None:
    a = te.decl_buffer((2, 3), name="A")
    c = te.decl_buffer((6,), name="C")
    ib = te.ir_builder.create()
    source, target = ib.buffer_ptr(a), ib.buffer_ptr(c)
    with ib.for_range(0, 6) as i:
        target[i] = source[i] + source[1, 2]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(run(ib.get(), a, c, inputs=(x,), size=6), x.ravel() + 5)


def test_vectors_of_elements() -> None:
    a, c = te.decl_buffer((16,), name="A"), te.decl_buffer((16,), name="C")
    ib = te.ir_builder.create()
    with ib.for_range(0, 2, "i") as i:
        ib.emit(c.vstore(i * 8, a.vload(i * 8, "float32x8") + a.vload([i * 8], "float32x8")))
    x = np.arange(16, dtype=np.float32)
    np.testing.assert_array_equal(run(ib.get(), a, c, inputs=(x,), size=16), x + x)


def test_threads_wrap_the_rest_of_a_scope() -> None:
    c = te.decl_buffer((32,), name="C")
    ib = te.ir_builder.create()
    tx = ThreadIndex("tx")
    ib.scope_attr(tx, "thread_extent", 32)
    target = ib.buffer_ptr(c)
    target[tx] = 1.0
    assert 'thread(32, "threadIdx.x")' in to_text(ib.get())


def test_pointers_say_what_is_done_through_them() -> None:
    b = te.decl_buffer((4, 8), name="B", strides=[te.var("s"), 1])
    pointer = b.access_ptr("r")
    assert isinstance(pointer, Operand)
    assert pointer.access == "read"
    assert b.access_ptr(3).access == "update"
    assert b.data.access == "update"
    assert [to_text(s) for s in b.strides] == ["B.stride(0)", "1"]
    assert to_text(b.access_ptr("w", offset=4).region.mins[1]) == "4"
    assert to_text(b.elem_offset) == "0"


def test_calls_take_numbers_pointers_and_buffers() -> None:
    a = te.decl_buffer((4,), name="A")
    call = te.call_extern("int32", "f", a.access_ptr("rw"), 4, a)
    assert isinstance(call, Invoke)
    assert to_text(call) == 'call("symbol:f", update(A[0:4]), 4, update(A[0:4]))'
    packed = te.call_packed("sort", a)
    assert packed.callee == "packed:sort"


def _open() -> None:
    ib = te.ir_builder.create()
    with ib.for_range(0, 4):
        ib.get()


def _twice() -> None:
    ib = te.ir_builder.create()
    ib.get()
    ib.get()


def _with(act: Callable[[IRBuilder], object]) -> Callable[[], object]:
    return lambda: act(te.ir_builder.create())


WRONG: list[tuple[Callable[[], object], str]] = [
    (_open, "a scope of the builder is still open"),
    (_twice, "has been taken already"),
    (_with(lambda ib: ib.pointer("float32", "A")), "the pointer A needs its size"),
    (_with(lambda ib: ib.scope_attr(None, "storage_scope", 1)), "does not know 'storage_scope'"),
    (_with(lambda ib: ib.else_scope().__enter__()), "stands directly after an if_scope"),
    (_with(lambda ib: ib.for_range(0, 4, kind="loop").__enter__()), "not know the kind 'loop'"),
    (lambda: te.decl_buffer((4, 4)).access_ptr("x"), "access_ptr does not know 'x'"),
    (lambda: te.decl_buffer((4, 4), strides=[1]), "2 dimension(s), but 1 stride(s) are given"),
    (lambda: te.decl_buffer((4, 4)).vload(0, "float32x4"), "is indexed with 1"),
    (lambda: te.decl_buffer((4,)).vload(0, "int32x4"), "holds float32, not int32"),
    (lambda: te.call_extern("int32", ""), "names its function"),
]


@pytest.mark.parametrize(("act", "text"), WRONG, ids=[t for _, t in WRONG])
def test_wrong_uses(act: Callable[[], object], text: str) -> None:
    with pytest.raises(UserError) as caught:
        act()
    assert text in str(caught.value)
