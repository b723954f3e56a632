"""Names for values, and calls of outside code: values, and what is found inside a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tvmlab.codegen import InterpreterFailure, interpret
from tvmlab.ir import parse
from tvmlab.runtime import functions, load_library, register_function
from tvmlab.support import RuntimeFailure, UserError


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_functions", {})


def run(text: str, *arguments: NDArray[Any] | float) -> None:
    interpret(parse(text), arguments)


def fail(text: str, *arguments: NDArray[Any]) -> InterpreterFailure:
    with pytest.raises(InterpreterFailure) as caught:
        run(text, *arguments)
    return caught.value


def test_a_name_holds_the_value_from_before_the_stores_that_follow() -> None:
    a = np.array([1, 2], "i4")
    run("def f(A: int32[2]):\n    x = A[0]\n    y = A[1]\n    A[0] = y\n    A[1] = x", a)
    assert a.tolist() == [2, 1]


def test_strides_are_those_of_memory() -> None:
    a, out = np.zeros((2, 3, 4), "f4"), np.zeros(3, "i8")
    lines = "".join(f"    O[{n}] = A.stride({n})\n" for n in range(3))
    run(f"def f(A: float32[2, 3, 4], O: int64[3]):\n{lines}", a, out)
    assert out.tolist() == [12, 4, 1]


SCALE = """
def f(A: float32[4, 6], B: float32[4, 6]):
    for i in range(2):
        with call("symbol:scale", read(A[i * 2:i * 2 + 2, 1:4]), update(B[i * 2:i * 2 + 2, 2:5]), 3.0):
            def meaning(a: float32[2, 3], b: float32[2, 3], factor: float32):
                for x in range(2):
                    for y in range(3):
                        b[x, y] += a[x, y] * factor
"""  # noqa: E501 - as printed


def test_a_call_does_what_it_means() -> None:
    a, b = np.arange(24, dtype="f4").reshape(4, 6), np.ones((4, 6), "f4")
    run(SCALE, a, b)
    expected = np.ones((4, 6), "f4")
    expected[:, 2:5] += a[:, 1:4] * 3
    np.testing.assert_array_equal(b, expected)


def test_a_flat_part_is_found_by_its_strides() -> None:
    text = """
def f(A: float32[24], B: float32[3]):
    with call("g", read(A[1:20], shape=(3,), strides=(6,)), write(B[0:3])):
        def meaning(a: float32[3], b: float32[3]):
            for x in range(3):
                b[x] = a[x]
"""
    b = np.zeros(3, "f4")
    run(text, np.arange(24, dtype="f4"), b)
    assert b.tolist() == [1, 7, 13]
    text = text.replace("(6,)", "(12,)")
    assert fail(text, np.zeros(24, "f4"), b).rule == "out-of-bounds"


def test_inside_a_call_the_edges_are_those_of_the_part() -> None:
    failure = fail(SCALE.replace("a[x, y] * f", "a[x, y + 1] * f"), *np.zeros((2, 4, 6), "f4"))
    assert failure.rule == "out-of-bounds"
    assert failure.buffer == "a"


def test_a_part_that_leaves_its_buffer() -> None:
    text = SCALE.replace("2:5", "4:7")
    failure = fail(text, *np.zeros((2, 4, 6), "f4"))
    assert failure.rule == "out-of-bounds"
    assert "a part of 3 element(s) in dimension 1 that leaves the buffer" in str(failure)


UNWRITTEN = """
def f(A: float32[4]):
    T = alloc(float32[4])
    for i in range(2):
        T[i] = A[i]
    with call("g", ACCESS(T[0:4]), update(A[0:4])):
        def meaning(t: float32[4], a: float32[4]):
            for x in range(4):
                a[x] = t[x]
"""


@pytest.mark.parametrize(("access", "index"), [("read", (2,)), ("update", (2,)), ("write", (0,))])
def test_reading_what_was_not_written_is_found_inside(access: str, index: tuple[int]) -> None:
    failure = fail(UNWRITTEN.replace("ACCESS", access), np.zeros(4, "f4"))
    assert (failure.rule, failure.index) == ("uninitialized-read", index)


def test_what_a_call_writes_counts_as_written_and_nothing_else() -> None:
    text = """
