"""Statements written step by step: loops, conditions, stores, in the words of old programs.

>>> ib = create()
>>> A = ib.buffer_ptr(buffer)                                      # doctest: +SKIP
>>> with ib.for_range(0, 16, "i") as i:                            # doctest: +SKIP
...     A[i] = A[i] * 2.0
>>> ib.get()                                                       # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tvmlab.ir import (
    Alloc,
    Buffer,
    Evaluate,
    Expr,
    ExprLike,
    For,
    If,
    Let,
    Load,
    LoopKind,
    Scope,
    Stmt,
    Store,
    Var,
    as_expr,
    is_const,
    seq,
)
from tvmlab.support import DType, OptionError, ShapeError, UserError, identifier

from .axis import index_expr, shape_of

_KINDS: dict[str, LoopKind] = {
    "serial": "serial", "parallel": "parallel", "vectorize": "vectorized",
    "vectorized": "vectorized", "unroll": "unrolled", "unrolled": "unrolled",
}  # fmt: skip


@dataclass(slots=True)
class _Block:
    """The statements of one scope so far; `finish` wraps them when the scope ends."""

    stmts: list[Stmt] = field(default_factory=lambda: list[Stmt]())
    wraps: list[tuple[int, Callable[[Stmt], Stmt]]] = field(
        default_factory=lambda: list[tuple[int, Callable[[Stmt], Stmt]]]()
    )

    def statement(self) -> Stmt:
        """All statements, each wrap around those that came after it."""
        stmts = list(self.stmts)
        for position, wrap in reversed(self.wraps):
            stmts[position:] = [wrap(seq(stmts[position:]))]
        return seq(stmts)


class BufferVar:
    """A buffer in hand-written code: `A[i]` reads an element, `A[i] = x` writes it.

    One index into a buffer of several dimensions counts elements row by row.
    """

    def __init__(self, builder: IRBuilder, buffer: Buffer) -> None:
        self._builder = builder
        self.buffer = buffer

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.buffer.dtype

    def __getitem__(self, index: ExprLike | tuple[ExprLike, ...]) -> Expr:
        return Load(self.buffer, self._place(index))

    def __setitem__(self, index: ExprLike | tuple[ExprLike, ...], value: ExprLike) -> None:
        place = self._place(index)
        lanes = max((i.dtype.lanes for i in place), default=1)
        stored = as_expr(value, self.dtype.with_lanes(lanes))
        self._builder.emit(Store(self.buffer, place, stored))

    def _place(self, index: ExprLike | tuple[ExprLike, ...]) -> tuple[Expr, ...]:
        given = index if isinstance(index, tuple) else (index,)
        name, shape = self.buffer.name, self.buffer.shape
        exprs = tuple(
            i if isinstance(i, Expr) and i.dtype.lanes > 1 else index_expr(i, f"an index of {name}")
            for i in given
        )
        if len(exprs) == len(shape):
            return exprs
        if len(exprs) != 1 or exprs[0].dtype.lanes > 1:
            raise ShapeError(
                f"{name} has {len(shape)} dimension(s) but is indexed with {len(exprs)}"
            )
        return _unflattened(exprs[0], shape)


class IRBuilder:
    """Collects statements; the scopes opened by `with` become loops and conditions."""

    def __init__(self) -> None:
        self._open = [_Block()]
        self._taken = False

    def emit(self, stmt: Stmt | Expr) -> None:
        """Append a statement, or a call for its effect."""
        self._open[-1].stmts.append(stmt if isinstance(stmt, Stmt) else Evaluate(stmt))

    @contextmanager
    def for_range(
        self,
        begin: ExprLike,
        end: ExprLike,
        name: str = "i",
        dtype: str | None = None,
        kind: str = "serial",
    ) -> Generator[Expr, None, None]:
        """A loop over `begin <= i < end`; gives the index."""
        del dtype
        if kind not in _KINDS:
            raise OptionError(
                f"for_range does not know the kind {kind!r}", hint=f"it is one of {list(_KINDS)}"
            )
        first = index_expr(begin, f"the start of loop {name}")
        extent = index_expr(end, f"the end of loop {name}") - first
        var = Var(identifier(name))
        with self._scope(lambda body: For(var, extent, body, _KINDS[kind])):
            yield var if is_const(first, 0) else var + first

    @contextmanager
    def if_scope(self, cond: ExprLike) -> Generator[None, None, None]:
        """Statements that run where a condition holds."""
        with self._scope(lambda body: If(as_expr(cond), body)):
            yield

    @contextmanager
    def else_scope(self) -> Generator[None, None, None]:
        """Statements that run where the condition of the `if_scope` just before does not hold."""
        before = self._open[-1].stmts
        last = before[-1] if before else None
        if not isinstance(last, If) or last.otherwise is not None:
            raise UserError("else_scope stands directly after an if_scope")
        before.pop()
        with self._scope(lambda body: If(last.cond, last.then, body)):
            yield

    @contextmanager
    def new_scope(self) -> Generator[None, None, None]:
        """Statements of a scope of their own: what is allocated or named in it ends with it."""
        with self._scope(lambda body: body):
            yield

    def allocate(
        self,
        dtype: DType | str,
        shape: ExprLike | tuple[ExprLike, ...] | list[ExprLike],
        name: str = "buf",
        scope: Scope = "",
    ) -> BufferVar:
        """Storage for the rest of the current scope."""
        buffer = Buffer(identifier(name), shape_of(shape, name), DType.of(dtype), scope or "local")
        self._wrap(lambda body: Alloc(buffer, body))
        return BufferVar(self, buffer)

    def buffer_ptr(self, buffer: Buffer, shape: object = None) -> BufferVar:
        """A buffer to read and write by index."""
        del shape
        return BufferVar(self, buffer)

    def pointer(
        self,
        content_type: DType | str,
        name: str = "ptr",
        scope: Scope = "",
        size: ExprLike | None = None,
    ) -> BufferVar:
        """A parameter of the program being written, of `size` elements."""
        if size is None:
            raise UserError(
                f"the pointer {name} needs its size: memory is checked against it",
                hint=f'write ib.pointer("{content_type}", "{name}", size=n)',
            )
        shape = shape_of(size, name)
        return BufferVar(self, Buffer(identifier(name), shape, DType.of(content_type),
                                      scope or "global"))  # fmt: skip

    def let(self, name: str, value: ExprLike) -> Var:
        """A name for a value in the rest of the current scope."""
        expr = as_expr(value)
        var = Var(identifier(name), expr.dtype)
        self._wrap(lambda body: Let(var, expr, body))
        return var

    def scope_attr(self, node: object, attr_key: str, value: ExprLike) -> None:
        """Run the rest of the current scope by the threads of a device.

        Parameters
        ----------
        node
            The thread axis, from `te.thread_axis`.
        attr_key
            "thread_extent" or "virtual_thread".
        value
            How many threads there are.
        """
        tag = getattr(node, "thread_tag", None)
        if attr_key not in ("thread_extent", "virtual_thread") or not isinstance(node, Var):
            raise UserError(
                f"scope_attr does not know {attr_key!r} of {getattr(node, 'name', node)}",
                hint='it opens threads: ib.scope_attr(te.thread_axis("threadIdx.x"), '
                '"thread_extent", 32)',
            )
        var, extent = node, index_expr(value, f"the number of threads of {node.name}")
        if attr_key == "virtual_thread" or tag in ("vthread", "cthread"):
            self._wrap(lambda body: For(var, extent, body, "virtual"))
        else:
            self._wrap(lambda body: For(var, extent, body, "thread", thread=str(tag)))

    def likely(self, expr: Expr) -> Expr:
        """The condition itself: how often it holds is found out by cutting loops."""
        return expr

    def get(self) -> Stmt:
        """The statement that was built."""
        if len(self._open) > 1:
            raise UserError("the statement is not complete: a scope of the builder is still open")
        if self._taken:
            raise UserError("the builder's statement has been taken already; create another one")
        self._taken = True
        return self._open[0].statement()

    def _wrap(self, wrap: Callable[[Stmt], Stmt]) -> None:
        here = self._open[-1]
        here.wraps.append((len(here.stmts), wrap))

    @contextmanager
    def _scope(self, close: Callable[[Stmt], Stmt]) -> Generator[None, None, None]:
        self._open.append(_Block())
        yield
        body = self._open.pop().statement()
        self.emit(close(body))


def create() -> IRBuilder:
    """A builder with no statements yet."""
    return IRBuilder()


def _unflattened(flat: Expr, shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The indices of the element at a row-major position."""
    indices: list[Expr] = []
    rest = flat
    for size in reversed(shape[1:]):
        indices.insert(0, rest % size)
        rest = rest // size
    return (rest, *indices)
