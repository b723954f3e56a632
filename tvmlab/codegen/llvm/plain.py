"""Programs that leave nothing to find: vectors, registers and address arithmetic stand in the text.

Most of LLVM's passes look for what such programs do not have: conditions to be threaded, values to
be found again in memory or kept from round to round, loops to be vectorized. For them a few passes
give the same inner loops in a sixth of the time.

    for k in range(64):                                  for k in range(64):
        t[ramp] = t[ramp] + A[i, k] * B[ramp]  # plain       C[i] = C[i] + A[i, k]  # is not
"""

from __future__ import annotations

from tvmlab.ir import (
    Alloc,
    Binary,
    Broadcast,
    Compare,
    Const,
    Expr,
    For,
    If,
    Invoke,
    Load,
    Program,
    Ramp,
    Seq,
    Stmt,
    Store,
    Var,
    uses_var,
)

from .zeros import clears

_OPERATIONS = ("add", "sub", "mul")


def is_plain(program: Program) -> bool:
    """Whether a lowered program consists of loops, sums and products that LLVM cannot improve on.

    Whether it loads what is known already is seen when it is emitted. In the functions below
    `round_of` is the variable of the loop around.
    """
    return _plain(program.body, None)


def _plain(stmt: Stmt, round_of: Var | None) -> bool:
    if isinstance(stmt, Seq):
        return all(_plain(child, round_of) for child in stmt.stmts)
    if isinstance(stmt, Alloc):
        return _plain(stmt.body, round_of)
    if isinstance(stmt, For):
        return _plain_loop(stmt, round_of)
    if isinstance(stmt, If):
        return _plain_choice(stmt, round_of)
    if isinstance(stmt, Store):
        return _plain_store(stmt, round_of)
    return isinstance(stmt, Invoke) and stmt.callee == "prefetch"


def _plain_loop(stmt: For, round_of: Var | None) -> bool:
    """A loop that only copies or fills is none: LLVM makes one call of it."""
    if any(name == "llvm_unroll" for name, _ in stmt.annotations):
        return False
    if not _plain_value(stmt.extent, round_of):
        return False
    if clears(stmt) is not None:
        return True
    body = stmt.body
    if isinstance(body, Store) and isinstance(body.value, (Const, Load, Broadcast)):
        return False
    return _plain(body, stmt.var)


def _plain_choice(stmt: If, round_of: Var | None) -> bool:
    """A choice between loops that each round makes anew."""
    cond = stmt.cond
    if not isinstance(cond, Compare) or round_of is None or not uses_var(cond, {round_of}):
        return False
    if not (_plain_value(cond.a, round_of) and _plain_value(cond.b, round_of)):
        return False
    branches = [b for b in (stmt.then, stmt.otherwise) if b is not None]
    return all(_has_loop(b) and _plain(b, round_of) for b in branches)


def _has_loop(stmt: Stmt) -> bool:
    if isinstance(stmt, Seq):
        return any(_has_loop(child) for child in stmt.stmts)
    return isinstance(stmt, For) or (isinstance(stmt, Alloc) and _has_loop(stmt.body))


def _plain_store(stmt: Store, round_of: Var | None) -> bool:
    parts = (stmt.value, *stmt.indices)
    return stmt.mask is None and all(_plain_value(part, round_of) for part in parts)


def _plain_value(value: Expr, round_of: Var | None) -> bool:
    stack, seen = [value], set[int]()
    while stack:
        node = stack.pop()
        if id(node) in seen or isinstance(node, (Const, Var)):
            continue
        seen.add(id(node))
        if isinstance(node, Binary):
            if node.op not in _OPERATIONS:
                return False
            stack += (node.a, node.b)
        elif isinstance(node, Load):
            if node.mask is not None or not _stays(node, round_of):
                return False
            if node.buffer.scope != "register":
                stack += node.indices
        elif isinstance(node, Ramp):
            stack += (node.base, node.stride)
        elif isinstance(node, Broadcast):
            stack.append(node.value)
        else:
            return False
    return True


def _stays(load: Load, round_of: Var | None) -> bool:
    """Whether a load is where it has to be: what it reads is another element in each round.

    Loads of registers vanish in any case.
    """
    if load.buffer.scope == "register" or round_of is None:
        return True
    return any(uses_var(index, {round_of}) for index in load.indices)
