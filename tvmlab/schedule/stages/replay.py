"""Taking the steps of a classical schedule on the eager one, in one canonical order.

First the dataflow: caches and partial results are operations already, inlining comes next. Then
consumers before producers: a stage is attached, its loops are split, fused and reordered, and each
loop gets its kind. A loop of one iteration that the engine leaves out stays known as none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from tvmlab.arith import Bounds, simplify
from tvmlab.ir import Block, BlockSymbol, Expr, For, Program, Var, const, const_int, substitute
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import vars_of
from tvmlab.schedule.schedule import Schedule
from tvmlab.support import ScheduleError, Span, UserError
from tvmlab.te import Axis, Operation, PlaceholderOp, Range, ScanOp

from .arguments import Handed, base_program, hand_out
from .attach import Placed
from .axes import AttachType, Fuse, Reorder, Split
from .marks import Telling, apply_last, apply_marks, run_ahead, start_threads
from .predicates import guard_stores
from .stage import Stage, root_axes


@dataclass(slots=True)
class Replayed:
    """The eager schedule that the steps made, and where everything is in it.

    Attributes
    ----------
    schedule
        The schedule; its trace holds the steps, but no `set_store_predicate`: see `program`.
    blocks
        The block of each stage that was not inlined.
    loops
        The loop of each axis; None for an axis of one iteration without a loop.
    ranges
        The values that each axis takes, in terms of axes of other stages.
    """

    schedule: Schedule
    blocks: dict[Stage, BlockSymbol] = field(default_factory=dict[Stage, BlockSymbol])
    loops: dict[Axis, Var | None] = field(default_factory=dict[Axis, "Var | None"])
    ranges: dict[Axis, Range] = field(default_factory=dict[Axis, Range])
    handed: list[Handed] = field(default_factory=list[Handed])

    @property
    def program(self) -> Program:
        """The scheduled program, with store predicates and every argument that was asked for."""
        wanted = {
            block: stage.store_predicate
            for stage, block in self.blocks.items()
            if stage.store_predicate is not None
        }
        guarded = guard_stores(self.schedule.program, wanted, self.loops)
        return hand_out(guarded, self.handed)


def replay(
    stages: Sequence[Stage],
    outputs: Sequence[Operation],
    stage_map: Mapping[Operation, Stage],
    args: Sequence[Any] | None,
    name: str | None,
) -> Replayed:
    """Take the steps of all stages.

    Raises
    ------
    ScheduleError
        If a step is refused; the message names stage and axis, and points at the user's line.
    """
    program, handed = base_program(stages, outputs, stage_map, args, name)
    done = Replayed(Schedule(program), handed=handed)
    computed = [s for s in stages if not isinstance(s.op, PlaceholderOp)]
    blocks = {symbol.name: symbol for symbol in index_of(program).blocks}
    done.blocks.update((s, blocks[s.name]) for s in computed if s.name in blocks)
    for stage in computed:
        if stage.attach_type is AttachType.INLINE and stage in done.blocks:
            with _Telling(stage, "compute_inline", None, stage.attach_span):
                done.schedule.apply("compute_inline", done.blocks.pop(stage))
    for stage in computed:
        if isinstance(stage.op, ScanOp):
            _find_time_loop(done, stage.op, stage_map)
    for stage in reversed(computed):
        if stage in done.blocks:
            _place(done, stage)
            _shape(done, stage)
            apply_marks(done.schedule, stage, done.blocks[stage], done.loops, _teller(stage))
    for stage in reversed(computed):
        start_threads(done.schedule, stage, _outermost(done, stage), _teller(stage))
    for stage in reversed(computed):
        if stage in done.blocks:
            apply_last(done.schedule, stage, done.loops, _teller(stage))
    for stage in reversed(computed):
        if stage in done.blocks:
            run_ahead(done.schedule, stage, done.blocks[stage], _teller(stage))
    return done


def _find_time_loop(done: Replayed, scan: ScanOp, stage_map: Mapping[Operation, Stage]) -> None:
    """The loop over the steps of a scan: the one that the updates' first variable is bound to."""
    index = index_of(done.schedule.program)
    update = index.blocks[done.blocks[stage_map[scan.update[0].op]]]
    time = update.bindings[0]
    done.loops[scan.scan_axis] = time if isinstance(time, Var) else None
    done.ranges[scan.scan_axis] = Range(scan.scan_axis.min, scan.scan_axis.extent)


def _place(done: Replayed, stage: Stage) -> None:
    """Attach a stage, and find out which loop runs over each of its axes."""
    home = stage.home
    block = done.blocks[stage]
    if home.attach_type is AttachType.SCOPE:
        target = _attach_loop(done, home)
        if target is not None and stage.scope == "local":
            target = _own_thread(done, block, target)
        if target is not None and not _is_inside(done, block, target):
            with _Telling(stage, "compute_at", home.attach_ivar, home.attach_span):
                done.schedule.apply("compute_at", block, target)
    index = index_of(done.schedule.program)
    found = index.blocks[block]
    own = {lp.var: lp for lp in index.loops_around(found) if _holds_only(index, lp, found)}
    others = {v: axis for axis, v in done.loops.items() if v is not None}
    for axis, binding in zip(root_axes(stage.op), found.bindings, strict=False):
        running = [v for v in vars_of(binding) if v in own and v not in others]
        loop = running[0] if running else None
        done.loops[axis] = loop
        first = substitute(binding, {v: const(0) for v in running})
        low = simplify(substitute(first, dict(others)), Bounds.of({}))
        extent = own[loop].extent if loop is not None else const(1)
        done.ranges[axis] = Range(low + axis.min if const_int(axis.min) != 0 else low, extent)


