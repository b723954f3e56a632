"""Details of the printed form: precedence, literals, names, lines."""

from __future__ import annotations

import math

import pytest

from tvmlab.ir import (
    TRUE,
    Binary,
    BinaryOp,
    BlockSymbol,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Const,
    Expr,
    For,
    IterVar,
    Load,
    Logic,
    Not,
    Program,
    Ramp,
    Region,
    Stmt,
    Store,
    Var,
    const,
    eq,
    make_block,
    marked_text,
    parse,
    parse_expr,
    seq,
    structural_equal,
    to_lines,
    to_text,
)
from tvmlab.support import DType

i, j = Var("i"), Var("j")
x = Var("x", DType.of("float32"))
p, q = i < 1, j < 2
A = Buffer("A", (const(8), const(8)), DType.of("float32"))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (i + j * 2, "i + j * 2"),
        ((i + j) * 2, "(i + j) * 2"),
        (i - (j - 1), "i - (j - 1)"),
        (i - j - 1, "i - j - 1"),
        (i // 2 % 3, "i // 2 % 3"),
        (i // (j % 3), "i // (j % 3)"),
        (i * (j // 4), "i * (j // 4)"),
        ((i << 2) + 1, "(i << 2) + 1"),
        (i << (j + 2), "i << j + 2"),
        ((i & j) | (i ^ 3), "i & j | i ^ 3"),
        (i & (j | 3), "i & (j | 3)"),
        (i + -1, "i + -1"),
        (x / 2.0, "x / 2.0"),
        (Logic("and", p, Logic("or", p, q)), "i < 1 and (i < 1 or j < 2)"),
        (Logic("or", Logic("and", p, q), p), "i < 1 and j < 2 or i < 1"),
        (Logic("and", p, Logic("and", p, q)), "i < 1 and (i < 1 and j < 2)"),
        (Not(Logic("and", p, q)), "not (i < 1 and j < 2)"),
        (Not(p), "not i < 1"),
        (Not(Not(p)), "not not i < 1"),
        (eq(p, q), "(i < 1) == (j < 2)"),
        (eq(Not(p), q), "(not i < 1) == (j < 2)"),
        (Binary("min", i, j + 1), "min(i, j + 1)"),
        (Binary("truncdiv", i, j), "truncdiv(i, j)"),
        (Binary("bitand", p, q), "bitand(i < 1, j < 2)"),
        (Cast(i + 1, DType.of("int8")), "int8(i + 1)"),
        (Cast(const(1), DType.of("int32")), "int32(int64(1))"),
        (Load(A, (i, j + 1)), "A[i, j + 1]"),
        (Load(A, (i, j), p), "A.masked(i < 1)[i, j]"),
        (Ramp(i * 4, const(1), 8), "ramp(i * 4, 1, 8)"),
        (Broadcast(x, 8), "broadcast(x, 8)"),
        (Call("exp", (x,), x.dtype), "exp(x)"),
        (Call("exp", (x,), DType.of("float64")), 'exp(x, dtype="float64")'),
    ],
)
def test_expressions_have_only_the_parentheses_they_need(expr: Expr, text: str) -> None:
    assert to_text(expr) == text
    assert structural_equal(parse_expr(text, {"i": i, "j": j, "x": x, "A": A}), expr)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "floordiv", "floormod", "shl", "bitxor"])
@pytest.mark.parametrize("inner", ["add", "sub", "mul", "floordiv", "shr", "bitand", "min"])
def test_grouping_survives_on_both_sides(op: BinaryOp, inner: BinaryOp) -> None:
    nested = Binary(inner, i, j)
    for expr in (Binary(op, nested, i), Binary(op, i, nested)):
        assert structural_equal(parse_expr(to_text(expr), {"i": i, "j": j}), expr)


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (3, "int64", "3"),
        (-3, "int64", "-3"),
        (-(1 << 63), "int64", "-9223372036854775808"),
        (3, "int8", "int8(3)"),
        ((1 << 64) - 1, "uint64", "uint64(18446744073709551615)"),
        (0.5, "float32", "0.5"),
        (-0.0, "float32", "-0.0"),
        (1e-30, "float32", "1e-30"),
        (0.5, "float64", "float64(0.5)"),
        (0.5, "bfloat16", "bfloat16(0.5)"),
        (math.inf, "float32", 'float32("inf")'),
        (-math.inf, "float16", 'float16("-inf")'),
        (math.nan, "float64", 'float64("nan")'),
        (True, "bool", "True"),
    ],
)
def test_a_literal_says_its_type_where_it_is_not_the_usual_one(
    value: float, dtype: str, text: str
) -> None:
    literal = Const(value, DType.of(dtype))
    assert to_text(literal) == text
    back = parse_expr(text)
    assert isinstance(back, Const)
    assert structural_equal(back, literal)


