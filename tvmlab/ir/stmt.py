"""Statements: loops, blocks, stores. All immutable; see `program` for the tree that holds them."""

from __future__ import annotations

from typing import Literal, TypeAlias, Union

from tvmlab.support import Readable, ShapeError, TypeMismatch, node

from .buffer import Region
from .expr import TRUE, Buffer, Expr, Var, access_lanes

LoopKind: TypeAlias = Literal["serial", "parallel", "vectorized", "unrolled", "thread", "virtual"]
"""How the iterations of a loop run. "thread" loops are the threads of a device, told apart by
their tag; "virtual" ones are threads that lowering interleaves into one stream of instructions."""
IterKind: TypeAlias = Literal["spatial", "reduce", "opaque"]
Attribute: TypeAlias = Union[int, float, str, bool, "tuple[Attribute, ...]"]
Annotations: TypeAlias = tuple[tuple[str, Attribute], ...]
Access: TypeAlias = Literal["read", "write", "update", "address"]
"""What a call does with an operand; "address" touches no element (a prefetch)."""


class Stmt(Readable):
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
class Let(Stmt):
    """Run `body` with a variable that stands for a value, evaluated once, before."""

    var: Var
    value: Expr
    body: Stmt

    def __post_init__(self) -> None:
        if self.var.dtype != self.value.dtype:
            raise TypeMismatch(
                f"{self.var.name} is {self.var.dtype}, its value is {self.value.dtype}"
            )


@node
class Operand(Readable):
    """A part of a buffer that a call works on, and how.

    Once memory is flat the region is a range of elements, and `shape` and `strides` (in elements,
    from the first of the range) say which of them belong to the part; before, both are empty. A
    part of no dimensions then has no shape, and one stride.
    """

    region: Region
    access: Access
    shape: tuple[Expr, ...] = ()
    strides: tuple[Expr, ...] = ()

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """The shape of the part as the called code sees it."""
        return self.shape if self.shape or self.strides else self.region.extents


@node
class Procedure(Readable):
    """A statement over named buffers and scalars: the meaning of a call in programs' terms."""

    params: tuple[Buffer | Var, ...]
    body: Stmt


@node
class Invoke(Stmt):
    """Call code from outside the program, handing it parts of buffers and scalars.

    `callee` is "packed:NAME" for a Python function over arrays, "symbol:NAME" for a C function,
    "prefetch", or the name of a tensor intrinsic. The regions tell all that the call may touch.
    `meaning`, if known, says what it computes: one parameter per argument, where the parameter of
    an operand is a buffer of the region's extents. The interpreter runs the meaning.
    """

    callee: str
    args: tuple[Expr | Operand, ...]
    meaning: Procedure | None = None


@node
class Barrier(Stmt):
    """Wait until all threads of a group are here and see each other's writes.

    `scope` names the memory: "shared" (the threads of one block) or "warp".
    """

    scope: str


@node
class Seq(Stmt):
    """Statements one after another; never nested directly and never of length one: see `seq`."""

    stmts: tuple[Stmt, ...]

    def __getitem__(self, number: int) -> Stmt:
        """One of the statements."""
        return self.stmts[number]


@node
class If(Stmt):
    """Run `then` where the condition holds, else `otherwise` if there is one."""

    cond: Expr
    then: Stmt
    otherwise: Stmt | None = None


@node
class For(Stmt):
    """`for var in range(extent)`; the variable is the identity of the loop across rewriting.

    Variable and extent have the type of indices, also where a size is given in a narrower one.
    As with Python's `range`, an extent below zero means no iteration. Such extents arise from
    triangular loops: inside of the last, partial tile of `i`, `range(n - i)` may have `i > n`.
    """

    var: Var
    extent: Expr
    body: Stmt
    kind: LoopKind = "serial"
    annotations: Annotations = ()
    thread: str = ""
    """Tag of a "thread" loop, such as "blockIdx.x" or "threadIdx.y"; else empty."""


@node
class Alloc(Stmt):
    """Storage that lives while `body` runs; its content is undefined at the start."""

    buffer: Buffer
    body: Stmt


@node
class IterVar(Readable):
    """An iteration variable of a block: it takes each value of `0 <= var < extent`."""

    var: Var
    extent: Expr
    kind: IterKind


@node
class Combiner(Readable):
    """How a reduction joins two partial results, each a tuple of values.

    `results[n]` is over the variables `left` (the result so far) and `right` (the next);
    `identity[n]` is neutral. `lawful` says that joining is associative and commutative, proved or
    asserted by the user, so that iterations may be reordered and partial results joined later.
    """

    left: tuple[Var, ...]
    right: tuple[Var, ...]
    results: tuple[Expr, ...]
    identity: tuple[Expr, ...]
    lawful: bool = True


@node
class BlockSymbol(Readable):
    """The identity of a block across rewriting."""

    name: str


@node
class Block(Stmt):
    """The unit that can be scheduled: a body over named iteration variables.

    `bindings[n]` gives the value of `iters[n]` in terms of the loops around. Where `predicate`
    (over those loops too) is false, the iteration does not exist. `init`, if present, runs before
    the first of the iterations that share their spatial values. Inside `init` and `body` only
    iteration variables occur, never loop variables. `combiner` is set for reductions by a user's
    own operation; those by a built-in one are recognized from the body.
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
    combiner: Combiner | None = None

    def __post_init__(self) -> None:
        if len(self.iters) != len(self.bindings):
            raise ShapeError(
                f"block {self.name} has {len(self.iters)} iteration variables "
                f"and {len(self.bindings)} bindings"
            )

    @property
    def name(self) -> str:
        return self.symbol.name


AnyStmt: TypeAlias = Union[Store, Evaluate, Let, Invoke, Barrier, Seq, If, For, Alloc, Block]
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
