r"""Reads the text form back: `parse(to_text(p))` is structurally equal to `p`.

The text is read with Python's own `ast` module and never executed. What the printer writes is
described in `printer`; a reader may also write `C[i] += x`, a docstring, and decorators.

>>> parse("def copy(A: float32[8], B: float32[8]):\n    for i in range(8):\n        B[i] = A[i]")
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias, Union

from tvmlab.support import DType, ParseError, TvmlabError, deep

from .expr import TRUE, Buffer, Const, Expr, Scalar, Var, const
from .parse_call import CallParser
from .parse_decl import DeclarationParser, call_of, callee, text_of
from .parse_expr import ExprParser
from .parse_loop import read_domain
from .parse_source import Source
from .program import Program
from .regions import infer_regions
from .stmt import (
    Alloc,
    Annotations,
    Block,
    BlockSymbol,
    Evaluate,
    For,
    If,
    Let,
    Stmt,
    Store,
    seq,
)

Symbols: TypeAlias = Mapping[str, Union[Var, Buffer, Scalar]]

_HEAD_WORDS = ("where", "reads", "writes", "annotate", "combine")
_OPENERS = {"block": "a block", "alloc": "an alloc", "let": "a let", "call": "a call"}
_BLOCK_FORM = 'a block is written `with block("C", vi=spatial(16, i), vk=reduce(8, k)):`'


def parse(
    text: str,
    *,
    file: str = "<text>",
    first_line: int = 1,
    constants: Mapping[str, Scalar] | None = None,
) -> Program:
    """The program that a text of the printed form describes.

    Parameters
    ----------
    text
        One function definition.
    file, first_line
        Where the text comes from, for error messages.
    constants
        Names that stand for numbers, such as sizes defined around a kernel.

    Raises
    ------
    ParseError
        If the text is not of that form; the message marks the place and says what would be.
    """
    parser = _Parser(Source(text, file, first_line), constants or {})
    return parser.run(parser.program)


def parse_stmt(text: str, symbols: Symbols | None = None) -> Stmt:
    """The statements of a text, over the variables and buffers given by name."""
    parser = _Parser(Source(text, "<text>"), symbols or {})
    return parser.run(lambda tree: parser.suite(tree.body))


def parse_expr(text: str, symbols: Symbols | None = None) -> Expr:
    """The expression of a text, over the variables and buffers given by name."""
    parser = _Parser(Source(text, "<text>"), symbols or {})

    def only(tree: ast.Module) -> Expr:
        if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
            parser.fail(tree.body[-1] if tree.body else tree, "one expression is expected here")
        return parser.exprs.expr(tree.body[0].value)

    return parser.run(only)


class _Parser:
    """Reads statements; `exprs` reads the expressions in them and holds the names in scope."""

    def __init__(self, source: Source, symbols: Symbols) -> None:
        self.source = source
        named = {
            name: value if isinstance(value, (Var, Buffer)) else const(value)
            for name, value in symbols.items()
        }
        self.exprs = ExprParser(source, named)
        self.decls = DeclarationParser(self.exprs)
        self.fail = source.fail
        self.calls = CallParser(self.decls, self.suite)
        self._blocks: dict[str, BlockSymbol] = {}

    def run(self, read: Callable[[ast.Module], Any]) -> Any:
        """Read the whole text, with a plain message where it is nested beyond reason."""
        known = self.exprs.symbols

        @deep
        def attempt() -> Any:
            self.exprs.symbols = dict(known)
            return read(self.source.tree())

        try:
            return attempt()
        except RecursionError:
            raise ParseError(
                "the text is nested too deeply to be read",
                hint="split the deepest expression over several statements",
            ) from None

    @contextmanager
    def scope(self, names: Mapping[str, Expr | Buffer]) -> Generator[None]:
        """The names are known inside and not after."""
        before = self.exprs.symbols
        self.exprs.symbols = {**before, **names}
        yield
        self.exprs.symbols = before

    def program(self, tree: ast.Module) -> Program:
        functions = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
        if len(functions) != 1 or len(tree.body) != 1:
            extra = [s for s in tree.body if s not in functions[:1]]
            self.fail(
                extra[0] if extra else tree,
                "a program is one function definition",
                "start with `def name(A: float32[16], B: float32[16]):`",
            )
        function = functions[0]
        params = self.decls.params(function)
        body = function.body
        if _is_docstring(body[0]):
            body = body[1:]
        annotations, body = self._program_annotations(body)
        allocs, body = self._allocs(body)
        return Program(function.name, params, self.suite(body), allocs, annotations)

    def suite(self, body: Sequence[ast.stmt]) -> Stmt:
        """A list of statements as one; a name given to a value or storage holds for the rest."""
        outside = self.exprs.symbols
        stmts: list[Stmt] = []
        opened: list[tuple[list[Stmt], Callable[[Stmt], Stmt]]] = []
        for node in body:
            binding = self._binding(node)
            if binding is None:
                stmts.append(self.stmt(node))
                continue
            symbol, wrap = binding
            self.exprs.symbols = {**self.exprs.symbols, symbol.name: symbol}
            opened.append((stmts, wrap))
            stmts = []
        result = seq(stmts)
        for before, wrap in reversed(opened):
            result = seq([*before, wrap(result)])
        self.exprs.symbols = outside
        return result

    def _binding(self, node: ast.stmt) -> tuple[Var | Buffer, Callable[[Stmt], Stmt]] | None:
        """What `x: float32 = value`, `x = value` or `T = alloc(...)` gives a name to."""
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        if not isinstance(target, ast.Name) or not isinstance(node, (ast.Assign, ast.AnnAssign)):
            return None
        if node.value is None:
            self.fail(node, f"{target.id} has no value", f"write {target.id} = value")
        known = self.exprs.symbols.get(target.id)
        if known is not None and not isinstance(known, Const):
            self._refuse_change(target)
        if isinstance(node.value, ast.Call) and callee(node.value) == "alloc":
            buffer = self.decls.buffer(node.value, target.id, "alloc")
            return buffer, lambda body: Alloc(buffer, body)
        to = self.decls.dtype(node.annotation) if isinstance(node, ast.AnnAssign) else None
        var, value = self._let(node, target.id, node.value, to)
        return var, lambda body: Let(var, value, body)

    def _refuse_change(self, target: ast.Name) -> NoReturn:
        name = target.id
        self.fail(
            target,
            f"{name} already has a value here, and a name keeps its value",
            f"use another name, or storage that can change: {name} = alloc(float32[()]) "
            f"and then {name}[()] = value",
        )

    def _let(
        self, node: ast.AST, name: str, value: ast.expr, to: DType | None = None
    ) -> tuple[Var, Expr]:
        found = self.exprs.expr(value, to)
        if to is not None and found.dtype != to:
            self.fail(
                node,
                f"{name} is to be {to}, its value is {found.dtype}",
                f"convert the value: {to}({ast.unparse(value)})",
            )
        return Var(name, found.dtype), found

    def stmt(self, node: ast.stmt) -> Stmt:
        rule = _RULES.get(type(node))
        if rule is None:
            word = type(node).__name__.lower()
            self.fail(
                node,
                f"`{word}` is not a statement of the text form",
                "statements are: for, if, with block(...), with alloc(...), A[i] = value, pass",
            )
        try:
            return rule(self, node)
        except ParseError:
            raise
        except TvmlabError as error:
            self.fail(node, error.message, error.hint)

    def _program_annotations(
        self, body: Sequence[ast.stmt]
    ) -> tuple[Annotations, Sequence[ast.stmt]]:
        if body and (call := call_of(body[0])) is not None and callee(call) == "annotate":
            return self.decls.annotations(call.keywords), body[1:]
        return (), body

    def _allocs(self, body: Sequence[ast.stmt]) -> tuple[tuple[Buffer, ...], Sequence[ast.stmt]]:
        """The intermediates at the top of a program: `T = alloc(float32[64])`."""
        buffers: list[Buffer] = []
        for count, s in enumerate(body):
            if not (
                isinstance(s, ast.Assign)
                and isinstance(s.targets[0], ast.Name)
                and isinstance(s.value, ast.Call)
                and callee(s.value) == "alloc"
            ):
                return tuple(buffers), body[count:]
            name = s.targets[0].id
            buffers.append(self.decls.buffer(s.value, name, "alloc"))
            self.exprs.symbols[name] = buffers[-1]
        return tuple(buffers), ()

    def assign(self, node: ast.Assign) -> Stmt:
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Subscript):
            hint = "write A[i] = value; an intermediate is made by `with alloc(float32[4]) as T:`"
            self.fail(node, "only a name or an element of a buffer can be assigned to", hint)
        buffer, indices, mask = self.exprs.access(target)
        lanes = max((i.dtype.lanes for i in indices), default=1)
        value = self.exprs.expr(node.value, buffer.dtype.with_lanes(lanes))
        return Store(buffer, indices, value, mask)

    def aug_assign(self, node: ast.AugAssign) -> Stmt:
        """`C[i] += x` is `C[i] = C[i] + x`."""
        if isinstance(node.target, ast.Name):
            self._refuse_change(node.target)
        value = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        return self.assign(ast.copy_location(ast.Assign([node.target], value), node))

    def evaluate(self, node: ast.Expr) -> Stmt:
        call = call_of(node)
        word = callee(call) if call else None
        if call is not None and word == "call":
            return self.calls.invoke(call)
        if call is not None and word == "barrier":
            return self.calls.barrier(call)
        if word in (*_HEAD_WORDS, "init"):
            self.fail(
                node,
                f"{word}(...) stands at the head of a block, before its statements",
                "heads come in any order, `with init():` last",
            )
        return Evaluate(self.exprs.expr(node.value))

    def if_(self, node: ast.If) -> Stmt:
        otherwise = self.suite(node.orelse) if node.orelse else None
        return If(self.exprs.expr(node.test), self.suite(node.body), otherwise)

    def for_(self, node: ast.For) -> Stmt:
        if not isinstance(node.target, ast.Name):
            self.fail(node.target, "a loop has one variable, as in `for i in range(16):`")
        if node.orelse:
            self.fail(node.orelse[0], "a loop has no else")
        domain = read_domain(self.decls, node.iter)
        var = Var(node.target.id, domain.extent.dtype)
        with self.scope({var.name: domain.value(var)}):
            body = self.suite(node.body)
        return For(var, domain.extent, body, domain.kind, domain.annotations, domain.thread)

    def with_(self, node: ast.With) -> Stmt:
        item = node.items[0]
        call = item.context_expr
        word = callee(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or word not in _OPENERS or len(node.items) > 1:
            self.fail(
                call,
                "`with` opens a block(...), an alloc(...), a let(...), a call(...), or, first in "
                "a block, init()",
                _BLOCK_FORM,
            )
        if word == "block":
            return self._block(node, call)
        if word == "call":
            return self.calls.invoke(call, node.body)
        if not isinstance(item.optional_vars, ast.Name):
            text = ast.unparse(call)
            self.fail(call, f"{_OPENERS[word]} needs a name", f"write `with {text} as T:`")
        if word == "let":
            return self._nested_let(node, call, item.optional_vars.id)
        buffer = self.decls.buffer(call, item.optional_vars.id, "alloc")
        with self.scope({buffer.name: buffer}):
            return Alloc(buffer, self.suite(node.body))

    def _nested_let(self, node: ast.With, call: ast.Call, name: str) -> Stmt:
        if len(call.args) != 1 or call.keywords:
            self.fail(call, "let takes one value", "write `with let(A[i] + 1) as x:`")
        var, value = self._let(node, name, call.args[0])
        with self.scope({name: var}):
            return Let(var, value, self.suite(node.body))

    def _block(self, node: ast.With, call: ast.Call) -> Stmt:
        if len(call.args) != 1 or not (name := text_of(call.args[0])):
            self.fail(call, "a block has a name", _BLOCK_FORM)
        iters, bindings = self.decls.iters(call)
        head, init_body, rest = self._split_block(node.body)
        predicate = self.exprs.expr(head["where"].args[0]) if "where" in head else TRUE
        with self.scope({it.var.name: it.var for it in iters}):
            init = None if init_body is None else self.suite(init_body)
            body = self.suite(rest)
            reads, writes = infer_regions(iters, init, body)
            combiner = self.decls.combiner(head["combine"]) if "combine" in head else None
            if "reads" in head:
                reads = self.decls.regions(head["reads"])
            if "writes" in head:
                writes = self.decls.regions(head["writes"])
        noted = self.decls.annotations(head["annotate"].keywords) if "annotate" in head else ()
        symbol = self._blocks.setdefault(name, BlockSymbol(name))
        return Block(
            symbol,
            iters,
            bindings,
            reads,
            writes,
            body,
            init,
            predicate,
            noted,
            combiner,
        )

    def _split_block(
        self, body: Sequence[ast.stmt]
    ) -> tuple[dict[str, ast.Call], Sequence[ast.stmt] | None, Sequence[ast.stmt]]:
        """The head lines of a block by word, the statements of its init, and the others."""
        head: dict[str, ast.Call] = {}
        for count, s in enumerate(body):
            call = call_of(s)
            word = callee(call) if call else None
            if call is not None and word in _HEAD_WORDS:
                if word in head:
                    self.fail(s, f"a block has one {word}(...)")
                if word == "where" and len(call.args) != 1:
                    self.fail(s, "where takes one condition", "join conditions by `and`")
                head[word] = call
            elif isinstance(s, ast.With) and _is_init(s):
                return head, s.body, body[count + 1 :]
            else:
                return head, None, body[count:]
        return head, None, ()


_RULES: dict[type[ast.stmt], Callable[[_Parser, Any], Stmt]] = {
    ast.Assign: _Parser.assign,
    ast.AugAssign: _Parser.aug_assign,
    ast.Expr: _Parser.evaluate,
    ast.If: _Parser.if_,
    ast.For: _Parser.for_,
    ast.With: _Parser.with_,
    ast.Pass: lambda parser, node: seq([]),
}


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and bool(text_of(node.value))


def _is_init(node: ast.With) -> bool:
    call = node.items[0].context_expr
    return isinstance(call, ast.Call) and callee(call) == "init"
