"""What tensors come to: by the interpreter and by machine code, which must agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import parse, structural_equal, to_text, verify
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor, create_program

Array = NDArray[Any]
Shape = tuple[int, ...]


def values_of(
    outputs: Tensor | Sequence[Tensor], inputs: Sequence[Array], shapes: Sequence[Shape] = ()
) -> list[Array]:
    """The outputs' values on inputs in order of first use; `shapes` where sizes are symbolic."""
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    program = create_program(roots)
    verify(program)
    assert structural_equal(parse(to_text(program)), program)
    wanted = fresh(roots, shapes)
    interpret(program, [*inputs, *wanted])
    compiled = fresh(roots, shapes)
    build(program)(*inputs, *compiled)
    assert_same(compiled, wanted)
    return wanted


def scheduled_values(
    sch: Schedule, roots: Sequence[Tensor], inputs: Sequence[Array], shapes: Sequence[Shape] = ()
) -> list[Array]:
    """The values of a scheduled program, by the interpreter and by machine code."""
    verify(sch.program)
    wanted = fresh(roots, shapes)
    interpret(sch.program, [*inputs, *wanted])
    compiled = fresh(roots, shapes)
    build(sch)(*inputs, *compiled)
    assert_same(compiled, wanted)
    return wanted


def assert_same(got: Sequence[Array], wanted: Sequence[Array]) -> None:
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def fresh(roots: Sequence[Tensor], shapes: Sequence[Shape] = ()) -> list[Array]:
    """Arrays for outputs, full of a value that no computation leaves by luck."""
    made: list[Array] = []
    for number, root in enumerate(roots):
        shape = shapes[number] if shapes else root.const_shape
        assert shape is not None
        made.append(np.full(shape, 0 if root.dtype.is_bool else 113, root.dtype.numpy))
    return made
