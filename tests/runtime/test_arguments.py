"""Every way to call a kernel wrongly is refused by name; right ways work without copies."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.kernels import buffer, kernel_of
from numpy.typing import NDArray

from tvmlab.ir import Buffer, For, Load, Program, Store, Var, const
from tvmlab.runtime import BufferParam, Kernel, ScalarParam, Signature, empty, quick
from tvmlab.runtime.arguments import bind_arguments
from tvmlab.runtime.quick_ir import CLOSER_LOOK
from tvmlab.runtime.signature import evaluate_dim
from tvmlab.support import FLOAT32, DType, OptionError, RuntimeFailure, ShapeError, TypeMismatch


@pytest.fixture(scope="module")
def double() -> Kernel:
    """B[i] = 2 * A[i], seen as 2-d by the caller."""
    ba, bb, i = buffer("A", 12), buffer("B", 12), Var("i")
    program = Program("double", (ba, bb), For(i, const(12), Store(bb, (i,), Load(ba, (i,)) * 2.0)))
    kernel = kernel_of(program)
    params = (BufferParam("A", FLOAT32, (3, 4)), BufferParam("B", FLOAT32, (3, 4), written=True))
    return Kernel(kernel.object_bytes, Signature("double", params))


def arrays() -> tuple[NDArray[Any], NDArray[Any]]:
    return np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32)


def test_good_calls(double: Kernel) -> None:
    a, b = arrays()
    double(a, b)
    np.testing.assert_array_equal(b, 2)
    a[:] = 4
    double(a, b)  # the short way: the same arrays again
    np.testing.assert_array_equal(b, 8)
    c = np.zeros_like(b)
    double(a, c)
    np.testing.assert_array_equal(c, 8)
    assert "double(A: float32[3, 4], B: float32[3, 4])" in repr(double)


Calls = tuple[Callable[[Any, Any], tuple[Any, ...]], type[Exception], str]
BAD_CALLS: list[Calls] = [
    (lambda a, b: (a,), RuntimeFailure, r"double takes 2 argument\(s\), not 1"),
    (lambda a, b: (a, b, b), RuntimeFailure, "written in place"),
    (lambda a, b: (a.tolist(), b), TypeMismatch, "argument A is a list, not an array"),
    (lambda a, b: (a.astype("f8"), b), TypeMismatch, r"argument A has element type float64"),
    (lambda a, b: (a, b.astype(">f4")), TypeMismatch, "argument B has element type >f4"),
    (lambda a, b: (a[:2], b), ShapeError, r"argument A has shape \(2, 4\).* needs \(3, 4\)"),
    (lambda a, b: (a.ravel(), b), ShapeError, r"argument A has shape \(12,\)"),
    (lambda a, b: (np.asfortranarray(a), b), RuntimeFailure, r"np.ascontiguousarray\(A\)$"),
    (lambda a, b: (a, np.zeros((4, 3), "f4").T), RuntimeFailure, "and copy the result back"),
    (lambda a, b: (a, misaligned((3, 4))), RuntimeFailure, "B is not aligned to 4 bytes"),
    (lambda a, b: (a, a), RuntimeFailure, "B is written by the kernel and shares memory with"),
    (lambda a, b: overlapping(), RuntimeFailure, r"shares memory with argument A.*\n.*A.copy"),
    (lambda a, b: (a, read_only(b)), RuntimeFailure, "B is written.*but is read-only"),
    (lambda a, b: (a, Plain(b)), RuntimeFailure, r"torch: B.numpy\(\)"),
    (lambda a, b: (Broken(), b), RuntimeFailure, "A .Broken. gives no DLPack view: on a GPU"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD_CALLS)
def test_bad_calls(double: Kernel, change: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        double(*change(*arrays()))


def misaligned(shape: tuple[int, ...]) -> NDArray[Any]:
    raw = np.zeros(int(np.prod(shape)) * 4 + 1, np.uint8)
    return raw[1:].view(np.float32).reshape(shape)


def overlapping() -> tuple[NDArray[Any], NDArray[Any]]:
    raw = np.zeros(20, np.float32)
    return raw[:12].reshape(3, 4), raw[8:].reshape(3, 4)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


class Versioned:
    """A DLPack producer that may be written to."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Plain(Versioned):
    """An old DLPack producer, whose memory NumPy takes as read-only."""

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


