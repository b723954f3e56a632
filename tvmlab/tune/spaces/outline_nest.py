"""Loops and blocks whose numbers are columns: one outline stands for thousands of programs.

An index is a sum of loops with factors; a loop that was fused appears inside quotients and
remainders. Factors, divisors and extents are numbers, or columns with one number for each point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, Union

import numpy as np

from tvmlab.ir import (
    Alloc,
    Block,
    Buffer,
    Expr,
    For,
    Invoke,
    Program,
    Seq,
    Stmt,
    Store,
    Var,
    conjuncts,
    const_int,
)
from tvmlab.tune.features.forms import Floats, Form, Motion, atoms_in, form_of, motion_of
from tvmlab.tune.features.invoked import meant_by
from tvmlab.tune.features.nest import KINDS, accesses_in, operations_of

Column: TypeAlias = Union[float, Floats]


class NotOutlinedError(Exception):
    """A step or program that outlines cannot follow; features are then read off each schedule."""


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """`index // divisor`, or `index % divisor` if `rest`."""

    index: Index
    divisor: Column
    rest: bool


Atom: TypeAlias = Union["Loop", Quotient]
Index: TypeAlias = tuple[tuple[Atom, Column], ...]


@dataclass(slots=True, eq=False)
class Storage:
    """A buffer as outlines know it."""

    name: str
    shape: tuple[float, ...]
    itemsize: int
    local: bool
    own: bool
    """Whether the program allocates it."""


@dataclass(slots=True, eq=False)
class Access:
    """A buffer as a block touches it: forms over the block's iteration variables."""

    buffer: Storage
    forms: tuple[Form, ...]
    numbers: Floats
    read: bool
    written: bool


@dataclass(slots=True, eq=False)
class Loop:
    """A loop over its body."""

    name: str
    extent: Column
    kind: Column = 0.0
    body: list[Loop | Leaf] = field(default_factory=list["Loop | Leaf"], repr=False)
    parent: Loop | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False)
class Leaf:
    """A block: one store, with the index of each iteration variable."""

    name: str
    kinds: tuple[str, ...]
    domain: tuple[float, ...]
    bindings: list[Index]
    accesses: list[Access]
    operations: tuple[int, ...]
    conditions: Column
    has_init: bool
    parent: Loop | None = field(default=None, repr=False)

    def around(self) -> list[Loop]:
        """Its loops, outermost first."""
        found: list[Loop] = []
        loop = self.parent
        while loop is not None:
            found.insert(0, loop)
            loop = loop.parent
        return found

    def access_to(self, buffer: Storage, *, written: bool) -> Access:
        """How it writes or reads a buffer."""
        for access in self.accesses:
            if access.buffer is buffer and (access.written if written else access.read):
                return access
        raise NotOutlinedError(f"{self.name} does not touch {buffer.name}")


def leaves(nodes: Sequence[Loop | Leaf]) -> Iterator[Leaf]:
    """The blocks below some nodes, in program order."""
    for node in nodes:
        if isinstance(node, Leaf):
            yield node
        else:
            yield from leaves(node.body)


def substituted(index: Index, values: Mapping[Loop, Index]) -> Index:
    """An index with indices in the place of loops."""
    found: list[tuple[Atom, Column]] = []
    for atom, factor in index:
        if isinstance(atom, Quotient):
            inner = substituted(atom.index, values)
            found.append((Quotient(inner, atom.divisor, atom.rest), factor))
        elif atom in values:
            inside: Index = values[atom]
            found += [(part, factor * times) for part, times in inside]
        else:
            found.append((atom, factor))
    return tuple(found)


def loops_in(index: Index) -> set[Loop]:
    """The loops that an index depends on."""
    found: set[Loop] = set()
    for atom, _ in index:
        found |= loops_in(atom.index) if isinstance(atom, Quotient) else {atom}
    return found


