"""`TeSchedule`: what `te.create_schedule` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmlab.ir import is_scope
from tvmlab.support import Namer, ScheduleError, deep, user_span
from tvmlab.te import (
    Axis,
    ComputeOp,
    Operation,
    PlaceholderOp,
    ScanOp,
    Tensor,
    provide_schedules,
)

from .attach import Group
from .axes import AttachType
from .operations import with_inputs
from .replay import Replayed, replay
from .stage import Stage
from .staging import copy_of, factored, split_for_cache

OpLike = Operation | Tensor


class TeSchedule:
    """A classical schedule: a stage for each operation, with steps that are taken when lowered.

    Attributes
    ----------
    stages
        In an order in which each comes after those that it reads.
    groups
        The groups that `create_group` made.
    primitive_record
        The names of the steps, in the order of the calls.
    """

    def __init__(self, ops: Sequence[OpLike]) -> None:
        self.primitive_record: list[str] = ["vanilla"]
        self.groups: list[Group] = []
        self._outputs = [_op_of(op) for op in ops]
        for op in self._outputs:
            if isinstance(op, PlaceholderOp):
                raise ScheduleError(
                    f"cannot schedule {op.name}: it is an input, which nothing computes",
                    hint="pass the operation of a computed tensor, such as C.op",
                    span=user_span(),
                )
        self._names = Namer()
        self.stages = [
            Stage(self, op, is_output=op in self._outputs) for op in _in_order(self._outputs)
        ]
        for stage in self.stages:
            stage.name = self._names.fresh(stage.name)
        self.stage_map: dict[Operation, Stage] = {s.op: s for s in self.stages}
        self._group_cells()

    @property
    def outputs(self) -> list[Operation]:
        """The operations that the schedule computes, as they stand now."""
        return [self.stage_map[op].op for op in self._outputs]

    def __getitem__(self, key: OpLike) -> Stage:
        op = _op_of(key)
        if op not in self.stage_map:
            raise ScheduleError(
                f"{op.name} has no stage in this schedule: none of its outputs needs it",
                hint=f"stages are {', '.join(s.name for s in self.stages)}",
                span=user_span(),
            )
        return self.stage_map[op]

    def note(self, primitive: str) -> None:
        """Remember the name of a step."""
        self.primitive_record.append(primitive)

    def normalize(self) -> TeSchedule:
        """The schedule itself: its steps are put in order when they are replayed."""
        return self

    @deep
    def replay(self, args: Sequence[Any] | None = None, name: str | None = None) -> Replayed:
        """Take the steps on the eager schedule.

        All are in its trace but `set_store_predicate`: only the `program` of the result has that.

        Parameters
        ----------
        args
            The kernel's parameters: inputs, outputs, sizes, and intermediate tensors to hand out.
        name
            The kernel's name.
        """
        return replay(self.stages, self._outputs, self.stage_map, args, name)

    def missing(self, args: Sequence[Any]) -> list[Tensor]:
        """The inputs and outputs that a list of arguments leaves out."""
        states = {
            t.op for s in self.stages if isinstance(s.op, ScanOp) for t in s.op.state_placeholder
        }
        wanted = [s.op for s in self.stages if isinstance(s.op, PlaceholderOp)]
        wanted += [op for op in self.outputs if op not in wanted]
        given = {self.stage_map.get(t.op) for t in args if isinstance(t, Tensor)}
        return [
            t
            for op in wanted
            if op not in states and self.stage_map[op] not in given
            for t in op.outputs
        ]

    def unwritten(self, args: Sequence[Any]) -> list[Tensor]:
        """The intermediate arguments that no loop writes, because they are inlined."""
        tensors = [t for t in args if isinstance(t, Tensor) and t.op in self.stage_map]
        return [t for t in tensors if self.stage_map[t.op].attach_type is AttachType.INLINE]

    @property
    def linked(self) -> list[str]:
        """LLVM IR to link a kernel with: the values of `import_llvm` pragmas."""
        marks = [mark for stage in self.stages for mark in stage.marks.values()]
        return [v for mark in marks for name, v in mark.pragmas if name == "import_llvm"]

    def __repr__(self) -> str:
        return f"<te schedule of {', '.join(op.name for op in self._outputs)}>"

    # ------------------------------------------------------------- dataflow

    def cache_read(self, tensor: Tensor, scope: str, readers: OpLike | Sequence[OpLike]) -> Tensor:
        """Copy a tensor into other memory first, and let the readers read the copy.

        Before::

            C[i] = A[i] * 2

        After `AL = s.cache_read(A, "local", [C])`::

            A_local[i] = A[i]
            C[i] = A_local[i] * 2
        """
        _require_scope("cache_read", tensor.name, scope)
        source = self[tensor].op.output(tensor.value_index)
        chosen = [self[reader] for reader in _many(readers)]
        for stage in chosen:
            if source not in stage.op.input_tensors:
                raise ScheduleError(
                    f"cannot cache_read {tensor.name} for {stage.name}: {stage.name} does not read "
                    f"it",
                    hint=f"it reads {', '.join(t.name for t in stage.op.input_tensors)}",
                    span=user_span(),
                )
        copy = copy_of(source, scope, self[tensor].name)
        self._insert(copy, scope, after=self[tensor])
        self._redirect({source: copy.output(0)}, chosen)
        self.note("cache_read")
        return copy.output(0)

    def cache_write(self, tensor: Tensor | Sequence[Tensor], scope: str) -> Any:
        """Let a stage compute into other memory, and copy the result to its own tensor.

        Before::

            C[i] += A[i, k]

        After `CL = s.cache_write(C, "local")`::

            C_local[i] += A[i, k]
            C[i] = C_local[i]

        The tensors of one operation are given together; a list of tensors is then returned.
        """
        many = [tensor] if isinstance(tensor, Tensor) else list(tensor)
        stage = self[many[0]]
        _require_scope("cache_write", stage.name, scope)
        if any(self[t] is not stage for t in many) or len(many) != len(stage.op.outputs):
            raise ScheduleError(
                f"cannot cache_write {', '.join(t.name for t in many)}: name all tensors of one "
                f"operation together; {stage.name} makes {len(stage.op.outputs)}",
                span=user_span(),
            )
        cache, written = split_for_cache(stage, scope)
        self._insert(cache, scope, before=stage)
        self._move_up(stage, written)
        self.note("cache_write")
        made = [cache.output(t.value_index) for t in many]
        return made[0] if isinstance(tensor, Tensor) else made

    def rfactor(self, tensor: Tensor, axis: Axis, factor_axis: int = 0) -> Any:
        """Make partial results along an axis of a reduction, and reduce those.

        Before::

            for k in range(64): B[0] += A[k]

        After `ko, ki = s[B].split(k, factor=8); BF = s.rfactor(B, ki)`::

            for ki in range(8):
                for ko in range(8): B_rf[ki] += A[ko * 8 + ki]
            for ki_v in range(8): B[0] += B_rf[ki_v]

        Returns
        -------
        Tensor or list of Tensor
            The partial results; one for each value of a reduction of several.
        """
        stage = self[tensor]
        partial, whole = factored(stage, axis, factor_axis)
        self._insert(partial, "", before=stage)
        self._move_up(stage, whole)
        self.note("rfactor")
        return partial.outputs[0] if len(partial.outputs) == 1 else list(partial.outputs)

    def create_group(
        self,
        outputs: OpLike | Sequence[OpLike],
        inputs: OpLike | Sequence[OpLike],
        include_inputs: bool = False,
    ) -> Group:
        """Group the stages between inputs and outputs, to attach them together.

        Parameters
        ----------
        include_inputs
            Whether stages of the inputs belong to the group.
        """
        starts = {self[t] for t in _many(inputs) if _op_of(t) in self.stage_map}
        found = self._between([self[t] for t in _many(outputs)], starts)
        members = [s for s in found if include_inputs or s not in starts]
        group = Group(self, [s for s in members if not isinstance(s.op, PlaceholderOp)])
        self.groups.append(group)
        return group

    def _between(self, ends: list[Stage], starts: set[Stage]) -> list[Stage]:
        """The stages that some stages need and that need others, those included, in order."""
        needed: dict[Stage, None] = {}
        waiting = list(ends)
        while waiting:
            stage = waiting.pop()
            if stage in needed:
                continue
            needed[stage] = None
            if stage not in starts:
                waiting += [self[t] for t in stage.op.input_tensors if t.op in self.stage_map]
        depends = set(starts)
        for stage in self.stages:
            if stage in needed and any(self[t] in depends for t in stage.op.input_tensors):
                depends.add(stage)
        return [s for s in self.stages if s in needed and (s in depends or s in ends)]

    def _group_cells(self) -> None:
        """The stages of a scan's cell belong together: they run inside its time loop."""
        for scan in [s for s in self.stages if isinstance(s.op, ScanOp)]:
            assert isinstance(scan.op, ScanOp)
            group = self.create_group(scan.op.update, scan.op.state_placeholder)
            group.name = f"cell of scan {scan.name}"
            for placed in [group, *(self[t] for t in scan.op.update)]:
                placed.attach_type = AttachType.SCAN
                placed.attach_stage = scan
        self.groups.clear()

    # ------------------------------------------------------------- helpers

    def _insert(
        self, op: ComputeOp, scope: str, *, after: Stage | None = None, before: Stage | None = None
    ) -> Stage:
        """A stage for a new operation, next to another one."""
        stage = Stage(self, op, is_output=False)
        stage.name = self._names.fresh(op.name)
        stage.scope = scope
        neighbor = after or before
        assert neighbor is not None
        at = self.stages.index(neighbor) + (after is not None)
        self.stages.insert(at, stage)
        self.stage_map[op] = stage
        stage.group = neighbor.group
        return stage

    def _move_up(self, stage: Stage, op: Operation) -> None:
        """Give a stage another operation, with no steps yet, whose result all its readers read."""
        old = stage.op
        stage.restart(op)
        self.stage_map[op] = stage
        self._redirect(dict(zip(old.outputs, op.outputs, strict=True)), self.stages)

    def _redirect(self, new: dict[Tensor, Tensor], readers: Sequence[Stage]) -> None:
        """Let stages read other tensors, and those after them the tensors that follow from it."""
        direct = set(readers)
        later: dict[Tensor, Tensor] = {}
        for stage in self.stages:
            changes = {**later, **(new if stage in direct else {})}
            op = with_inputs(stage.op, changes)
            if op is not stage.op:
                later.update(zip(stage.op.outputs, op.outputs, strict=True))
                stage.op = op
                self.stage_map[op] = stage


