"""Programs written as plain loops, made ready to be scheduled: each statement becomes a block.

    for i in range(16):                       for i in range(16):
        B[i] = A[i] * 2.0             ->          with block("B", vi=spatial(16, i)):
                                                      B[vi] = A[vi] * 2.0

A statement that sets elements of its own gets spatial iteration variables, a sum reduced ones; in
all others the order of iterations may matter, and is found out when a step asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tvmlab.arith import Bounds, bound_of, linear_form, simplify
from tvmlab.ir import (
    Alloc,
    Block,
    BlockSymbol,
    Expr,
    For,
    If,
    IterKind,
    IterVar,
    Let,
    Load,
    Program,
    Seq,
    Stmt,
    Store,
    Var,
    block_names,
    conjunction,
    conjuncts,
    const,
    free_vars,
    is_noop,
    loads_of,
    logic,
    make_block,
    seq,
    substitute,
    transform,
    uses_var,
    walk,
    written_buffers,
)
from tvmlab.support import Namer, UserError

from .kinds import block_kind
from .notes import PARTIAL, with_note


def with_blocks(program: Program) -> Program:
    """The program with its bare statements in blocks; itself if there are none."""
    body = _Wrapper(Namer(block_names(program.body))).visit(program.body, _Around())
    return program if body is program.body else replace(program, body=body)


@dataclass(frozen=True, slots=True)
class _Around:
    """Loops and conditions around a statement."""

    loops: tuple[For, ...] = ()
    predicate: tuple[Expr, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)

    def inside(self, loop: For) -> _Around:
        bounds = self.bounds.bind_loop(loop.var, loop.extent)
        return _Around((*self.loops, loop), self.predicate, bounds)

    def where(self, condition: Expr) -> _Around:
        return _Around(self.loops, (*self.predicate, condition), self.bounds)


class _Wrapper:
    def __init__(self, namer: Namer) -> None:
        self._namer = namer

    def visit(self, s: Stmt, around: _Around) -> Stmt:
        if isinstance(s, Block):
            s = _asked_inside(s)
        if isinstance(s, Block) or is_noop(s):
            return s if not around.predicate else self._guarded(s, around)
        if isinstance(s, Seq):
            members = [self.visit(child, around) for child in s.stmts]
            same = all(new is old for new, old in zip(members, s.stmts, strict=True))
            return s if same else seq(members)
        if isinstance(s, For) and _is_walked(s) and not loads_of(s.extent):
            shorter = replace(s, extent=simplify(s.extent, around.bounds))
            body = self.visit(s.body, around.inside(shorter))
            return s if body is s.body else replace(shorter, body=body)
        if isinstance(s, Let) and _holds_loop(s) and not _is_kept(s):
            return self.visit(substitute(s.body, {s.var: s.value}), around)
        if isinstance(s, If) and s.otherwise is None and self._opens(s, around):
            return self.visit(s.then, around.where(s.cond))
        return self._block(s, around)

    def _guarded(self, s: Stmt, around: _Around) -> Stmt:
        if not isinstance(s, Block):
            return s
        return replace(s, predicate=logic("and", conjunction([*around.predicate]), s.predicate))

    def _opens(self, s: If, around: _Around) -> bool:
        """Whether a condition may be asked again for each iteration of what it guards."""
        whole = any(isinstance(n, (For, Block)) for n in walk(s.then))
        return whole and not loads_of(s.cond)

    def _block(self, s: Stmt, around: _Around) -> Stmt:
        written = written_buffers(s)
        if any(n.buffer in written for n in loads_of(s)):
            loops = list(around.loops)  # Every iteration counts, also of a loop it does not name.
        else:
            used = set(free_vars(s))
            loops = [loop for loop in around.loops if loop.var in used]
        fresh = {loop.var: Var(f"v{loop.var.name}", loop.var.dtype) for loop in loops}
        body = _short_indices(substitute(s, fresh), list(fresh.values()), loops, around)
        symbol = BlockSymbol(self._namer.fresh(_name(s)))
        block: Block | None = None
        for kinds in _kinds(body, list(fresh.values())):
            iters = [
                IterVar(fresh[loop.var], _domain(loop, around), kind)
                for loop, kind in zip(loops, kinds, strict=True)
            ]
            block = make_block(
                symbol, iters, [lp.var for lp in loops], body,
                predicate=conjunction([*around.predicate]),
            )  # fmt: skip
            if block_kind(block) != "opaque":
                partial = around.predicate or any(_bound_inside(lp, around) for lp in loops)
                return with_note(block, PARTIAL, True) if partial else block
        assert block is not None
        return block


def _asked_inside(block: Block) -> Block:
    """The block with conditions that read memory in its body: there, order is looked at."""
    reading = [c for c in conjuncts(block.predicate) if loads_of(c)]
    if not reading:
        return block
    named: dict[Var, Expr] = {
        binding: it.var
        for it, binding in zip(block.iters, block.bindings, strict=True)
        if isinstance(binding, Var)
    }
    used = {v for condition in reading for v in free_vars(condition)}
    if block.init is not None or not used <= named.keys():
        raise UserError(
            f"the condition of block {block.name} reads memory",
            hint="write `if` around its statement; a start value is set by a block of its own",
        )
    asked = substitute(conjunction(reading), named)
    iters = tuple(replace(it, kind="opaque") for it in block.iters)
    rest = conjunction([c for c in conjuncts(block.predicate) if not loads_of(c)])
    return make_block(
        block.symbol, iters, block.bindings, If(asked, block.body),
        predicate=rest, annotations=block.annotations,
    )  # fmt: skip


def _short_indices(s: Stmt, variables: list[Var], loops: list[For], around: _Around) -> Stmt:
    """The statement with short indices: a loop that starts late leaves `i + 1 - 1`."""
    env = Bounds()
    for var, loop in zip(variables, loops, strict=True):
        env = env.bind_loop(var, _domain(loop, around), keep=True)

    def visit(node: Any) -> Any:
        if not isinstance(node, (Load, Store)):
            return node
        indices = tuple(simplify(index, env) for index in node.indices)
        same = all(new is old for new, old in zip(indices, node.indices, strict=True))
        return node if same else replace(node, indices=indices)

    return transform(s, visit)


def _is_kept(s: Let) -> bool:
    """Whether a name must stay: a whole number computed from loops is the same wherever it is."""
    return not s.value.dtype.is_int or bool(loads_of(s.value))


def _bound_inside(loop: For, around: _Around) -> bool:
    """Whether the extent of a loop depends on loops around it."""
    return uses_var(loop.extent, {lp.var for lp in around.loops})


def _is_walked(loop: For) -> bool:
    """Whether a loop stays a loop of the program; one with memory of its own is one block."""
    return not any(
        (isinstance(n, Alloc) and _holds_loop(n))
        or (isinstance(n, Let) and _is_kept(n) and _holds_loop(n))
        for n in walk(loop.body)
    )


def _holds_loop(s: Alloc | Let) -> bool:
    return any(isinstance(n, For) for n in walk(s.body))


def _kinds(body: Stmt, variables: list[Var]) -> list[list[IterKind]]:
    """The kinds to try for iteration variables; the last one fits always."""
    tries: list[list[IterKind]] = []
    if isinstance(body, Store):
        indexed = {n for index in body.indices for n in walk(index) if isinstance(n, Var)}
        tries.append(["spatial" if v in indexed else "reduce" for v in variables])
    return [*tries, ["opaque"] * len(variables)]


def _name(s: Stmt) -> str:
    written = list(written_buffers(s))
    return written[0].name if written else "effect"


def _domain(loop: For, around: _Around) -> Expr:
    """A size that holds all values of a loop's variable, without the loops around it."""
    outer = {lp.var: lp for lp in around.loops}
    extent = loop.extent
    while uses_var(extent, set(outer)):
        bigger = _largest(extent, outer, around.bounds)
        if bigger is None:
            break
        extent = bigger
    return extent


def _largest(extent: Expr, outer: dict[Var, For], bounds: Bounds) -> Expr | None:
    limit = bound_of(extent, bounds).hi
    if limit is not None:
        return const(max(limit, 0))
    terms = linear_form(extent, bounds).terms
    values: dict[Var, Expr] = {}
    for atom, factor in terms.items():
        if isinstance(atom, Var) and atom in outer:
            values[atom] = outer[atom].extent - 1 if factor > 0 else const(0)
        elif uses_var(atom, set(outer)):
            return None
    return simplify(substitute(extent, values), bounds)
