"""Names for values and calls of outside code in machine code, through the whole pipeline."""

from __future__ import annotations

import base64
import shutil
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab.codegen import compile_c, interpret, with_code
from tvmlab.ir import parse
from tvmlab.runtime import functions
from tvmlab.support import OptionError, RuntimeFailure, UnsupportedOp, UserError, llvm_binding


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_functions", {})


def both(text: str, *arrays: NDArray[Any], link: Any = ()) -> list[NDArray[Any]]:
    """The arrays after the compiled program ran; the interpreter must agree."""
    program = parse(text)
    compiled, plain = [a.copy() for a in arrays], [a.copy() for a in arrays]
    tl.build(program, link=link)(*compiled)
    for code in link:
        program = with_code(program, code)
    interpret(program, plain)
    for mine, theirs in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    return compiled


ROTATE = """
def rotate(X: float32[37], Y: float32[37], c: float32[1]):
    for i in KIND(37):
        with block("b", v=spatial(37, i)):
            k = c[0]
            x = X[v] * k
            y = Y[v] - x
            X[v] = y
            Y[v] = x + y * 2.0
"""


@pytest.mark.parametrize("kind", ["range", "vectorized", "unrolled", "parallel"])
def test_all_new_values_are_computed_before_any_is_stored(kind: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 37)).astype("f4")
    k = np.array([0.5], "f4")
    new_x, new_y, _ = both(ROTATE.replace("KIND", kind), x, y, k)
    scaled = x * k
    np.testing.assert_allclose(new_x, y - scaled, rtol=1e-5)
    np.testing.assert_allclose(new_y, scaled + (y - scaled) * 2, rtol=1e-5)


ARGMAX = """
def argmax(A: float32[5, 19], I: int64[5], M: float32[5]):
    for i in range(5):
        for ko in range(3):
            for ki in KIND(8):
                with block("m", vi=spatial(5, i), vk=reduce(19, ko * 8 + ki)):
                    where(ko * 8 + ki < 19)
                    combine(lambda i, m, j, n: (select(n > m, j, i), max(m, n)),
                            (-1, float32("-inf")))
                    with init():
                        I[vi] = -1
                        M[vi] = float32("-inf")
                    better = A[vi, vk] > M[vi]
                    at: int64 = select(better, vk, I[vi])
                    m = max(A[vi, vk], M[vi])
                    I[vi] = at
                    M[vi] = m
"""


@pytest.mark.parametrize("kind", ["range", "unrolled"])
def test_a_reduction_of_pairs(kind: str) -> None:
    a = np.random.default_rng(1).permutation(95).astype("f4").reshape(5, 19)
    _, at, most = both(ARGMAX.replace("KIND", kind), a, np.zeros(5, "i8"), np.zeros(5, "f4"))
    np.testing.assert_array_equal(at, a.argmax(1))
    np.testing.assert_array_equal(most, a.max(1))


