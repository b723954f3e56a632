"""Simplification and proofs by hand: what comes out, and what must not be claimed."""

from __future__ import annotations

import itertools

import pytest
from helpers.random_exprs import evaluate

from tvmlab.arith import Bounds, Interval, bound_of, linear_form, modular_of, prove, simplify
from tvmlab.ir import (
    FALSE,
    TRUE,
    Binary,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Not,
    Ramp,
    Select,
    Var,
    const,
    eq,
    logic,
    maximum,
    minimum,
    ne,
    to_text,
)
from tvmlab.support import BOOL, FLOAT32, INT32, INT64, DType

I, J, IO, II, M, N = (Var(name) for name in ("i", "j", "io", "ii", "m", "n"))
ENV = Bounds.of({I: 8, J: 4, IO: 74, II: 14})
UINT32 = DType.of("uint32")
DATA = Buffer("data", (const(16),), INT64)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        ((I * 4 + J) // 4, "i"),
        ((I * 4 + J) % 4, "j"),
        ((I * 4 + J) // 8, "i // 2"),
        ((I * 4 + J) % 8, "i % 2 * 4 + j"),
        ((I * 8 + J * 4 + 9) // 4, "i * 2 + j + 2"),
        (N // 8 * 8 + N % 8, "n"),
        (N % 8 + N // 8 * 8, "n"),
        ((N * 3 + M) // 8 * 8 + (M + N * 3) % 8, "m + n * 3"),
        (N // 4 % 8 * 4 + N % 4, "n % 32"),
        (N - N // 4 * 4, "n % 4"),
        (N // 2 // 3, "n // 6"),
        (N % 12 // 4, "n // 4 % 3"),
        (N % 12 % 4, "n % 4"),
        ((N * 6) // 3, "n * 2"),
        ((N * 6 + 4) % 3, "1"),
        ((N + 7) // 4, "(n + 3) // 4 + 1"),
        (N * 8 // 12, "n * 2 // 3"),
        (I // 8 + J // 4, "0"),
        (I + J - I + 0, "j"),
        (4 + I, "i + 4"),
        (0 - I + J, "j - i"),
        ((IO * 14 + II) // 64 * 64 + (IO * 14 + II) % 64, "io * 14 + ii"),
        (minimum(I, 8), "i"),
        (minimum(I, 5), "min(i, 5)"),
        (minimum(minimum(I, 5), 3), "min(i, 3)"),
        (maximum(I + J, I), "i + j"),
        (minimum(minimum(N, M), N), "min(n, m)"),
        (Binary("shl", N, const(3)) + N, "n * 9"),
        (Binary("bitand", N, const(7)), "n % 8"),
        (Binary("shr", I * 4 + J, const(2)), "i"),
        (Select(I < 3, I // 3, J), "select(i < 3, 0, j)"),
        (Select(I < 9, I, J), "i"),
        (Select(Not(N < 3), I, J), "select(n >= 3, i, j)"),
        (Select(N < 3, Select(N < 5, I, J), I), "i"),
        (Binary("truncdiv", I, const(3)), "i // 3"),
        (Binary("truncmod", I, const(3)), "i % 3"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_values(e: Expr, expected: str) -> None:
    assert to_text(simplify(e, ENV)) == expected


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (I * 4 + J < 32, "True"),
        (I * 4 + J < 16, "i < 4"),
        (I * 4 + J <= 15, "i <= 3"),
        (I * 4 + J >= 16, "i >= 4"),
        (I * 4 + J > 19, "i > 4"),
        (IO * 14 + II < 1024, "io * 14 + ii < 1024"),
        (I + N < N + 3, "i < 3"),
        (N * 4 < M * 4 + 8, "n < m + 2"),
        (N // 4 < 3, "n < 12"),
        (N // 4 >= M, "n >= m * 4"),
        (eq(I * 2, 3), "False"),
        (ne(I * 2 + 1, J * 4), "True"),
        (eq(N * 4, 8), "n == 2"),
        (logic("and", I < 8, J < 2), "j < 2"),
        (logic("and", N < 3, N < 5), "n < 3"),
        (logic("or", N < 3, N >= 3), "True"),
        (Not(I < J), "i >= j"),
        (Not(eq(N, M)), "n != m"),
        (I // 4 * 4 <= I, "True"),
        (N % 8 < 8, "True"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_conditions(e: Expr, expected: str) -> None:
    assert to_text(simplify(e, ENV)) == expected


def test_the_same_object_comes_back_if_nothing_changes() -> None:
    for e in (I * 4 + J, I * 16 + J * 2 - N // 3 + 1, IO * 14 + II < 1024, minimum(N, M) % 5):
        assert simplify(e, ENV) is e
        assert simplify(e) is e


def test_variables_with_one_value_are_replaced_unless_kept() -> None:
    assert to_text(simplify(I * 4 + J, Bounds.of({I: 1}))) == "j"
    kept = Bounds().bind_loop(I, 1, keep=True)
    e = I * 4 + J
    assert simplify(e, kept) is e
    assert prove(I < 1, kept)


def test_symbolic_divisors() -> None:
    env = Bounds().bind(M, Interval(1, None)).bind_loop(I, N).bind_loop(J, M)
    assert simplify((I * M + J) // M, env) is I
    assert simplify((I * M + J) % M, env) is J
    assert simplify(N * M // M, env) is N
    assert to_text(simplify((N * M + I) // M, env)) == "n + i // m"
    assert to_text(simplify(M // M, env)) == "1"
    # Nothing is known of the divisor: it may be zero.
    e = (I * M + J) // M
    assert simplify(e) is e


def test_deep_sums_do_not_exhaust_the_stack() -> None:
    e: Expr = const(0)
    for _ in range(3000):
        e = e + I
    assert to_text(simplify(e, ENV)) == "i * 3000"


# --- negative operands: floor against truncated division


@pytest.mark.parametrize("op", ["floordiv", "floormod", "truncdiv", "truncmod"])
@pytest.mark.parametrize("divisor", [-4, -3, -1, 1, 3, 4])
def test_division_by_signed_numbers(op: str, divisor: int) -> None:
    e = Binary(op, N * 2 + 1, const(divisor))  # pyright: ignore[reportArgumentType]
    for lo, hi in ((-9, -1), (-5, 6), (0, 9)):
        env = Bounds().bind(N, Interval(lo, hi))
        simpler, interval = simplify(e, env), bound_of(e, env)
        for n in range(lo, hi + 1):
            assert evaluate(simpler, {N: n}) == evaluate(e, {N: n})
            assert evaluate(e, {N: n}) in interval


def test_folding_of_constants_follows_the_sign_rules() -> None:
    for a, b in itertools.product((-7, -4, 0, 4, 7), (-4, -2, 2, 4)):
        assert to_text(simplify(const(a) // b)) == str(a // b)
        assert to_text(simplify(const(a) % b)) == str(a % b)


def test_truncated_division_of_a_possibly_negative_value_is_kept() -> None:
    e = Binary("truncdiv", N, const(4))
    assert simplify(e) is e
    assert bound_of(e, Bounds().bind(N, Interval(-7, 7))) == Interval(-1, 1)
    assert bound_of(N // 4, Bounds().bind(N, Interval(-7, 7))) == Interval(-2, 1)


# --- the edges of machine types: nothing is "always true" because of wrapping


@pytest.mark.parametrize("dtype", [INT32, UINT32, DType.of("int8"), DType.of("uint8")], ids=str)
def test_no_claim_across_the_edge_of_a_type(dtype: DType) -> None:
    x = Var("x", dtype)
    top = int(dtype.max_value)
    grows = x + 1 > x
    assert not prove(grows)
    assert simplify(grows) is not TRUE
    assert not evaluate(grows, {x: top})
    assert bound_of(x + 1) == Interval.of_dtype(dtype)
    assert prove(grows, Bounds().bind(x, Interval(0, top - 1)))
    e = (x * 2) // 2
    assert simplify(e) is not x
    assert simplify(e, Bounds().bind(x, Interval(0, top // 2))) is x


def test_unsigned_subtraction_below_zero() -> None:
    x, y = Var("x", UINT32), Var("y", UINT32)
    assert not prove(x - y <= x)
    assert not prove(x - 1 < x)
    assert prove(x - 1 < x, Bounds().bind(x, Interval(1, None)))
    assert bound_of(x - y) == Interval.of_dtype(UINT32)


def test_sixty_four_bits() -> None:
    top = 2**63 - 1
    loaded = Load(DATA, (I,))
    assert not prove(loaded + 1 > loaded)
    assert not prove(loaded + N > loaded, Bounds().bind(N, Interval(1, None)))
    near = Bounds().bind(N, Interval(0, top))
    assert not prove(N + 1 > N, near)
    assert bound_of(N + 1, near) == Interval.of_dtype(INT64)
    # A size without known limits is taken to be small enough for index arithmetic.
    assert prove(N + 1 > N)
    assert bound_of(N * 4 + 3, Bounds().bind(N, Interval(0, None))) == Interval(3, None)
    assert simplify(const(top) + 1 < 0) is TRUE


def test_min_over_minus_one_may_wrap() -> None:
    x = Var("x", DType.of("int8"))
    assert bound_of(x // -1) == Interval.of_dtype(x.dtype)
    e = x // -1
    assert evaluate(simplify(e), {x: -128}) == evaluate(e, {x: -128}) == -128


# --- proofs


def test_proofs_with_symbolic_extents() -> None:
    env = Bounds.of({I: N, J: 4})
    assert prove(I * 4 + J < N * 4, env)
    assert prove(N >= 1, env)
    assert prove(I // 2 < N, env)
    assert not prove(I < N - 1, env)
    assert not prove(I * 4 + J < N * 4 - 1, env)
    assert prove((N + 3) // 4 * 4 >= N)
    assert prove((N + 3) // 4 * 4 < N + 4)
    assert not prove((N + 3) // 4 * 4 <= N)
    assert prove(minimum(N, M) <= N)
    assert prove(maximum(N, M) * 2 >= M * 2)


def test_rounding_up_and_down_of_run_time_extents_drops_no_iteration() -> None:
    """Full tiles run below n // 4 * 4, the tail from there to n: together all of [0, n)."""
    env = Bounds().bind(N, Interval(0, None))
    full = env.bind_loop(I, N // 4).bind_loop(J, 4)
    assert prove(I * 4 + J < N, full)
    tail = env.bind_loop(I, N % 4)
    assert prove(N // 4 * 4 + I < N, tail)
    assert simplify(eq(N // 4 * 4 + N % 4, N), env) is TRUE
    assert not prove(N // 4 * 4 >= N, env)


def test_proofs_from_conditions() -> None:
    env = ENV.assume(IO * 14 + II < 1024)
    assert prove(IO * 14 + II <= 1023, env)
    assert prove(IO * 14 < 1024, env)
    assert bound_of(IO * 14 + II, env) == Interval(0, 1023)
    assert not prove(IO * 14 + II < 1023, env)
    assert prove(N < M, Bounds().assume(N < I).assume(I < M))
    assert prove(N >= M, Bounds().assume(N < M, holds=False))
    assert simplify(Compare("lt", N, M), Bounds().assume(N < M)) is TRUE
    flag = Var("flag", BOOL)
    assert simplify(logic("and", flag, N < M), Bounds().assume(flag)) is not TRUE
    assert simplify(flag, Bounds().assume(flag, holds=False)) is FALSE


def test_conditions_on_remainders() -> None:
    env = Bounds().assume(eq(N % 4, 0))
    assert to_text(simplify(N // 4 * 4, env)) == "n"
    assert to_text(simplify((N + 3) // 4 * 4, env)) == "n"
    assert modular_of(N * 2 + 1, env).coeff == 8
    assert prove(eq(N % 2, 0), env)
    assert not prove(eq(N % 8, 0), env)
    assert modular_of(I * 8 + J * 4 + 2).remainder(4) == 2


def test_excluding_a_value_moves_the_end_of_the_range() -> None:
    env = Bounds.of({I: 8}).assume(ne(I, 0)).assume(ne(I * 2, 14))
    assert bound_of(I, env) == Interval(1, 6)


def test_contradictory_conditions_raise_nothing() -> None:
    env = ENV.assume(I < 3).assume(I > 5)
    assert isinstance(bound_of(I * 4, env), Interval)
    assert isinstance(prove(I < 100, env), bool)
    assert Bounds.of({I: 0}).interval(I) == Interval(0, 0)


def test_disjunctions() -> None:
    assert prove(logic("or", N < 5, N > 3))
    assert prove(logic("or", eq(I % 2, 0), eq(I % 2, 1)), ENV)
    assert not prove(logic("or", N < 3, N > 3))


# --- floats are only touched where every bit stays


def test_floats() -> None:
    f = Var("f", FLOAT32)
    zero = const(0.0)
    for e in (f + 0.0, f * 0.0, f - f, f / f, 0.0 - f, f + 1.0 - 1.0):
        assert simplify(e) is e
    for e in (f * 1.0, f / 1.0, f - 0.0, f + Const(-0.0, FLOAT32)):
        assert simplify(e) is f
    assert simplify(eq(f, f)) is not TRUE
    assert simplify(Not(f < zero)) is not None
    assert isinstance(simplify(Not(f < zero)), Not)
    assert simplify(f < f) is FALSE
    assert to_text(simplify(Select(I < 9, f, f * 2.0), ENV)) == "f"


# --- vectors, loads, casts, calls


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (Ramp(I * 8, const(1), 8) + Broadcast(J, 8), "ramp(i * 8 + j, 1, 8)"),
        (Ramp(J, const(2), 4) * Broadcast(const(3), 4), "ramp(j * 3, 6, 4)"),
        (Ramp(I * 8, const(1), 8) // Broadcast(const(8), 8), "broadcast(i, 8)"),
        (Ramp(I * 8, const(1), 8) % Broadcast(const(8), 8), "ramp(0, 1, 8)"),
        (Ramp(I, const(8), 4) // Broadcast(const(4), 4), "ramp(i // 4, 2, 4)"),
        (Broadcast(I, 4) + Broadcast(J, 4), "broadcast(i + j, 4)"),
        (Ramp(I, const(1), 4) < Broadcast(const(11), 4), "broadcast(True, 4)"),
        (Ramp(I, const(0), 4), "broadcast(i, 4)"),
        (Cast(Broadcast(const(3), 4), DType.of("int32x4")), "broadcast(int32(3), 4)"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_vectors(e: Expr, expected: str) -> None:
    assert to_text(simplify(e, ENV)) == expected


def test_a_ramp_is_only_divided_where_no_lane_wraps() -> None:
    x = Var("x", DType.of("int8"))
    e = Ramp(x, const(4, x.dtype), 4) // Broadcast(const(4, x.dtype), 4)
    assert simplify(e) is e
    assert simplify(e, Bounds().bind(x, Interval(0, 100))) is not e


def test_everything_inside_other_nodes_is_simplified() -> None:
    load = simplify(Load(DATA, ((I * 4 + J) // 4,)), ENV)
    assert to_text(load) == "data[i]"
    assert to_text(simplify(Call("abs", (I + J - I,), INT64), ENV)) == "abs(j)"
    twice = Cast(Cast(I * 4 + J - J, INT32), INT64)
    assert to_text(simplify(twice, ENV)) == "i * 4"
    wide = Cast(Cast(N, INT32), INT64)
    assert simplify(wide) is wide
    first, second = Load(DATA, (I + J,)), Load(DATA, (J + I,))
    assert to_text(simplify(first - second)) == "0"


def test_linear_forms() -> None:
    form = linear_form(4 * (I + J) - I + 2)
    assert dict(form.terms) == {I: 3, J: 4}
    assert form.const == 2
    env = Bounds()
    first, second = linear_form((I + J) // 3, env), linear_form((J + I) // 3 * 2, env)
    assert [*first.terms] == [*second.terms]
    assert linear_form(I - I).is_const
    assert [*linear_form(I * J).terms.values()] == [1]
