"""Each rule of a well-formed program has a program that breaks it, and only it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tvmlab.ir import (
    Alloc,
    Barrier,
    Binary,
    Block,
    BlockSymbol,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Combiner,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Invoke,
    IterVar,
    Let,
    Load,
    Operand,
    Procedure,
    Program,
    Ramp,
    Region,
    Seq,
    Stmt,
    Store,
    Stride,
    Var,
    const,
    make_block,
    parse,
    verify,
    violations,
)
from tvmlab.ir.verify import RULES
from tvmlab.support import DType, InternalError, UserError

F32, I32 = DType.of("float32"), DType.of("int32")
A = Buffer("A", (const(8),), F32)
i, j, v = Var("i"), Var("j"), Var("v")


def program(body: Stmt, *params: Buffer | Var, allocs: tuple[Buffer, ...] = ()) -> Program:
    return Program("f", (A, *params), body, allocs)


def store(index: Expr = i, value: Expr | None = None) -> Store:
    return Store(A, (index,), const(0.0) if value is None else value)


def loop(body: Stmt, var: Var = i, extent: Expr | None = None) -> For:
    return For(var, const(8) if extent is None else extent, body)


def block(body: Stmt, *, binding: Expr = i, kind: str = "spatial", name: str = "b") -> Block:
    it = IterVar(v, const(8), "opaque" if kind == "opaque" else "spatial")
    return make_block(BlockSymbol(name), [it], [binding], body)


def evaluate(e: Expr) -> Program:
    return program(Evaluate(e))


def two_blocks_of_one_symbol() -> Program:
    one = block(store(v), binding=i)
    other = replace(one, iters=(IterVar(j, const(8), "spatial"),), bindings=(const(0),))
    other = replace(other, body=store(j), writes=(Region(A, (j,), (const(1),)),))
    return program(loop(Seq((one, other))))


def nested_blocks(kind: str) -> Program:
    inner = make_block(BlockSymbol("inner"), [IterVar(j, const(8), "spatial")], [v], store(j))
    return program(loop(block(inner, kind=kind)))


def region(mins: tuple[Expr, ...], extents: tuple[Expr, ...]) -> Program:
    return program(loop(replace(block(store(v)), writes=(Region(A, mins, extents),))))


def with_iter(it: IterVar, binding: Expr) -> Program:
    made = make_block(BlockSymbol("b"), [it], [binding], store(const(0)))
    return program(loop(made))


one32 = Const(1, I32)
ROW = Operand(Region(A, (const(0),), (const(4),)), "read")
P, P3 = Buffer("p", (const(4),), F32), Buffer("p", (const(3),), F32)
PI, PN = Buffer("p", (const(4),), I32), Var("n", F32)


def call(*args: Expr | Operand, params: tuple[Buffer | Var, ...] | None = None) -> Program:
    meaning = None if params is None else Procedure(params, Seq(()))
    return program(Invoke("packed:f", args, meaning))


def combined(left: tuple[Var, ...], results: tuple[Expr, ...]) -> Program:
    joined = Combiner(left, (Var("b", F32),), results, (const(0.0),))
    return program(loop(replace(block(store(v)), combiner=joined)))


BROKEN: list[tuple[str, Callable[[], Program]]] = [
    ("var-scope", lambda: program(store())),
    ("var-scope", lambda: program(Seq((loop(store()), store())))),
    ("var-scope", lambda: program(loop(store(), extent=j))),
    ("var-scope", lambda: program(loop(block(store(v), binding=v)))),
    ("var-scope", lambda: program(store(const(0)), Buffer("B", (j,), F32))),
    ("block-closed", lambda: program(loop(block(store(v, Cast(i, F32)))))),
    ("loop-var-unique", lambda: program(loop(loop(store())))),
    ("loop-var-unique", lambda: program(Seq((loop(store()), loop(block(store(v))))))),
    ("loop-var-unique", lambda: program(loop(loop(block(store(v))), var=v))),
    ("loop-var-unique", lambda: program(Let(i, const(1), Let(i, const(2), store())))),
    ("var-scope", lambda: program(Let(i, i, store()))),
    ("block-closed", lambda: program(Let(i, const(1), block(store(i))))),
    ("loop-thread", lambda: program(replace(loop(store()), kind="thread"))),
    ("loop-thread", lambda: program(replace(loop(store()), thread="threadIdx.x"))),
    ("barrier-scope", lambda: program(Barrier("local"))),
    ("call-form", lambda: call(Operand(Region(A, (), ()), "read"))),
    ("call-form", lambda: call(Broadcast(one32, 4))),
    ("call-form", lambda: call(replace(ROW, shape=(one32,)))),
    ("call-form", lambda: call(replace(ROW, shape=(const(1.0),), strides=(one32,)))),
    ("call-form", lambda: call(ROW, params=())),
    ("call-form", lambda: call(ROW, params=(PN,))),
    ("call-form", lambda: call(ROW, params=(PI,))),
    ("call-form", lambda: call(ROW, params=(P3,))),
    ("call-form", lambda: call(one32, params=(PN,))),
    ("var-scope", lambda: program(Invoke("f", (), Procedure((), Evaluate(i))))),
    ("buffer-scope", lambda: program(Invoke("f", (), Procedure((), store(const(0)))))),
    ("combiner-form", lambda: combined((), (const(0.0),))),
    ("combiner-form", lambda: combined((Var("a", F32),), (one32,))),
    ("expr-type", lambda: evaluate(Stride(A, 1))),
    ("loop-extent", lambda: program(loop(store(), extent=one32))),
    ("loop-extent", lambda: program(loop(store(), extent=const(-1)))),
    ("loop-extent", lambda: program(loop(store(const(0)), Var("x", F32), const(2.0)))),
    ("loop-extent", lambda: program(loop(store(const(0)), Var("x", I32), const(2, I32)))),
    ("buffer-scope", lambda: program(Store(Buffer("B", (), F32), (), const(0.0)))),
    ("buffer-scope", lambda: evaluate(Load(Buffer("B", (), F32), ()))),
    ("buffer-unique", lambda: program(loop(store()), A)),
    ("buffer-unique", lambda: program(Alloc(A, store(const(0))))),
    ("buffer-type", lambda: program(store(const(0)), Buffer("B", (), F32.with_lanes(4)))),
    ("buffer-type", lambda: program(store(const(0)), Buffer("B", (const(-1),), F32))),
    ("buffer-type", lambda: program(store(const(0)), Buffer("B", (const(1.5),), F32))),
    ("expr-type", lambda: evaluate(Const(300, DType.of("int8")))),
    ("expr-type", lambda: evaluate(Binary("div", one32, one32))),
    ("expr-type", lambda: evaluate(Binary("bitand", const(1.0), const(1.0)))),
    ("expr-type", lambda: evaluate(Binary("add", const(True), const(True)))),
    ("expr-type", lambda: evaluate(Call("exp", (const(1.0),), DType.of("float64")))),
    ("expr-type", lambda: evaluate(Call("pow", (const(1.0), const(1)), F32))),
    ("expr-type", lambda: evaluate(Ramp(const(1.0), const(1.0), 4))),
    ("expr-type", lambda: evaluate(Broadcast(Broadcast(one32, 2), 4))),
    ("expr-type", lambda: evaluate(Broadcast(one32, 0))),
    ("condition-type", lambda: program(If(const(1), store(const(0))))),
    ("condition-type", lambda: program(If(Broadcast(const(True), 4), store(const(0))))),
    ("block-unique", two_blocks_of_one_symbol),
    ("block-nested", lambda: nested_blocks("spatial")),
    ("block-binding", lambda: with_iter(IterVar(Var("u", I32), const(8), "spatial"), i)),
    ("block-binding", lambda: with_iter(IterVar(v, const(8), "spatial"), Cast(i, I32))),
    ("region-shape", lambda: region((v, v), (const(1), const(1)))),
    ("region-shape", lambda: region((Cast(v, F32),), (const(1),))),
    ("region-cover", lambda: program(loop(replace(block(store(v)), writes=())))),
    ("region-cover", lambda: program(loop(replace(block(store(v, Load(A, (v,)))), reads=())))),
    ("seq-flat", lambda: program(Seq((store(const(0)),)))),
    ("seq-flat", lambda: program(Seq((Seq(()), store(const(0)))))),
    ("annotation-keys", lambda: program(replace(loop(store()), annotations=(("a", 1), ("a", 2))))),
]


@pytest.mark.parametrize(("rule", "make"), BROKEN)
def test_a_broken_rule_is_found_and_no_other(rule: str, make: Callable[[], Program]) -> None:
    found = violations(make())
    assert {f.rule for f in found} == {rule}
    with pytest.raises(InternalError, match=f"rule {rule}: "):
        verify(make())


def test_every_rule_has_a_program_that_breaks_it() -> None:
    assert {rule for rule, _ in BROKEN} == set(RULES)


def test_a_region_that_misses_a_literal_index_is_found() -> None:
    body = store(const(6))
    missing = replace(block(body), writes=(Region(A, (const(2),), (const(4),)),))
    assert [f.rule for f in violations(program(loop(missing)))] == ["region-cover"]
    holding = replace(missing, writes=(Region(A, (const(2),), (const(5),)),))
    assert violations(program(loop(holding))) == []


GOOD = [
    "def f(A: float32[8]):\n    pass",
    """
    def f(A: float32[8, 4], B: float32[4]):
        n: int64 = A.stride(0)
        for t in thread(2, "threadIdx.x"):
            barrier("shared")
            with call("symbol:copy", read(A[t, 0:4]), write(B[0:4]), n):
                def meaning(a: float32[1, 4], b: float32[4], n: int64):
                    for i in range(4):
                        x = a[0, i]
                        b[i] = x
            call("prefetch", address(A[t + 1, 0]))
    """,
    """
    def f(A: float32[8], M: float32[()]):
        for i in range(8):
            with block("m", vi=reduce(8, i)):
                combine(lambda a, b: max(a, b), float32("-inf"))
                with init():
                    M[()] = float32("-inf")
                x = A[vi]
                M[()] = max(M[()], x)
    """,
    "def f(n: int64, A: float32[n]):\n    for i in range(n):\n        A[i] = float32(n)",
    """
    def f(A: float32[8, 4]):
        for t in range(2):
            with block("tile", vt=opaque(2, t)):
                writes(A[vt * 4:vt * 4 + 4, 0:4])
                for i in range(4):
                    for j in range(4):
                        with block("b", vi=spatial(4, i), vj=spatial(4, j)):
                            A[vt * 4 + vi, vj] = 0
    """,
    """
    def f(A: float32[8]):
        for i in range(8):
            with alloc(float32[1], scope="register") as r:
                r[0] = A[i]
                A[i] = r[0]
        A[ramp(0, 1, 8)] = broadcast(0.0, 8)
    """,
]


@pytest.mark.parametrize("text", GOOD)
def test_good_programs_pass(text: str) -> None:
    verify(parse(text))


def test_copies_of_a_loop_may_stand_beside_each_other_once_blocks_are_gone() -> None:
    verify(program(Seq((loop(store()), loop(store())))))


def test_the_message_names_the_line_and_the_blame_is_chosen() -> None:
    bad = parse("def f(A: float32[8]):\n    for i in range(8):\n        A[i] = 0")
    assert isinstance(bad.body, For)
    bad = replace(bad, body=replace(bad.body, body=Store(A, (bad.body.var,), const(0.0))))
    with pytest.raises(UserError) as caught:
        verify(bad, error=UserError)
    assert str(caught.value).splitlines() == [
        "f is not well-formed: the buffer A_1 is used but nowhere declared",
        "  in line 3 of the program: A_1[i] = 0.0",
        "  rule buffer-scope: a buffer is a parameter, an intermediate of the program, "
        "or allocated around",
    ]
