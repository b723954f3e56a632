"""Statements: what holds at a place is used there and nowhere else."""

from __future__ import annotations

from tvmlab.arith import Bounds, Interval, simplify_stmt
from tvmlab.ir import (
    FALSE,
    TRUE,
    Alloc,
    Block,
    BlockSymbol,
    Broadcast,
    Buffer,
    Expr,
    For,
    If,
    IterVar,
    Load,
    Ramp,
    Region,
    Seq,
    Stmt,
    Store,
    Var,
    const,
    is_noop,
    logic,
    to_text,
)
from tvmlab.support import FLOAT32, INDEX

A = Buffer("A", (const(64),), FLOAT32)
K = Buffer("K", (const(64),), INDEX)
I, J, N = Var("i"), Var("j"), Var("n")
ONE = const(1.0)


def store(index: Expr, value: Expr = ONE) -> Store:
    return Store(A, (index,), value)


def loop(var: Var, extent: int | Expr, body: Stmt) -> For:
    return For(var, const(extent) if isinstance(extent, int) else extent, body)


def text(stmt: Stmt) -> str:
    return to_text(simplify_stmt(stmt)).strip()


def test_loop_ranges_reach_indices() -> None:
    nest = loop(I, 8, loop(J, 4, store((I * 4 + J) // 4 + (I * 4 + J) % 4)))
    assert text(nest).endswith("A[i + j] = 1.0")


def test_nothing_changed_is_the_same_object() -> None:
    nest = loop(I, 8, Seq((store(I), If(I < N, store(I + 1), store(I * 2)))))
    assert simplify_stmt(nest) is nest


def test_decided_conditions_go() -> None:
    assert (
        text(loop(I, 8, If(I < 8, store(I), store(I + 1)))) == "for i in range(8):\n    A[i] = 1.0"
    )
    only_else = text(loop(I, 8, If(I >= 8, store(I), store(I + 1))))
    assert only_else == "for i in range(8):\n    A[i + 1] = 1.0"
    assert is_noop(simplify_stmt(loop(I, 8, If(I >= 8, store(I)))))


def test_conditions_hold_in_their_branches() -> None:
    body = If(I * 4 + J < 30, If(I * 4 + J < 30, store(I)), If(I * 4 + J < 30, store(J)))
    simpler = simplify_stmt(loop(I, 8, loop(J, 4, body)))
    assert to_text(simpler).count("if") == 1
    assert "A[j]" not in to_text(simpler)


def test_a_condition_that_reads_memory_is_not_trusted_after_a_store() -> None:
    cond = Load(K, (I,)) < 3
    nested = If(cond, Seq((Store(K, (I,), const(9)), If(cond, store(I)))))
    nest = loop(I, 8, nested)
    assert simplify_stmt(nest) is nest
    other = loop(I, 8, If(cond, store(I), If(cond, store(I + 1))))
    assert simplify_stmt(other) is other
    # What does not read memory is still used.
    both = If(logic("and", cond, I < 3), If(I < 4, store(I)))
    assert to_text(simplify_stmt(loop(I, 8, both))).count("if") == 1


def test_empty_loops_and_branches_go() -> None:
    assert is_noop(simplify_stmt(loop(I, 0, store(I))))
    assert is_noop(simplify_stmt(loop(I, N, store(I)), Bounds().bind(N, Interval(None, 0))))
    assert not is_noop(simplify_stmt(loop(I, N, store(I))))
    assert is_noop(simplify_stmt(loop(I, 8, If(N < 3, loop(J, 0, store(J))))))
    assert is_noop(simplify_stmt(Alloc(A, If(FALSE, store(I)))))
    swapped = simplify_stmt(If(N < 3, loop(J, 0, store(J)), store(N)))
    assert to_text(swapped).strip() == "if n >= 3:\n    A[n] = 1.0"


def test_unit_loops_stay_unless_asked() -> None:
    nest = loop(I, 1, loop(J, 4, store(I * 4 + J)))
    assert simplify_stmt(nest) is nest
    dropped = simplify_stmt(nest, drop_unit_loops=True)
    assert to_text(dropped).strip() == "for j in range(4):\n    A[j] = 1.0"
    parallel = For(I, const(1), store(I), "parallel")
    assert simplify_stmt(parallel, drop_unit_loops=True) is parallel


def test_symbolic_extents_bound_their_variable() -> None:
    nest = loop(I, N, If(I < N, store(I)))
    assert to_text(simplify_stmt(nest)).count("if") == 0


def test_masks() -> None:
    index, value = Ramp(I, const(1), 4), Broadcast(ONE, 4)
    full = Store(A, (index,), value, Broadcast(TRUE, 4))
    assert simplify_stmt(full) is not full
    assert "mask" not in to_text(simplify_stmt(full))
    assert is_noop(simplify_stmt(Store(A, (index,), value, Broadcast(FALSE, 4))))
    below = Store(A, (index,), value, index < Broadcast(const(11), 4))
    assert "mask" not in to_text(simplify_stmt(loop(I, 8, below)))
    partly = Store(A, (index,), value, index < Broadcast(const(10), 4))
    assert "mask" in to_text(simplify_stmt(loop(I, 8, partly)))


def block(binding: Expr, extent: int, body: Stmt, predicate: Expr = TRUE) -> Block:
    v = Var("v")
    iters = (IterVar(v, const(extent), "spatial"),)
    region = Region(A, (v + 0,), (const(1),))
    inside = Store(A, (v,), ONE) if body is NOTHING else body
    return Block(BlockSymbol("b"), iters, (binding,), (), (region,), inside, None, predicate)


NOTHING = Seq(())


def test_blocks_have_their_own_scope() -> None:
    simpler = simplify_stmt(
        loop(I, 8, loop(J, 4, block((I * 4 + J) // 1, 32, NOTHING, I * 4 + J < 32)))
    )
    assert isinstance(simpler, For)
    inner = simpler.body
    assert isinstance(inner, For)
    made = inner.body
    assert isinstance(made, Block)
    assert made.predicate is TRUE
    assert to_text(made.bindings[0]) == "i * 4 + j"
    assert to_text(made.writes[0].mins[0]) == "v"


def test_iteration_variables_have_their_domain_and_the_predicate_says_nothing_inside() -> None:
    v = Var("v")
    body = Seq((If(v < 32, Store(A, (v,), ONE)), If(v < 5, Store(A, (v + 1,), ONE))))
    made = Block(
        BlockSymbol("b"), (IterVar(v, const(32), "spatial"),), (I,), (), (), body, None, I < 5
    )
    simpler = simplify_stmt(loop(I, 32, made))
    assert to_text(simpler).count("if v") == 1
    assert "if v < 5" in to_text(simpler)


def test_a_block_that_never_runs_goes() -> None:
    assert is_noop(simplify_stmt(loop(I, 8, block(I, 8, NOTHING, I > 9))))
