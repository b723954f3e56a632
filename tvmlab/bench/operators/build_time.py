"""Time to build: from a schedule or a program text to a function that can be called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import tvmlab.te as te
from tvmlab.bench.peers import tvm_peer
from tvmlab.bench.row import Array, Contender, Inputs, Operator, Peer, Row
from tvmlab.driver import Executable, build
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.topi import matmul, schedule_matmul


def _tiled(row: Row, target: Target) -> Schedule:
    """The schedule that the worker of apache-tvm builds too."""
    del target
    (m, depth), (_, n) = row.shapes
    a = te.placeholder((m, depth), "float32", name="A")
    b = te.placeholder((depth, n), "float32", name="B")
    k = te.reduce_axis(depth, "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    sch = Schedule(c)
    i, j, r = sch.loops("C")
    io, ii = sch.split(i, [None, 8])
    jo, ji = sch.split(j, [None, 32])
    ko, ki = sch.split(r, [None, 64])
    sch.reorder(io, jo, ko, ki, ii, ji)
    sch.decompose_reduction("C", ko)
    sch.vectorize(ji)
    sch.unroll(ii)
    sch.parallel(io)
    return sch


def _peak(row: Row, target: Target) -> Schedule:
    """The default schedule."""
    (m, k), (_, n) = row.shapes
    return schedule_matmul(matmul(m, n, k)[2], target)


def _ours(
    scheduled: Callable[[Row, Target], Schedule],
) -> Callable[[Row, Inputs, Target], Contender]:
    def contender(row: Row, inputs: Inputs, target: Target) -> Contender:
        make = _builder(row, target, scheduled)
        latest: list[Executable] = []

        def run() -> None:
            latest[:] = [make()]

        return Contender("tvmlab", run, lambda: _product(latest[0], inputs))

    return contender


def _builder(
    row: Row, target: Target, scheduled: Callable[[Row, Target], Schedule]
) -> Callable[[], Executable]:
    """Builds cold, or with machine code that is cached already, as the row says."""
    if not row.option("cached"):
        return lambda: build(scheduled(row, target), target=target, cache=False)
    sch = scheduled(row, target)
    build(sch, target=target)
    return lambda: build(sch, target=target)


def _product(exe: Executable, inputs: Inputs) -> Array:
    a, b = inputs
    out = np.empty((a.shape[0], b.shape[1]), np.float32)
    exe(a, b, out)
    return out


def _numba(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
    numba: Any = import_module("numba")
    a, b = inputs
    out = np.empty((a.shape[0], b.shape[1]), np.float32)

    def run() -> None:
        kernel = numba.njit(parallel=True, fastmath=True)(_loops(numba))
        kernel.compile((numba.float32[:, ::1],) * 3)
        kernel(a, b, out)

    return [Contender("numba", run, lambda: out)]


def _loops(numba: Any) -> Callable[[Any, Any, Any], None]:
    def product(a: Any, b: Any, out: Any) -> None:
        for i in numba.prange(a.shape[0]):
            for j in range(b.shape[1]):
                out[i, j] = 0.0
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    out[i, j] += a[i, k] * b[k, j]

    return product


def _output(row: Row) -> tuple[int, int]:
    return row.shapes[0][0], row.shapes[1][1]


def _reference(row: Row, inputs: Inputs) -> Array:
    a, b = inputs
    return a.astype(np.float64) @ b.astype(np.float64)


def _operator(scheduled: Callable[[Row, Target], Schedule], *peers: Peer) -> Operator:
    return Operator(_ours(scheduled), _reference, peers, measure="seconds")


OPERATORS = {
    "build_tiled": _operator(_tiled, Peer("numba", _numba), tvm_peer("build_matmul", _output)),
    "build_peak": _operator(_peak, Peer("numba", _numba)),
}

_SQUARE = ((512, 512), (512, 512))
ROWS = (
    Row("compile-time", "build-tiled", "build_tiled", _SQUARE),
    Row("compile-time", "build-matmul", "build_peak", _SQUARE),
    Row("compile-time", "build-matmul-cached", "build_peak", _SQUARE, options=(("cached", True),)),
)
