"""A step on a program written by hand: values stay, nothing is written beyond its arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from helpers.random_loops import arrays_for

import tvmlab as tl
from tvmlab.codegen import interpret
from tvmlab.ir import parse
from tvmlab.schedule import Schedule


def assert_values_stay(source: str, step: Callable[[Schedule], Any]) -> None:
    """In the interpreter and in machine code, on arrays with memory of others behind them."""
    program = parse(source)
    schedule = Schedule(program)
    step(schedule)
    want, seen = arrays_for(program, 1), arrays_for(program, 1)
    interpret(program, want)
    interpret(schedule.program, seen)
    longer = [np.concatenate([a.ravel(), np.full(16, 99, a.dtype)]) for a in arrays_for(program, 1)]
    views = [a[: w.size].reshape(w.shape) for a, w in zip(longer, want, strict=True)]
    tl.build(schedule)(*views)
    for one, other, view, memory in zip(want, seen, views, longer, strict=True):
        np.testing.assert_array_equal(other, one)
        np.testing.assert_array_equal(view, one)
        assert (memory[one.size :] == 99).all()
