"""Random programs run without complaint, and mean the same after a trip through the text form."""

from __future__ import annotations

import numpy as np
from helpers.random_programs import QUICK, arguments_for, programs
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.codegen import interpret
from tvmlab.ir import Program, parse, to_text


@QUICK
@given(programs(), st.integers(0, 5))
def test_text_keeps_the_meaning(program: Program, seed: int) -> None:
    first, second = arguments_for(program, seed), arguments_for(program, seed)
    interpret(program, first)
    interpret(parse(to_text(program)), second)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