def fixed_part(index: Index, fixed: set[Loop]) -> Index:
    """What an index has from loops that stand still."""
    return tuple((atom, factor) for atom, factor in index if loops_in(((atom, 1.0),)) <= fixed)


def largest(index: Index) -> Column:
    """The largest value of an index, if its factors are positive."""
    total: Column = 0.0
    for atom, factor in index:
        if isinstance(atom, Loop):
            most: Column = atom.extent - 1.0
        elif atom.rest:
            most = np.minimum(largest(atom.index), atom.divisor - 1.0)
        else:
            most = np.floor(largest(atom.index) / atom.divisor)
        total = total + factor * most
    return total


def composed(form: Form, numbers: Floats, bindings: Sequence[Index]) -> Index:
    """A form over iteration variables as an index over loops. Unknown parts count as constants."""
    found: list[tuple[Atom, Column]] = []
    for term in form:
        factor = float(numbers[0, term[-1]])
        if term[0] == "atom":
            place: int = term[1]
            found += [(atom, factor * times) for atom, times in bindings[place]]
        elif term[0] in ("div", "mod"):
            inner = composed(term[1], numbers, bindings)
            divisor = float(numbers[0, term[2]])
            found.append((Quotient(inner, divisor, term[0] == "mod"), factor))
    return tuple(found)


def index_motion(index: Index, places: Mapping[Loop, int], extents: Floats) -> Motion:
    """How an index moves over a nest.

    Parameters
    ----------
    places
        Which loop of the nest each is, from the outermost.
    """
    steps = np.zeros_like(extents)
    ranges = np.zeros((extents.shape[0], extents.shape[1] + 1))
    for atom, factor in index:
        times = np.abs(np.asarray(factor))
        if isinstance(atom, Loop):
            place = places[atom]
            steps[:, place] += times
            ranges[:, : place + 1] += (times * (extents[:, place] - 1.0))[:, None]
        else:
            part = _quotient_motion(atom, places, extents)
            steps += times[..., None] * part.steps
            ranges += times[..., None] * part.ranges
    return Motion(steps, ranges)


def _quotient_motion(atom: Quotient, places: Mapping[Loop, int], extents: Floats) -> Motion:
    inner = index_motion(atom.index, places, extents)
    divisor = np.abs(np.asarray(atom.divisor, np.float64))[..., None]
    if atom.rest:
        steps, ranges = np.mod(inner.steps, divisor), np.minimum(inner.ranges, divisor - 1.0)
    else:
        steps, ranges = inner.steps / divisor, np.floor(inner.ranges / divisor)
    # A schedule would have simplified to a constant what takes one value only.
    return Motion(np.where(ranges[:, :1] > 0, steps, 0.0), ranges)


def access_motions(access: Access, iters: Sequence[Motion], extents: Floats) -> list[Motion]:
    """How the indices of an access move."""
    atoms = list(iters)
    return [motion_of(form, atoms, access.numbers, extents) for form in access.forms]


def moving(access: Access, bindings: Sequence[Index]) -> set[Loop]:
    """The loops that move an access."""
    found: set[Loop] = set()
    for form in access.forms:
        for atom in atoms_in(form):
            found |= loops_in(bindings[atom])
    return found


# ---------------------------------------------------------------- from programs


def outline_of(program: Program) -> tuple[list[Loop | Leaf], dict[Var, Loop]]:
    """The loops and blocks of a program, and which loop stands for which variable.

    Raises
    ------
    NotOutlinedError
        If it is more than loops around blocks with one store each.
    """
    params = {b for b in program.params if isinstance(b, Buffer)}
    known: dict[Var, Loop] = {}
    return _Reader(params).read(program.body, None, known), known