class Broken:
    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("on a GPU")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def test_dlpack_producers_are_not_copied(double: Kernel) -> None:
    a, b = arrays()
    double(Plain(a), Versioned(b))
    np.testing.assert_array_equal(b, 2)
    a[:] = 5
    double(Versioned(a), Versioned(b))
    np.testing.assert_array_equal(b, 10)


def test_the_short_way_notices_changes(double: Kernel) -> None:
    a, b = arrays()
    double(a, b)
    b.flags.writeable = False
    with pytest.raises(RuntimeFailure, match="read-only"):
        double(a, b)


def test_the_short_way_does_not_keep_arrays_alive(double: Kernel) -> None:
    import weakref

    a, b = arrays()
    double(a, b)
    ref = weakref.ref(a)
    del a
    assert ref() is None


def test_inputs_may_share_memory() -> None:
    ba, bb, bc, i = buffer("A", 4), buffer("B", 4), buffer("C", 4), Var("i")
    value = Load(ba, (i,)) + Load(bb, (i,))
    kernel = kernel_of(Program("f", (ba, bb, bc), For(i, const(4), Store(bc, (i,), value))))
    a, c = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    kernel(a, a, c)
    np.testing.assert_array_equal(c, 2 * a)


def test_alignment_that_a_kernel_demands() -> None:
    signature = Signature("f", (BufferParam("A", FLOAT32, (8,), alignment=64),))
    good = empty(8)
    assert good.ctypes.data % 64 == 0
    bind_arguments(signature, [good])
    with pytest.raises(RuntimeFailure, match=r"A is not aligned to 64 bytes\n.*runtime.empty"):
        bind_arguments(signature, [empty(9)[1:]])


def sized() -> Signature:
    n, m = ScalarParam("n", DType.of("int64")), ScalarParam("m", DType.of("int32"))
    a = BufferParam("A", FLOAT32, ("n", 4))
    b = BufferParam("B", FLOAT32, ("2 * n + m",), written=True)
    return Signature("f", (a, b, n, m))


def test_sizes_are_read_off_arrays_or_checked() -> None:
    a, b = np.zeros((3, 4), np.float32), np.zeros(11, np.float32)
    slots = bind_arguments(sized(), [a, b, 5]).slots  # n left out
    assert list(slots)[2:] == [3, 5]
    assert list(bind_arguments(sized(), [a, b, 3, 5]).slots)[2:] == [3, 5]
    with pytest.raises(ShapeError, match=r"A has shape \(3, 4\), the kernel needs \(n = 2, 4\)"):
        bind_arguments(sized(), [a, b, 2, 5])
    with pytest.raises(ShapeError, match=r"B has shape .*needs \(2 \* n \+ m = 12,\)"):
        bind_arguments(sized(), [a, b, 6])


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.5, "m is 1.5, not a value of type int32"), (1 << 40, "not a value of type int32"),
     (float("nan"), "m is nan, not a value of"), (float("inf"), "m is inf, not a value of"),
     (1j, "argument m is a complex"), ("5", "argument m is a str"),
     (None, "argument m is a NoneType, not a number of type int32")],
)  # fmt: skip
def test_scalars_of_the_wrong_kind(value: Any, message: str) -> None:
    with pytest.raises(TypeMismatch, match=message):
        bind_arguments(sized(), [np.zeros((3, 4), np.float32), np.zeros(11, np.float32), value])


def test_negative_and_float_scalars_have_the_right_bits() -> None:
    params = tuple(ScalarParam(t, DType.of(t)) for t in ("int8", "float32", "float64", "float16"))
    slots = bytes(bind_arguments(Signature("f", params), [-2, 1.5, 2.5, 0.5]).slots)
    assert np.frombuffer(slots[0:1], np.int8)[0] == -2
    assert np.frombuffer(slots[8:12], np.float32)[0] == 1.5
    assert np.frombuffer(slots[16:24], np.float64)[0] == 2.5
    assert np.frombuffer(slots[24:26], np.float16)[0] == 0.5


