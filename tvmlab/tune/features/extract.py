"""A program as one row of numbers: its main nest in full, the others in brief.

>>> extract_features(program).shape == (len(feature_names()),)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import Buffer, Program, Store, const, walk
from tvmlab.support import FLOAT32
from tvmlab.target import default_num_threads

from .columns import log_size, nest_columns
from .geometry import geometry_of
from .nest import Nest, NestKey, nests_of

Features: TypeAlias = NDArray[np.float32]

OTHERS = 2
"""Nests besides the main one that have columns of their own; all of them enter the sums."""

_BRIEF = (
    "iterations", "loops", "vectorized.product", "unrolled.product", "parallel.product",
    "out.local", "out.contiguous_bytes", "out.vector_one", "in0.local", "in0.contiguous_bytes",
    "in0.vector_one", "in0.stride", "through_32768.bytes", "through_1048576.bytes",
    "threads.starts",
)  # fmt: skip
_SUMMED = ("iterations", "through_32768.bytes", "through_1048576.bytes", "through_4194304.bytes")


def extract_features(program: Program, threads: int | None = None) -> Features:
    """The features of one program: about 1 ms, without lowering it.

    Parameters
    ----------
    threads
        Threads that run its parallel loops; by default those of this machine.
    """
    return extract_batch([program], threads)[0]


def extract_batch(programs: Sequence[Program], threads: int | None = None) -> Features:
    """Features of many programs, one row each; nests that differ in numbers only are computed
    together.
    """
    number = threads or default_num_threads()
    nests = [nests_of(program) for program in programs]
    vectors = _nest_vectors([nest for group in nests for nest in group], number)
    rows = np.zeros((len(programs), len(feature_names())), dtype=np.float32)
    start = 0
    for row, (program, group) in enumerate(zip(programs, nests, strict=True)):
        rows[row] = _program_row(program, group, vectors[start : start + len(group)])
        start += len(group)
    return rows


@lru_cache(maxsize=1)
def feature_names() -> tuple[str, ...]:
    """The name of each feature, in order."""
    others = [f"other{n}.{name}" for n in range(OTHERS) for name in ("present", *_BRIEF)]
    sums = [f"others.{name}" for name in _SUMMED]
    return (*(f"main.{name}" for name in nest_names()), *others, *sums, *_PROGRAM_COLUMNS)


@lru_cache(maxsize=1)
def nest_names() -> tuple[str, ...]:
    """The names of a nest's features: those of any nest, so ask the smallest one."""
    buffer = Buffer("x", (const(1),), FLOAT32)
    store = Store(buffer, (const(0),), const(0.0))
    nests = nests_of(Program("smallest", (buffer,), store))
    return tuple(nest_columns(geometry_of(nests), 1).names)


def _nest_vectors(nests: Sequence[Nest], threads: int) -> NDArray[np.float64]:
    result = np.zeros((len(nests), len(nest_names())))
    places: dict[NestKey, list[int]] = {}
    for place, nest in enumerate(nests):
        places.setdefault(nest.key, []).append(place)
    for members in places.values():
        columns = nest_columns(geometry_of([nests[m] for m in members]), threads)
        result[members] = columns.matrix(len(members))
    return result


@lru_cache(maxsize=2)
def _places(names: tuple[str, ...]) -> list[int]:
    order = {name: n for n, name in enumerate(nest_names())}
    return [order[name] for name in names]


def _program_row(
    program: Program, nests: Sequence[Nest], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    if not nests:
        return np.zeros(len(feature_names()))
    work = np.array([nest.work for nest in nests])
    main, *others = np.argsort(-work, kind="stable")
    brief = np.zeros((OTHERS, 1 + len(_BRIEF)))
    for place, other in enumerate(others[:OTHERS]):
        brief[place] = [1.0, *vectors[other, _places(_BRIEF)]]
    counts = np.exp2(vectors[np.ix_(others, _places(_SUMMED))]) - 1.0
    return np.concatenate(
        [
            vectors[main],
            brief.ravel(),
            log_size(counts.sum(axis=0)),
            _program_columns(program, nests),
        ]
    )


_PROGRAM_COLUMNS = ("nests", "work", "local_buffers", "local_bytes", "spare_buffers", "spare_bytes")


def _program_columns(program: Program, nests: Sequence[Nest]) -> list[float]:
    local = [b for b in _intermediates(program) if b.scope != "global"]
    spare = [b for b in _intermediates(program) if b.scope == "global"]
    return [
        float(len(nests)),
        float(log_size(sum(nest.work for nest in nests))),
        float(len(local)),
        float(log_size(sum(map(_bytes, local)))),
        float(len(spare)),
        float(log_size(sum(map(_bytes, spare)))),
    ]


def _intermediates(program: Program) -> list[Buffer]:
    written = {n.buffer: None for n in walk(program.body) if isinstance(n, Store)}
    return [b for b in written if b not in program.params]


def _bytes(buffer: Buffer) -> float:
    shape = buffer.const_shape
    return 0.0 if shape is None else float(np.prod(shape)) * buffer.dtype.itemsize