class _Reader:
    def __init__(self, params: set[Buffer]) -> None:
        self.params = params
        self.buffers: dict[Buffer, Storage] = {}

    def read(self, stmt: Stmt, parent: Loop | None, known: dict[Var, Loop]) -> list[Loop | Leaf]:
        match stmt:
            case For():
                loop = known[stmt.var] = self._loop(stmt)
                loop.parent = parent
                loop.body = self.read(stmt.body, loop, known)
                return [loop]
            case Seq(stmts=stmts):
                return [node for child in stmts for node in self.read(child, parent, known)]
            case Alloc(body=body):
                return self.read(body, parent, known)
            case Block():
                return [self._block(stmt, parent, known)]
            case _:
                raise NotOutlinedError(f"{type(stmt).__name__} stands outside of blocks")

    def _block(self, block: Block, parent: Loop | None, known: dict[Var, Loop]) -> Loop | Leaf:
        if isinstance(block.body, Store):
            return self._leaf(block, block.body, (), frozenset(), parent, known)
        meant = meant_by(block.body) if isinstance(block.body, Invoke) else None
        if meant is None:
            raise NotOutlinedError(f"{block.name} is more than one store")
        loops = [self._loop(loop) for loop in meant.loops]
        inside = dict(zip((loop.var for loop in meant.loops), loops, strict=True))
        leaf = self._leaf(block, meant.store, meant.loops, meant.sums, parent, known | inside)
        for outer, inner in zip([parent, *loops], [*loops, leaf], strict=True):
            inner.parent = outer
            if outer is not parent and outer is not None:
                outer.body = [inner]
        return loops[0] if loops else leaf

    def _loop(self, stmt: For) -> Loop:
        size = const_int(stmt.extent)
        if size is None:
            raise NotOutlinedError("a loop's size is no number")
        return Loop(stmt.var.name, float(size), float(KINDS.index(stmt.kind)))

    def _leaf(
        self,
        block: Block,
        store: Store,
        inside: Sequence[For],
        sums: frozenset[Var],
        parent: Loop | None,
        known: Mapping[Var, Loop],
    ) -> Leaf:
        """A block with one store, or one that an intrinsic computes in loops of its own."""
        atoms = {it.var: n for n, it in enumerate(block.iters)}
        atoms |= {loop.var: len(atoms) + n for n, loop in enumerate(inside)}
        own = [known[loop.var] for loop in inside]
        accesses: list[Access] = []
        for buffer, indices, read, written in accesses_in(store):
            numbers: list[float] = []
            forms = tuple(form_of(index, atoms, numbers) for index in indices)
            filled = np.array([numbers or [0.0]], dtype=np.float64)
            accesses.append(Access(self._buffer(buffer), forms, filled, read, written))
        return Leaf(
            name=block.name,
            kinds=(
                *(it.kind for it in block.iters),
                *("reduce" if loop.var in sums else "spatial" for loop in inside),
            ),
            domain=(
                *(float(const_int(it.extent) or 1) for it in block.iters),
                *(float(const_int(loop.extent) or 1) for loop in inside),
            ),
            bindings=[
                *(_index(b, known) for b in block.bindings),
                *(((loop, 1.0),) for loop in own),
            ],
            accesses=accesses,
            operations=operations_of(store),
            conditions=float(len(conjuncts(block.predicate))),
            has_init=block.init is not None,
            parent=parent,
        )

    def _buffer(self, buffer: Buffer) -> Storage:
        if buffer not in self.buffers:
            shape = buffer.const_shape
            if shape is None:
                raise NotOutlinedError(f"the size of {buffer.name} is no number")
            self.buffers[buffer] = Storage(
                buffer.name,
                tuple(float(max(size, 1)) for size in shape),
                buffer.dtype.itemsize,
                buffer.scope != "global",
                buffer not in self.params,
            )
        return self.buffers[buffer]


def _index(binding: Expr, known: Mapping[Var, Loop]) -> Index:
    numbers: list[float] = []
    form = form_of(binding, {var: n for n, var in enumerate(known)}, numbers)
    loops: list[Index] = [((loop, 1.0),) for loop in known.values()]
    return composed(form, np.array([numbers or [0.0]]), loops)
