"""Structural comparison: blind to names, sharp on everything else."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from helpers.random_programs import QUICK, programs
from hypothesis import given

from tvmlab.ir import (
    Alloc,
    Binary,
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    Load,
    Program,
    Region,
    Seq,
    Store,
    Var,
    const,
    parse,
    replace_buffers,
    structural_equal,
    structural_hash,
    structural_key,
    substitute,
    to_text,
    transform,
)
from tvmlab.support import DType

TEXT = """
def f(n: int64, A: float32[64, n], C: float32[64], U: int8[4]):
    T = alloc(float32[64])
    for i in parallel(8, hint=1):
        for j in range(8):
            for k in range(n):
                with block("C", vi=spatial(64, i * 8 + j), vk=reduce(n, k)):
                    where(i * 8 + j < 60)
                    annotate(pragma="x")
                    with init():
                        C[vi] = 0.0
                    C[vi] = C[vi] + exp(A[vi, vk])
    with alloc(float16[4], scope="local") as S:
        if n < 3:
            S[ramp(0, 1, 4)] = broadcast(float16(1.0), 4)
        else:
            S.masked(n < 5)[0] = float16(select(n < 4, C[0], T[1]))
"""

CHANGES = [
    ("float32[64, n]", "float32[65, n]"),
    ("U: int8", "U: uint8"),
    ("C: float32[64]", 'C: buffer(float32[64], scope="shared")'),
    ("n: int64, ", "n: int64, m: int64, "),
    ("T = alloc(float32[64])", "T = alloc(float32[63])"),
    ("parallel(8", "range(8"),
    ("hint=1", "hint=2"),
    ("hint=1", "tint=1"),
    ("for j in range(8)", "for j in range(9)"),
    ("spatial(64", "opaque(64"),
    ("spatial(64", "spatial(63"),
    ("i * 8 + j)", "i * 8 - j)"),
    ("< 60", "<= 60"),
    ("< 60", "< 61"),
    ('pragma="x"', 'pragma="y"'),
    ("C[vi] = 0.0", "C[vi] = 1.0"),
    ("exp(", "log("),
    ("C[vi] + exp", "C[vi] * exp"),
    ("A[vi, vk]", "A[vk, vi]"),
    ("float16[4]", "float16[5]"),
    ('scope="local"', 'scope="shared"'),
    ("if n < 3", "if n < 2"),
    ("ramp(0, 1, 4)", "ramp(0, 2, 4)"),
    ("ramp(0, 1, 4)", "ramp(1, 1, 4)"),
    ("masked(n < 5)", "masked(n < 6)"),
    ("select(n < 4, C[0], T[1])", "select(n < 4, T[1], C[0])"),
    ("T[1]", "C[1]"),
    ("float16(1.0)", "float16(-1.0)"),
    ("                    with init():\n                        C[vi] = 0.0\n", ""),
    ("                    where(i * 8 + j < 60)\n", ""),
]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_every_change_shows(before: str, after: str) -> None:
    assert before in TEXT
    one, other = parse(TEXT), parse(TEXT.replace(before, after, 1))
    assert not structural_equal(one, other)
    assert structural_hash(one) != structural_hash(other)


def test_regions_show() -> None:
    one = parse(TEXT)
    head = '                    annotate(pragma="x")\n'
    other = parse(TEXT.replace(head, f"{head}                    reads(A[vi, 0:n])\n"))
    assert structural_hash(one) != structural_hash(other)


def rename(program: Program) -> Program:
    """The same program with a new symbol of another name for everything that has one."""
    buffers = {b: replace(b, name=f"{b.name}_new") for b in program.buffers}
    fresh: dict[Var, Expr] = {}
    symbols: dict[BlockSymbol, BlockSymbol] = {}

    def new_var(var: Var) -> Var:
        made = fresh.setdefault(var, Var(f"{var.name}_new", var.dtype))
        assert isinstance(made, Var)
        return made

    def visit(node: object) -> object:
        if isinstance(node, For):
            return replace(node, var=new_var(node.var))
        if isinstance(node, Block):
            symbol = symbols.setdefault(node.symbol, BlockSymbol(f"{node.name}_new"))
            iters = tuple(replace(it, var=new_var(it.var)) for it in node.iters)
            return replace(node, iters=iters, symbol=symbol)
        return node

    body = transform(replace_buffers(program.body, buffers), visit)
    params = tuple(buffers[p] if isinstance(p, Buffer) else p for p in program.params)
    allocs = tuple(buffers[b] for b in program.allocs)
    return Program("renamed", params, substitute(body, fresh), allocs, program.annotations)


@QUICK
@given(programs())
def test_renaming_does_not_show(program: Program) -> None:
    other = rename(program)
    assert to_text(other) != to_text(program)
    assert structural_equal(program, other)
    assert structural_hash(program) == structural_hash(other)


def test_free_symbols_must_be_the_same_to_be_equal() -> None:
    i, j = Var("i"), Var("i")
    assert structural_equal(i + 1, i + 1)
    assert not structural_equal(i + 1, j + 1)
    assert structural_hash(i + 1) == structural_hash(j + 1)
    assert structural_hash(i + i) != structural_hash(i + j)
    one, other = (Buffer("A", (const(4),), DType.of("int8")) for _ in range(2))
    assert structural_equal(one, other)
    assert not structural_equal(Load(one, (i,)), Load(other, (i,)))
    assert structural_hash(Load(one, (i,))) == structural_hash(Load(other, (i,)))
    assert structural_equal([i, j], (i, j))
    assert not structural_equal([i, j], [j, i])
    assert not structural_equal([i], [i, i])


def test_a_scope_that_ended_binds_no_more() -> None:
    """Two loops of one variable are the same as two loops of two."""
    i, j = Var("i"), Var("j")
    a = Buffer("A", (const(4),), DType.of("int64"))
    loop = For(i, const(4), Store(a, (i,), i))
    other = For(j, const(4), Store(a, (j,), j))
    assert structural_equal(Seq((loop, loop)), Seq((loop, other)))
    local = Buffer("L", (), DType.of("int64"))
    once = Alloc(local, Store(local, (), const(0)))
    again = replace(local)
    assert structural_equal(
        Seq((once, once)), Seq((once, Alloc(again, Store(again, (), const(0)))))
    )


def test_blocks_of_one_symbol_differ_from_blocks_of_two() -> None:
    text = """
