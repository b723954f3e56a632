"""What programs compute: against NumPy, and bit by bit where types differ from Python's."""

from __future__ import annotations

import math
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.ir import Program, parse, structural_hash
from tvmlab.support import RuntimeFailure


def run(text: str, *arguments: NDArray[Any] | float) -> None:
    interpret(parse(text), arguments)


def value_of(expression: str, dtype: str, **inputs: Any) -> Any:
    """The value of one expression over scalar inputs, each given as a NumPy scalar."""
    params = "".join(f"{name}: {np.asarray(x).dtype.name}, " for name, x in inputs.items())
    text = f"def f({params}out: {dtype}[1]):\n    out[0] = {expression}"
    program = parse(text)
    out = np.zeros(1, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    interpret(program, [*inputs.values(), out])
    return out[0]


MATMUL = """
def matmul(A: float32[6, 7], B: float32[7, 5], C: float32[6, 5]):
    for i in range(6):
        for ko in range(4):
            for j in range(5):
                for ki in range(2):
                    with block("C", vi=spatial(6, i), vj=spatial(5, j), vk=reduce(7, ko * 2 + ki)):
                        where(ko * 2 + ki < 7)
                        with init():
                            C[vi, vj] = 0.0
                        C[vi, vj] += A[vi, vk] * B[vk, vj]
"""


def test_matmul_with_a_split_and_reordered_reduction() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, s).astype("f4") for s in ((6, 7), (7, 5)))
    c = np.full((6, 5), 99, "f4")
    run(MATMUL, a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_padding_by_a_lazy_select() -> None:
    text = """
def pad(n: int64, A: float32[n], B: float32[n + 2]):
    for i in range(n + 2):
        with block("B", v=spatial(n + 2, i)):
            B[v] = A[v - 1] if 1 <= v <= n else 0.0
"""
    a, b = np.arange(4, dtype="f4"), np.zeros(6, "f4")
    run(text, 4, a, b)
    np.testing.assert_array_equal(b, np.pad(a, 1))
    b[:] = 9
    run(text, a, b)  # the size is told by the shape of A
    np.testing.assert_array_equal(b, np.pad(a, 1))


def test_intermediates_if_else_and_a_zero_dimensional_result() -> None:
    text = """
def f(A: int32[4], S: int32[()]):
    T = alloc(int32[4])
    for i in range(4):
        if A[i] < 0:
            T[i] = 0 - A[i]
        elif A[i] == 0:
            T[i] = 100
        else:
            T[i] = A[i]
    S[()] = 0
    for i in range(4):
        S[()] += T[i]
"""
    s = np.array(0, "i4")
    run(text, np.array([-1, 0, 2, -3], "i4"), s)
    assert s == 106


@pytest.mark.parametrize(
    ("expression", "dtype", "a", "b", "expected"),
    [
        ("a + b", "int8", 100, 100, -56),
        ("a - b", "uint8", 3, 5, 254),
        ("a * b", "int32", 70000, 70000, 605032704),
        ("a + b", "int64", 2**63 - 1, 1, -(2**63)),
        ("a * b", "uint64", 2**63, 2, 0),
        ("a // b", "int32", -7, 2, -4),
        ("a % b", "int32", -7, 2, 1),
        ("a % b", "int32", 7, -2, -1),
        ("truncdiv(a, b)", "int32", -7, 2, -3),
        ("truncmod(a, b)", "int32", -7, 2, -1),
        ("a // b", "int8", -128, -1, -128),
        ("a << b", "int8", 3, 7, -128),
        ("a >> b", "int8", -128, 3, -16),
        ("a >> b", "uint8", 128, 3, 16),
        ("a ^ b", "int8", -1, 5, -6),
        ("a & b", "int8", -2, 7, 6),
        ("a | b", "uint16", 0x0F0F, 0xF000, 0xFF0F),
        ("min(a, b)", "int8", -3, 2, -3),
        ("abs(a - b)", "int32", 1, 4, 3),
    ],
)
def test_integers_wrap_at_their_width(
    expression: str, dtype: str, a: int, b: int, expected: int
) -> None:
    kind = np.dtype(dtype).type
    assert value_of(expression, dtype, a=kind(a), b=kind(b)) == expected
    lanes = re.sub(r"\b([ab])\b", r"\1[ramp(0, 1, 4)]", expression)
    text = f"def f(a: {dtype}[4], b: {dtype}[4]):\n    a[ramp(0, 1, 4)] = {lanes}"
    vector = np.full(4, a, dtype)
    run(text, vector, np.full(4, b, dtype))
    np.testing.assert_array_equal(vector, np.full(4, expected, dtype))


@pytest.mark.parametrize("names", ["a", "ab", "abc", "abcd", "abcde"])
def test_long_sums_wrap_once_and_right(names: str) -> None:
    rng = np.random.default_rng(len(names))
    for _ in range(5):
        given = {name: np.int8(rng.integers(-128, 128)) for name in names}
        factors = {name: int(rng.integers(-9, 10)) for name in names}
        text = "100 - (" + " - ".join(f"{n} * {f}" for n, f in factors.items()) + ") + a // 3"
        signed = {n: -int(x) * factors[n] * (1 if n == "a" else -1) for n, x in given.items()}
        expected = 100 + sum(signed.values()) + int(given["a"]) // 3
        assert value_of(text, "int8", **given) == (expected + 128) % 256 - 128


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_floats_are_rounded_after_each_operation(dtype: str, op: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype)).type
    rng = np.random.default_rng(3)
    for a, b in rng.uniform(0.5, 2, (8, 2)):
        x, y = kind(a), kind(b)
        expected = {"+": x + y, "-": x - y, "*": x * y, "/": x / y}[op]
        assert value_of(f"a {op} b", dtype, a=x, b=y) == expected
    third = kind(1) / kind(3)
    assert value_of("(a / b) * b", dtype, a=kind(1), b=kind(3)) == third * kind(3)


