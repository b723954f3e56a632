"""Running a schedule in the interpreter at small sizes: what legality cannot promise is looked at.

Legality proves that steps keep the meaning; what a user vouches for (`assume`) it takes as given.
The interpreter takes nothing as given: it finds elements outside their buffer, reads of what nobody
wrote, iterations that race, and values that differ, and says in which iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmlab.codegen.interpreter import InterpreterFailure, interpret
from tvmlab.ir import Block, Buffer, Program, const_int, walk
from tvmlab.lower import lower
from tvmlab.schedule import Schedule, Step, index_of, repeat_steps
from tvmlab.support import ScheduleError, TvmlabError, UserError
from tvmlab.target import Target
from tvmlab.tune.measure.arrays import disagreement, make_arrays, outputs_of

from .resizing import Resizer
from .wording import count

WORK = 30_000
"""So many iterations of blocks are run in a moment."""
MOST_WORK = 3_000_000
_SEED = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that went wrong.

    Attributes
    ----------
    stage
        "schedule" for the scheduled loops, "lowered" for what the passes made of them, "start" for
        the unscheduled program.
    rule
        The interpreter's name of the rule that was broken, or "wrong-value".
    words
        What happened, with the element.
    line
        The line of the program, as it prints.
    loops
        Names of the loops around it, outermost first.
    iterations
        In which iterations, in words; two of a race.
    """

    stage: str
    rule: str
    words: str
    line: str
    loops: tuple[str, ...]
    iterations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProofReport:
    """What was run, at what sizes, and what went wrong there.

    Attributes
    ----------
    runs
        What was run, each in words.
    notes
        What the reader should know of what was not looked at.
    """

    sizes: str
    runs: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Runs:
    runs: list[str] = field(default_factory=list[str])
    findings: list[Finding] = field(default_factory=list[Finding])


def proof_report(start: Program, steps: Sequence[Step], target: Target) -> ProofReport:
    """Run the steps' result at small sizes, as loops and as the passes leave it.

    Raises
    ------
    UserError
        If even the smallest sizes at which the steps can be taken are too many iterations.
    """
    notes: list[str] = []
    scheduled, sizes = _small(start, steps, notes)
    first, last = scheduled.history.nodes[0].program, scheduled.program
    done = _Runs()
    right = _run(done, first, "start", "the unscheduled program")
    if right is None:
        notes.append("The unscheduled program itself does this with these inputs.")
        return ProofReport(sizes, tuple(done.runs), tuple(done.findings), tuple(notes))
    _compared(done, last, "schedule", "the scheduled loops", right)
    try:
        lowered = lower(last, target).program
    except TvmlabError as error:
        notes.append(f"It cannot be lowered for this machine: {error.message}")
    else:
        _compared(done, lowered, "lowered", "what the passes make of them", right)
    return ProofReport(sizes, tuple(done.runs), tuple(done.findings), tuple(notes))


# ---------------------------------------------------------------------- sizes


def _small(start: Program, steps: Sequence[Step], notes: list[str]) -> tuple[Schedule, str]:
    """The schedule at the smallest sizes that all steps can be taken at."""
    refused = ""
    for wanted in _tries(start, notes):
        program = start if not wanted else Resizer(start).program(wanted)
        schedule = Schedule(program)
        try:
            repeat_steps(schedule, steps)
        except ScheduleError as error:
            refused = error.message
            continue
        work = iterations_of(program)
        if work > MOST_WORK:
            break
        return schedule, _size_words(wanted, work)
    why = f" ({refused})" if refused else ""
    raise UserError(
        f"the steps can only be taken at sizes too large for the interpreter{why}",
        hint="make the computation again with smaller sizes, and take the steps there",
    )


def _tries(start: Program, notes: list[str]) -> list[dict[str, int]]:
    """Sizes to try, smallest first; the last are those of the program itself."""
    try:
        resizer = Resizer(start)
        sizes = {s.name: s.value for s in resizer.sizes}
        found: list[dict[str, int]] = [{}]
        while sizes and iterations_of(resizer.program(sizes)) > WORK:
            largest = max(sizes, key=lambda n: sizes[n])
            if sizes[largest] <= 2:
                break
            # Not by halves alone: an odd size has tails where there are any.
            sizes[largest] = sizes[largest] // 2 + (1 if sizes[largest] > 64 else 0)
            found.append(dict(sizes))
        found[1:] = [t for t in found[1:] if _fits(resizer, t)]
    except UserError as error:
        notes.append(f"The sizes are those of the program: {error.message}.")
        return [{}]
    return found[::-1]


def _fits(resizer: Resizer, sizes: Mapping[str, int]) -> bool:
    try:
        resizer.program(sizes)
    except UserError:
        return False
    return True


def iterations_of(program: Program) -> int:
    """How many iterations all blocks of an unscheduled program make together."""
    total = 0
    for block in index_of(program).blocks.values():
        one = 1
        for it in block.iters:
            one *= const_int(it.extent) or 1
        total += one
    return total


def _size_words(wanted: Mapping[str, int], work: int) -> str:
    names = ", ".join(f"{name} = {value}" for name, value in wanted.items())
    return f"{names or 'the sizes of the program'}: {count(work)} iterations"


# ----------------------------------------------------------------------- runs


def _run(
    done: _Runs, program: Program, stage: str, words: str
) -> list[np.ndarray[Any, Any]] | None:
    """The outputs of a program; None after a failure, which is noted."""
    arrays = make_arrays(program, _SEED)
    done.runs.append(words)
    try:
        interpret(program, arrays)
    except InterpreterFailure as failure:
        done.findings.append(_finding(failure, stage))
        return None
    return [arrays[n] for n in outputs_of(program)]


def _compared(
    done: _Runs, program: Program, stage: str, words: str, right: Sequence[np.ndarray[Any, Any]]
) -> None:
    got = _run(done, program, stage, words)
    if got is None:
        return
    for position, ours, expected in zip(outputs_of(program), got, right, strict=True):
        buffer = program.params[position]
        wrong = disagreement(ours.reshape(expected.shape), expected, buffer.dtype, None)
        if wrong is not None and isinstance(buffer, Buffer):
            line, loops = _writer(program, buffer)
            text = f"{buffer.name} differs from the unscheduled program's: {wrong}"
            done.findings.append(Finding(stage, "wrong-value", text, line, loops, ()))


def _writer(program: Program, buffer: Buffer) -> tuple[str, tuple[str, ...]]:
    """The block that writes a buffer last, and the loops around it."""
    for node in reversed(list(walk(program.body))):
        if isinstance(node, Block) and any(r.buffer.name == buffer.name for r in node.writes):
            around = index_of(program).loops_around(node)
            return f"block {node.symbol.name}", tuple(loop.var.name for loop in around)
    return "", ()


def _finding(failure: InterpreterFailure, stage: str) -> Finding:
    text = failure.message.partition(": ")[2] or failure.message
    marked = [
        line[1:].strip()
        for note in failure.notes
        for line in note.splitlines()
        if line.startswith(">")
    ]
    iterations = tuple(
        ", ".join(f"{name} = {value}" for name, value in one.items())
        for one in failure.iterations
        if one
    )
    loops = tuple(failure.iterations[0]) if failure.iterations else ()
    return Finding(stage, failure.rule, text, marked[-1] if marked else "", loops, iterations)
