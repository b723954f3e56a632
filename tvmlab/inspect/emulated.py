"""Whether a schedule computes the right values on processors that are not here, under qemu."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.bench.emulator import MACHINES, MOST_BYTES, missing, run
from tvmlab.codegen.interpreter import interpret
from tvmlab.ir import Buffer, Program
from tvmlab.schedule import Schedule, Step, repeat_steps
from tvmlab.support import TvmlabError, UserError
from tvmlab.tune.measure.arrays import disagreement, make_arrays, outputs_of

from .resizing import Resizer

SHOWN = {"neon": "AArch64 with NEON", "rvv": "RISC-V with vectors"}


def emulated_values(start: Program, steps: Sequence[Step]) -> list[str]:
    """For each processor a sentence: right, wrong, or why it was not tried."""
    try:
        schedule, words = _small(start, steps)
    except TvmlabError as error:
        return [f"Other processors were not tried: {error.message}."]
    program = schedule.program
    right = make_arrays(program, 0)
    interpret(schedule.history.nodes[0].program, right)
    found: list[str] = []
    for machine in MACHINES:
        name = SHOWN.get(machine.name)
        if name is None:
            continue
        reason = missing(machine)
        if reason:
            found.append(f"{name}: not run, {reason}.")
            continue
        arrays = make_arrays(program, 0)
        try:
            run(program, machine, arrays)
        except TvmlabError as error:
            found.append(f"{name}: {error.message}.")
            continue
        wrong = [
            text
            for n in outputs_of(program)
            if (text := disagreement(arrays[n], right[n], program.params[n].dtype, None))
        ]
        said = "; ".join(wrong) or "the values are right"
        found.append(f"{name}, emulated at {words}: {said}. Times of an emulator tell nothing.")
    return found


def _small(start: Program, steps: Sequence[Step]) -> tuple[Schedule, str]:
    """The steps at sizes whose arrays an emulated program can write out."""
    resizer = Resizer(start)
    sizes = {s.name: s.value for s in resizer.sizes}
    while True:
        program = resizer.program(sizes)
        if _bytes(program) < MOST_BYTES:
            schedule = Schedule(program)
            repeat_steps(schedule, steps)
            return schedule, ", ".join(f"{n} = {v}" for n, v in sizes.items())
        largest = max(sizes, key=lambda n: sizes[n])
        if sizes[largest] < 2:
            raise UserError("no sizes are small enough for an emulator")
        sizes[largest] = (sizes[largest] + 1) // 2


def _bytes(program: Program) -> int:
    total = 0
    for param in program.params:
        if isinstance(param, Buffer):
            count = 1
            for extent in param.const_shape or ():
                count *= extent
            total += count * param.dtype.bits // 8
    return total