def _op_of(key: OpLike) -> Operation:
    if isinstance(key, Tensor):
        return key.op
    if isinstance(key, Operation):  # pyright: ignore[reportUnnecessaryIsInstance]
        return key
    raise ScheduleError(
        f"{type(key).__name__} is neither a tensor nor an operation",
        hint="pass C or C.op",
        span=user_span(),
    )


def _many(items: OpLike | Sequence[OpLike]) -> list[OpLike]:
    return [items] if isinstance(items, (Tensor, Operation)) else list(items)


def _in_order(ops: Sequence[Operation]) -> list[Operation]:
    """The operations that some need, producers before consumers."""
    done: dict[Operation, None] = {}

    def visit(op: Operation) -> None:
        if op in done:
            return
        for tensor in op.input_tensors:
            visit(tensor.op)
        if isinstance(op, ScanOp):
            for state in op.state_placeholder:
                visit(state.op)
        done[op] = None

    for op in ops:
        visit(op)
    return list(done)


def _require_scope(primitive: str, name: str, scope: str) -> None:
    if not is_scope(scope):
        raise ScheduleError(
            f"cannot {primitive} {name}: there is no memory {scope!r}",
            hint='memories are "global", "shared", "local", "warp" and "accel.NAME"',
            span=user_span(),
        )


provide_schedules(TeSchedule)
