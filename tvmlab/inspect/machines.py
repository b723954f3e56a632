"""The same schedule on another machine: what the steps mean there, and what the code becomes.

Code for other processors is made and read, not run; what ran here is told beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tvmlab.driver import build
from tvmlab.ir import Var, const_int
from tvmlab.schedule import History, Step, index_of
from tvmlab.support import TvmlabError, UserError
from tvmlab.target import Target

from .cost import nest_cost
from .history import step_label
from .inner_loops import inner_loop_report
from .machine import vector_words
from .wording import count, plural

OTHERS = {
    "AVX2 desktop": "llvm -mcpu=haswell -num-threads=8",
    "AVX-512 server": "llvm -mcpu=icelake-server -num-threads=32",
    "ARM with NEON": "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-threads=4",
    "RISC-V board": "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+f,+d -num-threads=1",
}
"""Machines to compare with, by what they are."""


@dataclass(frozen=True, slots=True)
class MachineFact:
    """One line of the comparison."""

    label: str
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class StepThere:
    """A step that means something else on the other machine."""

    node: str
    label: str
    note: str


@dataclass(frozen=True, slots=True)
class MachinesReport:
    """One machine and another side by side.

    Attributes
    ----------
    flips
        Pairs of states that the estimate ranks the other way round over there, in words.
    """

    choices: tuple[str, ...]
    other: str
    facts: tuple[MachineFact, ...]
    steps: tuple[StepThere, ...]
    flips: tuple[str, ...]


def machines_report(
    history: History, here: Target, other: str, measured: str = ""
) -> MachinesReport:
    """Compare with one of `OTHERS`.

    Parameters
    ----------
    measured
        What was measured here, in words.

    Raises
    ------
    UserError
        If there is no such machine.
    """
    if other not in OTHERS:
        raise UserError(f"there is no machine {other!r}", hint=f"machines are {', '.join(OTHERS)}")
    there = Target.of(OTHERS[other])
    return MachinesReport(
        tuple(OTHERS),
        other,
        tuple(_facts(history, here, there, measured)),
        tuple(_steps(history, here, there)),
        tuple(_flips(history, here, there)),
    )


def _facts(history: History, here: Target, there: Target, measured: str) -> Iterator[MachineFact]:
    both = (here, there)
    yield MachineFact("vectors", *(vector_words(t) or "none" for t in both))
    yield MachineFact("vector registers", *(str(t.num_registers) for t in both))
    yield MachineFact("float32 lanes", *(str(t.lanes(32)) for t in both))
    yield MachineFact("threads", *(str(t.num_threads) for t in both))
    program = history.node.program
    costs = [nest_cost(program, t) for t in both]
    if costs[0] is not None and costs[1] is not None and costs[0].total.time:
        ratio = costs[1].total.time / costs[0].total.time
        yield MachineFact("estimated cycles", "1.00", f"{ratio:.2f}")
    told = [_code(history, t) for t in both]
    for label in ("instructions", "inner loop", "through the stack"):
        yield MachineFact(label, *(facts.get(label, "not known") for facts in told))
    if measured:
        yield MachineFact("measured", measured, "not run")


def _code(history: History, target: Target) -> dict[str, str]:
    """What the machine code is like, or why there is none."""
    try:
        exe = build(history.node.program, target=target)
        lines = exe.source("asm").splitlines()
    except TvmlabError as error:
        return {"instructions": f"cannot be built: {error.message}"}
    code = [line for line in lines if line[:1] == "\t" and line[1:2] not in (".", "#", "")]
    found = {"instructions": count(len(code))}
    loops = inner_loop_report(exe).loops
    if loops:
        first = loops[0]
        found["inner loop"] = f"{first.cycles:g} cycles, bound by {first.bound_by}"
        found["through the stack"] = plural(first.spills, "vector")
    return found


def _steps(history: History, here: Target, there: Target) -> Iterator[StepThere]:
    """Steps that suit one of the two and not the other."""
    for node in history.path():
        if node.step is None:
            continue
        notes = [_note(node.step, t) for t in (here, there)]
        if notes[1] and notes[1] != notes[0]:
            yield StepThere(str(node.id), node.label or step_label(node.step), notes[1])


def _note(step: Step, target: Target) -> str:
    """What a step wastes on a machine; empty if it does what it is for."""
    loop = step.args.get("loop")
    known = index_of(step.before).loops.get(loop) if isinstance(loop, Var) else None
    extent = const_int(known.extent) if known is not None else None
    lanes = target.lanes(32)
    if step.primitive == "vectorize" and extent is not None:
        if lanes <= 1:
            return "there are no vectors: the lanes run one after another"
        if extent % lanes:
            return f"{extent} lanes leave part of a vector of {lanes} empty"
        return ""
    if step.primitive == "parallel":
        if target.num_threads <= 1:
            return "there is one thread: nothing is shared out"
        if extent is not None and extent < target.num_threads:
            return f"{plural(extent, 'round')} keep {extent} of {target.num_threads} threads busy"
    return ""


def _flips(history: History, here: Target, there: Target) -> Iterator[str]:
    """Neighboring states of which the other machine prefers the earlier one."""
    path = history.path()
    for before, after in pairwise(path):
        ratios: list[float] = []
        for target in (here, there):
            costs = [nest_cost(n.program, target) for n in (before, after)]
            if costs[0] is None or costs[1] is None or not costs[1].total.time:
                return
            ratios.append(costs[0].total.time / costs[1].total.time)
        if (ratios[0] - 1.02) * (ratios[1] - 1.02) < 0 and abs(ratios[0] - ratios[1]) > 0.05:
            name = after.label or step_label(after.step)
            yield f"{name}: {ratios[0]:.2f}× here, {ratios[1]:.2f}× there, by the estimate"
