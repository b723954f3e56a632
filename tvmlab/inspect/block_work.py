"""How much arithmetic one iteration of a block does."""

from __future__ import annotations

from tvmlab.ir import (
    Alloc,
    Binary,
    Block,
    Call,
    Compare,
    Expr,
    For,
    If,
    Load,
    Select,
    Seq,
    Stmt,
    Store,
    children,
    const_int,
)


def operations_of(block: Block) -> int | None:
    """Arithmetic operations of one iteration of a block; indices do not count."""
    return _statement_operations(block.body)


def _statement_operations(stmt: Stmt) -> int | None:
    match stmt:
        case Store():
            return _expr_operations(stmt.value)
        case For():
            extent, inside = const_int(stmt.extent), _statement_operations(stmt.body)
            return None if extent is None or inside is None else extent * inside
        case If():
            parts = [stmt.then] if stmt.otherwise is None else [stmt.then, stmt.otherwise]
            found = [_statement_operations(p) for p in parts]
            known = [n for n in found if n is not None]
            return max(known) if len(known) == len(found) else None
        case Alloc():
            return _statement_operations(stmt.body)
        case Seq():
            parts_found = [_statement_operations(s) for s in stmt.stmts]
            known = [n for n in parts_found if n is not None]
            return sum(known) if len(known) == len(parts_found) else None
        case _:
            return 0


def _expr_operations(value: Expr) -> int:
    total = 0
    stack: list[Expr] = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, Load):
            continue
        if isinstance(current, Select):
            # The condition of a padded read is index work.
            stack += [current.then, current.otherwise]
            continue
        if isinstance(current, (Binary, Call, Compare)):
            total += 1
        stack.extend(c for c in children(current) if isinstance(c, Expr))
    return total
