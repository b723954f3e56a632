"""What is easily overlooked: conditions that read, own results, empty sums, short pipelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.kept_values import assert_values_stay

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import parse
from tvmlab.lower import lower
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.support import UserError
from tvmlab.target import Target

Step = Callable[[Schedule], Any]

ASKS_MEMORY = """
def f(M: int64[9], A: int64[8, 4], C: int64[8, 4]):
    for i in range(8):
        if M[i] > 0:
            for j in range(4):
                C[i, j] = A[i, j]
        M[i + 1] = A[i, 0]
"""
OWN_RESULTS = """
def f(A: int64[3], C: int64[5]):
    for i in range(4):
        for k in range(3):
            with block("C", vi=spatial(4, i), vk=reduce(3, k)):
                with init():
                    C[vi] = 0
                C[vi] = C[vi] + C[vi + 1] * A[vk]
"""
CHANGED_BEHIND = """
def f(A: int64[10], C: int64[8]):
    B = alloc(int64[10])
    for y in range(8):
        for r in range(3):
            with block("B", vy=spatial(10, y + r)):
                B[vy] = A[vy] * 2
        with block("C", vy=spatial(8, y)):
            C[vy] = B[vy] + B[vy + 2]
        with block("W", vy=spatial(8, y)):
            A[vy + 2] = 7
"""
IN_PLACE = """
def f(A: int64[16], S: int64[17]):
    for i in range(16):
        with block("S", vi=spatial(16, i)):
            S[vi + 1] = S[vi] + A[vi]
"""
ROWS = """
def f(A: int64[4, 5], C: int64[4, 5]):
    T = alloc(int64[4, 5])
    for i in range(4):
        for j in range(5):
            T[i, j] = A[i, j]
    for i in range(4):
        for j in range(5):
            C[i, j] = T[i, j] + 1
"""
_a, _b = te.placeholder((8,), "int64", name="a"), te.placeholder((8,), "int64", name="b")
ADD = te.tensor_intrin(
    "add8_in_place",
    te.compute((8,), lambda i: _a[i] + _b[i], name="c"),
    """
def add8_in_place(a: int64[8], b: int64[8], c: int64[8]):
    for i in vectorized(8):
        c[i] = a[i] + b[i]
""",
)


def _symbolic_sums() -> Schedule:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n, m), name="A", dtype="int64")
    k = te.reduce_axis(m, "k")
    return Schedule(te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="C"))


def _of(text: str) -> Callable[[], Schedule]:
    return lambda: Schedule(parse(text))


REFUSED: dict[str, tuple[Callable[[], Schedule], Step, str, str]] = {
    "rounds that wait for a condition": (
        _of(ASKS_MEMORY),
        lambda s: s.parallel(s.loops("C")[0]),
        "parallel.dependence",
        "its iterations need each other's values or overwrite them",
    ),
    "start values of results still needed": (
        _of(OWN_RESULTS),
        lambda s: s.decompose_reduction("C", s.loops("C")[0]),
        "decompose_reduction.own-results",
        "cannot decompose C at i: a sum of it looks at other results of it, which would have been "
        "set to their start values by then; choose a loop further in",
    ),
    "tiles of results still needed": (
        _of(OWN_RESULTS),
        lambda s: s.blockize(s.loops("C")[0]),
        "blockize.own-results",
        "a sum of C looks at other results of C",
    ),
    "a window of inputs that change": (
        _of(CHANGED_BEHIND),
        lambda s: s.rolling_buffer("B"),
        "rolling_buffer.changing-values",
        "W changes A in y, so that what an iteration before has computed may be another value",
    ),
    "an intrinsic in place": (
        _of(IN_PLACE),
        lambda s: s.tensorize(s.split(s.loops("S")[0], [None, 8])[1], ADD),
        "tensorize.in-place",
        "S reads S and writes it, and the code of add8_in_place may store before it has read all",
    ),
    "elements and rounds that may be none, fused": (
        _symbolic_sums,
        lambda s: s.fuse(*s.loops("C")),
        "fuse.empty-sum",
        "cannot fuse i, k: k may have no iterations, and the sums of C would then not get their "
        "start values; assume that the size is at least 1, or take decompose_reduction first",
    ),
    "elements and rounds that may be none, skewed": (
        _symbolic_sums,
        lambda s: s.skew(s.loops("C")[0], s.loops("C")[1]),
        "skew.empty-sum",
        "k may have no iterations",
    ),
    "rows too far apart": (
        _of(ROWS),
        lambda s: s.storage_align("T", 0, 2**62, 2**61),
        "storage_align.too-far",
        "cannot align T by 4611686018427387904: rows would lie far apart, in more memory than "
        "there is; align by at most 65536",
    ),
    "code in a note": (
        _of(ROWS),
        lambda s: s.annotate_block("T", "import_llvm", "define void @f()"),
        "annotate_block.would-change",
        "cannot put the note import_llvm on T: it would bring in code from a schedule; use "
        "build(link=[...])",
    ),
    "padding that no element can hold": (
        _of(ROWS),
        lambda s: s.transform_layout("T", "T", "lambda i, j: [i, j // 4, j % 4]", float("inf")),
        "transform_layout.fill",
        "cannot fill the padding of T: inf is no value of int64",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    make, step, rule, reason = REFUSED[name]
    schedule = make()
    with pytest.raises(RefusedError) as refusal:
        step(schedule)
    assert refusal.value.verdict.rule == rule
    assert reason in refusal.value.verdict.reason


def test_a_condition_of_a_block_that_reads_memory_is_asked_inside() -> None:
    text = """
