"""Statements: loops, blocks, stores. All immutable; see `program` for the tree that holds them."""

from __future__ import annotations

from typing import Literal, TypeAlias, Union

from tvmlab.support import ShapeError, TypeMismatch, node

from .buffer import Region
from .expr import TRUE, Buffer, Expr, Var, access_lanes

LoopKind: TypeAlias = Literal["serial", "parallel", "vectorized", "unrolled"]
IterKind: TypeAlias = Literal["spatial", "reduce", "opaque"]
Annotations: TypeAlias = tuple[tuple[str, Union[int, float, str, bool]], ...]


class Stmt:
    """Base of all statements."""

    __slots__ = ()


@node
class Store(Stmt):
    """`buffer[indices] = value`; lanes whose mask is false are left as they are."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr
    mask: Expr | None = None

    def __post_init__(self) -> None:
        lanes = access_lanes(self.buffer, self.indices, self.mask)
        if self.value.dtype != self.buffer.dtype.with_lanes(lanes):
            raise TypeMismatch(
                f"{self.buffer.name} holds {self.buffer.dtype} x {lanes} lane(s), "
                f"a value of type {self.value.dtype} cannot be stored there"
            )


@node
class Evaluate(Stmt):
    """A call made for its effect only."""

    value: Expr


@node
class Seq(Stmt):
    """Statements one after another; never nested directly and never of length one: see `seq`."""

    stmts: tuple[Stmt, ...]


@node
class If(Stmt):
    """Run `then` where the condition holds, else `otherwise` if there is one."""

    cond: Expr
    then: Stmt
    otherwise: Stmt | None = None


@node
class For(Stmt):
    """`for var in range(extent)`; the variable is the identity of the loop across rewriting."""

    var: Var
    extent: Expr
    body: Stmt
    kind: LoopKind = "serial"
    annotations: Annotations = ()


@node
class Alloc(Stmt):
    """Storage that lives while `body` runs; its content is undefined at the start."""

    buffer: Buffer
    body: Stmt


@node
class IterVar:
    """An iteration variable of a block: it takes each value of `0 <= var < extent`."""

    var: Var
    extent: Expr
    kind: IterKind


@node
class BlockSymbol:
    """The identity of a block across rewriting."""

    name: str


@node
class Block(Stmt):
    """The unit that can be scheduled: a body over named iteration variables.

    `bindings[n]` gives the value of `iters[n]` in terms of the loops around. Where `predicate`
    (over those loops too) is false, the iteration does not exist. `init`, if present, runs before
    the first of the iterations that share their spatial values. Inside `init` and `body` only
    iteration variables occur, never loop variables.
    """

    symbol: BlockSymbol
    iters: tuple[IterVar, ...]
    bindings: tuple[Expr, ...]
    reads: tuple[Region, ...]
    writes: tuple[Region, ...]
    body: Stmt
    init: Stmt | None = None
    predicate: Expr = TRUE
    annotations: Annotations = ()

    def __post_init__(self) -> None:
        if len(self.iters) != len(self.bindings):
            raise ShapeError(
                f"block {self.name} has {len(self.iters)} iteration variables "
                f"and {len(self.bindings)} bindings"
            )

    @property
    def name(self) -> str:
        return self.symbol.name


AnyStmt: TypeAlias = Union[Store, Evaluate, Seq, If, For, Alloc, Block]
"""The closed union of statements, for exhaustive matches."""


def seq(stmts: list[Stmt] | tuple[Stmt, ...]) -> Stmt:
    """Statements in order, with nested sequences flattened and a single one returned itself."""
    flat: list[Stmt] = []
    for stmt in stmts:
        flat.extend(stmt.stmts if isinstance(stmt, Seq) else (stmt,))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def is_noop(stmt: Stmt) -> bool:
    """Whether a statement is the empty sequence."""
    return isinstance(stmt, Seq) and not stmt.stmts


def child_stmts(stmt: Stmt) -> tuple[Stmt, ...]:
    """The members of a sequence, or the statement alone."""
    return stmt.stmts if isinstance(stmt, Seq) else (stmt,)
