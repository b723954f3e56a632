"""Lines of the program that instructions come from, and that saying so changes no instruction."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.schedules import matmul_schedule, tiled_schedule

from tvmlab.codegen import EmitOptions, compile_module, emit_module, located_asm, located_ir
from tvmlab.driver import lower
from tvmlab.ir import Program, to_lines
from tvmlab.schedule import Schedule
from tvmlab.target import Target

HOST = Target.host()


def _lowered(schedule: Schedule) -> Program:
    return lower(schedule.program, HOST).program


def _instructions(asm: str) -> list[str]:
    return [t for t in asm.splitlines() if t.startswith("\t") and not t.startswith("\t.")]


@pytest.mark.parametrize("make", [tiled_schedule, lambda: matmul_schedule(7, 9, 5)])
def test_instructions_are_the_same_with_locations(make: Callable[[], Schedule]) -> None:
    program = _lowered(make())
    plain = compile_module(emit_module(program, HOST), HOST)
    told = compile_module(emit_module(program, HOST, EmitOptions(locate=True)), HOST)
    found = located_asm(told.asm)
    assert _instructions(found.text) == _instructions(plain.asm)
    assert len(found.lines) == len(found.text.splitlines())
    assert ".loc" not in found.text
    assert found.coverage > 0.4


def test_the_optimised_text_is_shown_without_its_debug_data() -> None:
    program = _lowered(tiled_schedule())
    told = compile_module(emit_module(program, HOST, EmitOptions(locate=True)), HOST)
    found = located_ir(told.llvm_text_optimized)
    assert "!dbg" not in found.text
    assert "DILocation" not in found.text
    lines = to_lines(program)
    stores = [
        lines[line - 1].text
        for text, line in zip(found.text.splitlines(), found.lines, strict=True)
        if line and " fmul " in text
    ]
    assert stores
    assert all("*" in text for text in stores)


def test_a_listing_without_instructions_is_covered() -> None:
    assert located_asm("").coverage == 1.0