def test_regions_and_iteration_variables_print_too() -> None:
    assert to_text(Region(A, (i, const(0)), (const(1), const(4)))) == "A[i, 0:4]"
    assert to_text(Region(A, (i * 4, const(2)), (const(4), const(3)))) == "A[i * 4:i * 4 + 4, 2:5]"
    assert to_text(IterVar(Var("vk"), const(8), "reduce")) == "vk=reduce(8)"


def test_equal_names_are_told_apart_and_bad_ones_mended() -> None:
    first, second, odd = (Buffer(n, (const(4),), x.dtype) for n in ("A", "A", "conv 1.pad"))
    loops = [Var("i"), Var("i")]
    body = seq(
        [
            For(loops[0], const(4), Store(first, (loops[0],), Load(second, (loops[0],)))),
            For(loops[1], const(4), Store(odd, (loops[1],), Load(first, (loops[1],)))),
        ]
    )
    text = to_text(Program("my kernel", (first, second, odd), body))
    assert text.splitlines() == [
        "def my_kernel(A: float32[4], A_1: float32[4], conv_1_pad: float32[4]):",
        "    for i in range(4):",
        "        A[i] = A_1[i]",
        "    for i_1 in range(4):",
        "        conv_1_pad[i_1] = A[i_1]",
    ]


def test_each_block_may_call_its_own_variable_vi() -> None:
    nests: list[Stmt] = []
    for name in ("B", "C"):
        loop, v = Var("i"), Var("vi")
        store = Store(A, (v, v), const(0.0))
        iters = [IterVar(v, const(8), "spatial")]
        nests.append(For(loop, const(8), make_block(BlockSymbol(name), iters, [loop], store)))
    text = to_text(Program("f", (A,), seq(nests)))
    assert "vi=spatial(8, i)" in text
    assert "vi=spatial(8, i_1)" in text


def test_an_iteration_variable_avoids_names_around_it() -> None:
    loop, v = Var("i"), Var("i")
    block = make_block(
        BlockSymbol("B"), [IterVar(v, const(8), "spatial")], [loop], Store(A, (v, v), x)
    )
    assert "i_1=spatial(8, i)" in to_text(For(loop, const(8), block))


def test_regions_are_printed_only_where_they_say_more_than_the_body() -> None:
    text = """def f(A: float32[8], B: float32[8]):
    for i in range(8):
        with block("B", vi=spatial(8, i)):
            reads(A[0:8])
            B[vi] = A[vi]"""
    assert to_text(parse(text)) == text
    assert "reads" not in to_text(parse(text.replace("0:8", "vi")))


PROGRAM = """def f(n: int64, A: float32[8]):
    for i in range(8):
        if i < n:
            with block("A", vi=spatial(8, i)):
                with init():
                    A[vi] = 0.0
                A[vi] = 1.0
        else:
            A[i] = 2.0"""


def test_lines_know_their_nodes() -> None:
    program = parse(PROGRAM)
    lines = to_lines(program)
    assert "\n".join(map(str, lines)) == PROGRAM
    assert [type(line.node).__name__ for line in lines] == [
        "Program", "For", "If", "Block", "Block", "Store", "Store", "If", "Store",
    ]  # fmt: skip
    assert [line.depth for line in lines] == [0, 1, 2, 3, 4, 5, 4, 2, 3]


def test_marks_point_at_loops_and_blocks_once() -> None:
    program = parse(PROGRAM)
    loop = program.body
    assert isinstance(loop, For)
    by_var = marked_text(program, [loop.var]).splitlines()
    assert by_var == marked_text(program, [loop]).splitlines()
    assert [line for line in by_var if line.startswith(">")] == [">     for i in range(8):"]
    block = next(line.node for line in to_lines(program) if line.text.startswith("with block"))
    marked = [s for s in marked_text(program, [block]).splitlines() if s.startswith(">")]
    assert len(marked) == 1
    assert "with block" in marked[0]


def test_a_very_deep_expression_prints() -> None:
    deep: Expr = i
    for _ in range(5000):
        deep = deep + j
    assert to_text(deep).count("+") == 5000
    assert to_text(TRUE) == "True"