def f(A: float32[4]):
    T = alloc(float32[4])
    with call("g", write(T[0:4])):
        def meaning(t: float32[4]):
            for x in range(N):
                t[x] = 1.0
    for i in range(4):
        A[i] = T[i]
"""
    run(text.replace("N", "4"), np.zeros(4, "f4"))
    failure = fail(text.replace("N", "3"), np.zeros(4, "f4"))
    assert (failure.rule, failure.index) == ("uninitialized-read", (3,))


def test_calls_of_parallel_iterations_race() -> None:
    text = """
def f(A: float32[4]):
    for i in parallel(3):
        with call("g", ACCESS(A[i:i + 2])):
            def meaning(a: float32[2]):
                pass
"""
    run(text.replace("ACCESS", "read"), np.zeros(4, "f4"))
    text = text.replace("ACCESS", "write").replace("pass", "a[1] = 2.0")
    run(text, np.zeros(4, "f4"))
    assert fail(text.replace("write", "update"), np.zeros(4, "f4")).rule == "race"


def test_a_python_function_works_on_arrays() -> None:
    @register_function("test.sort")
    def sort(source: NDArray[Any], result: NDArray[Any], sign: float) -> None:
        assert not source.flags.writeable
        result[...] = np.sort(source * sign, axis=1)

    text = """
def f(A: float32[2, 4], B: float32[2, 4]):
    call("packed:test.sort", read(A[0:2, 0:3]), write(B[0:2, 1:4]), -1.0)
"""
    a, b = np.arange(8, dtype="f4").reshape(2, 4), np.zeros((2, 4), "f4")
    run(text, a, b)
    assert b.tolist() == [[0, -2, -1, 0], [0, -6, -5, -4]]


def test_a_python_function_must_be_given_only_what_was_written() -> None:
    register_function("test.none")(print)
    text = """
def f():
    with alloc(float32[2]) as T:
        T[0] = 1.0
        call("packed:test.none", read(T[0:2]))
"""
    failure = fail(text)
    assert (failure.rule, failure.index) == ("uninitialized-read", (1,))


def test_an_exception_of_a_python_function_reaches_the_caller() -> None:
    @register_function("test.raises")
    def raises() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run('def f():\n    call("packed:test.raises")')


def test_names_of_functions() -> None:
    register_function("test.sum")(len)
    register_function("test.sum")(len)
    with pytest.raises(UserError, match="already registered as test"):
        register_function("test.sum")(max)
    register_function("test.sum", override=True)(max)
    with pytest.raises(RuntimeFailure) as caught:
        run('def f():\n    call("packed:test.sun")')
    assert "no function is registered as test.sun" in caught.value.message
    assert "did you mean test.sum?" in (caught.value.hint or "")


def test_a_c_function_gets_pointers_and_numbers() -> None:
    text = """
def f(A: uint8[2, 4], n: uint64):
    call("symbol:memset", write(A[1, 1:3]), int32(7), n)
"""
    a = np.zeros((2, 4), "u1")
    run(text, a, 2)
    assert a.tolist() == [[0] * 4, [0, 7, 7, 0]]


def test_c_functions_that_cannot_be_called() -> None:
    with pytest.raises(RuntimeFailure) as caught:
        run('def f():\n    call("symbol:tvmlab_no_such_function")')
    assert "tvmlab_no_such_function, which is not in this process" in caught.value.message
    with pytest.raises(RuntimeFailure, match="takes no float16 by value"):
        run('def f():\n    call("symbol:abs", float16(1.0))')
    with pytest.raises(RuntimeFailure, match="libnothing-here cannot be loaded"):
        load_library("libnothing-here")


def test_a_prefetch_does_nothing_and_a_nameless_call_is_refused() -> None:
    run('def f(A: float32[2]):\n    call("prefetch", address(A[9]))', np.zeros(2, "f4"))
    with pytest.raises(RuntimeFailure) as caught:
        run('def f():\n    call("gemm")')
    assert "the interpreter cannot call gemm" in caught.value.message
    assert "give the call a meaning" in (caught.value.hint or "")