def test_float32_sums_differ_from_float64_sums() -> None:
    a, b = np.float32(1), np.float32(2**-24)
    assert value_of("a + b + b", "float32", a=a, b=b) == 1
    assert value_of("float64(a) + float64(b) + float64(b)", "float64", a=a, b=b) > 1


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("min(a, n)", math.nan), ("max(n, a)", math.nan), ("min(a, b)", 2.0), ("max(a, b)", 3.0),
        ("b // a", 1.0), ("(0.0 - b) % a", 1.0), ("truncmod(0.0 - b, a)", -1.0),
        ("a / 0.0", math.inf), ("(0.0 - a) / 0.0", -math.inf), ("pow(a, b)", 8.0),
        ("select(isnan(n), a, b)", 2.0), ("select(a < n, a, b)", 3.0), ("fma(a, b, a)", 8.0),
        ("floor(0.0 - 2.5)", -3.0), ("ceil(2.5)", 3.0), ("trunc(0.0 - 2.5)", -2.0),
        ("round(2.5)", 3.0), ("nearbyint(2.5)", 2.0),
        ("rsqrt(4.0)", 0.5), ("erf(0.0)", 0.0), ("exp2(3.0)", 8.0),
    ],
)  # fmt: skip
def test_float_operations(expression: str, expected: float) -> None:
    got = value_of(expression, "float32", a=np.float32(2), b=np.float32(3), n=np.float32("nan"))
    np.testing.assert_equal(float(got), expected)


def test_fma_rounds_once() -> None:
    a = np.float32(1 + 2**-12)
    exact = float(a) * float(a) - 1
    assert value_of("fma(a, a, -1.0)", "float32", a=a) == np.float32(exact)
    assert value_of("a * a - 1.0", "float32", a=a) != np.float32(exact)


@pytest.mark.parametrize(
    ("source", "to", "value", "expected"),
    [
        ("float32", "int8", -3.9, -3),
        ("float64", "uint8", 255.9, 255),
        ("int32", "int8", 300, 44),
        ("int32", "uint8", -1, 255),
        ("int8", "uint64", -1, 2**64 - 1),
        ("int64", "float32", 2**24 + 1, 2**24),
        ("int64", "float32", 2**40 + 2**16 + 1, 2**40 + 2**17),
        ("float64", "float32", 0.1, np.float32(0.1)),
        ("float32", "float16", 1e6, math.inf),
        ("int32", "bool", 2, True),
        ("float32", "bool", 0.5, True),
        ("bool", "int32", True, 1),
        ("bool", "float32", True, 1.0),
    ],
)
def test_casts(source: str, to: str, value: float, expected: float) -> None:
    given = np.dtype(source).type(value)
    assert value_of(f"{to}(a)", to, a=given) == expected
    text = f"def f(A: {source}[4], B: {to}[4]):\n    B[ramp(0, 1, 4)] = {to}x4(A[ramp(0, 1, 4)])"
    out = np.zeros(4, to)
    run(text, np.full(4, given), out)
    np.testing.assert_array_equal(out, np.full(4, expected, to))


def test_logic() -> None:
    for a in (False, True):
        for b in (False, True):
            given = {"a": np.bool_(a), "b": np.bool_(b)}
            assert value_of("a and not b", "bool", **given) == (a and not b)
            assert value_of("not (a or b)", "bool", **given) == (not (a or b))
            assert value_of("(a == b) != a", "bool", **given) == ((a == b) != a)
            assert value_of("bitxor(a, b)", "bool", **given) == (a ^ b)


def test_vectors_masks_and_strides() -> None:
    text = """
def f(n: int64, A: float32[10], B: float32[10]):
    B.masked(ramp(0, 1, 8) < broadcast(n, 8))[ramp(1, 1, 8)] = A.masked(
        ramp(0, 1, 8) < broadcast(4, 8))[ramp(9, -2, 8)] + broadcast(1.0, 8)
"""
    a, b = np.arange(10, dtype="f4"), np.full(10, -1, "f4")
    run(text, 5, a, b)
    # Lanes 0 to 3 read 9, 7, 5, 3; lane 4 is masked and reads 0; lanes from 5 on store nothing.
    np.testing.assert_array_equal(b, [-1, 10, 8, 6, 4, 1, -1, -1, -1, -1])


