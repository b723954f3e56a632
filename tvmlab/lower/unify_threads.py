"""Make each kernel one nest of thread loops, in which every thread runs one iteration of each.

    for b in thread(8, "blockIdx.x"):                for b in thread(8, "blockIdx.x"):
        for k in range(4):                               for t in thread(32, "threadIdx.x"):
            for c in thread(16, "threadIdx.x"):              for k in range(4):
                S[c] = ...                       ->              where(t < 16): S[t] = ...
            for t in thread(32, "threadIdx.x"):                  C[t] = ...
                C[t] = ...                                   where(t == 0): G[b] = ...
        G[b] = ...

The loops of one tag become one, as long as the longest; shorter ones turn into conditions. A block
whose output all threads of a tag share, and that does not depend on it, runs in the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tvmlab.ir import (
    GRID_TAGS,
    Alloc,
    Block,
    Expr,
    For,
    If,
    Let,
    PlacedBlock,
    Program,
    Seq,
    Stmt,
    Var,
    conjunction,
    conjuncts,
    const_int,
    eq,
    is_const,
    placed_blocks,
    seq,
    shares,
    structural_equal,
    substitute,
    touched_buffers,
    walk,
    with_body,
)
from tvmlab.support import UserError

from .kernels import map_kernels


def unify_threads(program: Program) -> Program:
    """Put all thread loops of each kernel on top of it, one for each tag.

    Kernels without blocks have been lowered before and stay as they are.

    Raises
    ------
    UserError
        If the number of groups differs between parts of a kernel and is known only at run time.
    """
    return with_body(program, map_kernels(program.body, _unify))


def _unify(root: For) -> Stmt:
    if not any(isinstance(n, Block) for n in walk(root)):
        return root
    kernel = _Kernel.of(root)
    if kernel.is_unified(root):
        return root
    body = kernel.strip(root, {}, ())
    for loop in reversed(kernel.ordered()):
        body = replace(loop, body=body)
    return body


@dataclass(slots=True)
class _Kernel:
    """The one loop for each tag, and where each block stood."""

    loops: dict[str, For]
    placed: Mapping[Block, PlacedBlock] = field(default_factory=dict[Block, PlacedBlock])

    @staticmethod
    def of(root: For) -> _Kernel:
        loops: dict[str, For] = {}
        for node in walk(root):
            if isinstance(node, For) and node.kind == "thread":
                known = loops.get(node.thread)
                loops[node.thread] = node if known is None else _longest(known, node)
        return _Kernel(loops, {p.block: p for p in placed_blocks(root)})

    def ordered(self) -> list[For]:
        """The loops over groups, then those over the threads of a group."""
        every = list(self.loops.values())
        grid = [lp for lp in every if lp.thread in GRID_TAGS]
        return [*grid, *(lp for lp in every if lp not in grid)]

    def is_unified(self, root: For) -> bool:
        """Whether the loops stand on top already and no block needs a condition."""
        inner: Stmt = root
        for loop in self.ordered():
            if not isinstance(inner, For) or inner.var is not loop.var:
                return False
            inner = inner.body
        alone = sum(isinstance(n, For) and n.kind == "thread" for n in walk(root))
        return alone == len(self.loops) and not any(self._firsts(p) for p in self.placed.values())

    def strip(self, stmt: Stmt, values: dict[Var, Expr], guards: Sequence[Expr]) -> Stmt:
        """A statement without its thread loops."""
        match stmt:
            case For(kind="thread"):
                one = self.loops[stmt.thread]
                inside = {**values, stmt.var: one.var}
                shorter = const_int(stmt.extent) != const_int(one.extent)
                more = (one.var < stmt.extent,) if shorter else ()
                return self.strip(stmt.body, inside, (*guards, *more))
            case For():
                body = self.strip(stmt.body, values, guards)
                return replace(stmt, extent=substitute(stmt.extent, values), body=body)
            case Seq():
                return seq([self.strip(s, values, guards) for s in stmt.stmts])
            case Alloc():
                return replace(stmt, body=self.strip(stmt.body, values, guards))
            case Let():
                value = substitute(stmt.value, values)
                return replace(stmt, value=value, body=self.strip(stmt.body, values, guards))
            case If():
                otherwise = stmt.otherwise
                if otherwise is not None:
                    otherwise = self.strip(otherwise, values, guards)
                then = self.strip(stmt.then, values, guards)
                return If(substitute(stmt.cond, values), then, otherwise)
            case Block():
                return self._block(stmt, values, guards)
            case _:
                return substitute(stmt, values)

    def _block(self, block: Block, values: dict[Var, Expr], guards: Sequence[Expr]) -> Block:
        predicate = substitute(block.predicate, values)
        parts = [] if is_const(predicate, True) else [predicate]
        firsts = [eq(lp.var, 0) for lp in self._firsts(self.placed[block])]
        return replace(
            block,
            bindings=tuple(substitute(b, values) for b in block.bindings),
            predicate=conjunction([*parts, *guards, *firsts]),
        )

    def _firsts(self, placed: PlacedBlock) -> list[For]:
        """The loops of which only the first thread is to run a block."""
        written = touched_buffers(placed.block)[1]
        found: list[For] = []
        for tag, loop in self.loops.items():
            own = placed.loop_of(tag)
            alike = own is None or not placed.depends_on(own)
            asked = any(structural_equal(c, eq(loop.var, 0)) for c in _parts(placed.block))
            if alike and not asked and all(shares(b.scope, loop) for b in written):
                found.append(loop)
        return found


def _parts(block: Block) -> list[Expr]:
    return conjuncts(block.predicate)


def _longest(a: For, b: For) -> For:
    x, y = const_int(a.extent), const_int(b.extent)
    if x is not None and y is not None:
        return b if y > x else a
    if not structural_equal(a.extent, b.extent):
        raise UserError(
            f"the loops {a.var.name} and {b.var.name} of one kernel are both bound to {a.thread}, "
            f"but it is known only at run time whether they are equally long",
            hint="bind loops with the same extent, or compute one part outside of the kernel",
        )
    return a
