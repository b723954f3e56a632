"""What has no meaning is reported: the rule, the element, the iterations, the line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tvmlab.codegen import InterpreterFailure, interpret
from tvmlab.ir import parse
from tvmlab.support import RuntimeFailure

HEAD = "def f(A: int32[8], B: int32[4, 4]):\n"


def fail(text: str, *arguments: NDArray[Any]) -> InterpreterFailure:
    given = arguments or (np.zeros(8, "i4"), np.zeros((4, 4), "i4"))
    with pytest.raises(InterpreterFailure) as caught:
        interpret(parse(text), given)
    return caught.value


def passes(text: str) -> None:
    interpret(parse(text), [np.zeros(8, "i4"), np.zeros((4, 4), "i4")])


@pytest.mark.parametrize(
    ("line", "buffer", "index", "doing"),
    [
        ("A[i] = 1", "A", (8,), "written"),
        ("A[0] = A[i]", "A", (8,), "read"),
        ("A[0] = A[i - 1]", "A", (-1,), "read"),
        ("B[0, i] = 1", "B", (0, 4), "written"),
        ("B[i, 0] = 1", "B", (4, 0), "written"),
        ("A[ramp(i, 1, 2)] = broadcast(int32(0), 2)", "A", (8,), "written"),
        ("B[ramp(i, 1, 2), 0] = broadcast(int32(0), 2)", "B", (4, 0), "written"),
        ("A[0] = select(A[i] < 0, 1, 1)", "A", (8,), "read"),
    ],
)
def test_an_index_that_leaves_its_buffer(
    line: str, buffer: str, index: tuple[int, ...], doing: str
) -> None:
    failure = fail(f"{HEAD}    for i in range(9):\n        {line}")
    assert failure.rule == "out-of-bounds"
    assert (failure.buffer, failure.index) == (buffer, index)
    assert f"is {doing} outside of the buffer" in failure.message


def test_the_right_side_of_and_counts_only_where_the_left_holds() -> None:
    text = f"{HEAD}    for i in range(9):\n        if i < 8 and A[i] == 0:\n            A[0] = 0"
    passes(text)
    assert fail(text.replace("i < 8", "i < 9")).rule == "out-of-bounds"


def test_three_dimensions() -> None:
    text = "def f(A: int8[2, 3, 4]):\n    for i in range(3):\n        A[1, i, i + 2] = 1"
    failure = fail(text, np.zeros((2, 3, 4), "i1"))
    assert failure.index == (1, 2, 4)


@pytest.mark.parametrize(
    "body",
    [
        "    T = alloc(int32[8])\n    A[0] = T[3]",
        "    with alloc(int32[8]) as T:\n        T[2] = 1\n        A[0] = T[3]",
        "    with alloc(int32[8]) as T:\n        T[3] = 1\n"
        "    with alloc(int32[8]) as T:\n        A[0] = T[3]",
        "    with alloc(int32[8]) as T:\n        A[ramp(0, 1, 4)] = T[ramp(0, 1, 4)]",
    ],
)
def test_a_read_of_what_nothing_has_written(body: str) -> None:
    failure = fail(HEAD + body)
    assert failure.rule == "uninitialized-read"
    assert failure.buffer in ("T", "T_1")
    assert failure.index in ((3,), (0,))


def test_storage_is_fresh_on_each_round() -> None:
    text = f"""{HEAD}
    for i in range(2):
        with alloc(int32[1]) as T:
            if i == 0:
                T[0] = 1
            A[i] = T[0]
"""
    failure = fail(text)
    assert failure.rule == "uninitialized-read"
    assert failure.iterations == ({"i": 1},)


RACES = [
    ("A[0] = 1", "written", "written", (0, 1)),
    ("A[i // 2] = 1", "written", "written", (0, 1)),
    ("A[i] = A[i + 1]", "read", "written", (0, 1)),
    ("A[i + 1] = A[i]", "written", "read", (0, 1)),
    ("B[0, ramp(i, 1, 2)] = broadcast(int32(0), 2)", "written", "written", (0, 1)),
    ("A[i] = A[0] + A[3]", "written", "read", (0, 1)),
]


@pytest.mark.parametrize("kind", ["parallel", "vectorized"])
@pytest.mark.parametrize(("line", "done", "doing", "pair"), RACES)
def test_races(kind: str, line: str, done: str, doing: str, pair: tuple[int, int]) -> None:
    failure = fail(f"{HEAD}    for i in {kind}(3):\n        {line}")
    assert failure.rule == "race"
    assert failure.iterations == tuple({"i": n} for n in pair)
    assert f"is {done} in iteration i = {pair[0]}" in failure.message
    assert f"and {doing} in iteration i = {pair[1]} of the {kind} loop i" in failure.message


def test_lanes_may_reduce_together_but_not_threads() -> None:
    text = f"{HEAD}    for i in parallel(3):\n        A[0] += 1"
    assert fail(text).rule == "race"
    passes(text.replace("parallel", "vectorized"))


def test_lanes_of_one_store_keep_apart() -> None:
    for index in ("ramp(2, 0, 4)", "ramp(0, 1, 4) // broadcast(2, 4)"):
        failure = fail(f"{HEAD}    A[{index}] = broadcast(int32(1), 4)")
        assert failure.rule == "race"
        assert "written by two lanes of one store" in failure.message
    mask = "ramp(0, 1, 4) < broadcast(1, 4)"
    passes(f"{HEAD}    A.masked({mask})[ramp(2, 0, 4)] = int32x4(ramp(0, 1, 4))")


def test_a_reader_between_two_others_is_remembered() -> None:
    """Iterations 0 and 1 read A[7]; iteration 1 may not write it although it read it itself."""
    text = (
        f"{HEAD}    for i in parallel(2):\n        if A[7] == 0 and i == 1:\n            A[7] = 1"
    )
    failure = fail(text)
    assert failure.rule == "race"
    assert failure.iterations == ({"i": 0}, {"i": 1})
    swapped = (
        f"{HEAD}    for i in parallel(2):\n        if A[7] == 0 and i == 0:\n            A[7] = 1"
    )
    assert fail(swapped).iterations == ({"i": 0}, {"i": 1})


@pytest.mark.parametrize(
    "body",
    [
        "for i in parallel(8):\n        A[i] += 1",
        "for i in parallel(8):\n        for j in range(3):\n            A[i] += A[i]",
        "for i in parallel(4):\n        for j in parallel(4):\n            B[i, j] = A[0]",
        "for j in range(3):\n        for i in parallel(8):\n            A[7 - i] = j2 + 1",
        "for j in range(3):\n        for i in parallel(4):\n            A[(i + j) % 4] = 1",
        "for i in parallel(4):\n        with alloc(int32[1]) as T:\n            T[0] = 1\n"
        "            A[i] = T[0]",
    ],
)
def test_iterations_that_keep_apart_are_no_race(body: str) -> None:
    passes(f"{HEAD}    {body}".replace("j2", "int32(j)"))


def test_the_outer_of_two_concurrent_loops_is_watched_too() -> None:
    text = f"{HEAD}    for i in parallel(4):\n        for j in parallel(4):\n            A[j] = 1"
    failure = fail(text)
    assert failure.iterations == ({"i": 0}, {"i": 1})
    text = f"{HEAD}    for i in parallel(4):\n        for j in parallel(4):\n            A[i] = 1"
    assert fail(text).iterations == ({"j": 0}, {"j": 1})


def test_an_alloc_outside_of_the_loop_is_shared() -> None:
    text = f"""{HEAD}
    with alloc(int32[1]) as T:
        for i in parallel(4):
            T[0] = 1
            A[i] = T[0]
