"""From programs to rows of numbers: the main nest in full, the others in brief, and sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import Buffer, Operand, Program, Store, const, walk
from tvmlab.support import FLOAT32
from tvmlab.target import default_num_threads

from .columns import brief_columns, log_size, nest_columns
from .dense import Dense, Part, joined, part_of
from .forms import Floats
from .geometry import accesses_of, extents_of
from .nest import KINDS, Nest, NestKey, nests_of

Features: TypeAlias = NDArray[np.float32]

REVISION = 2
"""Counts up when features of the same name come to mean something else."""
OTHERS = 4
"""Nests beside the main one that have columns of their own."""
_SUMMED = ("iterations", "through_32768.bytes", "through_1048576.bytes", "through_4194304.bytes")
_PROGRAM_COLUMNS = ("nests", "work", "local_buffers", "local_bytes", "spare_buffers", "spare_bytes")


def extract_features(program: Program, threads: int | None = None) -> Features:
    """The features of one program: about 2 ms, without lowering it.

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
    nests = [nests_of(program) for program in programs]
    every = [nest for group in nests for nest in group]
    places: dict[NestKey, list[int]] = {}
    for place, nest in enumerate(every):
        places.setdefault(nest.key, []).append(place)
    parts = [_part([every[m] for m in members]) for members in places.values()]
    owners = np.repeat(np.arange(len(programs)), [len(group) for group in nests])
    order = np.array([m for members in places.values() for m in members], dtype=np.int64)
    buffers = np.array([buffer_columns(p) for p in programs]).reshape(len(programs), 4)
    batch = NestBatch(joined(parts), owners[order], order, buffers)
    return feature_rows(batch, threads or default_num_threads())


@dataclass(frozen=True, slots=True)
class NestBatch:
    """The nests of many programs.

    Attributes
    ----------
    owners, order : (nests,)
        Which program each belongs to, and its rank in program order.
    buffers : (programs, 4)
        Number and bytes of the program's buffers of its own, local ones first.
    """

    nests: Dense
    owners: NDArray[np.int64]
    order: NDArray[np.int64]
    buffers: Floats


def feature_rows(batch: NestBatch, threads: int) -> Features:
    """One row of features for each program."""
    count = len(batch.buffers)
    rows = np.zeros((count, len(feature_names())), dtype=np.float32)
    work = batch.nests.work
    ranked = np.lexsort((batch.order, -work, batch.owners))
    owners = batch.owners[ranked]
    starts = np.searchsorted(owners, np.arange(count))
    rank = np.arange(len(ranked)) - starts[owners]
    main = rank == 0
    full = nest_columns(batch.nests.chosen(ranked[main]), threads).matrix(int(main.sum()))
    brief = brief_columns(batch.nests.chosen(ranked[~main])).matrix(int((~main).sum()))
    width, small = full.shape[1], 1 + brief.shape[1]
    rows[owners[main], :width] = full
    others = owners[~main]
    for place in range(OTHERS):
        at = rank[~main] == place + 1
        start = width + place * small
        rows[others[at], start] = 1.0
        rows[others[at], start + 1 : start + small] = brief[at]
    sums = np.zeros((count, len(_SUMMED)))
    np.add.at(sums, others, np.exp2(brief[:, _summed_places()]) - 1.0)
    start = width + OTHERS * small
    rows[:, start : start + len(_SUMMED)] = log_size(sums)
    rows[:, start + len(_SUMMED) :] = _program_columns(batch, work)
    return rows


@lru_cache(maxsize=1)
def feature_names() -> tuple[str, ...]:
    """The name of each feature, in order."""
    smallest = _smallest()
    full, brief = nest_columns(smallest, 1).names, brief_columns(smallest).names
    others = [f"other{n}.{name}" for n in range(OTHERS) for name in ("present", *brief)]
    sums = [f"others.{name}" for name in _SUMMED]
    return (*(f"main.{name}" for name in full), *others, *sums, *_PROGRAM_COLUMNS)


@lru_cache(maxsize=1)
def _summed_places() -> list[int]:
    names = brief_columns(_smallest()).names
    return [names.index(name) for name in _SUMMED]


def _smallest() -> Dense:
    """Any nest tells the names of the columns, so take the smallest one."""
    buffer = Buffer("x", (const(1),), FLOAT32)
    store = Store(buffer, (const(0),), const(0.0))
    return joined([_part(nests_of(Program("smallest", (buffer,), store)))])


def _part(nests: Sequence[Nest]) -> Part:
    """Nests that share a key."""
    key = nests[0].key
    numbers = np.array([nest.numbers for nest in nests], dtype=np.float64)
    extents = extents_of(key, numbers)
    loops = [(float(KINDS.index(kind)), sums, spaces) for kind, sums, spaces in key.loops]
    accesses = accesses_of(key, numbers)
    return part_of(extents, loops, accesses, key.operations, key.conditions, key.has_init)


def _program_columns(batch: NestBatch, work: Floats) -> Floats:
    count = len(batch.buffers)
    nests = np.bincount(batch.owners, minlength=count).astype(np.float64)
    total = np.bincount(batch.owners, work, minlength=count).astype(np.float64)
    local, local_bytes, spare, spare_bytes = batch.buffers.T
    columns = [
        nests, log_size(total), local, log_size(local_bytes), spare, log_size(spare_bytes)
    ]  # fmt: skip
    return np.stack(columns, axis=1)


def buffer_columns(program: Program) -> list[float]:
    """Number and bytes of the buffers that a program has of its own: local ones, then others."""
    written: dict[Buffer, None] = {}
    for node in walk(program.body):
        if isinstance(node, Store):
            written[node.buffer] = None
        elif isinstance(node, Operand) and node.access in ("write", "update"):
            written[node.region.buffer] = None
    own = [b for b in written if b not in program.params]
    local = [_bytes(b) for b in own if b.scope != "global"]
    spare = [_bytes(b) for b in own if b.scope == "global"]
    return [float(len(local)), sum(local), float(len(spare)), sum(spare)]


def _bytes(buffer: Buffer) -> float:
    shape = buffer.const_shape
    return 0.0 if shape is None else float(np.prod(shape)) * buffer.dtype.itemsize
