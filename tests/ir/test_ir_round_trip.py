"""`parse(to_text(p))` is structurally equal to `p`, whatever `p` is."""

from __future__ import annotations

import pytest
from helpers.random_programs import QUICK, programs
from helpers.random_trees import trees
from hypothesis import given, settings

from tvmlab.ir import Program, parse, structural_equal, structural_hash, to_text, violations


@QUICK
@given(trees())
def test_any_tree_comes_back(program: Program) -> None:
    text = to_text(program)
    back = parse(text)
    assert structural_equal(program, back)
    assert structural_hash(program) == structural_hash(back)
    assert to_text(back) == text


@pytest.mark.slow
@settings(parent=QUICK, max_examples=1500, derandomize=False)
@given(trees())
def test_many_trees_come_back(program: Program) -> None:
    assert structural_equal(program, parse(to_text(program)))


@QUICK
@given(programs())
def test_block_programs_come_back_and_are_well_formed(program: Program) -> None:
    assert violations(program) == []
    back = parse(to_text(program))
    assert structural_equal(program, back)
    assert violations(back) == []
