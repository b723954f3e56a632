"""Programs for devices, and what must hold of them: values at each stage of lowering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from helpers.steps import assert_round_trips, empty_outputs
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import Program, to_text
from tvmlab.lower import LowerOptions, lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor

Array = NDArray[Any]
TARGET = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3")


def run_on_device(
    outputs: Tensor | Sequence[Tensor],
    steps: Callable[[Schedule], object],
    inputs: Sequence[Array],
    want: Sequence[Array],
) -> Program:
    """Take steps; run the program scheduled and after each pass; the lowered program."""
    sch = Schedule(outputs)
    steps(sch)
    assert_round_trips(outputs, sch)
    lowered = lower(sch.program, TARGET, LowerOptions(verify=True))
    stages = [sch.program, *(step.after for step in lowered.record if step.changed)]
    for program in stages:
        arrays = empty_outputs(sch, inputs)
        interpret(program, [*inputs, *arrays])
        for got, expected in zip(arrays, want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, err_msg=to_text(program))
    return lowered.program


def barriers(program: Program) -> int:
    """How many barriers a program's text has."""
    return to_text(program).count("barrier(")


def product(n: int) -> Tensor:
    """A square matrix product."""
    a = te.placeholder((n, n), name="A")
    b = te.placeholder((n, n), name="B")
    k = te.reduce_axis(n, "k")
    return te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def tile_over_threads(
    sch: Schedule, tile: int, threads: int, depth: int, *, virtual: int = 1, fetch: bool = True
) -> None:
    """The classical schedule of a product: tiles of C to groups, parts of tiles to threads.

    Each thread adds up in local memory; parts of A and B come into shared memory, which all
    threads of a group fill together.
    """
    sch.cache_write("C", "local")
    i, j = sch.loops("C_write")
    by, i = sch.split(i, [None, tile])
    bx, j = sch.split(j, [None, tile])
    vy, ty, yi = sch.split(i, [virtual, threads, None])
    vx, tx, xi = sch.split(j, [virtual, threads, None])
    sch.reorder(by, bx, vy, vx, ty, tx, yi, xi)
    tags = ("blockIdx.y", "blockIdx.x", "vthread", "vthread", "threadIdx.y", "threadIdx.x")
    for loop, tag in zip((by, bx, vy, vx, ty, tx), tags, strict=True):
        sch.bind(loop, tag)
    sch.compute_at("C", tx)
    *_, ci, cj, ck = sch.loops("C")
    ko, ki = sch.split(ck, [None, depth])
    sch.reorder(ko, ki, ci, cj)
    for name in "AB" if fetch else "":
        stage = sch.cache_read("C", name, "shared")
        sch.compute_at(stage, ko)
        *_, rows, columns = sch.loops(stage)
        first, second, _ = sch.split(sch.fuse(rows, columns), [threads, threads, None])
        sch.bind(first, "threadIdx.y")
        sch.bind(second, "threadIdx.x")


def softmax(n: int, m: int) -> Tensor:
    """Row-wise softmax in four stages."""
    x = te.placeholder((n, m), name="X")
    k1, k2 = te.reduce_axis(m, "k1"), te.reduce_axis(m, "k2")
    top = te.compute((n,), lambda i: te.max(x[i, k1], axis=k1), name="M")
    e = te.compute((n, m), lambda i, j: te.exp(x[i, j] - top[i]), name="E")
    z = te.compute((n,), lambda i: te.sum(e[i, k2], axis=k2), name="Z")
    return te.compute((n, m), lambda i, j: e[i, j] / z[i], name="O")


def softmax_over_threads(sch: Schedule, threads: int) -> None:
    """A row to each group; its threads share out the columns and join maxima and sums."""
    i, j = sch.loops("O")
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(j, [None, threads])[1], "threadIdx.x")
    for name in ("Z", "E", "M"):
        sch.compute_at(name, i)
    for name in ("M", "E", "Z"):
        sch.bind(sch.split(sch.loops(name)[-1], [None, threads])[1], "threadIdx.x")
