"""Formulas that share parts, and very deep ones: as large as they are, never as trees."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import (
    Buffer,
    Expr,
    Let,
    Load,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    const,
    expand_lets,
    parse,
    post_order,
    share,
    structural_equal,
    structural_hash,
    to_text,
    verify,
    walk,
)
from tvmlab.support import DType, deep

F32 = DType.of("float32")
A, B = Buffer("A", (const(4),), F32), Buffer("B", (const(4),), F32)
FIRST = Load(A, (const(0),))


def polynomial(x: Any, times: int = 30) -> Any:
    for _ in range(times):
        x = x * x + x
    return x


def program(value: Expr) -> Program:
    return Program("f", (A, B), share(Store(B, (const(0),), value)))


def run(program: Program, a: NDArray[np.float32]) -> float:
    b = np.zeros(4, "f4")
    interpret(program, [a, b])
    return float(b[0])


def test_walks_visit_a_shared_part_once() -> None:
    shared = polynomial(FIRST)
    assert len(list(walk(shared))) < 200
    assert len(list(post_order(shared))) < 100


def test_post_order_gives_children_first() -> None:
    seen: set[int] = set()
    for node in post_order(polynomial(FIRST, 3)):
        for name in ("a", "b"):
            child = getattr(node, name, None)
            assert child is None or id(child) in seen
        seen.add(id(node))


def test_repeated_parts_get_names() -> None:
    large = program(polynomial(FIRST))
    verify(large)
    assert isinstance(large.body, Let)
    assert len(to_text(large)) < 3000
    assert structural_equal(parse(to_text(large)), large)
    a = np.array([0.01, 0, 0, 0], "f4")
    assert run(large, a) == pytest.approx(float(polynomial(a[0])), rel=1e-6)


def test_usual_formulas_stay_as_they_are() -> None:
    store = Store(B, (const(0),), polynomial(FIRST, 4))
    assert share(store) is store


def test_deep_sums_are_cut() -> None:
    total: Expr = FIRST
    for n in range(2000):
        total = total + float(n % 3)
    deep_program = program(total)
    assert structural_equal(parse(to_text(deep_program)), deep_program)
    assert run(deep_program, np.zeros(4, "f4")) == sum(n % 3 for n in range(2000))


def test_names_can_be_taken_back() -> None:
    value = polynomial(FIRST, 10)
    named = share(Store(B, (const(0),), value))
    assert isinstance(named, Let)
    plain = expand_lets(named)
    assert isinstance(plain, Store)
    assert len(list(post_order(plain.value))) == len(list(post_order(value)))
    assert structural_equal(plain.value, value)


@pytest.mark.parametrize("inside", [True, False])
def test_what_a_condition_keeps_out_is_not_computed(inside: bool) -> None:
    """The read of A[9] must not happen: it would leave the buffer."""
    outside = polynomial(Load(A, (const(9),)), 10)
    cond = FIRST > 0.0
    value = Select(cond, outside, FIRST) if inside else Select(cond, FIRST, outside)
    guarded = program(value + polynomial(FIRST, 10))
    verify(guarded)
    a = np.full(4, -1 if inside else 0.01, "f4")
    expected = float(a[0] + polynomial(a[0], 10))
    assert run(guarded, a) == pytest.approx(expected, rel=1e-5)


def test_a_part_of_two_branches_is_computed_where_either_is() -> None:
    part = polynomial(Load(A, (const(1),)), 10)
    value = Select(FIRST > 0.0, part + 1.0, part * 2.0)
    large = program(value)
    for first in (-1, 1):
        a = np.array([first, 0.01, 0, 0], "f4")
        known = float(polynomial(a[1], 10))
        assert run(large, a) == pytest.approx(known + 1 if first > 0 else known * 2, rel=1e-5)


def formula(kind: str) -> tl.Schedule:
    source = te.placeholder((64,), name="X")

    def value(i: Any) -> Expr:
        if kind == "graph":
            return polynomial(source[i])
        total: Any = source[i]
        for n in range(2000):
            total = total + float(n % 3)
        return total

    return tl.Schedule(te.compute((64,), value, name="Y"))


@pytest.mark.parametrize("kind", ["graph", "deep"])
def test_large_formulas_are_scheduled_and_built(kind: str) -> None:
    begin = time.process_time()
    sch = formula(kind)
    (i,) = sch.loops("Y")
    outer, inner = sch.split(i, [None, 16])
    sch.vectorize(inner)
    sch.parallel(outer)
    exe = tl.build(sch, cache=False)
    assert time.process_time() - begin < 30
    x = np.linspace(0, 0.02, 64, dtype="f4")
    y, z = np.zeros((2, 64), "f4")
    exe(x, y)
    interpret(sch.program, [x, z])
    np.testing.assert_allclose(y, z, rtol=1e-4)
    expected = (
        polynomial(x.astype("f8")) if kind == "graph" else x + sum(n % 3 for n in range(2000))
    )
    np.testing.assert_allclose(y, expected, rtol=1e-4)
    assert len(exe.ir_text) < 200_000


def test_a_large_reduction_stays_one() -> None:
    source = te.placeholder((8, 8), name="X")
    k = te.reduce_axis(8, "k")

    def sum_of_row(i: Var) -> Expr:
        term: Expr = polynomial(source[i, k], 10)
        return te.sum(term, axis=k)

    total = te.compute((8,), sum_of_row, name="Y")
    sch = tl.Schedule(total)
    i, loop = sch.loops("Y")
    sch.reorder(loop, i)
    sch.vectorize(i)
    x = np.random.default_rng(0).random((8, 8)).astype("f4") * 0.01
    y = np.zeros(8, "f4")
    tl.build(sch)(x, y)
    np.testing.assert_allclose(y, polynomial(x.astype("f8"), 10).sum(1), rtol=1e-4)


def test_a_name_that_depends_on_the_result_makes_no_reduction() -> None:
    text = """
