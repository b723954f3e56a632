"""Running a classical te schedule: interpreted, and compiled, against what NumPy says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab.codegen import interpret
from tvmlab.ir import verify
from tvmlab.lower import lower
from tvmlab.schedule import Replayed, TeSchedule
from tvmlab.target import Target

Array = NDArray[Any]


def assert_computes(
    s: TeSchedule, args: Sequence[Any], inputs: Sequence[Array], wanted: Sequence[Array]
) -> Replayed:
    """The scheduled program gives these outputs, interpreted and compiled; returns what it is."""
    done = s.replay(args)
    verify(done.program)
    compiled = tl.build(s, args, target="llvm")
    for run in (_interpreted(done), compiled):
        outputs = [np.full_like(w, 77) for w in wanted]
        run(*inputs, *outputs)
        for got, want in zip(outputs, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=str(done.schedule))
    return done


def assert_runs_on_device(
    s: TeSchedule, args: Sequence[Any], inputs: Sequence[Array], wanted: Sequence[Array]
) -> Replayed:
    """The program for a device gives these outputs, as it stands and lowered; both interpreted."""
    done = s.replay(args)
    verify(done.program)
    for program in (done.program, lower(done.program, Target.host()).program):
        outputs = [np.full_like(w, 77) for w in wanted]
        interpret(program, [*inputs, *outputs])
        for got, want in zip(outputs, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=str(program))
    return done


def _interpreted(done: Replayed) -> Callable[..., None]:
    def run(*arrays: Any) -> None:
        interpret(done.program, list(arrays))

    return run


def ramp(*shape: int, dtype: str = "float32") -> Array:
    """Small whole numbers, whose sums are exact in any type."""
    return (np.arange(np.prod(shape)) % 13 - 5).reshape(shape).astype(dtype)
