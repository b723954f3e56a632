"""Random trees that use every kind of node: well-typed, not always executable.

For what must hold of any tree whatever it means: round trips, hashes, naming.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tvmlab.ir import (
    CALLS,
    Alloc,
    Annotations,
    Barrier,
    Binary,
    BinaryOp,
    Block,
    BlockSymbol,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Combiner,
    Compare,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Invoke,
    IterVar,
    Let,
    Load,
    Logic,
    Not,
    Operand,
    Procedure,
    Program,
    Ramp,
    Region,
    Select,
    Stmt,
    Store,
    Stride,
    Var,
    const,
    infer_regions,
    seq,
)
from tvmlab.support import BOOL, FLOAT32, INDEX, DType

Draw = Any

NAMES = ("i", "j", "i_outer", "vi", "A", "min", "range", "lambda", "x y", "tile.3", "é", "2d")
TYPES = ("int64", "int32", "uint8", "float32", "float64", "float16", "bfloat16", "bool")
_ARITHMETIC: tuple[BinaryOp, ...] = ("add", "sub", "mul", "min", "max", "floordiv", "floormod")
_INT_ONLY: tuple[BinaryOp, ...] = (
    "truncdiv",
    "truncmod",
    "bitand",
    "bitor",
    "bitxor",
    "shl",
    "shr",
)


@st.composite
def trees(draw: Draw) -> Program:
    """A program of any kind of node, with names that clash and need mending."""
    return _Trees(draw).program()


class _Trees:
    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.vars: list[Var] = []
        self.buffers: list[Buffer] = []

    def program(self) -> Program:
        scalars = tuple(
            Var(self.name(), DType.of(t))
            for t in self.draw(st.lists(st.sampled_from(("int64", "int32", "float32")), max_size=2))
        )
        self.vars.extend(scalars)
        buffers = tuple(self.buffer() for _ in range(self.draw(st.integers(1, 3))))
        allocs = tuple(self.buffer() for _ in range(self.draw(st.integers(0, 2))))
        params = self.draw(st.permutations((*scalars, *buffers)))
        return Program("tree", tuple(params), self.stmt(3), allocs, self.notes())

    def name(self) -> str:
        return self.draw(st.sampled_from(NAMES))

    def notes(self) -> Annotations:
        if self.draw(st.integers(0, 5)):
            return ()
        value = st.one_of(st.integers(-5, 5), st.floats(), st.text(max_size=4), st.booleans())
        keys = self.draw(
            st.lists(st.sampled_from(("a", "b c", "if", "é")), unique=True, max_size=2)
        )
        nested = st.recursive(value, lambda v: st.lists(v, max_size=2).map(tuple), max_leaves=3)
        return tuple((key, self.draw(nested)) for key in keys)

    def buffer(self) -> Buffer:
        sizes = tuple(self.size() for _ in range(self.draw(st.integers(0, 3))))
        scope = self.draw(
            st.sampled_from(("global", "global", "local", "shared", "register", "accel.in"))
        )
        made = Buffer(self.name(), sizes, DType.of(self.draw(st.sampled_from(TYPES))), scope)
        self.buffers.append(made)
        return made

    def size(self) -> Expr:
        ints = [v for v in self.vars if v.dtype == INDEX]
        if ints and self.draw(st.booleans()):
            return self.draw(st.sampled_from(ints)) * self.draw(st.integers(1, 4))
        return const(self.draw(st.integers(0, 64)))

    def stmt(self, depth: int) -> Stmt:
        kinds = ["store", "store", "evaluate", "empty", "call", "barrier"]
        if depth:
            kinds += ["seq", "seq", "if", "for", "for", "alloc", "block", "block", "let", "let"]
        kind = self.draw(st.sampled_from(kinds))
        if kind == "store":
            return self.store()
        if kind == "evaluate":
            return Evaluate(self.expr(self.dtype(), 2))
        if kind == "if":
            otherwise = self.stmt(depth - 1) if self.draw(st.booleans()) else None
            return If(self.expr(BOOL, 2), self.stmt(depth - 1), otherwise)
        if kind == "for":
            return self.loop(depth)
        if kind == "alloc":
            buffer = self.buffer()
            body = self.stmt(depth - 1)
            self.buffers.remove(buffer)
            return Alloc(buffer, body)
        if kind == "block":
            return self.block(depth)
        if kind == "let":
            return self.let(depth)
        if kind == "call":
            return self.invoke(depth)
        if kind == "barrier":
            return Barrier(self.draw(st.sampled_from(("shared", "warp"))))
        return seq([self.stmt(depth - 1) for _ in range(3)]) if kind == "seq" else seq([])

    def let(self, depth: int) -> Stmt:
        value = self.expr(self.dtype().with_lanes(self.draw(st.sampled_from((1, 1, 4)))), 2)
        var = Var(self.name(), value.dtype)
        self.vars.append(var)
        body = self.stmt(depth - 1)
        self.vars.remove(var)
        return Let(var, value, body)

    def invoke(self, depth: int) -> Stmt:
        callee = self.draw(st.sampled_from(("packed:a.b", "symbol:f", "prefetch", 'x "y"')))
        args: list[Expr | Operand] = [
            self.operand() if self.draw(st.booleans()) else self.expr(self.dtype(), 1)
            for _ in range(self.draw(st.integers(0, 3)))
        ]
        if not depth or self.draw(st.booleans()):
            return Invoke(callee, tuple(args))
        outside = self.vars, self.buffers
        self.vars, self.buffers = [], []
        params = tuple(self.param(a) for a in args)
        body = self.stmt(depth - 1) if self.buffers else Evaluate(self.leaf(FLOAT32))
        meaning = Procedure(params, body)
        self.vars, self.buffers = outside
        return Invoke(callee, tuple(args), meaning)

    def param(self, argument: Expr | Operand) -> Buffer | Var:
        if isinstance(argument, Operand):
            like = argument.region.buffer
            sizes = tuple(const(self.draw(st.integers(0, 9))) for _ in like.shape)
            self.buffers.append(Buffer(self.name(), sizes, like.dtype, like.scope))
            return self.buffers[-1]
        self.vars.append(Var(self.name(), argument.dtype))
        return self.vars[-1]

    def operand(self) -> Operand:
        region = self.region()
        access = self.draw(st.sampled_from(("read", "write", "update", "address")))
        rank = self.draw(st.integers(0, 2))
        shape = tuple(self.size() for _ in range(rank))
        return Operand(region, access, shape, tuple(self.expr(INDEX, 1) for _ in range(rank)))

    def combiner(self) -> Combiner:
        identity = tuple(self.leaf(self.dtype()) for _ in range(self.draw(st.integers(1, 2))))
        left = tuple(Var(self.name(), e.dtype) for e in identity)
        right = tuple(Var(self.name(), e.dtype) for e in identity)
        outside, self.vars = self.vars, [*self.vars, *left, *right]
        results = tuple(self.expr(e.dtype, 2) for e in identity)
        self.vars = outside
        return Combiner(left, right, results, identity, self.draw(st.booleans()))

    def loop(self, depth: int) -> Stmt:
        var = Var(self.name())
        extent = const(self.draw(st.integers(0, 64)))
        self.vars.append(var)
        body = self.stmt(depth - 1)
        self.vars.remove(var)
        kind = self.draw(
            st.sampled_from(("serial", "parallel", "vectorized", "unrolled", "thread", "virtual"))
        )
        tag = self.draw(st.sampled_from(("threadIdx.x", "blockIdx.y"))) if kind == "thread" else ""
        return For(var, extent, body, kind, self.notes(), tag)

    def block(self, depth: int) -> Stmt:
        kinds = self.draw(st.lists(st.sampled_from(("spatial", "reduce", "opaque")), max_size=3))
        iters = tuple(IterVar(Var(self.name()), self.size(), kind) for kind in kinds)
        bindings = tuple(self.expr(INDEX, 2) for _ in iters)
        predicate = self.expr(BOOL, 2)
        outside, self.vars = self.vars, [*self.vars, *(it.var for it in iters)]
        init = self.stmt(1) if self.draw(st.booleans()) else None
        body = self.stmt(depth - 1)
        reads, writes = infer_regions(iters, init, body)
        if self.draw(st.booleans()):
            reads = tuple(self.region() for _ in range(self.draw(st.integers(0, 2))))
        combiner = self.combiner() if self.draw(st.integers(0, 3)) == 0 else None
        self.vars = outside
        symbol = BlockSymbol(self.draw(st.sampled_from(("C", "C", "conv.pad", 'say "hi"'))))
        notes = self.notes()
        return Block(symbol, iters, bindings, reads, writes, body, init, predicate, notes, combiner)

    def region(self) -> Region:
        buffer = self.draw(st.sampled_from(self.buffers))
        mins = tuple(self.expr(INDEX, 1) for _ in buffer.shape)
        extents = tuple(self.size() for _ in buffer.shape)
        return Region(buffer, mins, extents)

    def store(self) -> Stmt:
        buffer = self.draw(st.sampled_from(self.buffers))
        lanes = self.draw(st.sampled_from((1, 1, 1, 4))) if buffer.shape else 1
        mask = self.expr(BOOL.with_lanes(lanes), 1) if self.draw(st.booleans()) else None
        value = self.expr(buffer.dtype.with_lanes(lanes), 3)
        return Store(buffer, self.indices(buffer, lanes), value, mask)

    def indices(self, buffer: Buffer, lanes: int) -> tuple[Expr, ...]:
        found = [self.expr(INDEX, 1) for _ in buffer.shape]
        if lanes != 1:
            found[-1] = self.expr(INDEX.with_lanes(lanes), 1)
        return tuple(found)

    def dtype(self) -> DType:
        return DType.of(self.draw(st.sampled_from(TYPES)))

    def expr(self, dtype: DType, depth: int) -> Expr:
        """An expression of the given type."""
        makers = [self.cast, self.load, self.select, self.arithmetic, self.call]
        if depth == 0:
            return self.leaf(dtype)
        if dtype.is_bool:
            makers = [self.compare, self.logic, self.negation, self.load, self.cast]
        if dtype.lanes != 1:
            makers.append(self.vector)
        return self.draw(st.sampled_from([*makers, self.leaf]))(dtype, depth - 1)

    def leaf(self, dtype: DType, _: int = 0) -> Expr:
        if dtype.lanes != 1:
            return Broadcast(self.leaf(dtype.scalar), dtype.lanes)
        known = [v for v in self.vars if v.dtype == dtype]
        if known and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(known))
        if dtype.is_bool:
            return Const(self.draw(st.booleans()), dtype)
        if dtype.is_float:
            return Const(self.draw(st.floats()), dtype)
        if dtype == INDEX and self.buffers and self.draw(st.integers(0, 5)) == 0:
            buffer = self.draw(st.sampled_from(self.buffers))
            if buffer.shape:
                return Stride(buffer, self.draw(st.integers(0, len(buffer.shape) - 1)))
        return Const(self.draw(st.integers(int(dtype.min_value), int(dtype.max_value))), dtype)

    def vector(self, dtype: DType, depth: int) -> Expr:
        if dtype.is_int and self.draw(st.booleans()):
            scalar = dtype.scalar
            return Ramp(self.expr(scalar, depth), self.expr(scalar, depth), dtype.lanes)
        return Broadcast(self.expr(dtype.scalar, depth), dtype.lanes)

    def arithmetic(self, dtype: DType, depth: int) -> Expr:
        ops = (*_ARITHMETIC, "div") if dtype.is_float else (*_ARITHMETIC, *_INT_ONLY)
        op = self.draw(st.sampled_from(ops))
        return Binary(op, self.expr(dtype, depth), self.expr(dtype, depth))

    def compare(self, dtype: DType, depth: int) -> Expr:
        inner = self.dtype().with_lanes(dtype.lanes)
        op = self.draw(st.sampled_from(("eq", "ne", "lt", "le", "gt", "ge")))
        return Compare(op, self.expr(inner, depth), self.expr(inner, depth))

    def logic(self, dtype: DType, depth: int) -> Expr:
        op = self.draw(st.sampled_from(("and", "or")))
        return Logic(op, self.expr(dtype, depth), self.expr(dtype, depth))

    def negation(self, dtype: DType, depth: int) -> Expr:
        return Not(self.expr(dtype, depth))

    def select(self, dtype: DType, depth: int) -> Expr:
        lanes = self.draw(st.sampled_from((1, dtype.lanes)))
        cond = self.expr(BOOL.with_lanes(lanes), depth)
        return Select(cond, self.expr(dtype, depth), self.expr(dtype, depth))

    def cast(self, dtype: DType, depth: int) -> Expr:
        return Cast(self.expr(self.dtype().with_lanes(dtype.lanes), depth), dtype)

    def load(self, dtype: DType, depth: int) -> Expr:
        fitting = [b for b in self.buffers if b.dtype == dtype.scalar]
        if dtype.lanes != 1:
            fitting = [b for b in fitting if b.shape]
        if not fitting:
            return self.leaf(dtype)
        buffer = self.draw(st.sampled_from(fitting))
        masked = self.draw(st.integers(0, 3)) == 0
        mask = self.expr(BOOL.with_lanes(dtype.lanes), depth) if masked else None
        return Load(buffer, self.indices(buffer, dtype.lanes), mask)

    def call(self, dtype: DType, depth: int) -> Expr:
        info = CALLS[self.draw(st.sampled_from(("exp", "pow", "fma", "abs")))]
        given = self.draw(st.sampled_from((dtype, FLOAT32.with_lanes(dtype.lanes))))
        return Call(info.name, tuple(self.expr(given, depth) for _ in range(info.arity)), dtype)