def test_lanes_whose_condition_fails_have_no_effect() -> None:
    text = """
def f(A: int32[21], B: int32[21], n: int64[1]):
    for j in vectorized(21):
        if B[j] != 0:
            q: int32 = A[j] // B[j]
            r = A[j] - q * B[j]
            A[j] = r
            B[j] = q
"""
    rng = np.random.default_rng(2)
    a, b = rng.integers(1, 50, 21).astype("i4"), rng.integers(0, 3, 21).astype("i4")
    new_a, new_b, _ = both(text, a, b, np.zeros(1, "i8"))
    on = b != 0
    np.testing.assert_array_equal(new_a[on], a[on] % b[on])
    np.testing.assert_array_equal(new_b[on], a[on] // b[on])
    np.testing.assert_array_equal(new_a[~on], a[~on])


def test_names_for_indices_become_indices() -> None:
    text = """
def f(A: float32[8, 8], B: float32[8, 8]):
    for i in range(8):
        row = 7 - i
        for j in vectorized(8):
            column = j + row
            if column < 8:
                B[i, column] = A[row, column]
"""
    a = np.random.default_rng(3).random((8, 8)).astype("f4")
    _, b = both(text, a, np.zeros((8, 8), "f4"))
    expected = np.zeros((8, 8), "f4")
    for i in range(8):
        expected[i, 7 - i :] = a[7 - i, 7 - i :]
    np.testing.assert_array_equal(b, expected)
    lowered = tl.build(parse(text)).source("lowered")
    assert "row" not in lowered


SORT = """
def f(A: float32[6, 8], B: float32[6, 8]):
    T = alloc(float32[6, 8])
    for i in KIND(6):
        for j in range(8):
            with block("T", vi=spatial(6, i), vj=spatial(8, j)):
                T[vi, vj] = A[vi, vj] * 2.0
        with block("B", v=spatial(6, i)):
            call("packed:test.sort", read(T[v, 2:7]), write(B[v, 1:6]), 3.0, v == 2)
"""


@pytest.mark.parametrize("kind", ["range", "parallel", "unrolled"])
def test_a_python_function_works_on_the_memory_of_the_program(kind: str) -> None:
    @tl.register_function("test.sort")
    def sort(source: NDArray[Any], result: NDArray[Any], factor: float, down: bool) -> None:
        assert source.shape == result.shape == (1, 5)
        assert not source.flags.writeable
        assert type(down) is bool
        values = np.sort(source) * factor
        result[...] = values[:, ::-1] if down else values

    assert sort.__name__ == "sort"
    a = np.random.default_rng(4).random((6, 8)).astype("f4")
    _, b = both(SORT.replace("KIND", kind), a, np.full((6, 8), -1, "f4"))
    expected = np.sort(a[:, 2:7] * 2, axis=1) * 3
    expected[2] = expected[2, ::-1]
    np.testing.assert_allclose(b[:, 1:6], expected, rtol=1e-6)
    np.testing.assert_array_equal(b[:, [0, 6, 7]], -1)


@pytest.mark.parametrize("kind", ["range", "parallel"])
def test_an_exception_reaches_who_called_the_kernel(kind: str) -> None:
    @tl.register_function("test.picky")
    def picky(values: NDArray[Any]) -> None:
        if values[0] > 2:
            raise KeyError("too large")

    assert picky.__name__ == "picky"
    text = f"""
def f(A: float32[4]):
    for i in {kind}(4):
        call("packed:test.picky", read(A[i]))
"""
    exe = tl.build(parse(text))
    exe(np.zeros(4, "f4"))
    for _ in range(2):
        with pytest.raises(KeyError, match="too large") as caught:
            exe(np.full(4, 9, "f4"))
        assert "in picky" in "".join(traceback.format_exception(caught.value))
    exe(np.zeros(4, "f4"))
    with pytest.raises(KeyError):
        exe.time(np.full(4, 9, "f4"))


def test_a_function_that_is_not_registered() -> None:
    exe = tl.build(parse('def f(A: float32[4]):\n    call("packed:test.none", read(A[0:4]))'))
    with pytest.raises(RuntimeFailure, match=r"no function is registered as test\.none"):
        exe(np.zeros(4, "f4"))


def test_a_buffer_of_unknown_size_and_of_no_dimension() -> None:
    tl.register_function("test.double")(lambda x, y: np.multiply(x, 2, out=y))  # pyright: ignore
    text = """
def f(n: int64, A: float32[n, n], B: float32[n, n], S: float32[()]):
    call("packed:test.double", read(A[0:n, 0:n]), write(B[0:n, 0:n]))
    call("packed:test.double", read(S[()]), update(S[()]))
"""
    program = parse(text)
    a, b, s = np.ones((3, 3), "f4"), np.zeros((3, 3), "f4"), np.array(4, "f4")
    tl.build(program)(3, a, b, s)
    assert b.tolist() == [[2] * 3] * 3
    assert s == 8


SCALE = """
define i32 @test_scale(ptr %x, ptr %y, i64 %stride, float %f) {
  %v = load float, ptr %x
  %w = fmul float %v, %f
  store float %w, ptr %y
  %q = getelementptr float, ptr %y, i64 %stride
  store float %v, ptr %q
  ret i32 0
}
"""
CALL_SCALE = """
def f(A: float32[4], B: float32[2, 4]):
    for i in range(4):
        call("symbol:test_scale", read(A[i]), write(B[0:2, i]), B.stride(0), 3.0)
"""


def test_code_that_is_linked_in_is_called_and_inlined(tmp_path: Path) -> None:
    a, b = np.arange(4, dtype="f4"), np.zeros((2, 4), "f4")
    module = llvm_binding().parse_assembly(SCALE)
    text_file, bitcode_file = tmp_path / "scale.ll", tmp_path / "scale.bc"
    text_file.write_text(SCALE)
    bitcode_file.write_bytes(module.as_bitcode())
    for code in (SCALE, module.as_bitcode(), text_file, bitcode_file):
        _, b = both(CALL_SCALE, a, b, link=[code])
        np.testing.assert_array_equal(b, [a * 3, a])
    exe = tl.build(parse(CALL_SCALE), link=[SCALE])
    assert "test_scale" not in exe.source("llvm")


def test_a_loop_or_block_may_bring_the_code() -> None:
    a, b = np.arange(4, dtype="f4"), np.zeros((2, 4), "f4")
    code = SCALE.replace('"', '\\"').replace("\n", "\\n")
    text = CALL_SCALE.replace("range(4)", f'unrolled(4, pragma_import_llvm="{code}")')
    tl.build(parse(text))(a, b)
    np.testing.assert_array_equal(b, [a * 3, a])


def test_code_that_cannot_be_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse(CALL_SCALE)
    with pytest.raises(UserError, match="calls the C function test_scale, which is neither"):
        tl.build(program)
    with pytest.raises(UserError, match="is not LLVM's"):
        tl.build(program, link=["int main;"])
    with pytest.raises(UserError, match="is not LLVM's"):
        with_code(program, "base64:" + base64.b64encode(b"nonsense").decode())
    with pytest.raises(UserError, match="cannot be read"):
        with_code(program, tmp_path / "nothing.ll")
    monkeypatch.setattr(shutil, "which", lambda name: None)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    source = tmp_path / "scale.c"
    source.write_text("void f(void) {}")
    with pytest.raises(OptionError, match="clang is not installed"):
        with_code(program, source)


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
def test_c_through_clang() -> None:
    code = compile_c("void test_scale(float *x, float *y, long s, float f)\n{ *y = *x * f; }")
    a, b = np.arange(4, dtype="f4"), np.zeros((2, 4), "f4")
    tl.build(parse(CALL_SCALE), link=[code])(a, b)
    np.testing.assert_array_equal(b[0], a * 3)
    with pytest.raises(UserError, match="clang does not accept"):
        compile_c("int f(")


def test_a_c_function_of_the_process_and_small_numbers() -> None:
    text = """
def memset(A: uint8[2, 4]):
    call("symbol:memset", write(A[1, 1:3]), int32(7), 2)
    call("symbol:abs", int8(-1))
"""
    (a,) = both(text, np.zeros((2, 4), "u1"))
    assert a.tolist() == [[0] * 4, [0, 7, 7, 0]]


def test_a_prefetch() -> None:
    text = """
def f(A: float32[64], B: float32[64]):
    for i in range(64):
        call("prefetch", address(A[i + 16]), NUMBERS)
        B[i] = A[i]
"""
    a = np.arange(64, dtype="f4")
    for numbers, shown in (("0", "i32 0, i32 3"), ("1, 2", "i32 1, i32 2")):
        changed = text.replace("NUMBERS", numbers)
        _, b = both(changed, a, np.zeros(64, "f4"))
        np.testing.assert_array_equal(a, b)
        assert shown in tl.build(parse(changed)).source("llvm")
    with pytest.raises(UnsupportedOp, match="at most two literal numbers"):
        tl.build(parse(text.replace("NUMBERS", "7")))


def test_calls_that_a_machine_cannot_make() -> None:
    with pytest.raises(UnsupportedOp, match="gemm is called, which this machine does not have"):
        tl.build(parse('def f():\n    call("gemm")'))
    with pytest.raises(UnsupportedOp, match="takes no float16 by value"):
        tl.build(parse('def f():\n    call("symbol:abs", float16(1.0))'))


def test_a_call_inside_a_vectorized_loop_keeps_it_scalar() -> None:
    tl.register_function("test.nothing")(print)
    text = 'def f():\n    for i in vectorized(4):\n        call("packed:test.nothing", i)'
    lowered = tl.build(parse(text)).source("lowered")
    assert 'scalar="packed:test.nothing is called inside it"' in lowered