"""
    assert fail(text).buffer == "T"


PRIVATE = f"""{HEAD}
    T = alloc(int32[1])
    for i in parallel(4):
        T[0] = int32(i)
        A[i] = T[0]
"""


def test_intermediates_used_only_in_the_loop_may_be_private() -> None:
    passes(PRIVATE)


def test_private_intermediates_do_not_carry_values_between_iterations() -> None:
    failure = fail(PRIVATE.replace("T[0] = int32(i)", "if i == 0:\n            T[0] = 5"))
    assert failure.rule == "race"
    assert failure.buffer == "T"
    assert failure.iterations == ({"i": 0}, {"i": 1})


def test_intermediates_used_elsewhere_are_shared() -> None:
    failure = fail(f"{PRIVATE}    A[7] = T[0]")
    assert failure.rule == "race"
    assert failure.buffer == "T"


@pytest.mark.parametrize("op", ["A[0] // A[1]", "A[0] % A[1]", "truncdiv(A[0], A[1])"])
def test_division_by_zero(op: str) -> None:
    failure = fail(f"{HEAD}    A[0] = {op}")
    assert failure.rule == "division-by-zero"
    lanes = op.replace("[0]", "[ramp(0, 1, 4)]").replace("[1]", "[ramp(1, 1, 4)]")
    assert fail(f"{HEAD}    A[ramp(0, 1, 4)] = {lanes}").rule == "division-by-zero"


@pytest.mark.parametrize("amount", ["32", "-1"])
@pytest.mark.parametrize("op", ["<<", ">>"])
def test_shifts_by_the_width_or_more(op: str, amount: str) -> None:
    failure = fail(f"{HEAD}    A[0] = A[0] {op} {amount}")
    assert failure.rule == "bad-shift"
    assert "is shifted by" in failure.message


@pytest.mark.parametrize("value", ["128.0", "-129.0", 'float32("nan")', 'float32("inf")'])
def test_a_float_that_no_integer_holds(value: str) -> None:
    out = np.zeros(4, "i1")
    failure = fail(f"def f(A: int8[4]):\n    A[0] = int8(float32({value}))", out)
    assert failure.rule == "bad-cast"
    lanes = f"int8x4(broadcast({value}, 4))"
    assert fail(f"def f(A: int8[4]):\n    A[ramp(0, 1, 4)] = {lanes}", out).rule == "bad-cast"


def test_block_iterations_stay_in_their_domain() -> None:
    text = f"""{HEAD}
    for i in range(3):
        for j in range(3):
            with block("A", v=spatial(8, i * 3 + j)):
                A[v] = 1
"""
    failure = fail(text)
    assert failure.rule == "iteration-domain"
    assert "v is 8, but it runs from 0 to 7" in failure.message
    assert failure.iterations == ({"i": 2, "j": 2},)
    guard = "                where(i * 3 + j < 8)\n                A[v] = 1"
    passes(text.replace("                A[v] = 1", guard))


def test_a_negative_extent_means_no_iteration() -> None:
    array = np.zeros(8, "i4")
    interpret(
        parse("def f(n: int64, A: int32[8]):\n    for i in range(n):\n        A[i] = 1"),
        [-1, array],
    )
    assert not array.any()


def test_the_message_shows_the_loops_and_marks_the_line() -> None:
    failure = fail(
        f"{HEAD}    for i in range(2):\n        for j in range(5):\n            B[i, j] = 1"
    )
    assert isinstance(failure, RuntimeFailure)
    assert str(failure).splitlines() == [
        "f: B[0, 4] is written outside of the buffer: dimension 1 has the indices 0 to 3",
        "  while i = 0, j = 4",
        "  def f(A: int32[8], B: int32[4, 4]):",
        "      for i in range(2):",
        "          for j in range(5):",
        ">             B[i, j] = int32(1)",
    ]