def f(A: int32[()]):
    with block("A"):
        A[()] = 1
    with block("A"):
        A[()] = 1
"""
    one, other = parse(text), parse(text.replace('"A"', '"B"', 1))
    assert structural_hash(one) != structural_hash(other)


def test_the_order_of_annotations_means_nothing() -> None:
    text = "def f(A: int32[4]):\n    for i in range(4, {}):\n        A[i] = 1"
    one, other = parse(text.format("a=1, b='x'")), parse(text.format("b='x', a=1"))
    assert structural_equal(one, other)


def test_keys_work_in_a_dictionary() -> None:
    i = Var("i")
    a = Buffer("A", (const(4),), DType.of("int8"))
    seen = {structural_key(Region(a, (i + 1,), (const(1),)))}
    assert structural_key(Region(a, (i + 1,), (const(1),))) in seen
    assert structural_key(Region(a, (i + 2,), (const(1),))) not in seen


def test_negative_zero_and_nan() -> None:
    assert not structural_equal(const(0.0), const(-0.0))
    assert structural_equal(const(float("nan")), const(float("nan")))


def test_depth_is_no_matter() -> None:
    i = Var("i")
    deep: Expr = i
    for _ in range(20_000):
        deep = Binary("add", deep, i)
    assert structural_equal(deep, replace(deep))
    assert len(structural_hash(deep)) == 64


def test_the_hash_is_the_same_in_another_process() -> None:
    code = (
        "import sys; from tvmlab.ir import parse, structural_hash;"
        "print(structural_hash(parse(sys.argv[1])))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, TEXT], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == structural_hash(parse(TEXT))
