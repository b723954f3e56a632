"""A pass checked by the text of a program before and after it."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import TypeAlias

from tvmlab.ir import Program, parse, to_text, verify

Pass: TypeAlias = Callable[[Program], Program]


def check(run: Pass, before: str, after: str) -> None:
    """Run a pass on a program given as text and compare what it prints."""
    program = parse(dedent(before))
    verify(program)
    result = run(program)
    verify(result)
    assert to_text(result) == dedent(after).strip()


def check_unchanged(run: Pass, text: str) -> None:
    """The pass returns the very program that it was given."""
    program = parse(dedent(text))
    assert run(program) is program
