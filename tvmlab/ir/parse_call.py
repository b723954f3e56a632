"""Reads calls of outside code: `call("packed:sort", read(A[0:8]), write(B[0:8]), n)`.

What a call means stands in a `with`, as a function over the parts in the order of the arguments:

    with call("symbol:scale", read(A[0:8]), write(B[0:8]), 2.0):
        def meaning(a: float32[8], b: float32[8], factor: float32):
            for i in range(8):
                b[i] = a[i] * factor
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import cast, get_args

from .expr import Const, Expr
from .parse_decl import DeclarationParser, callee, text_of
from .stmt import Access, Barrier, Invoke, Operand, Procedure, Stmt

CALL_FORM = 'a call is written `call("packed:f", read(A[0:4]), write(B[0:4]), n)`'


class CallParser:
    """Reads calls and barriers; the statements of a meaning are left to `suite`."""

    def __init__(
        self, decls: DeclarationParser, suite: Callable[[Sequence[ast.stmt]], Stmt]
    ) -> None:
        self.decls = decls
        self.exprs = decls.exprs
        self.suite = suite
        self.fail = decls.fail

    def barrier(self, call: ast.Call) -> Stmt:
        if len(call.args) != 1 or call.keywords or not text_of(call.args[0]):
            self.fail(call, "a barrier names a memory", 'write barrier("shared")')
        return Barrier(text_of(call.args[0]))

    def invoke(self, call: ast.Call, meaning: Sequence[ast.stmt] | None = None) -> Invoke:
        """A call, with the statements below it if it opens a `with`."""
        if not call.args or call.keywords or not text_of(call.args[0]):
            self.fail(call, "a call names what is called", CALL_FORM)
        args = tuple(self._argument(a) for a in call.args[1:])
        known = None if meaning is None else self._meaning(call, meaning)
        return Invoke(text_of(call.args[0]), args, known)

    def _argument(self, node: ast.expr) -> Expr | Operand:
        word = callee(node) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or word not in get_args(Access):
            return self.exprs.expr(node)
        if len(node.args) != 1:
            self.fail(node, f"{word} takes one part of a buffer", CALL_FORM)
        if {k.arg for k in node.keywords} - {"shape", "strides"}:
            self.fail(node, f"{word} knows only shape=(...) and strides=(...)")
        view = {k.arg: self._tuple(k.value) for k in node.keywords}
        region = self.exprs.region(node.args[0])
        shape, strides = view.get("shape", ()), view.get("strides", ())
        return Operand(region, cast(Access, word), shape, strides)

    def _tuple(self, node: ast.expr) -> tuple[Expr, ...]:
        if not isinstance(node, ast.Tuple):
            self.fail(node, "several sizes stand in a tuple", "write shape=(4, 8) or shape=(4,)")
        return tuple(self.exprs.expr(e) for e in node.elts)

    def _meaning(self, call: ast.Call, body: Sequence[ast.stmt]) -> Procedure:
        function = body[0]
        if len(body) != 1 or not isinstance(function, ast.FunctionDef):
            self.fail(
                body[0],
                "inside a call stands what it means, as one function",
                "write `def meaning(a: float32[4], b: float32[4]):`, a parameter for each argument",
            )
        before = self.exprs.symbols
        # A meaning is closed: it sees its parameters and known numbers only.
        self.exprs.symbols = {n: s for n, s in before.items() if isinstance(s, Const)}
        try:
            params = self.decls.params(function)
            return Procedure(params, self.suite(function.body))
        finally:
            self.exprs.symbols = before
