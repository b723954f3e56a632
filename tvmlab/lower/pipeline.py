"""THE list: how a scheduled program becomes one that code generators understand.

Read `PIPELINE` from top to bottom. Each pass is a pure function from program to program in a file
of its own; `lower` runs them and keeps a record that views and tests read.

>>> lowered = lower(schedule.program, Target.host())
>>> [step.name for step in lowered.record if step.changed]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeAlias

from tvmlab.ir import Program, verify
from tvmlab.support import deep
from tvmlab.target import Target

from .accumulate_in_registers import accumulate_in_registers
from .alignments import gather_alignments
from .auto_unroll import auto_unroll
from .check_assumptions import check_assumptions
from .check_indices import check_indices
from .compact_buffers import compact_buffers
from .dissolve_blocks import dissolve_blocks
from .flatten_buffers import flatten_buffers
from .free_lanes import free_lanes
from .gather_imports import gather_imports
from .hoist_conditions import hoist_conditions
from .hoist_shared import hoist_shared
from .infer_scopes import infer_scopes
from .insert_barriers import insert_barriers
from .insert_prefetches import insert_prefetches
from .interleave_virtual import interleave_virtual
from .once_for_virtual import once_for_virtual
from .options import LowerOptions, VectorUnit
from .pad_rows import pad_rows
from .partition_loops import partition_loops
from .pipeline_loops import pipeline_loops
from .place_allocations import place_allocations
from .promote_registers import promote_registers
from .reduce_across_threads import reduce_across_threads
from .separate_init import separate_init
from .share_storage import share_storage
from .simplify_program import simplify_program
from .unify_threads import unify_threads
from .unroll_loops import unroll_loops
from .vectorize_loops import vectorize_loops


@dataclass(frozen=True, slots=True)
class Setting:
    """What passes may look at besides the program."""

    options: LowerOptions
    unit: VectorUnit


Run: TypeAlias = Callable[[Program, Setting], Program]


@dataclass(frozen=True, slots=True)
class Pass:
    """One entry of the pipeline."""

    name: str
    reason: str
    run: Run


@dataclass(frozen=True, slots=True)
class PassRecord:
    """What one pass did: the programs before and after, and the time it took."""

    name: str
    reason: str
    before: Program
    after: Program
    seconds: float

    @property
    def changed(self) -> bool:
        """Whether the pass returned another program."""
        return self.after is not self.before


@dataclass(frozen=True, slots=True)
class Lowered:
    """A lowered program and how it came about."""

    program: Program
    record: tuple[PassRecord, ...]


def _simplify(why: str) -> Pass:
    return Pass("simplify", why, lambda p, _: simplify_program(p))


PIPELINE: tuple[Pass, ...] = (
    Pass(
        "gather_imports",
        "code to be linked in belongs to the kernel, not to a loop that may go",
        lambda p, _: gather_imports(p),
    ),
    Pass(
        "gather_alignments",
        "how far rows lie apart is said on blocks, but needed when these are gone",
        lambda p, _: gather_alignments(p),
    ),
    Pass(
        "infer_scopes",
        "an intermediate between threads lives in memory that the right ones of them see",
        lambda p, _: infer_scopes(p),
    ),
    Pass(
        "check_assumptions",
        "a size that a schedule does not allow for makes the call fail",
        lambda p, _: check_assumptions(p),
    ),
    Pass(
        "check_indices",
        "whatever a call brings, nothing is read or written outside a buffer",
        lambda p, s: check_indices(p, data=s.options.check_indices),
    ),
    Pass(
        "separate_init",
        "start values are set before reduction loops, so that these need not ask for it",
        lambda p, _: separate_init(p),
    ),
    Pass(
        "place_allocations",
        "intermediates live only where they are needed; parallel iterations get their own",
        lambda p, _: place_allocations(p),
    ),
    Pass(
        "unify_threads",
        "every thread of a kernel runs one iteration of each loop over threads",
        lambda p, _: unify_threads(p),
    ),
    Pass(
        "once_for_virtual",
        "what virtual threads share is done by the first of them, whatever its conditions say",
        lambda p, _: once_for_virtual(p),
    ),
    Pass(
        "reduce_across_threads",
        "threads that reduce together join their partial results",
        lambda p, _: reduce_across_threads(p),
    ),
    Pass(
        "insert_barriers",
        "a thread must not read what another one has not written yet",
        lambda p, _: insert_barriers(p),
    ),
    Pass(
        "dissolve_blocks",
        "blocks have served: loops, conditions and stores are left",
        lambda p, _: dissolve_blocks(p),
    ),
    _simplify("bindings have been put into indices"),
    Pass(
        "compact_buffers",
        "an intermediate needs only the part that is touched while it lives",
        lambda p, _: compact_buffers(p),
    ),
    Pass(
        "pipeline_loops",
        "pipelined loops overlap: the next iteration's values are fetched during this one",
        lambda p, _: pipeline_loops(p),
    ),
    Pass(
        "interleave_virtual",
        "virtual threads become one stream of instructions that hides waiting",
        lambda p, _: interleave_virtual(p),
    ),
    Pass(
        "hoist_shared",
        "a group of threads has one shared memory, given to it once",
        lambda p, _: hoist_shared(p),
    ),
    Pass(
        "hoist_conditions",
        "what a loop does not change is asked outside of it",
        lambda p, _: hoist_conditions(p),
    ),
    _simplify("indices have been shifted and conditions joined"),
    Pass(
        "insert_prefetches",
        "memory is asked early for what later iterations read",
        lambda p, _: insert_prefetches(p),
    ),
    Pass(
        "partition_loops",
        "the main part of a loop should not ask what only its ends need to know",
        lambda p, s: partition_loops(p, s.options.max_growth) if s.options.partition else p,
    ),
    Pass(
        "vectorize_loops",
        "vectorized loops become vectors of the machine's width",
        lambda p, s: vectorize_loops(p, s.unit, s.options.max_chunks),
    ),
    _simplify("vector indices and masks have been made"),
    Pass(
        "pad_rows",
        "masked vectors of neighboring rows should not overlap",
        lambda p, _: pad_rows(p),
    ),
    Pass(
        "auto_unroll",
        "short loops are unrolled where auto_unroll_max_step asks for it",
        lambda p, _: auto_unroll(p),
    ),
    Pass(
        "flatten_buffers",
        "memory has one dimension: before loops are written out, while there is little to rewrite",
        lambda p, _: flatten_buffers(p),
    ),
    _simplify("offsets have been made from indices"),
    Pass(
        "unroll_loops",
        "unrolled loops are written out",
        lambda p, s: unroll_loops(p, s.options.max_unroll),
    ),
    Pass(
        "promote_registers",
        "small buffers at known indices become values in registers",
        lambda p, s: promote_registers(p, s.options.max_registers) if s.options.promote else p,
    ),
    Pass(
        "accumulate_in_registers",
        "what a loop updates in every round should not go through memory each time",
        lambda p, s: accumulate_in_registers(p) if s.options.promote else p,
    ),
    Pass(
        "free_lanes",
        "lanes of a register that no statement looks at need not keep their values",
        lambda p, s: free_lanes(p) if s.options.promote else p,
    ),
    Pass(
        "share_storage",
        "intermediates that are not in use at the same time need not lie apart",
        lambda p, _: share_storage(p),
    ),
)
"""All passes in order, with the reason for each."""


@deep
def lower(
    program: Program,
    target: Target,
    options: LowerOptions | None = None,
    *,
    before: str | None = None,
) -> Lowered:
    """Lower a scheduled program.

    The result has no blocks and no vectorized or unrolled loops; its buffers are flat, its vectors
    explicit, its intermediates allocated where they are used.

    Parameters
    ----------
    program
        A well-formed program at any stage.
    target
        Tells the width of vectors.
    options
        Settings; by default those of `LowerOptions()`.
    before
        The name of a pass to stop before; by default all passes run.

    Raises
    ------
    UserError
        If a loop cannot be unrolled as the schedule says.
    """
    chosen = options or LowerOptions()
    setting = Setting(chosen, VectorUnit.of(target, chosen))
    record: list[PassRecord] = []
    for step in PIPELINE:
        if step.name == before:
            break
        begin = perf_counter()
        after = step.run(program, setting)
        seconds = perf_counter() - begin
        record.append(PassRecord(step.name, step.reason, program, after, seconds))
        program = after
        if chosen.verify:
            verify(program)
    return Lowered(program, tuple(record))