def _own_thread(done: Replayed, block: BlockSymbol, target: Var) -> Var:
    """The loop to attach a stage at whose memory each thread has to itself.

    If threads share its one reader out inside of the target, each needs only what it reads itself.
    """
    index = index_of(done.schedule.program)
    readers = index.consumers_of(index.blocks[block])
    around = index.loops_around(readers[0]) if len(readers) == 1 else []
    place = around.index(index.loops[target]) + 1 if index.loops[target] in around else len(around)
    known = {lp.thread for lp in around[:place]}
    shared_out = list(
        takewhile(lambda lp: lp.kind == "thread" and lp.thread not in known, around[place:])
    )
    return shared_out[-1].var if shared_out else target


def _outermost(done: Replayed, stage: Stage) -> Var | None:
    """The outermost loop of a stage; that over the steps, for a scan."""
    if isinstance(stage.op, ScanOp):
        return done.loops.get(stage.op.scan_axis)
    loops = [done.loops.get(axis) for axis in stage.leaf_iter_vars]
    return next((v for v in loops if v is not None), None)


def _attach_loop(done: Replayed, home: Placed) -> Var | None:
    """The loop to attach at: that of the axis, or the nearest around where the engine has none."""
    target = home.attach_stage
    while isinstance(target, Stage):
        assert home.attach_ivar is not None
        if home.attach_ivar not in target.leaf_iter_vars:
            raise ScheduleError(
                f"cannot compute {home.name} at {home.attach_ivar.name} of {target.name}: the axis "
                f"was split or fused after that call",
                hint="call compute_at with one of the axes that it became",
                span=home.attach_span,
            )
        leaves = target.leaf_iter_vars
        for axis in reversed(leaves[: leaves.index(home.attach_ivar) + 1]):
            loop = done.loops.get(axis)
            if loop is not None:
                return loop
        if target.home.attach_type is not AttachType.SCOPE:
            return None
        home = target.home
        target = home.attach_stage
    return None


def _is_inside(done: Replayed, block: BlockSymbol, loop: Var) -> bool:
    index = index_of(done.schedule.program)
    return index.is_under(index.blocks[block], index.loops[loop])


def _holds_only(index: ProgramIndex, loop: For, block: Block) -> bool:
    return index.blocks_under(loop) == [block]


def _shape(done: Replayed, stage: Stage) -> None:
    """Split, fuse and reorder the loops of a stage as its axes were."""
    for change, span in stage.changes:
        if isinstance(change, Split):
            with _Telling(stage, "split", change.parent, span):
                _split(done, change)
        elif isinstance(change, Fuse):
            with _Telling(stage, "fuse", change.axes[0], span):
                _fuse(done, change)
        elif isinstance(change, Reorder):
            loops = [v for axis in change.axes if (v := done.loops.get(axis)) is not None]
            if len(loops) > 1:
                with _Telling(stage, "reorder", change.axes[0], span):
                    done.schedule.apply("reorder", *loops)
        else:
            done.loops[change.iter] = None
            done.ranges[change.iter] = Range(const(0), const(1))


def _split(done: Replayed, change: Split) -> None:
    """Split a loop, unless one of the two would run once: then the other is the loop itself."""
    loop = done.loops.get(change.parent)
    outer: Var | None = None
    inner: Var | None = None
    if loop is not None:
        size = const_int(index_of(done.schedule.program).loops[loop].extent)
        factor, nparts = change.factor, change.nparts
        if nparts == 1 or (size is not None and factor is not None and factor >= size):
            inner = loop
        elif factor == 1 or (size is not None and nparts is not None and nparts >= size):
            outer = loop
        else:
            factors = [None, factor] if factor is not None else [nparts, None]
            refs = done.schedule.split(loop, factors)
            outer, inner = refs[0].var, refs[1].var
    _note(done, change.outer, outer)
    _note(done, change.inner, inner)


def _fuse(done: Replayed, change: Fuse) -> None:
    loops = [v for axis in change.axes if (v := done.loops.get(axis)) is not None]
    if len(loops) > 1:
        _note(done, change.fused, done.schedule.fuse(*loops).var)
    else:
        _note(done, change.fused, loops[0] if loops else None)


def _note(done: Replayed, axis: Axis, loop: Var | None) -> None:
    done.loops[axis] = loop
    extent: Expr = const(1)
    if loop is not None:
        extent = index_of(done.schedule.program).loops[loop].extent
    done.ranges[axis] = Range(const(0), extent)


def _teller(stage: Stage) -> Telling:
    return lambda what, axis: _Telling(stage, what, axis, None)


class _Telling(AbstractContextManager[None]):
    """Says at which step of which stage an error came up."""

    def __init__(self, stage: Stage, what: str, axis: Axis | None, span: Span | None) -> None:
        where = f" {axis.name}" if axis is not None else ""
        self.text = f"{what}{where} of stage {stage.name}"
        self.span = span

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UserError):
            raise ScheduleError(
                f"{self.text}: {error.message}",
                hint=error.hint,
                notes=error.notes,
                span=self.span or error.span,
            ) from error
