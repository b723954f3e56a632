"""Scans: states of any rank, several of them, cells of several stages, and their schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.te_values import scheduled_values, values_of

from tvmlab import te
from tvmlab.ir import Block, walk
from tvmlab.schedule import Schedule
from tvmlab.support import ShapeError, TvmlabError, TypeMismatch
from tvmlab.te import Tensor

RNG = np.random.default_rng(3)


def running_sum(steps: int = 6, width: int = 5) -> tuple[Tensor, Tensor]:
    """Input and result of a running sum along the first axis, in two stages per step."""
    x = te.placeholder((steps, width), name="X")
    state = te.placeholder((steps, width), name="S")
    first = te.compute((1, width), lambda _, i: x[0, i], name="first")
    twice = te.compute((steps, width), lambda t, i: state[t - 1, i] * 2.0, name="twice")
    step = te.compute((steps, width), lambda t, i: twice[t, i] + x[t, i], name="step")
    return x, te.scan(first, step, state, inputs=[x], name="total")


def running_sum_of(x: Any) -> Any:
    want = x.copy()
    for t in range(1, len(x)):
        want[t] = want[t - 1] * 2 + x[t]
    return want


def whole(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape).astype("f")


def test_stages_of_a_cell_run_step_by_step() -> None:
    _, total = running_sum()
    x = whole(6, 5)
    (got,) = values_of(total, [x])
    np.testing.assert_array_equal(got, running_sum_of(x))
    assert isinstance(total.op, te.ScanOp)
    assert total.op.scan_axis.name == "total_t"


def test_the_time_is_opaque_for_the_updates_only() -> None:
    blocks = [n for n in walk(te.create_program(running_sum()[1]).body) if isinstance(n, Block)]
    assert [(b.name, b.iters[0].kind) for b in blocks] == [
        ("first", "spatial"),
        ("twice", "spatial"),
        ("step", "opaque"),
    ]


def test_state_of_rank_one_that_remembers_two_steps() -> None:
    """Fibonacci numbers."""
    state = te.placeholder((20,), "int64", name="S")
    first = te.compute((2,), lambda t: te.const(1, "int64"), name="first")
    step = te.compute((20,), lambda t: state[t - 1] + state[t - 2], name="step")
    (got,) = values_of(te.scan(first, step, state, name="fib"), [])
    want = [1, 1]
    for _ in range(18):
        want.append(want[-1] + want[-2])
    np.testing.assert_array_equal(got, want)


def test_state_of_rank_three_with_a_read_across() -> None:
    state = te.placeholder((4, 3, 3), name="S")
    first = te.placeholder((1, 3, 3), name="F")
    step = te.compute(
        (4, 3, 3), lambda t, i, j: state[t - 1, j, i] + state[t - 1, i, (j + 1) % 3], name="step"
    )
    f = whole(1, 3, 3)
    (got,) = values_of(te.scan(first, step, state, name="turn"), [f])
    want = [f[0]]
    for _ in range(3):
        want.append(want[-1].T + np.roll(want[-1], -1, 1))
    np.testing.assert_array_equal(got, want)


def recurrent(steps: int, width: int) -> tuple[list[Tensor], Tensor]:
    x = te.placeholder((steps, width), name="X")
    w = te.placeholder((width, width), name="W")
    state = te.placeholder((steps, width), name="H")
    first = te.compute((1, width), lambda _, i: te.const(0.0, "float32"), name="first")
    k = te.reduce_axis(width, "k")
    mixed = te.compute(
        (steps, width), lambda t, i: te.sum(w[i, k] * state[t - 1, k], axis=k), name="mixed"
    )
    step = te.compute((steps, width), lambda t, i: te.tanh(mixed[t, i] + x[t, i]), name="step")
    return [x, w], te.scan(first, step, state, inputs=[x], name="h")


def recurrent_of(x: Any, w: Any) -> Any:
    h = [np.zeros(x.shape[1], "f")]
    for t in range(1, len(x)):
        h.append(np.tanh(w @ h[-1] + x[t]))
    return np.stack(h)


def test_a_recurrent_network_has_a_reduction_in_its_cell() -> None:
    _, h = recurrent(7, 4)
    x, w = RNG.random((7, 4), "f"), RNG.random((4, 4), "f")
    program = te.create_program(h)
    order = [p.name for p in program.params]
    (got,) = values_of(h, [{"X": x, "W": w}[name] for name in order[:-1]])
    np.testing.assert_allclose(got, recurrent_of(x, w), rtol=1e-5)


def test_a_reduction_may_be_the_update_itself() -> None:
    w, state = te.placeholder((4, 4), name="W"), te.placeholder((5, 4), name="H")
    first = te.placeholder((1, 4), name="F")
    k = te.reduce_axis(4, "k")
    step = te.compute((5, 4), lambda t, i: te.sum(w[i, k] * state[t - 1, k], axis=k), name="step")
    f, m = whole(1, 4), whole(4, 4)
    (got,) = values_of(te.scan(first, step, state, name="power"), [f, m])
    want = [f[0]]
    for _ in range(4):
        want.append(m @ want[-1])
    np.testing.assert_array_equal(got, want)


def two_states(together: bool) -> tuple[Tensor, ...]:
    a, b = (te.placeholder((6, 3), name=name) for name in "AB")
    first = te.placeholder((1, 3), name="F")
    zero = te.compute((1, 3), lambda _, i: te.const(0.0, "float32"), name="zero")
    if together:
        steps = te.compute(
            (6, 3), lambda t, i: (a[t - 1, i] + b[t - 1, i], a[t - 1, i] - b[t - 1, i]), name="both"
        )
    else:
        up = te.compute((6, 3), lambda t, i: a[t - 1, i] + b[t - 1, i], name="up")
        down = te.compute((6, 3), lambda t, i: a[t - 1, i] - b[t - 1, i], name="down")
        steps = (up, down)
    return te.scan([first, zero], list(steps), [a, b], inputs=[first], name="pair")


@pytest.mark.parametrize("together", [False, True])
def test_two_states_follow_from_each_other(together: bool) -> None:
    f = whole(1, 3)
    got = values_of(two_states(together), [f])
    a, b = [f[0]], [np.zeros(3, "f")]
    for _ in range(5):
        a, b = [*a, a[-1] + b[-1]], [*b, a[-1] - b[-1]]
    np.testing.assert_array_equal(got[0], a)
    np.testing.assert_array_equal(got[1], b)


def test_an_update_may_read_another_of_the_same_step() -> None:
    a, b = (te.placeholder((5,), name=name) for name in "AB")
    one = te.compute((1,), lambda _: te.const(1.0, "float32"), name="one")
    up = te.compute((5,), lambda t: a[t - 1] + 1.0, name="up")
    both = te.compute((5,), lambda t: b[t - 1] * up[t], name="both")
    count, factorial = te.scan([one, one], [up, both], [a, b], name="f")
    got = values_of([count, factorial], [])
    np.testing.assert_array_equal(got[0], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(got[1], [1, 2, 6, 24, 120])


def test_an_init_that_others_read_is_copied() -> None:
    x = te.placeholder((1, 3), name="X")
    first = te.compute((1, 3), lambda _, i: x[0, i] * 2.0, name="first")
    state = te.placeholder((3, 3), name="S")
    step = te.compute((3, 3), lambda t, i: state[t - 1, i] + first[0, i], name="step")
    f = whole(1, 3)
    (got,) = values_of(te.scan(first, step, state, name="total"), [f])
    np.testing.assert_array_equal(got, np.arange(1, 4)[:, None] * 2 * f)


def test_what_follows_a_scan_reads_all_of_it() -> None:
    _, total = running_sum()
    last = te.compute((5,), lambda i: total[5, i] + total[0, i], name="last")
    x = whole(6, 5)
    (got,) = values_of(last, [x])
    want = running_sum_of(x)
    np.testing.assert_array_equal(got, want[5] + want[0])


def test_sizes_known_only_at_the_call() -> None:
    m, n = te.var("m"), te.var("n")
    x, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="S")
    first = te.compute((1, n), lambda _, i: x[0, i], name="first")
    twice = te.compute((m, n), lambda t, i: state[t - 1, i] * 2.0, name="twice")
    step = te.compute((m, n), lambda t, i: twice[t, i] + x[t, i], name="step")
    total = te.scan(first, step, state, inputs=[x], name="total")
    for shape in ((1, 1), (1, 5), (2, 3), (7, 11)):
        values = whole(*shape)
        (got,) = values_of(total, [values], [shape])
        np.testing.assert_array_equal(got, running_sum_of(values))


def test_the_cell_can_be_scheduled() -> None:
    """Spatial loops of a stage split, vectorized, made parallel; one stage inlined."""
    _, total = running_sum(6, 37)
    x = whole(6, 37)
    schedule = Schedule(total)
    _, i = schedule.loops("step")
    outer, inner = schedule.split(i, [None, 8])
    schedule.vectorize(inner)
    schedule.parallel(outer)
    _, j = schedule.loops("twice")
    schedule.split(j, [4, None])
    (got,) = scheduled_values(schedule, [total], [x])
    np.testing.assert_array_equal(got, running_sum_of(x))


def test_a_stage_can_be_inlined_or_computed_inside_another() -> None:
    for primitive in ("compute_inline", "compute_at"):
        _, total = running_sum(6, 9)
        x = whole(6, 9)
        schedule = Schedule(total)
        if primitive == "compute_inline":
            schedule.compute_inline("twice")
        else:
            schedule.compute_at("twice", schedule.loops("step")[1])
        (got,) = scheduled_values(schedule, [total], [x])
        np.testing.assert_array_equal(got, running_sum_of(x))


def test_a_step_has_its_own_start_value() -> None:
    """The start of a sum in a cell is set within the step, not before all of them."""
    w, state = te.placeholder((4, 4), name="W"), te.placeholder((5, 4), name="H")
    first = te.placeholder((1, 4), name="F")
    k = te.reduce_axis(4, "k")
    step = te.compute((5, 4), lambda t, i: te.sum(w[i, k] * state[t - 1, k], axis=k), name="step")
    h = te.scan(first, step, state, name="power")
    schedule = Schedule(h)
    time, i, _ = schedule.loops("step")
    verdict = schedule.check("decompose_reduction", "step", time)
    assert not verdict
    assert "runs step by step" in str(verdict)
    schedule.decompose_reduction("step", i)
    f, m = whole(1, 4), whole(4, 4)
    (got,) = scheduled_values(schedule, [h], [f, m])
    want = [f[0]]
    for _ in range(4):
        want.append(m @ want[-1])
    np.testing.assert_array_equal(got, want)


def test_the_time_is_not_run_side_by_side() -> None:
    schedule = Schedule(running_sum()[1])
    time = schedule.loops("step")[0]
    assert not schedule.check("parallel", time)
    assert not schedule.check("vectorize", time)


def _scan_of(step: Callable[[Tensor, Any, Any], Any], **changes: Any) -> Callable[[], object]:
    def make() -> object:
        state = te.placeholder(changes.get("state", (6, 5)), name="S")
        first = te.placeholder(
            changes.get("init", (1, 5)), changes.get("dtype", "float32"), name="F"
        )
        update = te.compute((6, 5), lambda t, i: step(state, t, i), name="step")
        return te.scan(first, update, changes.get("states", state), name="total")

    return make


def _stage_outside() -> object:
    state, first = te.placeholder((6, 5), name="S"), te.placeholder((1, 5), name="F")
    twice = te.compute((6, 5), lambda t, i: state[t - 1, i] * 2.0, name="twice")
    step = te.compute((6, 5), lambda t, i: twice[t, i] + 1.0, name="step")
    total = te.scan(first, step, state, name="total")
    return te.create_program(te.compute((6, 5), lambda t, i: total[t, i] + twice[t, i], name="C"))


def _stage_of_another_step() -> object:
    state, first = te.placeholder((6, 5), name="S"), te.placeholder((1, 5), name="F")
    twice = te.compute((6, 5), lambda t, i: state[t - 1, i] * 2.0, name="twice")
    step = te.compute((6, 5), lambda t, i: twice[t - 1, i] + 1.0, name="step")
    return te.scan(first, step, state, name="total")


def _stage_without_time() -> object:
    state, first = te.placeholder((6, 5), name="S"), te.placeholder((1, 5), name="F")
    last = te.compute((5,), lambda i: state[3, i] * 2.0, name="last")
    step = te.compute((6, 5), lambda t, i: last[i] + 1.0, name="step")
    return te.scan(first, step, state, name="total")


def _before_the_first() -> object:
    make = _scan_of(lambda s, t, i: s[t - 2, i])
    return te.create_program(make())  # pyright: ignore[reportArgumentType] - a tensor


REFUSALS: list[tuple[str, Callable[[], object], type[TvmlabError], str]] = [
    ("this step", _scan_of(lambda s, t, i: s[t, i]), ShapeError,
     "step reads the state S at a step that may not be known: only steps before t are"),
    ("any step", _scan_of(lambda s, t, i: s[i, i]), ShapeError, "may not be known"),
    ("before the first", _before_the_first, ShapeError,
     "compute step reads S outside its shape: at t=1"),
    ("shape of the init", _scan_of(lambda s, t, i: s[t - 1, i], init=(1, 4)), ShapeError,
     "do not fit the state"),
    ("type of the init", _scan_of(lambda s, t, i: s[t - 1, i], dtype="int32"), TypeMismatch,
     "the init F of scan total holds int32, its state S float32"),
    ("too many first steps", _scan_of(lambda s, t, i: s[t - 1, i], init=(7, 5)), ShapeError,
     "scan total has 6 step(s), but its init gives 7"),
    ("no tensor", _scan_of(lambda s, t, i: s[t - 1, i], states="S"), TypeMismatch,
     "te.scan takes tensors, not str"),
    ("numbers of states", _scan_of(lambda s, t, i: s[t - 1, i], states=[]), ShapeError,
     "scan total has 1 init(s), 1 update(s) and 0 state(s)"),
    ("stage outside", _stage_outside, ShapeError,
     "twice is a stage of the cell of scan total, and is used outside it"),
    ("stage of another step", _stage_of_another_step, ShapeError,
     "step reads the stage twice of the same cell at another step"),
    ("stage without time", _stage_without_time, ShapeError, "its first axis is not the time"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "error", "text"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals(make: Callable[[], object], error: type[TvmlabError], text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)
