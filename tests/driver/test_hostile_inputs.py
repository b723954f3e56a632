"""Wrong values thrown at everything public: only tvmlab's own errors come out, with sensible text.

The functions that users hand in may raise what they like; none of those here does.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.random_exprs import quick
from hypothesis import given
from hypothesis import strategies as st

import tvmlab as tl
from tvmlab import te
from tvmlab.support import InternalError, Span, TvmlabError, render_span

SIZE = 16
# Values by number: what they are depends on the schedule of the example.
NUMBERS = st.lists(st.integers(0, 10_000), min_size=1, max_size=4)
METHODS = sorted(
    name
    for name in dir(tl.Schedule)
    if not name.startswith("_") and callable(getattr(tl.Schedule, name))
)


def product() -> te.Tensor:
    a = te.placeholder((SIZE, SIZE), name="A")
    b = te.placeholder((SIZE, SIZE), name="B")
    k = te.reduce_axis(SIZE, "k")
    c = te.compute((SIZE, SIZE), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.compute((SIZE, SIZE), lambda i, j: c[i, j] + 1.0, name="D")


OUTPUT, OTHER = product(), product()


def everything(*given: Any) -> Any:
    return given


def values(sch: tl.Schedule) -> list[Any]:
    """Everything that a confused caller may pass, good values among it."""
    i, j, k = sch.loops("C")
    stranger = tl.Schedule(OTHER)
    n = te.var("n")
    return [
        "C", i, j, k, "D", sch.block("C"), 4, [4, 4], [None, 4], "A", "local", "global", "shared",
        None, True, False, 0, 1, -1, 2, 3, 16, 17, 10**9, -(10**9), 2**63, 2**64, 10**30, 1.5,
        float("nan"), float("inf"), "", "4", "i", "nope", "\0", "üüü", "lambda i: i", b"x", 1j,
        object(), [], [None], [None, None], [0], [-1], ["4"], (), {}, {"a": 1}, set(), int,
        range(3),
        np.int64(4), np.float32(4), np.array([1, 2]), np.zeros(3), OUTPUT, OUTPUT.op, sch, stranger,
        sch.program, *stranger.loops("C"), stranger.block("C"), n, n + 1, OUTPUT[0, 0], [i, j],
        slice(0, 1), Exception, ..., "float32", tl.Schedule, "parallel", "threadIdx.x", "split",
        [i, i], [j, i, k], everything,
    ]  # fmt: skip


def attempt(function: Callable[..., Any], *args: Any, **named: Any) -> None:
    """Call; only tvmlab's errors may come out (and Python's for a wrong number of arguments)."""
    try:
        inspect.signature(function).bind(*args, **named)
    except TypeError:
        return
    try:
        function(*args, **named)
    except TvmlabError as raised:
        error = raised
    else:
        return
    assert not isinstance(error, InternalError), error
    assert 10 < len(error.message) < 1000, error.message[:200]
    assert " at 0x" not in str(error), error


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_schedules(name: str) -> None:
    @quick(25)
    @given(NUMBERS)
    def throw(numbers: list[int]) -> None:
        sch = tl.Schedule(OUTPUT)
        pool = values(sch)
        attempt(getattr(sch, name), *(pool[n % len(pool)] for n in numbers))
        assert str(sch)

    throw()


FUNCTIONS = [
    tl.Schedule, tl.lower, te.create_program, te.placeholder, te.reduce_axis, te.compute, te.var,
    te.cast, te.const, te.sum, te.exp, te.if_then_else, te.power, te.floordiv,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions(function: Callable[..., Any]) -> None:
    names = [p for p in inspect.signature(function).parameters if p not in ("self", "kwargs")]

    @quick(40)
    @given(NUMBERS, st.sampled_from([None, *names]))
    def throw(numbers: list[int], option: str | None) -> None:
        pool = values(tl.Schedule(OUTPUT))
        args = [pool[n % len(pool)] for n in numbers]
        attempt(function, *args)
        attempt(function, OUTPUT, *args[1:])
        if option is not None:
            attempt(function, OUTPUT, **{option: args[0]})

    throw()


@quick(40)
@given(NUMBERS, st.sampled_from(["target", "options", "emit_options", "link", "name", "args"]))
def test_build(numbers: list[int], option: str) -> None:
    pool = [v for v in values(tl.Schedule(OUTPUT)) if not isinstance(v, (te.Tensor, tl.Schedule))]
    wrong = [pool[n % len(pool)] for n in numbers]
    attempt(tl.build, *wrong)
    attempt(tl.build, OUTPUT, **{option: wrong[0]})


@pytest.fixture(scope="module")
def exe() -> tl.Executable:
    return tl.build(OUTPUT)


def arrays() -> list[Any]:
    return [np.zeros((SIZE, SIZE), np.float32) for _ in range(3)]


def wrong_arrays() -> list[Any]:
    frozen = np.zeros((SIZE, SIZE), np.float32)
    frozen.flags.writeable = False
    odd = np.zeros(4 * SIZE * SIZE + 1, np.int8)[1:].view(np.float32).reshape(SIZE, SIZE)
    return [
        np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE + 1), np.float32), np.zeros(SIZE, np.float32),
        np.zeros((SIZE, 2 * SIZE), np.float32)[:, ::2], np.zeros((0, 0), np.float32), odd,
        np.asfortranarray(np.ones((SIZE, SIZE), np.float32)), frozen, np.zeros((), np.float32),
        np.array([[None] * SIZE] * SIZE), np.zeros((SIZE, SIZE), ">f4"), memoryview(b"abc"),
    ]  # fmt: skip


@quick(80)
@given(st.integers(0, 2), st.integers(0, 10_000), st.booleans())
def test_calls(position: int, number: int, timed: bool) -> None:
    exe = tl.build(OUTPUT)
    pool = [*values(tl.Schedule(OUTPUT)), *wrong_arrays()]
    given_ = arrays()
    given_[position] = pool[number % len(pool)]
    attempt(exe.time if timed else exe, *given_)


def test_options_of_timing(exe: tl.Executable) -> None:
    for wrong in (0, -1, "3", None, 1.5, float("nan")):
        with pytest.raises(TvmlabError, match="repeats is"):
            exe.time(*arrays(), repeats=wrong)  # pyright: ignore[reportArgumentType]
    for wrong in (-1, "3", None, float("nan"), float("inf")):
        with pytest.raises(TvmlabError, match="min_repeat_ms is"):
            exe.time(*arrays(), min_repeat_ms=wrong)  # pyright: ignore[reportArgumentType]
    for kind in values(tl.Schedule(OUTPUT)):
        attempt(exe.source, kind)


# As a caller without types would use them.
SCHEDULE: Any = tl.Schedule
BUILD: Any = tl.build
PLACEHOLDER: Any = te.placeholder
COMPUTE: Any = te.compute

ASKS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda s: s.checkpoint(None), "a checkpoint's name must be text, not None"),
    (lambda s: s.goto([]), "there is no state [] in the history"),
    (lambda s: s.apply([]), "there is no schedule primitive []"),
    (lambda s: s.apply_fix(3), "3 is no fix"),
    (lambda s: SCHEDULE(OUTPUT, args=3), "the arguments must be a list of tensors"),
    (lambda s: SCHEDULE(OUTPUT, args=["A"]), "holds 'A', which is no tensor and no size"),
    (lambda s: BUILD(s, target=""), "target '' is not known"),
    (lambda s: BUILD(s, target=3), "a target must be text, not 3"),
    (lambda s: BUILD(s, target='cpu "'), "cannot be read: No closing quotation"),
    (lambda s: BUILD(s, options={}), "options must be a LowerOptions, not {}"),
    (lambda s: BUILD(s, emit_options=1), "emit_options must be a EmitOptions, not 1"),
    (lambda s: BUILD(s, link=3), "link must be a list of LLVM IR texts"),
    (lambda s: BUILD(OUTPUT, name=3), "a name must be text, not 3"),
    (lambda s: PLACEHOLDER((4,), dtype=3), "an element type cannot be 3"),
    (lambda s: PLACEHOLDER((4,), name=None), "a name must be text, not None"),
    (lambda s: COMPUTE((4,), int), "compute compute needs a function of its indices"),
]


@pytest.mark.parametrize(("ask", "message"), ASKS, ids=[message for _, message in ASKS])
def test_texts(ask: Callable[[tl.Schedule], Any], message: str) -> None:
    with pytest.raises(TvmlabError) as raised:
        ask(tl.Schedule(OUTPUT))
    assert message in str(raised.value)


def test_a_place_in_a_notebook_is_a_line_of_its_cell() -> None:
    span = Span(f"{tempfile.gettempdir()}/ipykernel_7/3126353521.py", 3, "sch.parallel(i)")
    assert render_span(span) == "  at line 3 of the cell\n    sch.parallel(i)"
