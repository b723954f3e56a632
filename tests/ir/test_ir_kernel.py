"""Functions in the text form become programs. The functions stand in files, as a user's would."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tvmlab.ir import Program, kernel, to_text
from tvmlab.support import ParseError, UserError

Define = Callable[[str], Any]


@pytest.fixture
def define(tmp_path: Path) -> Define:
    """Runs a module of the given text and returns what it calls `result`."""

    def run(text: str) -> Any:
        file = tmp_path / "kernels.py"
        file.write_text(text)
        return runpy.run_path(str(file))["result"]

    return run


def test_a_function_becomes_a_program(define: Define) -> None:
    result = define(
        '''from __future__ import annotations
from tvmlab.ir import kernel
N = 16
HALF = 0.5

@kernel
def result(A: float32[N], B: float32[N]):
    """Half of everything."""
    for i in range(N):
        with block("B", vi=spatial(N, i)):
            B[vi] = A[vi] * HALF
'''
    )
    assert isinstance(result, Program)
    assert to_text(result).splitlines() == [
        "def result(A: float32[16], B: float32[16]):",
        "    for i in range(16):",
        '        with block("B", vi=spatial(16, i)):',
        "            B[vi] = A[vi] * 0.5",
    ]


def test_numbers_around_the_function_and_types_in_quotes(define: Define) -> None:
    result = define(
        """from tvmlab.ir import kernel

def make(size):
    @kernel
    def fill(n: "int64", A: "int32[n]"):
        one = alloc("int32[1]", scope="local")
        one[0] = 1
        for i in range(size):
            A[i] = one[0]
    return fill

result = make(3)
"""
    )
    assert to_text(result).startswith("def fill(n: int64, A: int32[n]):")
    assert 'one = alloc(int32[1], scope="local")' in to_text(result)
    assert "for i in range(3):" in to_text(result)


WRONG = """
def result(A: "int32[4]"):
    for i in range(4):
        A[i] = A[i] / 2
"""


def test_an_error_points_into_the_file(define: Define) -> None:
    with pytest.raises(ParseError) as caught:
        kernel(define(WRONG))
    assert caught.value.span is not None
    assert Path(caught.value.span.file).name == "kernels.py"
    assert caught.value.span.line == 4
    assert caught.value.span.text.strip() == "A[i] = A[i] / 2"


def test_a_type_in_quotes_that_is_none(define: Define) -> None:
    with pytest.raises(ParseError, match="'int32 4' is not a type"):
        kernel(define(WRONG.replace("int32[4]", "int32 4")))


def test_a_function_without_source() -> None:
    with pytest.raises(ParseError, match="source of this function is not at hand"):
        kernel(len)


def test_a_program_that_is_not_well_formed_is_the_users_to_mend(define: Define) -> None:
    function = define(
        """
def result(A: "int32[4]"):
    for i in range(4):
        with block("b", v=spatial(4, i)):
            A[v] = A[i]
"""
    )
    with pytest.raises(UserError, match="rule block-closed"):
        kernel(function)
