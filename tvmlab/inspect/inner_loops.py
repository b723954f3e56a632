"""The innermost loops of a kernel's machine code, for people: what they do and what bounds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.codegen import LoopReport as InnerLoop
from tvmlab.driver import Executable
from tvmlab.target import Target

from .text_view import table
from .wording import plural


@dataclass(frozen=True, slots=True)
class InnerLoopReport:
    """The loops, those with most work first, and in one sentence what to know of the first.

    Attributes
    ----------
    best_gflops
        What the first loop could do at most at the measured clock; None without one or without
        arithmetic.
    """

    loops: tuple[InnerLoop, ...]
    summary: str
    best_gflops: float | None


@dataclass(frozen=True, slots=True)
class Pressure:
    """Cycles of an iteration that one resource of the processor would take alone."""

    resource: str
    cycles: float


@dataclass(frozen=True, slots=True)
class InnerLoopLines:
    """An innermost loop of a listing: where it stands, what is in it, and what bounds it.

    Attributes
    ----------
    rows
        The lines of the nest that most of its instructions come from, innermost first.
    first, last
        Its lines in the listing, counted from 0.
    """

    rows: tuple[str, ...]
    first: int
    last: int
    label: str
    instructions: int
    fma: int
    arithmetic: int
    loads: int
    broadcasts: int
    stores: int
    spills: int
    shuffles: int
    flops: int
    cycles: float
    best_gflops: float | None
    summary: str
    pressure: tuple[Pressure, ...]


def lines_of_loops(
    text: str,
    loops: Sequence[InnerLoop],
    lines: Sequence[int],
    groups: Sequence[tuple[str, ...]],
    target: Target,
) -> tuple[InnerLoopLines, ...]:
    """The loops of a listing with their places in it, those with most work first.

    Parameters
    ----------
    lines, groups
        For each line of the listing a number of a group of lines of the nest, or -1.
    """
    labels = {line.partition(":")[0]: number for number, line in enumerate(text.splitlines())}
    found: list[InnerLoopLines] = []
    for loop in sorted(loops, key=lambda r: (-r.flops, -r.instructions)):
        first = labels[loop.label]
        last = first + loop.text.count("\n")
        known = Counter(g for g in lines[first : last + 1] if g >= 0)
        rows = groups[known.most_common(1)[0][0]] if known else ()
        peaks = target.peaks
        best = loop.flops / loop.cycles * peaks.clock if peaks and loop.cycles else None
        found.append(
            InnerLoopLines(
                rows, first, last, loop.label, loop.instructions, loop.fma, loop.arithmetic,
                loop.loads, loop.broadcasts, loop.stores, loop.spills, loop.shuffles, loop.flops,
                loop.cycles, best or None, _summary([loop]),
                tuple(Pressure(_BOUNDS.get(name, name), cycles) for name, cycles in loop.pressure),
            )
        )  # fmt: skip
    return tuple(found)


def inner_loop_report(exe: Executable) -> InnerLoopReport:
    """What `exe.inner_loops()` finds, put into words."""
    loops = exe.inner_loops()
    peaks = exe.target.peaks
    best = None
    if loops and loops[0].flops and loops[0].cycles and peaks is not None:
        best = loops[0].flops / loops[0].cycles * peaks.clock
    return InnerLoopReport(loops, _summary(loops), best)


def inner_loop_text(report: InnerLoopReport) -> str:
    """A table of the loops below the sentence."""
    head = ("loop", "cycles", "bound by", "FMA", "other", "loads", "of them spread", "stores",
            "spills", "shuffles", "FLOP", "bytes")  # fmt: skip
    lines: list[tuple[str, ...]] = [head]
    for loop in report.loops:
        counts = (
            *(loop.fma, loop.arithmetic, loop.loads, loop.broadcasts, loop.stores),
            *(loop.spills, loop.shuffles, loop.flops, loop.bytes_read + loop.bytes_written),
        )
        name = f"{loop.function} {loop.label}"
        lines.append((name, f"{loop.cycles:g}", loop.bound_by, *map(str, counts)))
    said = [report.summary]
    if report.best_gflops is not None:
        said.append(
            f"at the measured clock the first does {report.best_gflops:.0f} GFLOP/s at most"
        )
    return "\n".join([*said, table(lines)]) if report.loops else report.summary


def _summary(loops: Sequence[InnerLoop]) -> str:
    if not loops:
        return "the machine code has no loop that this report can read"
    first = loops[0]
    spilled = (
        f"{plural(first.spills, 'vector')} go through the stack in each iteration"
        if first.spills
        else "no vector goes through the stack"
    )
    words = f"an iteration takes {first.cycles:g} cycles at least on {first.model}"
    return f"{words}, bound by {_BOUNDS.get(first.bound_by, first.bound_by)}; {spilled}"


_BOUNDS = {
    "multiply": "multiplications",
    "add": "additions",
    "vector": "vector operations",
    "shuffle": "shuffles",
    "load": "loads",
    "store": "stores",
    "decode": "the number of instructions",
    "latency": "the chain from one iteration to the next",
}
