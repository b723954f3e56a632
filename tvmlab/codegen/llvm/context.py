"""The state of emitting one function, and the table that says how each node is emitted."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from tvmlab.ir import Binary, Buffer, Const, Expr, Stmt, Var
from tvmlab.support import BOOL, DType, InternalError
from tvmlab.target import Target

from .builder import FunctionText, ModuleText
from .line_table import LineTable
from .options import EmitOptions
from .ranges import Ranges
from .types import literal, llvm_type
from .written import LoopWrites

_ExprRule = Callable[["Context", Any], str]
_StmtRule = Callable[["Context", Any], None]
_EXPR_RULES: dict[type, _ExprRule] = {}
_STMT_RULES: dict[type, _StmtRule] = {}
_E = TypeVar("_E", bound=_ExprRule)
_S = TypeVar("_S", bound=_StmtRule)


def emits(kind: type) -> Callable[[_E], _E]:
    """Register the function that emits expressions of a node type."""

    def register(rule: _E) -> _E:
        _EXPR_RULES[kind] = rule
        return rule

    return register


def runs(kind: type) -> Callable[[_S], _S]:
    """Register the function that emits statements of a node type."""

    def register(rule: _S) -> _S:
        _STMT_RULES[kind] = rule
        return rule

    return register


@dataclass(frozen=True, slots=True)
class LaneMask:
    """An operand of type `<lanes x i1>`."""

    value: str
    lanes: int


class Context:
    """One LLVM function being written: where variables and buffers are, and what is known."""

    def __init__(
        self,
        module: ModuleText,
        function: FunctionText,
        target: Target,
        options: EmitOptions,
        ranges: Ranges,
        *,
        kernel: str,
        parallel_for: str | None,
        fault: str | None = None,
        texts: tuple[str, ...] = (),
        lines: LineTable | None = None,
        written: LoopWrites,
    ) -> None:
        self.module = module
        self.fn = function
        self.target = target
        self.options = options
        self.ranges = ranges
        self.kernel = kernel
        # None inside a parallel body: a parallel loop there runs serially.
        self.parallel_for = parallel_for
        # Where a failed check of an index is noted, and the texts of such failures.
        self.fault = fault
        self.texts = texts
        # Where statements stand in the printed program, if instructions are to tell.
        self.lines = lines
        self.vars: dict[Var, str] = {}
        self.buffers: dict[Buffer, str] = {}
        self.written = written
        # Buffers that nothing in this loop or function writes, and nobody else meanwhile.
        self.steady: frozenset[Buffer] = frozenset()
        # Heap blocks of buffers without a constant size that are alive here.
        self.heap_blocks: list[str] = []
        # Lanes that count, inside a branch of a vector Select; None: all do.
        self.mask: LaneMask | None = None
        # Names of buffers whose vectors are stored past the caches here.
        self.streamed: frozenset[str] = frozenset()

    def expr(self, node: Expr) -> str:
        """Emit an expression; returns its operand text."""
        kind = type(node)
        rule = _EXPR_RULES.get(kind)
        if rule is None:
            raise InternalError(f"{kind.__name__} cannot be turned into LLVM code")
        if kind is not Binary:
            return rule(self, node)
        fn = self.fn
        known = fn.nodes.get(node)
        if known is None:
            before = fn.effects
            known = rule(self, node)
            if fn.effects == before:
                fn.nodes[node] = known
        return known

    def stmt(self, node: Stmt) -> None:
        """Emit a statement."""
        rule = _STMT_RULES.get(type(node))
        if rule is None:
            raise InternalError(
                f"{type(node).__name__} statements must be lowered before code generation"
            )
        around = self.fn.location
        if self.lines is not None:
            self.fn.location = self.lines.location(node, self.fn) or around
        rule(self, node)
        self.fn.location = around

    def address(self, buffer: Buffer) -> str:
        """The pointer to a buffer's first element."""
        pointer = self.buffers.get(buffer)
        if pointer is None:
            raise InternalError(f"buffer {buffer.name} is used outside its allocation")
        return pointer

    def leave(self, code: str) -> None:
        """End the block by returning a code, freeing what is alive."""
        for pointer in reversed(self.heap_blocks):
            self.fn.effect(f"call void @free(ptr {pointer})")
        self.fn.leave(code)

    @contextmanager
    def masked(self, mask: str, lanes: int) -> Generator[None]:
        """Emit a branch of a vector Select: only lanes of `mask` may touch memory or trap."""
        outer = self.mask
        if outer is not None:
            vector = llvm_type(BOOL.with_lanes(lanes))
            mask = self.fn.value(f"and {vector} {outer.value}, {mask}", "mask")
        self.mask = LaneMask(mask, lanes)
        try:
            yield
        finally:
            self.mask = outer

    def intrinsic(self, name: str, result: str, *arguments: tuple[str, str]) -> str:
        """Call `llvm.NAME` on (type, operand) pairs; returns the result."""
        function = self.module.declare(
            f"llvm.{name}", result, ", ".join(type_text for type_text, _ in arguments)
        )
        return self.fn.value(f"call {result} {function}({typed(arguments)})")

    def splat(self, value: str, node: Expr, lanes: int) -> str:
        """A vector of equal lanes from a scalar value of the node's type."""
        dtype = node.dtype
        if lanes == 1:
            return value
        if isinstance(node, Const):
            return literal(node.value, dtype.with_lanes(lanes))
        return splat(self.fn, value, llvm_type(dtype), lanes)


def splat(fn: FunctionText, value: str, lane_type: str, lanes: int) -> str:
    """A vector of equal lanes."""
    vector = f"<{lanes} x {lane_type}>"
    one = fn.value(f"insertelement {vector} poison, {lane_type} {value}, i64 0", "splat")
    zeros = f"<{lanes} x i32> zeroinitializer"
    return fn.value(f"shufflevector {vector} {one}, {vector} poison, {zeros}", "splat")


def any_lane(ctx: Context, mask: LaneMask) -> str:
    """Whether any lane of a mask is set."""
    vector = llvm_type(BOOL.with_lanes(mask.lanes))
    return ctx.intrinsic(f"vector.reduce.or.v{mask.lanes}i1", "i1", (vector, mask.value))


def typed(arguments: Iterable[tuple[str, str]]) -> str:
    """Operands with their types, as an argument list."""
    return ", ".join(f"{type_text} {operand}" for type_text, operand in arguments)


def guarded(ctx: Context, cond: str, dtype: DType, emit: Callable[[], str], missing: str) -> str:
    """A value computed only where the condition holds; elsewhere the given operand."""
    fn = ctx.fn
    then, done = fn.label("then"), fn.label("done")
    before, available = fn.block, fn.available()
    fn.branch(cond, then, done)
    fn.start(then, available)
    value = emit()
    after = fn.block
    fn.jump(done)
    fn.start(done, available)
    return fn.value(f"phi {llvm_type(dtype)} [ {value}, %{after} ], [ {missing}, %{before} ]")