def f(M: int64[9], A: int64[8], C: int64[8]):
    for i in range(8):
        with block("C", vi=spatial(8, i)):
            where(M[i] > 0)
            C[vi] = A[vi]
        with block("M", vi=spatial(8, i)):
            M[vi + 1] = A[vi]
"""
    assert_values_stay(text, lambda s: s.split(s.loops("C")[0], [None, 3]))
    schedule = Schedule(parse(text))
    assert not schedule.check("parallel", schedule.loops("C")[0])
    sums = text.replace(
        "            C[vi] = A",
        "            with init():\n                C[vi] = 0\n            C[vi] = C[vi] + A",
    )
    with pytest.raises(UserError, match="the condition of block C reads memory"):
        Schedule(parse(sums))


@pytest.mark.parametrize("stages", [[0, 1, 3], [0, 2, 3], [0, 1, 2]])
@pytest.mark.parametrize("extent", [1, 2, 3])
def test_pipelines_shorter_than_their_stages(extent: int, stages: list[int]) -> None:
    text = f"""
def f(A: int64[8, 4], C: int64[4], D: int64[8, 4]):
    T = alloc(int64[4])
    for i in range({extent}):
        for j in range(4):
            T[j] = A[i, j]
        for j in range(4):
            C[j] = C[j] + T[j]
        for j in range(4):
            D[i, j] = T[j]
"""
    assert_values_stay(text, lambda s: s.software_pipeline(s.loops("T")[0], stages))


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_indices_of_narrow_types(dtype: str) -> None:
    text = f"""
def f(A: int64[13], D: int64[12]):
    T = alloc(int64[12])
    for i in range(12):
        T[i] = A[i + 1] * 2
    for j in range(12):
        D[j] = T[{dtype}(j)] + D[j] * 2
"""
    assert_values_stay(text, lambda s: s.split(s.loops("D")[0], [None, 4]))
    assert_values_stay(text, lambda s: s.compute_inline("T"))
    assert_values_stay(text, lambda s: s.compute_at("T", s.loops("D")[0]))


def test_triangles_do_not_fill_their_box() -> None:
    text = """
def f(A: int64[6], C: int64[6, 6]):
    T = alloc(int64[6])
    for i in range(6):
        for j in range(6 - i):
            T[j] = A[j] * 2
        for j in range(6):
            C[i, j] = T[j]
"""
    schedule = Schedule(parse(text))
    assert not schedule.check("parallel", schedule.loops("C")[0])
    assert not schedule.check("bind", schedule.loops("C")[0], "vthread")


@pytest.mark.parametrize(
    ("dtype", "wide", "reducer"),
    [("int32", "int32", te.sum), ("uint8", "int16", te.max), ("int8", "int32", te.min)],
)
def test_padded_sums_of_longer_rows_and_narrow_elements(
    dtype: str, wide: str, reducer: Callable[..., Any]
) -> None:
    a = te.placeholder((13, 40), name="A", dtype=dtype)
    k = te.reduce_axis(30, "k")
    c = te.compute((13,), lambda i: reducer(te.cast(a[i, k], wide), axis=k), name="C")
    schedule = Schedule(c)
    schedule.pad("C", [8, 4])
    values = np.random.default_rng(0).integers(1, 100, (13, 40)).astype(dtype)
    got = np.zeros(13, wide)
    tl.build(schedule)(values, got)
    join = {te.sum: np.sum, te.max: np.max, te.min: np.min}[reducer]
    np.testing.assert_array_equal(got, join(values[:, :30].astype(wide), axis=1))


def test_checks_around_a_kernel_do_not_share_private_memory() -> None:
    """An index check puts the loops into an `if`; intermediates still go inside parallel loops."""
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((8, 16), name="A", dtype="int32")
    b = te.placeholder((m,), name="B", dtype="int32")
    k = te.reduce_axis(8, "k")
    t = te.compute((16,), lambda j: te.sum(a[k, j], axis=k), name="T")
    c = te.compute((n, 16), lambda i, j: t[15 - j] + b[i], name="C")
    schedule = Schedule(c)
    i, _ = schedule.loops("C")
    schedule.compute_at("T", i)
    schedule.parallel(i)
    schedule.reorder(*schedule.loops("T")[1:][::-1])
    lowered = lower(schedule.program, Target.host()).program
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "A": rng.integers(-4, 5, 128).astype(np.int32),
        "B": rng.integers(-4, 5, 4).astype(np.int32),
        "C": np.zeros(48, np.int32),
    }
    arguments = {**arrays, "n": 3, "m": 4}
    interpret(lowered, [arguments[p.name] for p in lowered.params])  # it would tell of a race
    sums = arrays["A"].reshape(8, 16).sum(0)[::-1]
    np.testing.assert_array_equal(arrays["C"].reshape(3, 16), sums + arrays["B"][:3, None])


def test_start_values_under_a_check() -> None:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((m,), name="A", dtype="int32")
    b = te.placeholder((n,), name="B", dtype="int32")
    k = te.reduce_axis(n, "k")
    c = te.compute((2,), lambda i: te.sum(a[k + 2] * b[k], axis=k), name="C")
    kernel = tl.build(Schedule(c))
    for size in (0, 3):
        left, right = np.arange(8, dtype=np.int32), np.ones(size, np.int32)
        got = np.full(2, 77, np.int32)
        kernel(left, right, got)
        np.testing.assert_array_equal(got, [left[2 : size + 2].sum()] * 2)
