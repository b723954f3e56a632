"""Set the start values of reductions before their reduction loops, not inside.

    for k in range(64):                                  for i in vectorized(8):
        for i in vectorized(8):                              C[i] = 0
            with block("C", i, k):              ->       for k in range(64):
                with init(): C[i] = 0                        for i in vectorized(8):
                C[i] = C[i] + A[i, k]                            C[i] = C[i] + A[i, k]

So no inner loop asks in each round whether it is the first. What cannot be separated (loops that
run over elements and over the reduction at once) keeps its init and gets a condition later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvmlab.arith import Bounds, linear_form, prove, simplify
from tvmlab.ir import (
    FALSE,
    Binary,
    Block,
    BlockSymbol,
    Expr,
    For,
    If,
    Load,
    Node,
    Program,
    Seq,
    Stmt,
    Store,
    Var,
    accessed_buffer,
    block_names,
    children,
    conjunction,
    conjuncts,
    const,
    const_int,
    eq,
    is_const,
    make_block,
    seq,
    structural_equal,
    substitute,
    transform,
    uses_var,
    walk,
    with_body,
    written_buffers,
)
from tvmlab.schedule import unproved_limits
from tvmlab.support import Namer

INIT_INSIDE = "init_inside"
"""The note on a block whose init stays where it is, under a condition."""


def separate_init(program: Program) -> Program:
    """Move each block's init into a block of its own before the outermost reduction loop."""
    names = Namer(block_names(program.body))
    return with_body(program, _Separation(names).visit(program.body, ()))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A block with an init, and the loops between it and the loop being looked at."""

    block: Block
    loops: tuple[For, ...]


class _Separation:
    def __init__(self, namer: Namer) -> None:
        self._namer = namer

    def visit(self, stmt: Stmt, around: tuple[For, ...]) -> Stmt:
        if isinstance(stmt, Seq):
            members = [self.visit(s, around) for s in stmt.stmts]
            same = all(new is old for new, old in zip(members, stmt.stmts, strict=True))
            return stmt if same else seq(members)
        if isinstance(stmt, If):
            then = self.visit(stmt.then, around)
            otherwise = None if stmt.otherwise is None else self.visit(stmt.otherwise, around)
            same = then is stmt.then and otherwise is stmt.otherwise
            return stmt if same else If(stmt.cond, then, otherwise)
        if not isinstance(stmt, For):
            return stmt
        inits: list[Stmt] = []
        moved: dict[Block, Block] = {}
        for candidate in _candidates(stmt, ()):
            nest = self._init_nest(candidate, stmt, around)
            if nest is not None:
                inits.append(nest)
                moved[candidate.block] = replace(candidate.block, init=None)
        body = _replace_blocks(stmt.body, moved)
        body = self.visit(body, (*around, stmt))
        loop = stmt if body is stmt.body else replace(stmt, body=body)
        return seq([*inits, loop]) if inits else loop

    def _init_nest(self, candidate: _Candidate, loop: For, around: Sequence[For]) -> Stmt | None:
        """The loops and the block that set the start values before `loop`; None if impossible."""
        block, chain = candidate.block, (loop, *candidate.loops)
        spatial, reduced = _bound_by(block, "spatial"), _bound_by(block, "reduce")
        outside = {lp.var for lp in around}
        if (INIT_INSIDE, True) in block.annotations:
            return None
        if loop.var not in reduced or spatial & reduced or outside & reduced:
            return None
        zero: dict[Var, Expr] = {
            lp.var: const(0, lp.var.dtype) for lp in chain if lp.var in reduced
        }
        inner = [lp for lp in chain if lp.var not in zero and not _idle(lp, block)]
        if any(lp.kind == "thread" and lp.var in zero for lp in chain):
            return None  # threads join their results first
        if any(
            (lp.var not in spatial and const_int(lp.extent) != 1) or uses_var(lp.extent, set(zero))
            for lp in inner
        ):
            return None
        env = Bounds()
        for lp in (*around, *inner):
            env = env.bind_loop(lp.var, lp.extent)
        if not _starts_at_zero(block, zero, env) or _shares_buffers(block, loop):
            return None
        fresh = {lp.var: Var(f"{lp.var.name}_init") for lp in inner}
        rounds = env
        for lp in chain:
            rounds = rounds.bind_loop(lp.var, lp.extent) if lp.var in zero else rounds
        if not _starts_once(block, zero, chain, rounds):
            return None
        others = {lp.var for lp in (*around, *inner)}
        first = _first_round(block, zero, others, rounds)
        if first is None:
            return None
        guard = simplify(conjunction([first, *unproved_limits(block, env.assume(first))]), env)
        if guard is FALSE:
            return None
        nest: Stmt = self._init_block(block, substitute(guard, fresh), fresh)
        for lp in reversed(inner):
            extent = substitute(lp.extent, fresh)
            nest = For(fresh[lp.var], extent, nest, lp.kind, thread=lp.thread)
        return nest

    def _init_block(self, block: Block, guard: Expr, fresh: dict[Var, Var]) -> Block:
        kept = [
            (replace(it, var=Var(it.var.name)), it.var, binding)
            for it, binding in zip(block.iters, block.bindings, strict=True)
            if it.kind != "reduce"
        ]
        assert block.init is not None
        return make_block(
            BlockSymbol(self._namer.fresh(f"{block.name}_init")),
            [it for it, _, _ in kept],
            [substitute(binding, fresh) for _, _, binding in kept],
            substitute(block.init, {old: it.var for it, old, _ in kept}),
            predicate=guard,
        )


def _idle(loop: For, block: Block) -> bool:
    """Whether a loop has one iteration that the block does not ask about."""
    return const_int(loop.extent) == 1 and not any(uses_var(b, {loop.var}) for b in block.bindings)


def _candidates(stmt: For, loops: tuple[For, ...]) -> list[_Candidate]:
    """Blocks with an init below a loop, with nothing but loops and sequences in between."""
    found: list[_Candidate] = []
    members = stmt.body.stmts if isinstance(stmt.body, Seq) else (stmt.body,)
    for member in members:
        if isinstance(member, Block) and member.init is not None:
            found.append(_Candidate(member, loops))
        elif isinstance(member, For):
            found += _candidates(member, (*loops, member))
    return found


def _first_round(
    block: Block, zero: dict[Var, Expr], others: set[Var], rounds: Bounds
) -> Expr | None:
    """The condition in the first round; None if it may leave out that one but not all others.

    A condition on no other loop than the rounds is left out: a sum of none has its start value.
    """
    kept: list[Expr] = []
    for condition in conjuncts(block.predicate):
        if not uses_var(condition, set(zero)):
            kept.append(condition)
        elif uses_var(condition, others):
            first = substitute(condition, zero)
            if not prove(first, rounds.assume(condition)):
                return None
            kept.append(first)
    return conjunction(kept)


def _bound_by(block: Block, kind: str) -> set[Var]:
    """The loops that spatial (here: all others) or reduction variables of a block depend on."""
    found: set[Var] = set()
    for it, binding in zip(block.iters, block.bindings, strict=True):
        if (it.kind == "reduce") == (kind == "reduce"):
            found |= {n for n in walk(binding) if isinstance(n, Var)}
    return found


def _starts_at_zero(block: Block, zero: dict[Var, Expr], env: Bounds) -> bool:
    """Whether the first round of the reduction loops is the one in which the init runs."""
    return all(
        is_const(simplify(substitute(binding, zero), env), 0)
        for it, binding in zip(block.iters, block.bindings, strict=True)
        if it.kind == "reduce"
    )


def _starts_once(block: Block, zero: dict[Var, Expr], chain: Sequence[For], rounds: Bounds) -> bool:
    """Whether no later round is a first one again, as in loops that do a whole sum repeatedly."""
    env = rounds
    for lp in chain:
        env = env.assume(lp.extent >= 1)
    left = [b for it, b in zip(block.iters, block.bindings, strict=True) if it.kind == "reduce"]
    progress = True
    while progress:
        progress, waiting = False, list[Expr]()
        for part in (p for e in left for p in _parts_at_zero(simplify(e, env), env)):
            learned = _where_zero(part, env)
            if learned is None:
                waiting.append(part)
            else:
                env, progress = learned, True
        left = waiting
    return all(prove(eq(simplify(var, env), 0), env) for var in zero)


def _parts_at_zero(e: Expr, env: Bounds) -> list[Expr]:
    """What is zero where an index is: each term of a sum of numbers that are not negative."""
    form = linear_form(e, env)
    low = [prove(atom >= 0, env) and factor > 0 for atom, factor in form.terms.items()]
    if form.const or not all(low):
        return [e]
    return [part for atom in form.terms for part in _factors_at_zero(atom, env)]


def _factors_at_zero(atom: Expr, env: Bounds) -> list[Expr]:
    """What is zero where a product is, of which one factor, a size known at run time, is not."""
    if isinstance(atom, Binary) and atom.op == "mul":
        for other, size in ((atom.a, atom.b), (atom.b, atom.a)):
            if prove(size >= 1, env):
                return _parts_at_zero(other, env)
    return [atom]


def _where_zero(part: Expr, env: Bounds) -> Bounds | None:
    """What is known where a term is zero; None if that says nothing about single loops yet."""
    if isinstance(part, Var):
        return env.assume(eq(part, 0))
    if isinstance(part, Binary) and part.op == "floordiv":
        known = prove(part.a >= 0, env) and prove(part.b >= 1, env)
        return env.assume(part.a < part.b) if known else None
    return None


def _shares_buffers(block: Block, loop: For) -> bool:
    """Whether anything but the block touches what the init writes, or writes what it reads."""
    assert block.init is not None
    written = set(written_buffers(block.init))
    touched = {accessed_buffer(n) for n in walk(block.init)} - {None}
    read = touched - written
    for node in _outside_block(loop, block):
        buffer = accessed_buffer(node)
        if buffer in written or (buffer in read and buffer in written_buffers(node)):
            return True
    if _looks_at_others(block, loop):
        return True
    own = set(written_buffers(block.body))
    if any(isinstance(n, Load) and n.buffer in written for n in walk(block.init)):
        return True
    return bool(read & (own | written))


def _looks_at_others(block: Block, loop: For) -> bool:
    """Whether a sum reads results of iterations that would have got their start values by then.

    Steps of a scan read results of the step before, which are not among them.
    """
    assert block.init is not None
    values = dict(zip((it.var for it in block.iters), block.bindings, strict=True))
    moved = {n.var for n in walk(loop) if isinstance(n, For)}
    places = {n.buffer: n.indices for n in walk(block.init) if isinstance(n, Store)}
    for node in walk(block.body):
        if not isinstance(node, (Load, Store)) or node.buffer not in places:
            continue
        pairs = list(zip(node.indices, places[node.buffer], strict=True))
        if all(structural_equal(a, b) for a, b in pairs):
            continue
        places_now = [(substitute(a, values), substitute(b, values)) for a, b in pairs]
        if not any(_is_apart(a, b, moved) for a, b in places_now):
            return True
    return False


def _is_apart(one: Expr, other: Expr, moved: set[Var]) -> bool:
    """Whether two indices stand still while loops run, and differ."""
    still = not uses_var(one, moved) and not uses_var(other, moved)
    return still and const_int(simplify(one - other, Bounds())) not in (None, 0)


def _outside_block(loop: For, block: Block) -> list[Node]:
    found: list[Node] = []
    stack: list[Node] = [loop]
    while stack:
        node = stack.pop()
        if node is not block:
            found.append(node)
            stack.extend(children(node))
    return found


def _replace_blocks(stmt: Stmt, moved: dict[Block, Block]) -> Stmt:
    if not moved:
        return stmt
    return transform(stmt, lambda n: moved.get(n, n) if isinstance(n, Block) else n)
