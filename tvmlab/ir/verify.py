"""What a well-formed program is: small rules, each with an id and a sentence.

Every pass and every schedule step must keep the rules, so a violation found after one is a bug in
it; in a program that a user wrote it is the user's to mend. `violations` lists them all, `verify`
raises the first.

>>> [v.rule for v in violations(program)]
['var-scope']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tvmlab.support import INDEX, InternalError, TvmlabError, deep

from .expr import Buffer, Expr, Load, Stride, Var, const_int
from .naming import Names
from .printer import to_lines, to_text
from .program import Program
from .regions import infer_regions
from .stmt import (
    Alloc,
    Barrier,
    Block,
    BlockSymbol,
    Evaluate,
    For,
    If,
    Invoke,
    Let,
    Operand,
    Seq,
    Stmt,
    Store,
)
from .traverse import walk
from .verify_call import combiner_problems, invoke_problems
from .verify_expr import expr_problems
from .verify_region import covered, region_problem

RULES: dict[str, str] = {
    "var-scope": "a variable is used only inside the loop, block or program that binds it",
    "block-closed": "inside a block only its own iteration variables and scalar parameters occur",
    "loop-var-unique": "each loop and each name for a value has its own variable",
    "loop-extent": "a loop and its extent have the type of indices, and it is not negative",
    "loop-thread": "a thread loop, and no other, names its axis",
    "barrier-scope": "a barrier is for the memory of one block of threads, or of a warp",
    "call-form": "a call's parts have the rank of their buffer, and its meaning fits its arguments",
    "combiner-form": "a combiner has as many variables and identities, of one type, as results",
    "buffer-scope": "a buffer is a parameter, an intermediate of the program, or allocated around",
    "buffer-unique": "a buffer is declared once",
    "buffer-type": "a buffer holds scalars, and its sizes are whole numbers known where it begins",
    "expr-type": "operands, lanes and literals of an expression fit together",
    "condition-type": "a condition of a statement is one truth value",
    "block-unique": "each block has its own symbol",
    "block-nested": "a block stands inside another one only if that one has opaque iterations",
    "block-binding": "a binding has the type of its iteration variable, as has its extent",
    "region-shape": "a region has one first index and one extent for each dimension of its buffer",
    "region-cover": "the regions of a block cover what its body reads and writes",
    "seq-flat": "a sequence holds no sequence directly, and not exactly one statement",
    "annotation-keys": "each annotation of a node has its own key",
}
"""All rules by id."""

Origin: TypeAlias = Literal["param", "loop", "let", "iter", "outside"]
"""What bound a variable; `outside` marks a loop around a block, which its body may not use."""

Scope: TypeAlias = Mapping[Var, Origin]


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: its id, what is wrong, and the statement or program where."""

    rule: str
    text: str
    node: Program | Stmt


def verify(program: Program, *, error: type[TvmlabError] = InternalError) -> None:
    """Check that a program is well-formed.

    Parameters
    ----------
    program
        The program.
    error
        Who is to blame: InternalError after a step of the compiler, UserError for a program that
        a user wrote.

    Raises
    ------
    TvmlabError
        The given error, naming the rule and the line.
    """
    found = violations(program)
    if found:
        first = found[0]
        raise error(
            f"{program.name} is not well-formed: {first.text}",
            notes=[*_place(program, first.node), f"  rule {first.rule}: {RULES[first.rule]}"],
        )


@deep
def violations(program: Program) -> list[Violation]:
    """All broken rules of a program, in order of its text."""
    return _Verifier(program).run()


def _place(program: Program, node: Program | Stmt) -> list[str]:
    for number, line in enumerate(to_lines(program), 1):
        if line.node is node:
            return [f"  in line {number} of the program: {line.text}"]
    return []


