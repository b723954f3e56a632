"""Programs for measuring: a matmul in several schedules, and texts that misbehave when they run."""

from __future__ import annotations

from tvmlab import te, topi
from tvmlab.ir import Expr, Program, parse
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor


def matmul(n: int = 32, m: int | None = None, k: int | None = None) -> Tensor:
    a = te.placeholder((n, k or n), name="A")
    b = te.placeholder((k or n, m or n), name="B")
    r = te.reduce_axis(k or n, "k")

    def element(i: Expr, j: Expr) -> Expr:
        return te.sum(a[i, r] * b[r, j], axis=r)

    return te.compute((n, m or n), element, name="C")


def convolution(
    channels: int, size: int, filters: int, *, stride: int = 1, padding: int = 1
) -> Tensor:
    """A convolution with 3x3 filters, in blocks "pad_temp" and "conv2d"."""
    a = te.placeholder((1, channels, size, size), name="A")
    w = te.placeholder((filters, channels, 3, 3), name="W")
    return topi.conv2d(a, w, stride, padding)


def tiled_matmul(n: int = 64, rows: int = 4, lanes: int = 16) -> Schedule:
    """Tiled, vectorized, with a local accumulator."""
    schedule = Schedule(matmul(n))
    i, j, k = schedule.loops("C")
    io, ii = schedule.split(i, [None, rows])
    jo, ji = schedule.split(j, [None, lanes])
    schedule.reorder(io, jo, k, ii, ji)
    schedule.vectorize(ji)
    schedule.unroll(ii)
    write = schedule.cache_write("C")
    schedule.reverse_compute_at(write, jo)
    schedule.decompose_reduction("C", k)
    return schedule


# Writes 8 TiB beyond its buffer: the compiler trusts indices, as a program's verdicts justify.
WILD = """
def wild(A: float32[16], B: float32[16]):
    for i in range(16):
        B[i] = A[i]
    call("symbol:raise", int32(11))
"""

ENDLESS = """
def endless(A: float32[16], B: float32[16]):
    for t in range(4611686018427387904):
        for i in range(16):
            B[i] = B[i] * A[i] + A[i]
"""

HUNGRY = """
def hungry(A: float32[16], B: float32[16]):
    with alloc(float32[2147483648]) as T:
        for i in range(16):
            T[i * 134217727] = A[i]
        for i in range(16):
            B[i] = T[i * 134217727]
"""

COPY = """
def copy(A: float32[16], B: float32[16]):
    for i in range(16):
        B[i] = A[i]
"""

DOUBLE = """
def double(A: float32[16], B: float32[16]):
    for i in range(16):
        B[i] = A[i] * 2.0
"""

HALF_WRITTEN = """
def half(A: float32[16], B: float32[16]):
    for i in range(8):
        B[i] = A[i]
"""

BIG = """
def big(A: float32[1099511627776], B: float32[16]):
    for i in range(16):
        B[i] = A[i]
"""


def program(text: str) -> Program:
    return parse(text.strip())