def test_a_select_of_vectors_evaluates_each_lane_on_one_side_only() -> None:
    text = """
def f(A: int32[4], B: int32[8]):
    B[ramp(0, 1, 8)] = select(
        ramp(0, 1, 8) < broadcast(4, 8),
        A[ramp(0, 1, 8)] // A[ramp(0, 1, 8)],
        broadcast(int32(7), 8),
    )
"""
    b = np.zeros(8, "i4")
    run(text, np.array([1, 2, 3, 4], "i4"), b)
    np.testing.assert_array_equal(b, [1, 1, 1, 1, 7, 7, 7, 7])


def test_scalar_masks() -> None:
    text = """
def f(A: int32[4], B: int32[4]):
    for i in range(4):
        B.masked(i != 2)[i] = A.masked(i < 2)[i * 3 - 3 * (i // 2)] + 1
"""
    b = np.full(4, -1, "i4")
    run(text, np.array([5, 0, 0, 6], "i4"), b)
    np.testing.assert_array_equal(b, [6, 7, -1, 1])


def test_storage_of_an_alloc_and_parallel_loops() -> None:
    text = """
def f(A: float32[4, 4], B: float32[4]):
    for i in parallel(4):
        with alloc(float32[1], scope="register") as acc:
            acc[0] = 0.0
            for k in unrolled(4):
                acc[0] += A[i, k]
            B[i] = acc[0]
"""
    a, b = np.arange(16, dtype="f4").reshape(4, 4), np.zeros(4, "f4")
    run(text, a, b)
    np.testing.assert_array_equal(b, a.sum(1))


def test_arrays_that_are_not_contiguous_are_read_and_written_in_place() -> None:
    a = np.arange(12, dtype="f4").reshape(3, 4).T
    b = np.zeros((4, 6), "f4")[:, ::2]
    text = "def f(A: float32[4, 3], B: float32[4, 3]):\n"
    text += "    for i in range(4):\n        for j in range(3):\n            B[i, j] = A[i, j]"
    run(text, a, b)
    np.testing.assert_array_equal(a, b)


def test_flat_parameters_take_arrays_of_any_shape() -> None:
    a = np.zeros((2, 3), "i8")
    run("def f(A: int64[6]):\n    for i in range(6):\n        A[i] = i", a)
    np.testing.assert_array_equal(a, [[0, 1, 2], [3, 4, 5]])


def test_loops_of_no_iterations() -> None:
    a = np.zeros(0, "f4")
    run("def f(n: int64, A: float32[n]):\n    for i in range(n):\n        A[i] = 1", a)


COPY = "def f(n: int64, A: float32[n], B: float32[4]):\n    for i in range(n):\n        B[i] = A[i]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "takes 3 argument(s), not 0"),
        ([np.zeros(4, "f4")], "takes 3 argument(s), not 1"),
        ([4, np.zeros(4, "f8"), np.zeros(4, "f4")], "A holds float32, the array holds float64"),
        ([4, np.zeros(5, "f4"), np.zeros(4, "f4")], "A has the shape (4,), not (5,)"),
        ([4, [1.0] * 4, np.zeros(4, "f4")], "A needs a NumPy array, not a list"),
        ([np.zeros(2), np.zeros(4, "f4"), np.zeros(4, "f4")], "n is a number, not an array"),
        ([4.5, np.zeros(4, "f4"), np.zeros(4, "f4")], "n is a int64; 4.5 does not fit"),
    ],
)
def test_arguments_that_do_not_fit(arguments: list[Any], message: str) -> None:
    with pytest.raises(RuntimeFailure) as caught:
        interpret(parse(COPY), arguments)
    assert message in str(caught.value)


def test_a_size_that_no_shape_tells() -> None:
    text = "def f(n: int64, A: float32[n + 1]):\n    pass"
    with pytest.raises(RuntimeFailure, match="n cannot be told"):
        run(text, np.zeros(3, "f4"))


def test_an_output_must_be_writeable() -> None:
    b = np.zeros(4, "f4")
    b.flags.writeable = False
    with pytest.raises(RuntimeFailure, match="B is written, but its array is read-only"):
        run(COPY, 4, np.zeros(4, "f4"), b)


def test_a_program_can_be_run_twice_and_is_not_changed() -> None:
    program: Program = parse(MATMUL)
    before = structural_hash(program)
    for _ in range(2):
        a, b, c = np.ones((6, 7), "f4"), np.ones((7, 5), "f4"), np.zeros((6, 5), "f4")
        interpret(program, [a, b, c])
        assert (c == 7).all()
    assert structural_hash(program) == before
