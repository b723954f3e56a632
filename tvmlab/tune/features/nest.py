"""The stores of a program, each with its loops, index forms and operation counts.

Taken from the scheduled program as it stands, blocks included; nothing is lowered. Structure goes
into a hashable `NestKey`, numbers into an array: nests of equal keys are evaluated as one batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tvmlab.ir import (
    Alloc,
    Binary,
    Block,
    Buffer,
    Call,
    Cast,
    Compare,
    Expr,
    For,
    If,
    Invoke,
    Load,
    Logic,
    Program,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    conjuncts,
    const_int,
    walk,
)

from .forms import Form, atoms_in, form_of
from .invoked import meant_by

OPERATIONS = ("mad", "add", "mul", "div", "minmax", "call", "int", "compare", "select", "cast")
KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread", "virtual")
"""How loops run; features name a kind by its place here."""
UNKNOWN_SIZE = 64.0
"""Stands for a size that is known only at run time."""


class AccessKey(NamedTuple):
    """One buffer as a store touches it; equal indices of one buffer are one access."""

    forms: tuple[Form, ...]
    shape: int  # place of the first dimension in the numbers
    itemsize: int
    local: bool
    read: bool
    written: bool


class NestKey(NamedTuple):
    """The structure of one store: everything about it but the numbers."""

    loops: tuple[tuple[str, bool, bool], ...]
    """Kind, moves a reduction, moves the output; outermost first. Extents lead the numbers."""
    iters: tuple[Form, ...]
    accesses: tuple[AccessKey, ...]
    """The written buffer first, then those that are read, in order of occurrence."""
    operations: tuple[int, ...]
    conditions: int
    has_init: bool


@dataclass(frozen=True, slots=True)
class Nest:
    """A store with the loops around it."""

    key: NestKey
    numbers: tuple[float, ...]


def nests_of(program: Program) -> list[Nest]:
    """One nest for each store outside an init, in program order."""
    return [_nest(place) for place in _stores(program.body, _Place((), None, 0))]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is: the loops and conditions around, and the block if it is in one."""

    loops: tuple[For, ...]
    block: Block | None
    conditions: int
    store: Store | None = None
    sums: frozenset[Var] = frozenset()
    """Loops inside a tensor intrinsic that move a sum."""


def _stores(stmt: Stmt, place: _Place) -> Iterator[_Place]:
    match stmt:
        case For():
            yield from _stores(stmt.body, replace(place, loops=(*place.loops, stmt)))
        case Seq(stmts=stmts):
            for child in stmts:
                yield from _stores(child, place)
        case If(then=then, otherwise=otherwise):
            inside = replace(place, conditions=place.conditions + 1)
            yield from _stores(then, inside)
            if otherwise is not None:
                yield from _stores(otherwise, inside)
        case Alloc(body=body):
            yield from _stores(body, place)
        case Block(body=body):
            count = place.conditions + len(conjuncts(stmt.predicate))
            yield from _stores(body, replace(place, block=stmt, conditions=count))
        case Store():
            yield replace(place, store=stmt)
        case Invoke():
            meant = meant_by(stmt)
            if meant is not None:
                loops = (*place.loops, *meant.loops)
                yield replace(place, loops=loops, store=meant.store, sums=meant.sums)
        case _:
            return


def _nest(place: _Place) -> Nest:
    store, block = place.store, place.block
    assert store is not None
    numbers: list[float] = [_size(loop.extent) for loop in place.loops]
    loop_atoms = {loop.var: n for n, loop in enumerate(place.loops)}
    bindings = [] if block is None else list(zip(block.iters, block.bindings, strict=True))
    iters = [form_of(binding, loop_atoms, numbers) for _, binding in bindings]
    # In a block, indices are over its iteration variables, and over loops of its own body.
    atoms = {iter_var.var: len(loop_atoms) + n for n, (iter_var, _) in enumerate(bindings)}
    accesses = _accesses(store, {**loop_atoms, **atoms}, numbers)
    reducing = {loop_atoms[var] for var in place.sums}
    for (iter_var, _), form in zip(bindings, iters, strict=True):
        if iter_var.kind == "reduce":
            reducing |= atoms_in(form)
    writing = _loops_behind(accesses[0].forms, iters, len(loop_atoms))
    key = NestKey(
        loops=tuple((lp.kind, n in reducing, n in writing) for n, lp in enumerate(place.loops)),
        iters=tuple(iters),
        accesses=tuple(accesses),
        operations=operations_of(store),
        conditions=place.conditions,
        has_init=block is not None and block.init is not None,
    )
    return Nest(key, tuple(numbers))


