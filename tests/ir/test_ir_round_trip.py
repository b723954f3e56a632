"""`parse(to_text(p))` is structurally equal to `p`, whatever `p` is."""

from __future__ import annotations

from helpers.random_programs import QUICK, programs
from helpers.random_trees import trees
from hypothesis import given

from tvmlab.ir import Program, parse, structural_equal, structural_hash, to_text, violations


@QUICK
@given(trees())
def test_any_tree_comes_back(program: Program) -> None:
    text = to_text(program)
    back = parse(text)
    assert structural_equal(program, back)
    assert structural_hash(program) == structural_hash(back)
    assert to_text(back) == text


@QUICK
@given(programs())
def test_block_programs_come_back_and_are_well_formed(program: Program) -> None:
    assert violations(program) == []
    back = parse(to_text(program))
    assert structural_equal(program, back)
    assert violations(back) == []
