"""What is to happen to each loop and buffer of a stage, as steps of the eager schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from tvmlab.ir import BlockSymbol, For, Var, const_int
from tvmlab.schedule.index import index_of
from tvmlab.schedule.legality import written_buffer
from tvmlab.schedule.notes import MEANINGS
from tvmlab.schedule.primitives.env_threads import loops_of_tag
from tvmlab.schedule.resolve import require_extent
from tvmlab.schedule.schedule import Schedule
from tvmlab.support import ScheduleError
from tvmlab.te import Axis, ThreadAxis

from .axes import AxisMark, IterType
from .stage import Stage

_KINDS = {
    IterType.PARALLELIZED: "parallel",
    IterType.UNROLLED: "unroll",
    IterType.VECTORIZED: "vectorize",
}
Telling = Callable[[str, Axis | None], AbstractContextManager[None]]


def apply_marks(
    schedule: Schedule,
    stage: Stage,
    block: BlockSymbol,
    loops: dict[Axis, Var | None],
    telling: Telling,
) -> None:
    """Bind, parallelize, unroll, vectorize and annotate the loops of a stage; treat its memory.

    Loops of one iteration that the engine left out have nothing to be done to.
    """
    marked = [(axis, mark, loop) for axis, mark, loop in _marked(stage, loops) if loop is not None]
    for axis, mark, loop in marked:
        if mark.bind_thread is not None:
            with telling("bind", axis):
                _require_enough(index_of(schedule.program).loops[loop], mark.bind_thread)
                schedule.apply("bind", loop, mark.bind_thread)
    for axis, mark, loop in marked:
        if mark.iter_type in _KINDS:
            with telling(_KINDS[mark.iter_type], axis):
                schedule.apply(_KINDS[mark.iter_type], loop)
    for axis, mark, loop in marked:
        for name, value in mark.pragmas:
            if name != "import_llvm":  # linked when the kernel is built
                with telling("pragma", axis):
                    _apply_pragma(schedule, loop, name, _plain(value))
    _apply_memory(schedule, stage, block, telling)


def apply_last(
    schedule: Schedule, stage: Stage, loops: dict[Axis, Var | None], telling: Telling
) -> None:
    """What looks at all that is inside a loop, once every producer is attached."""
    for axis, mark, loop in _marked(stage, loops):
        for tensor, offset in mark.prefetches:
            with telling("prefetch", axis):
                amount = const_int(offset)
                schedule.apply("prefetch", tensor.name, loop, offset if amount is None else amount)
        if mark.tensor_intrin is not None and loop is not None:
            with telling("tensorize", axis):
                intrin = mark.tensor_intrin
                schedule.apply("tensorize", loop, getattr(intrin, "name", intrin))


def run_ahead(schedule: Schedule, stage: Stage, block: BlockSymbol, telling: Telling) -> None:
    """Double buffer a stage that is to be, once all that shares its loop is there.

    What feeds another such stage in the loop runs ahead already.
    """
    if "double_buffer" not in stage.options:
        return
    if schedule.check("double_buffer", block).rule != "double_buffer.already":
        with telling("double_buffer", None):
            schedule.apply("double_buffer", block)


def start_threads(schedule: Schedule, stage: Stage, loop: Var | None, telling: Telling) -> None:
    """Start the threads that are to be around a whole stage outside of its outermost loop.

    Where no loop inside is bound to them, one thread would do it all: nothing is to be started.
    """
    for thread in stage.threads if loop is not None else ():
        assert loop is not None
        inside = loops_of_tag(index_of(schedule.program).loops[loop], thread.thread_tag)
        if inside and inside[0].var is not loop:
            with telling("env_threads", None):
                require_extent(inside[0], thread)
                schedule.apply("env_threads", loop, thread)


def _require_enough(loop: For, thread: ThreadAxis) -> None:
    """Refuse more iterations than there are threads; of fewer, the other threads do nothing."""
    threads = None if thread.extent is None else const_int(thread.extent)
    iterations = const_int(loop.extent)
    if threads is not None and iterations is not None and iterations > threads:
        raise ScheduleError(
            f"it has {iterations} iterations, but the thread axis has {threads}",
            hint=f"split it by {threads}, or leave the extent of the thread axis out",
        )


def _apply_memory(schedule: Schedule, stage: Stage, block: BlockSymbol, telling: Telling) -> None:
    for axis, mark in stage.marks.items():
        if mark.align is not None:
            with telling("storage_align", axis):
                schedule.apply("storage_align", block, stage.iter_vars.index(axis), *mark.align)
    for name, value in stage.options.items():
        if name == "double_buffer":
            continue  # It looks at what the loop holds in the end: see `run_ahead`.
        with telling(name, None):
            if name == "transform_layout":
                found = index_of(schedule.program).blocks[block]
                schedule.apply(name, block, written_buffer(found, name).name, value)
            else:
                schedule.apply(name, block)


def _apply_pragma(schedule: Schedule, loop: Var, name: str, value: Any) -> None:
    """A pragma that lowering knows, or a note for whoever reads it."""
    known = name in MEANINGS and MEANINGS[name].where != "block"
    schedule.apply("pragma" if known else "annotate", loop, name, value)


def _marked(
    stage: Stage, loops: dict[Axis, Var | None]
) -> Iterator[tuple[Axis, AxisMark, Var | None]]:
    for axis in stage.leaf_iter_vars:
        mark = stage.marks.get(axis)
        if mark is not None:
            yield axis, mark, loops.get(axis)


def _plain(value: Any) -> Any:
    plain = getattr(value, "value", value)
    return True if plain is None else plain