def f(X: float32[8], Y: float32[1]):
    for k in range(8):
        with block("Y", vk=reduce(8, k)):
            with init():
                Y[0] = 0.0
            y = Y[0] * 2.0
            Y[0] = Y[0] + (X[vk] + y)
"""
    sch = tl.Schedule(parse(text))
    (k,) = sch.loops("Y")
    assert not sch.check("parallel", k)
    assert not sch.check("vectorize", k)


def after(stage: te.Tensor, function: Callable[[Expr], Expr], name: str) -> te.Tensor:
    return te.compute(stage.shape, lambda i: function(stage[i]), name=name)


def test_inlining_stages_that_use_each_other_twice() -> None:
    stage = te.placeholder((16,), name="X")
    for n in range(20):
        stage = after(stage, lambda x: x * x + x, f"s{n}")
    sch = tl.Schedule(stage)
    for n in range(19):
        sch.compute_inline(f"s{n}")
    assert len(to_text(sch.program)) < 3000
    x, y = np.full(16, 0.01, "f4"), np.zeros(16, "f4")
    tl.build(sch)(x, y)
    np.testing.assert_allclose(y, polynomial(x.astype("f8"), 20), rtol=1e-4)


def chain(count: int) -> te.Tensor:
    stage = te.placeholder((64,), name="X")
    for n in range(count):
        stage = after(stage, lambda x: x + 1.0, f"s{n}")
    return stage


def test_a_chain_of_stages_is_built_quickly() -> None:
    begin = time.process_time()
    exe = tl.build(chain(100), cache=False)
    # Half a second of processor time on an ordinary machine.
    assert time.process_time() - begin < 10
    x, y = np.zeros((2, 64), "f4")
    exe(x, y)
    np.testing.assert_array_equal(y, 100)


def test_a_chain_deeper_than_pythons_limit() -> None:
    sch = tl.Schedule(chain(300))
    exe = tl.build(sch, cache=False)
    x, y, z = np.zeros((3, 64), "f4")
    exe(x, y)
    interpret(exe.lowered, [x, z])
    np.testing.assert_array_equal(y, 300)
    np.testing.assert_array_equal(z, 300)
    assert structural_equal(parse(to_text(exe.lowered)), exe.lowered)
    assert structural_hash(exe.lowered) == structural_hash(parse(to_text(exe.lowered)))


def test_deep_tries_again_and_keeps_errors() -> None:
    @deep
    def count(n: int) -> int:
        return 0 if n == 0 else 1 + plain(n - 1)

    def plain(n: int) -> int:
        return 0 if n == 0 else 1 + plain(n - 1)

    assert count(20_000) == 20_000

    @deep
    def fails(n: int) -> int:
        if plain(n):
            raise KeyError("inside")
        return 0

    with pytest.raises(KeyError, match="inside"):
        fails(20_000)


def test_a_statement_without_formulas_is_left_alone() -> None:
    stmt: Stmt = parse("def f(A: float32[4]):\n    pass").body
    assert share(stmt) is stmt