def _loops_behind(forms: tuple[Form, ...], iters: list[Form], loop_count: int) -> set[int]:
    """The loops that move an access, through the block's iteration variables."""
    found: set[int] = set()
    for atom in set[int]().union(*(atoms_in(form) for form in forms)):
        found |= {atom} if atom < loop_count else atoms_in(iters[atom - loop_count])
    return found


def _accesses(store: Store, atoms: dict[Var, int], numbers: list[float]) -> list[AccessKey]:
    found: list[AccessKey] = []
    for buffer, indices, read, written in accesses_in(store):
        forms = tuple(form_of(index, atoms, numbers) for index in indices)
        shape = len(numbers)
        numbers.extend(_size(extent) for extent in buffer.shape)
        local = buffer.scope != "global"
        found.append(AccessKey(forms, shape, buffer.dtype.itemsize, local, read, written))
    return found


def accesses_in(store: Store) -> list[tuple[Buffer, tuple[Expr, ...], bool, bool]]:
    """Buffer and indices of the store's own access, then of the loads; whether each reads, writes.

    A place touched twice is one access.
    """
    found: dict[tuple[Any, ...], tuple[Buffer, tuple[Expr, ...], bool, bool]] = {}
    places: list[tuple[Buffer, tuple[Expr, ...], bool]] = [(store.buffer, store.indices, False)]
    places += [(n.buffer, n.indices, True) for n in walk(store) if isinstance(n, Load)]
    for buffer, indices, reads in places:
        same = (id(buffer), *(_same(index) for index in indices))
        known = found.get(same)
        if known is None:
            found[same] = (buffer, indices, reads, not reads)
        else:
            found[same] = (buffer, indices, known[2] or reads, known[3])
    return list(found.values())


def _same(index: Expr) -> object:
    value = const_int(index)
    return id(index) if value is None else ("const", value)


def _size(extent: Expr) -> float:
    value = const_int(extent)
    return UNKNOWN_SIZE if value is None else float(max(value, 1))


def operations_of(store: Store) -> tuple[int, ...]:
    """How often each of `OPERATIONS` is done in one iteration."""
    counts: dict[str, int] = dict.fromkeys(OPERATIONS, 0)
    for node in _values(store.value):
        name = _operation(node)
        if name is not None:
            counts[name] += 1
    fused = min(counts["add"], counts["mul"])
    counts["mad"] = fused
    counts["add"] -= fused
    counts["mul"] -= fused
    return tuple(counts.values())


def _values(e: Expr) -> Iterator[Expr]:
    """The value's nodes without the arithmetic of indices, which lowering makes cheap."""
    stack: list[Any] = [e]
    while stack:
        current = stack.pop()
        yield current
        match current:
            case Binary(a=a, b=b) | Compare(a=a, b=b) | Logic(a=a, b=b):
                stack += [a, b]
            case Select(cond=cond, then=then, otherwise=otherwise):
                stack += [cond, then, otherwise]
            case Cast(value=value):
                stack.append(value)
            case Call(args=args):
                stack += args
            case _:
                pass


def _operation(e: Expr) -> str | None:
    match e:
        case Call():
            return "call"
        case Select():
            return "select"
        case Cast():
            return "cast"
        case Compare():
            return "compare"
        case Binary(op=op) if not e.dtype.is_float:
            return "int" if op not in ("min", "max") else "minmax"
        case Binary(op="add" | "sub"):
            return "add"
        case Binary(op="min" | "max"):
            return "minmax"
        case Binary(op="mul" | "div" as op):
            return op
        case _:
            return None
