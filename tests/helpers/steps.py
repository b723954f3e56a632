"""What must hold of any accepted steps: values stay, texts and traces go round, undo goes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import Buffer, parse, structural_equal, to_text, verify
from tvmlab.lower import lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor

Array = NDArray[Any]


def ramp(*shape: int, dtype: str = "float32") -> Array:
    """Small whole numbers, whose sums are exact in any type."""
    return (np.arange(np.prod(shape)) % 17 - 5).reshape(shape).astype(dtype)


def after_steps(
    outputs: Tensor | Sequence[Tensor], steps: Callable[[Schedule], object], inputs: Sequence[Array]
) -> Schedule:
    """Take steps and check them on `inputs` against the unscheduled program; the schedule."""
    sch = Schedule(outputs)
    start = sch.program
    want = run_interpreted(sch, inputs)
    steps(sch)
    assert_values(sch, inputs, want)
    assert_round_trips(outputs, sch)
    count = len(sch.trace)
    for _ in range(count):
        sch.undo()
    assert sch.program is start
    for _ in range(count):
        sch.redo()
    return sch


def assert_values(sch: Schedule, inputs: Sequence[Array], want: Sequence[Array]) -> None:
    """The interpreter, on the program and on its lowered form, and machine code agree."""
    verify(sch.program)
    lowered = lower(sch.program, Target.host()).program
    outputs = empty_outputs(sch, inputs)
    interpret(lowered, [*inputs, *outputs])
    compiled = empty_outputs(sch, inputs)
    build(sch)(*inputs, *compiled)
    for got in (run_interpreted(sch, inputs), outputs, compiled):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=str(sch))


def assert_round_trips(outputs: Tensor | Sequence[Tensor], sch: Schedule) -> None:
    """Text, JSON trace and Python trace each give the same program again."""
    assert structural_equal(parse(to_text(sch.program)), sch.program)
    again = Schedule.replay(outputs, sch.trace.to_json())
    assert structural_equal(again.program, sch.program)
    fresh = Schedule(outputs)
    exec(sch.trace.to_python(), {"sch": fresh})
    assert structural_equal(fresh.program, sch.program)


def run_interpreted(sch: Schedule, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of a schedule's program by its meaning."""
    outputs = empty_outputs(sch, inputs)
    interpret(sch.program, [*inputs, *outputs])
    return outputs


def empty_outputs(sch: Schedule, inputs: Sequence[Array]) -> list[Array]:
    """Fresh arrays for the parameters after the inputs, full of a value no program leaves."""
    made: list[Array] = []
    buffers = [p for p in sch.program.params if isinstance(p, Buffer)]
    for buffer in buffers[len(inputs) :]:
        assert buffer.const_shape is not None
        made.append(np.full(buffer.const_shape, 113, buffer.dtype.numpy))
    return made
