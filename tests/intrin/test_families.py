"""Intrinsics are found by the name that a trace gives them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tvmlab import intrin, te
from tvmlab.ir import structural_equal
from tvmlab.support import UserError
from tvmlab.te import TensorIntrin


@pytest.mark.parametrize(
    "made",
    [
        lambda: intrin.dot(intrin.U8S8),
        lambda: intrin.dot_tile(intrin.BF16, 6, 2, 32),
        lambda: intrin.dot_tile(intrin.ARM_S8S8, 4, 2, 8),
        lambda: intrin.interleave(intrin.S8S8, 64),
        lambda: intrin.interleave(intrin.BF16, 16),
    ],
)
def test_a_name_says_all(made: Callable[[], TensorIntrin]) -> None:
    first = made()
    again = intrin.dot_by_name(first.name)
    assert again is not None
    assert again.name == first.name
    assert again.llvm == first.llvm
    assert structural_equal(again.description, first.description)


@pytest.mark.parametrize(
    "name",
    ["", "dot", "dot_u8s8_0x16x64", "dot_u8s8_8x17x64", "dot_u8s8_8x16x3", "interleave_int8_3x16",
     "interleave_int8_4x0", "dot_u8s8_99999x16000x64", "other_8x16x64"],
)  # fmt: skip
def test_other_names_are_left_alone(name: str) -> None:
    assert intrin.dot_by_name(name) is None
    with pytest.raises(UserError, match="no tensor intrinsic is declared as"):
        te.intrinsic_named(name)


def test_another_process_knows_the_name() -> None:
    code = "from tvmlab import intrin, te; print(te.intrinsic_named('dot_u8s8_4x32x64').name)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.stdout.strip() == "dot_u8s8_4x32x64", found.stderr
