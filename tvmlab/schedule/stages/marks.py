"""What is to happen to each loop and buffer of a stage, as steps of the eager schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from tvmlab.ir import BlockSymbol, Var
from tvmlab.schedule.notes import MEANINGS
from tvmlab.schedule.schedule import Schedule
from tvmlab.te import Axis

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
    """Bind, parallelize, unroll, vectorize, annotate and tensorize the loops of a stage.

    Loops of one iteration that the engine left out have nothing to be done to.
    """
    for axis, mark, loop in _marked(stage, loops):
        if mark.bind_thread is not None and loop is not None:
            with telling("bind", axis):
                schedule.apply("bind", loop, mark.bind_thread)
    for axis, mark, loop in _marked(stage, loops):
        primitive = _KINDS.get(mark.iter_type)
        if primitive is not None and loop is not None:
            with telling(primitive, axis):
                schedule.apply(primitive, loop)
    for axis, mark, loop in _marked(stage, loops):
        if loop is None:
            continue
        for name, value in mark.pragmas:
            if name == "import_llvm":  # linked when the kernel is built
                continue
            with telling("pragma", axis):
                _apply_pragma(schedule, loop, name, _plain(value))
    for name, value in _options(stage):
        with telling(name, None):
            schedule.apply(name, block, *value)


def _apply_pragma(schedule: Schedule, loop: Var, name: str, value: Any) -> None:
    """A pragma that lowering knows, or a note for whoever reads it."""
    known = name in MEANINGS and MEANINGS[name].where != "block"
    schedule.apply("pragma" if known else "annotate", loop, name, value)


def apply_intrinsics(
    schedule: Schedule, stage: Stage, loops: dict[Axis, Var | None], telling: Telling
) -> None:
    """Tensorize what is to be tensorized, once producers are attached and loops stand."""
    for axis, mark, loop in _marked(stage, loops):
        if mark.tensor_intrin is not None and loop is not None:
            with telling("tensorize", axis):
                intrin = mark.tensor_intrin
                schedule.apply("tensorize", loop, getattr(intrin, "name", intrin))


def _marked(
    stage: Stage, loops: dict[Axis, Var | None]
) -> Iterator[tuple[Axis, AxisMark, Var | None]]:
    for axis in stage.leaf_iter_vars:
        mark = stage.marks.get(axis)
        if mark is not None:
            yield axis, mark, loops.get(axis)


def _options(stage: Stage) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for name, value in stage.options.items():
        yield name, () if value is True else (value,)


def _plain(value: Any) -> Any:
    plain = getattr(value, "value", value)
    return True if plain is None else plain
