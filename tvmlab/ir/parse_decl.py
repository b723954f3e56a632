"""Reads what a text declares: parameters, buffers, iteration variables, regions, annotations."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast, get_args

from tvmlab.support import DType, TypeMismatch, parse_expression

from .buffer import Region
from .expr import SCOPES, Buffer, Expr, Var, as_size, is_scope
from .folding_tree import fold
from .parse_expr import ExprParser, index_parts
from .parse_literal import is_untyped
from .program import Param
from .stmt import Annotations, Attribute, Combiner, IterKind, IterVar


class DeclarationParser:
    """Reads declarations; the expressions in them are left to `exprs`."""

    def __init__(self, exprs: ExprParser) -> None:
        self.exprs = exprs
        self.fail = exprs.source.fail

    def params(self, function: ast.FunctionDef) -> tuple[Param, ...]:
        arguments = function.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            self.fail(function, "parameters are plain names with a type: `A: float32[16]`")
        for arg in arguments.args:
            if arg.annotation is None:
                self.fail(
                    arg,
                    f"parameter {arg.arg} has no type",
                    f"write {arg.arg}: float32[16] for a buffer, {arg.arg}: int64 for a number",
                )
        types = {arg.arg: self._unquoted(cast(ast.expr, arg.annotation)) for arg in arguments.args}
        # Numbers first: the shape of a buffer may name a size that stands after it.
        params: dict[str, Param] = {
            name: Var(name, self.dtype(node))
            for name, node in types.items()
            if isinstance(node, ast.Name)
        }
        self.exprs.symbols.update(params)
        for name, node in types.items():
            if name not in params:
                params[name] = self.buffer(node, name, "buffer")
        self.exprs.symbols.update(params)
        return tuple(params[arg.arg] for arg in arguments.args)

    def _unquoted(self, node: ast.expr) -> ast.expr:
        """A type in quotes is read like one without; Python itself leaves it alone."""
        if not text_of(node):
            return node
        try:
            inner = parse_expression(text_of(node))
        except SyntaxError:
            self.fail(node, f"{text_of(node)!r} is not a type", "write float32[4, 4] or int64")
        for part in ast.walk(inner):
            ast.copy_location(part, node)
        return inner

    def buffer(self, node: ast.expr, name: str, word: str) -> Buffer:
        """A buffer from `float32[4, 4]`, or from `alloc(float32[4, 4], scope="local")`."""
        scope = "global"
        if isinstance(node, ast.Call) and callee(node) == word:
            for keyword in node.keywords:
                scope = text_of(keyword.value)
                if keyword.arg != "scope" or not is_scope(scope):
                    known = ", ".join(SCOPES)
                    self.fail(keyword, f'{word} knows only scope="...", one of {known}')
            if len(node.args) != 1:
                self.fail(node, f"{word} takes a type with a shape: {word}(float32[4, 4])")
            node = self._unquoted(node.args[0])
        if not isinstance(node, ast.Subscript):
            self.fail(
                node, f"{name} needs a type with a shape", "write float32[4, 4], or float32[()]"
            )
        shape = tuple(fold(as_size(self.exprs.expr(size))) for size in index_parts(node))
        return Buffer(name, shape, self.dtype(node.value), scope)

    def dtype(self, node: ast.expr) -> DType:
        """An element type that stands as a bare name."""
        name = node.id if isinstance(node, ast.Name) else ast.unparse(node)
        try:
            return DType.of(name)
        except TypeMismatch as error:
            self.fail(node, error.message, error.hint)

    def iters(self, call: ast.Call) -> tuple[tuple[IterVar, ...], tuple[Expr, ...]]:
        iters: list[IterVar] = []
        bindings: list[Expr] = []
        for keyword in call.keywords:
            domain = keyword.value
            kind = callee(domain) if isinstance(domain, ast.Call) else None
            if (
                keyword.arg is None
                or not isinstance(domain, ast.Call)
                or kind not in get_args(IterKind)
                or len(domain.args) != 2
            ):
                self.fail(
                    keyword,
                    "an iteration variable is given a kind, an extent and a value",
                    "the kinds are spatial(16, i), reduce(16, k) and opaque(16, i)",
                )
            if is_untyped(domain.args[0]):
                binding = self.exprs.expr(domain.args[1])
                extent = self.exprs.expr(domain.args[0], binding.dtype)
            else:
                extent = as_size(self.exprs.expr(domain.args[0]))
                binding = self.exprs.expr(domain.args[1], extent.dtype)
            iters.append(IterVar(Var(keyword.arg, extent.dtype), extent, cast(IterKind, kind)))
            bindings.append(binding)
        return tuple(iters), tuple(bindings)

    def regions(self, call: ast.Call) -> tuple[Region, ...]:
        return tuple(self.exprs.region(a) for a in call.args)

    def combiner(self, call: ast.Call) -> Combiner:
        """`combine(lambda a, b: a + b, 0.0)`: the first half of the names is the result so far."""
        flags = {k.arg: self.exprs.number(k.value) for k in call.keywords}
        function = call.args[0] if call.args else call
        if len(call.args) != 2 or flags.keys() - {"lawful"} or not isinstance(function, ast.Lambda):
            self.fail(
                call,
                "combine takes a lambda over the results so far and the next, and the identity",
                "write combine(lambda a, b: a + b, 0.0)",
            )
        results, identities = _parts(function.body), _parts(call.args[1])
        names = [a.arg for a in function.args.args]
        if not len(names) == 2 * len(results) == 2 * len(identities):
            self.fail(
                call,
                f"{len(results)} result(s) are joined by a lambda of {2 * len(results)} names and "
                f"as many identities, not of {len(names)} and {len(identities)}",
            )
        identity = tuple(self.exprs.expr(e) for e in identities)
        left = tuple(Var(n, e.dtype) for n, e in zip(names, identity, strict=False))
        right = tuple(Var(n, e.dtype) for n, e in zip(names[len(left) :], identity, strict=True))
        before = self.exprs.symbols
        self.exprs.symbols = {**before, **{v.name: v for v in (*left, *right)}}
        values = tuple(self.exprs.expr(e, v.dtype) for e, v in zip(results, left, strict=True))
        self.exprs.symbols = before
        return Combiner(left, right, values, identity, bool(flags.get("lawful", True)))

    def annotations(self, keywords: Sequence[ast.keyword]) -> Annotations:
        pairs: list[tuple[str, Attribute]] = []
        for keyword in keywords:
            if keyword.arg is not None:
                pairs.append((keyword.arg, self._annotation_value(keyword.value)))
            elif isinstance(keyword.value, ast.Dict):
                for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                    pairs.append((text_of(key) or "", self._annotation_value(value)))
            else:
                self.fail(keyword, 'write key=value, or **{"any key": value}')
        return tuple(pairs)

    def _annotation_value(self, node: ast.expr) -> Attribute:
        if isinstance(node, ast.Tuple):
            return tuple(self._annotation_value(e) for e in node.elts)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
            return node.value
        if isinstance(node, ast.Constant) and node.value is ...:
            self.fail(
                node,
                "the code that belongs here is left out of this text",
                "schedules print without the code of intrinsics; to_text(sch.program) has all",
            )
        number = self.exprs.number(node)
        if number is not None:
            return number
        if isinstance(node, ast.Call) and callee(node) == "float" and node.args:
            text = text_of(node.args[0])
            if text in ("inf", "-inf", "nan"):
                return float(text)
        self.fail(node, "an annotation is a literal number, text or truth value, or a tuple")


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def call_of(node: ast.stmt) -> ast.Call | None:
    """The call that a statement consists of, if it does."""
    value = node.value if isinstance(node, ast.Expr) else None
    return value if isinstance(value, ast.Call) else None


def callee(node: ast.Call) -> str | None:
    """The bare name that is called, if it is one."""
    return node.func.id if isinstance(node.func, ast.Name) else None


def text_of(node: ast.expr | None) -> str:
    """The value of a literal text, else an empty one."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""