class _Verifier:
    """Walks a program with what is in scope, and collects violations."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = Names(program)
        self.found: list[Violation] = []
        self._buffers: set[Buffer] = set()
        self._loop_vars: set[Var] = set()
        self._symbols: set[BlockSymbol] = set()
        # After lowering, unrolled copies of a loop stand beside each other under one variable.
        self._has_blocks = any(isinstance(n, Block) for n in walk(program.body))

    def run(self) -> list[Violation]:
        program = self.program
        scope: dict[Var, Origin] = {p: "param" for p in program.params if isinstance(p, Var)}
        if len(set(program.params)) != len(program.params):
            self.broken("buffer-unique", "a parameter occurs twice", program)
        self._annotations(program.annotations, program)
        for buffer in program.buffers:
            self._declare(buffer, scope, program)
        self.stmt(program.body, scope)
        return self.found

    def broken(self, rule: str, text: str, node: Program | Stmt) -> None:
        self.found.append(Violation(rule, text, node))

    def stmt(self, s: Stmt, scope: Scope) -> None:
        _RULES[type(s)](self, s, scope)

    def seq(self, s: Seq, scope: Scope) -> None:
        if len(s.stmts) == 1 or any(isinstance(child, Seq) for child in s.stmts):
            self.broken("seq-flat", "a sequence of one statement or inside a sequence", s)
        for child in s.stmts:
            self.stmt(child, scope)

    def store(self, s: Store, scope: Scope) -> None:
        self._use(s.buffer, s)
        for e in (*s.indices, s.value, *(() if s.mask is None else (s.mask,))):
            self.expr(e, scope, s)

    def evaluate(self, s: Evaluate, scope: Scope) -> None:
        self.expr(s.value, scope, s)

    def let(self, s: Let, scope: Scope) -> None:
        self.expr(s.value, scope, s)
        self._bind(s.var, scope, s)
        self.stmt(s.body, {**scope, s.var: "let"})

    def _bind(self, var: Var, scope: Scope, s: Stmt) -> None:
        if var in scope or (self._has_blocks and var in self._loop_vars):
            self.broken("loop-var-unique", f"{self.names[var]} is bound twice", s)
        self._loop_vars.add(var)

    def invoke(self, s: Invoke, scope: Scope) -> None:
        for arg in s.args:
            if not isinstance(arg, Operand):
                self.expr(arg, scope, s)
                continue
            region = arg.region
            self._use(region.buffer, s)
            for e in (*region.mins, *region.extents, *arg.shape, *arg.strides):
                self.expr(e, scope, s)
        for text in invoke_problems(s):
            self.broken("call-form", text, s)
        if s.meaning is not None:
            inner = Program(s.callee, s.meaning.params, s.meaning.body)
            self.found.extend(Violation(v.rule, v.text, s) for v in violations(inner))

    def barrier(self, s: Barrier, scope: Scope) -> None:
        del scope
        if s.scope not in ("shared", "warp"):
            self.broken("barrier-scope", f"a barrier for {s.scope!r}", s)

    def if_(self, s: If, scope: Scope) -> None:
        self._condition(s.cond, scope, s)
        self.stmt(s.then, scope)
        if s.otherwise is not None:
            self.stmt(s.otherwise, scope)

    def for_(self, s: For, scope: Scope) -> None:
        name = self.names[s.var]
        self.expr(s.extent, scope, s)
        if s.extent.dtype != INDEX or s.var.dtype != INDEX:
            text = (
                f"{name} is {s.var.dtype}, its extent is {s.extent.dtype}; loops count in {INDEX}"
            )
            self.broken("loop-extent", text, s)
        elif (const_int(s.extent) or 0) < 0:
            self.broken("loop-extent", f"the loop {name} has the extent {to_text(s.extent)}", s)
        self._bind(s.var, scope, s)
        if (s.kind == "thread") != bool(s.thread):
            text = f"the {s.kind} loop {name} has the axis {s.thread!r}"
            self.broken("loop-thread", text, s)
        self._annotations(s.annotations, s)
        self.stmt(s.body, {**scope, s.var: "loop"})

    def alloc(self, s: Alloc, scope: Scope) -> None:
        already = s.buffer in self._buffers
        self._declare(s.buffer, scope, s)
        self.stmt(s.body, scope)
        if not already:
            self._buffers.discard(s.buffer)

    def block(self, s: Block, scope: Scope) -> None:
        if s.symbol in self._symbols:
            self.broken("block-unique", f"two blocks have the symbol of {s.name}", s)
        self._symbols.add(s.symbol)
        self._annotations(s.annotations, s)
        self._condition(s.predicate, scope, s)
        inside: dict[Var, Origin] = {
            var: "outside" if origin in ("loop", "let", "outside") else origin
            for var, origin in scope.items()
        }
        for it, binding in zip(s.iters, s.bindings, strict=True):
            self.expr(binding, scope, s)
            self.expr(it.extent, inside, s)
            if not it.var.dtype == it.extent.dtype == binding.dtype or it.var.dtype.lanes != 1:
                text = f"{it.var.name} is {it.var.dtype}, its extent is {it.extent.dtype}"
                self.broken("block-binding", f"{text} and its value {binding.dtype}", s)
            if it.var in scope or inside.get(it.var) == "iter":
                self.broken("loop-var-unique", f"{it.var.name} is bound twice", s)
            inside[it.var] = "iter"
        if s.combiner is not None:
            known: dict[Var, Origin] = {v: "iter" for v in (*s.combiner.left, *s.combiner.right)}
            for e in (*s.combiner.results, *s.combiner.identity):
                self.expr(e, {**inside, **known}, s)
            for text in combiner_problems(s.combiner):
                self.broken("combiner-form", text, s)
        opaque = not s.iters or any(it.kind == "opaque" for it in s.iters)
        for part in (s.init, s.body):
            if part is None:
                continue
            inner = [] if opaque else [n for n in walk(part) if isinstance(n, Block)]
            for block in inner:
                self.broken("block-nested", f"block {block.name} stands in block {s.name}", block)
            self.stmt(part, inside)
        self._regions(s, inside)

    def _regions(self, s: Block, scope: Scope) -> None:
        reads, writes = infer_regions(s.iters, s.init, s.body)
        for given, needed, word in ((s.reads, reads, "read"), (s.writes, writes, "written")):
            sound = True
            for region in given:
                self._use(region.buffer, s)
                problem = region_problem(region)
                if problem is not None:
                    self.broken("region-shape", problem, s)
                    sound = False
                for e in (*region.mins, *region.extents):
                    self.expr(e, scope, s)
            for region in needed if sound else ():
                if not covered(region, given):
                    name = self.names[region.buffer]
                    self.broken(
                        "region-cover", f"{name} is {word} where block {s.name} does not say so", s
                    )

    def expr(self, e: Expr, scope: Scope, s: Program | Stmt) -> None:
        """Check one expression of a statement: types, then what it names."""
        for node in walk(e):
            for text in expr_problems(node):
                self.broken("expr-type", text, s)
            if isinstance(node, Var):
                self._use_var(node, scope, s)
            elif isinstance(node, (Load, Stride)):
                self._use(node.buffer, s)

    def _use_var(self, var: Var, scope: Scope, s: Program | Stmt) -> None:
        origin = scope.get(var)
        if origin is None:
            text = f"{self.names[var]} is used where nothing gives it a value"
            self.broken("var-scope", text, s)
        elif origin == "outside":
            text = f"the loop variable {self.names[var]} is used inside a block"
            self.broken("block-closed", text, s)

    def _use(self, buffer: Buffer, s: Program | Stmt) -> None:
        if buffer not in self._buffers:
            text = f"the buffer {self.names[buffer]} is used but nowhere declared"
            self.broken("buffer-scope", text, s)

    def _condition(self, e: Expr, scope: Scope, s: Stmt) -> None:
        self.expr(e, scope, s)
        if not e.dtype.is_bool or e.dtype.lanes != 1:
            self.broken("condition-type", f"the condition is {e.dtype}, not bool", s)

    def _declare(self, buffer: Buffer, scope: Scope, node: Program | Stmt) -> None:
        if buffer in self._buffers:
            text = f"the buffer {self.names[buffer]} is declared twice"
            self.broken("buffer-unique", text, node)
        self._buffers.add(buffer)
        if buffer.dtype.lanes != 1:
            self.broken("buffer-type", f"{self.names[buffer]} holds {buffer.dtype}", node)
        for size in buffer.shape:
            self.expr(size, scope, node)
            if not size.dtype.is_int or size.dtype.lanes != 1 or (const_int(size) or 0) < 0:
                text = f"{self.names[buffer]} has the size {to_text(size)} of type {size.dtype}"
                self.broken("buffer-type", text, node)

    def _annotations(
        self, annotations: tuple[tuple[str, object], ...], node: Program | Stmt
    ) -> None:
        keys = [key for key, _ in annotations]
        if len(set(keys)) != len(keys):
            self.broken("annotation-keys", f"an annotation occurs twice among {keys}", node)


_RULES: dict[type, Callable[[_Verifier, Any, Scope], None]] = {
    Seq: _Verifier.seq,
    Store: _Verifier.store,
    Evaluate: _Verifier.evaluate,
    Let: _Verifier.let,
    Invoke: _Verifier.invoke,
    Barrier: _Verifier.barrier,
    If: _Verifier.if_,
    For: _Verifier.for_,
    Alloc: _Verifier.alloc,
    Block: _Verifier.block,
}
