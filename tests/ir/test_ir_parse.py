"""What the parser understands beyond what the printer writes."""

from __future__ import annotations

import pytest

from tvmlab.ir import (
    Binary,
    Buffer,
    Compare,
    Const,
    For,
    Load,
    Logic,
    Seq,
    Store,
    Var,
    const,
    parse,
    parse_expr,
    parse_stmt,
    structural_equal,
    to_text,
)
from tvmlab.ir.parse_source import Source
from tvmlab.support import DType, ParseError

i, n = Var("i"), Var("n")
x = Var("x", DType.of("float64"))
SYMBOLS = {"i": i, "n": n, "x": x}


@pytest.mark.parametrize(
    ("free", "printed"),
    [
        ("0 <= i < n", "0 <= i and i < n"),
        ("i if i < n else n", "select(i < n, i, n)"),
        ("-i", "0 - i"),
        ("+i", "i"),
        ("~i", "i ^ -1"),
        ("(i < n) & (n < 4)", "i < n and n < 4"),
        ("(i < n) | (n < 4)", "i < n or n < 4"),
        ("x * 2", "x * float64(2.0)"),
        ("2 * 0.5 * x", "float64(2.0) * float64(0.5) * x"),
        ("max(0, x)", "max(float64(0.0), x)"),
        ("pow(x, 2)", "pow(x, float64(2.0))"),
        ("exp(1)", "exp(1)"),
        ("select(i < n, 0, x)", "select(i < n, float64(0.0), x)"),
        ("1 < x", "float64(1.0) < x"),
        ("1 + 0.5", "1.0 + 0.5"),
        ("bool(1)", "True"),
    ],
)
def test_freer_forms(free: str, printed: str) -> None:
    assert to_text(parse_expr(free, SYMBOLS)) == printed


def test_a_bare_number_takes_the_type_of_the_buffer_stored_to() -> None:
    for dtype in ("float16", "int8", "uint64", "float64"):
        stmt = parse_stmt("A[0] = 1", {"A": Buffer("A", (const(2),), DType.of(dtype))})
        assert isinstance(stmt, Store)
        assert stmt.value.dtype == DType.of(dtype)


def test_augmented_assignment() -> None:
    a = Buffer("A", (const(8),), DType.of("float32"))
    stmt = parse_stmt("A[i] *= 2", {"A": a, "i": i})
    assert isinstance(stmt, Store)
    assert isinstance(stmt.value, Binary)
    assert isinstance(stmt.value.a, Load)
    assert to_text(stmt) == "A[i] = A[i] * 2.0"


def test_literals_are_not_folded() -> None:
    expr = parse_expr("1 + 2")
    assert isinstance(expr, Binary)
    assert isinstance(parse_expr("1 < 2"), Compare)
    assert isinstance(parse_expr("True and False"), Logic)
    assert isinstance(parse_expr("-1"), Const)


def test_names_given_from_outside_stand_for_numbers() -> None:
    text = "def f(A: float32[N]):\n    for i in range(N):\n        A[i] = HALF"
    program = parse(text, constants={"N": 16, "HALF": 0.5})
    assert "for i in range(16):" in to_text(program)
    assert "A[i] = 0.5" in to_text(program)


def test_a_size_may_stand_after_the_buffers_that_use_it() -> None:
    program = parse("def f(A: float32[n, n], n: int64):\n    pass")
    buffer, size = program.params
    assert isinstance(buffer, Buffer)
    assert buffer.shape == (size, size)


def test_docstrings_decorators_comments_and_indented_text_are_accepted() -> None:
    program = parse(
        '''
        @tvmlab.kernel
        def f(A: int32[4]):
            """Sets all."""
            for i in range(4):  # every element
                A[i] = 1
        '''
    )
    assert isinstance(program.body, For)


def test_the_head_of_a_block_may_come_in_any_order() -> None:
    lines = ["where(i < 3)", "reads(A[vi])", "writes(A[0:4])", "annotate(a=1)"]
    texts = [
        "def f(A: int32[4]):\n    for i in range(4):\n"
        "        with block('A', vi=spatial(4, i)):\n"
        + "".join(f"            {line}\n" for line in order)
        + "            A[vi] = A[vi]"
        for order in (lines, lines[::-1])
    ]
    assert structural_equal(parse(texts[0]), parse(texts[1]))


def test_an_empty_function() -> None:
    body = parse("def f():\n    pass").body
    assert isinstance(body, Seq)
    assert body.stmts == ()


def test_the_scope_of_a_loop_variable_ends_with_the_loop() -> None:
    text = "def f(A: int64[4]):\n    for i in range(4):\n        A[i] = 1\n    A[0] = i"
    with pytest.raises(ParseError, match="i is not defined here"):
        parse(text)


def test_long_sums_are_read_and_what_python_cannot_read_is_refused() -> None:
    with pytest.raises(ParseError):
        parse_expr("(" * 400 + "i" + ")" * 400, SYMBOLS)
    text = " + ".join(["i"] * 3000)
    assert to_text(parse_expr(text, SYMBOLS)) == text


def test_what_is_nested_beyond_all_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(self: Source) -> None:
        raise RecursionError

    monkeypatch.setattr(Source, "tree", too_deep)
    with pytest.raises(ParseError, match="nested too deeply"):
        parse_expr("i", SYMBOLS)
