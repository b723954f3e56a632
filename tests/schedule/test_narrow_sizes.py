"""Sizes of a narrower type than loops have, in programs written as text."""

from __future__ import annotations

import numpy as np
import pytest

from tvmlab.driver import build
from tvmlab.ir import parse, structural_equal, to_text
from tvmlab.schedule import Schedule

TEXT = """
def f(n: {dtype}, A: float32[n], C: float32[n]):
    for j in range({range}):
        with block("C", vj=spatial(n, j)):
            C[vj] = A[vj] + 1.0
"""


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("loop", ["n", "n - n, n"])
def test_sizes_of_any_type_are_scheduled(dtype: str, loop: str) -> None:
    program = parse(TEXT.format(dtype=dtype, range=loop))
    assert structural_equal(parse(to_text(program)), program)
    sch = Schedule(program)
    (j,) = sch.loops("C")
    assert sch.actions(j)
    outer, _ = sch.split(j, [None, 3])
    sch.parallel(outer)
    a, c = np.arange(10, dtype="float32"), np.zeros(10, "float32")
    build(sch)(10, a, c)
    np.testing.assert_array_equal(c, a + 1)