def test_scalars_that_are_too_big() -> None:
    index = Signature("f", (ScalarParam("k", DType.of("int64")),))
    assert bind_arguments(index, [-(1 << 48)]).slots
    with pytest.raises(RuntimeFailure, match="int64 scalars are taken for sizes and indices"):
        bind_arguments(index, [(1 << 48) + 1])
    single = Signature("f", (ScalarParam("x", FLOAT32),))
    assert bind_arguments(single, [float("inf")]).slots
    with pytest.raises(TypeMismatch, match=r"argument x is 1e\+39, not a value of type float32"):
        bind_arguments(single, [1e39])


def test_numpy_scalars_are_numbers() -> None:
    a, b = np.zeros((3, 4), np.float32), np.zeros(11, np.float32)
    assert list(bind_arguments(sized(), [a, b, np.int64(5)]).slots)[3] == 5


def test_dimension_expressions() -> None:
    assert evaluate_dim("min(n, 3) * 2 - n % 4 + n // 2", {"n": 7}) == 6
    assert evaluate_dim("max(n, k)", {"n": 7}) is None
    with pytest.raises(OptionError, match=r"uses more than \+ - \* // % min and max"):
        evaluate_dim("n ** 2", {"n": 7})
    with pytest.raises(OptionError, match="is not an expression"):
        evaluate_dim("n +", {"n": 7})


def test_signature_as_plain_data() -> None:
    assert Signature.from_json(sized().to_json()) == sized()


def test_special_element_types() -> None:
    for dtype in ("bool", "bfloat16", "float16"):
        ba, bb, i = buffer("A", 6, dtype), buffer("B", 6, dtype), Var("i")
        kernel = kernel_of(
            Program("f", (ba, bb), For(i, const(6), Store(bb, (i,), Load(ba, (i,)))))
        )
        numpy_type = DType.of(dtype).numpy
        a, b = np.array([0, 1, 1, 0, 1, 0]).astype(numpy_type), np.zeros(6, numpy_type)
        kernel(a, b)
        np.testing.assert_array_equal(a, b)
    assert DType.of("bfloat16").numpy == ml_dtypes.bfloat16


def test_zero_sized_arrays_overlap_nothing() -> None:
    n = Var("n")
    ba, bb = (Buffer(name, (n,), FLOAT32) for name in "AB")
    i = Var("i")
    kernel = kernel_of(Program("f", (ba, bb, n), For(i, n, Store(bb, (i,), Load(ba, (i,))))))
    nothing = np.zeros(0, np.float32)
    kernel(nothing, nothing)


def test_the_short_way_is_taken_for_arrays_that_fit(double: Kernel) -> None:
    a, b = arrays()
    assert double.enter(a, b) == 0
    np.testing.assert_array_equal(b, 2)


@pytest.mark.parametrize(("change", "error", "message"), BAD_CALLS)
def test_the_short_way_leaves_the_rest_alone(
    double: Kernel, change: Any, error: type[Exception], message: str
) -> None:
    del error, message
    a, b = arrays()
    given = change(a, b)
    assert double.enter(*given) == CLOSER_LOOK
    np.testing.assert_array_equal(b, 0)


def test_there_is_no_short_way_where_objects_lie_otherwise(
    double: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "_method", lambda: None)
    kernel, (a, b) = Kernel(double.object_bytes, double.signature), arrays()
    assert kernel.enter(a, b) == CLOSER_LOOK
    kernel(a, b)
    np.testing.assert_array_equal(b, 2)


def test_other_threads_go_on_while_a_kernel_runs(double: Kernel) -> None:
    a, b = arrays()
    results = [np.zeros_like(b) for _ in range(4)]

    def work(out: Any) -> None:
        for _ in range(2000):
            double(a, out)

    threads = [threading.Thread(target=work, args=(out,)) for out in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for out in results:
        np.testing.assert_array_equal(out, 2)
