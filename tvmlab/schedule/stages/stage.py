"""`Stage`: one operation of a classical schedule, and the steps written down for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tvmlab.ir import Expr, Scope, const, const_int, is_scope
from tvmlab.support import INDEX, ScheduleError, Span, user_span
from tvmlab.te import Axis, Operation, PlaceholderOp, ScanOp, Tensor, ThreadAxis

from .attach import Owner, Placed
from .axes import (
    AttachType,
    AxisMark,
    Change,
    Fuse,
    IterType,
    Relation,
    Reorder,
    Singleton,
    Split,
    fuse_axes,
    split_axis,
)

_PRAGMA_KINDS = ("vectorize", "unroll", "parallel", "vectorized", "unrolled", "parallelized")


class Stage(Placed):
    """An operation with the loops that compute it.

    Attributes
    ----------
    op, origin_op
        The operation as it stands (caching and rfactor change it), and as it was at first.
    changes
        The splits, fusions and reorderings, in the order of the calls, each with its place.
    leaf_iter_vars
        The axes that will be loops, outermost first.
    marks
        What is to happen to the loop of each axis.
    """

    def __init__(self, schedule: Owner, op: Operation, *, is_output: bool) -> None:
        super().__init__(schedule, op.name)
        self.op = op
        self.origin_op = op
        self.is_output = is_output
        self.scope: Scope = ""
        self.changes: list[tuple[Change, Span | None]] = []
        self.leaf_iter_vars: list[Axis] = list(root_axes(op))
        self.marks: dict[Axis, AxisMark] = {}
        self.threads: list[ThreadAxis] = []
        self.store_predicate: Expr | None = None
        self.options: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"stage({self.name}, {self.op})"

    @property
    def relations(self) -> list[Relation]:
        """The splits and fusions, in order."""
        return [c for c, _ in self.changes if not isinstance(c, Reorder)]

    @property
    def all_iter_vars(self) -> list[Axis]:
        found = list(root_axes(self.op))
        for relation in self.relations:
            if isinstance(relation, Split):
                found += [relation.outer, relation.inner]
            else:
                found.append(relation.fused if isinstance(relation, Fuse) else relation.iter)
        return found

    @property
    def iter_vars(self) -> list[Axis]:
        """The axes of the operation itself."""
        return list(root_axes(self.op))

    @property
    def iter_var_attrs(self) -> dict[Axis, AxisMark]:
        """What is to happen to the loop of each axis."""
        return self.marks

    # ------------------------------------------------------------- loops

    def split(
        self,
        parent: Axis,
        factor: Expr | int | None = None,
        nparts: Expr | int | None = None,
        disable_predication: bool = False,
    ) -> tuple[Axis, Axis]:
        """Split an axis by a `factor`, the size of the inner one, or into `nparts` outer ones.

        Before::

            for i in range(100): ...

        After `s[C].split(i, factor=32)`::

            for i_outer in range(4):
                for i_inner in range(32):
                    where(i_outer * 32 + i_inner < 100)

        `disable_predication` is accepted and changes nothing: a guard that is needed stays, and
        one that is not is not made.
        """
        del disable_predication
        self._leaf(parent, "split")
        if (factor is None) == (nparts is None):
            raise self._error("split", parent, "give either factor or nparts")
        relation = split_axis(
            parent,
            self._positive("split", parent, factor),
            self._positive("split", parent, nparts),
        )
        at = self.leaf_iter_vars.index(parent)
        self.leaf_iter_vars[at : at + 1] = [relation.outer, relation.inner]
        self._record(relation)
        return relation.outer, relation.inner

    def fuse(self, *axes: Axis | Sequence[Axis]) -> Axis:
        """Make one axis of neighboring ones; of none, an axis of one iteration.

        Before::

            for i in range(4):
                for j in range(8): ...

        After `s[C].fuse(i, j)`::

            for i_j_fused in range(32): ...
        """
        chosen = _flat(axes)
        if not chosen:
            made = Singleton(Axis("singleton", INDEX, const(1)))
            self.leaf_iter_vars.append(made.iter)
            self._record(made)
            return made.iter
        for axis in chosen:
            self._leaf(axis, "fuse")
        if len(chosen) == 1:
            return chosen[0]
        at = self.leaf_iter_vars.index(chosen[0])
        if self.leaf_iter_vars[at : at + len(chosen)] != chosen:
            raise self._error(
                "fuse",
                chosen[-1],
                f"{', '.join(a.name for a in chosen)} must be next to each other, outer first; "
                f"the axes are now {self._leaf_names()}",
            )
        relation = fuse_axes(tuple(chosen))
        self.leaf_iter_vars[at : at + len(chosen)] = [relation.fused]
        self._record(relation)
        return relation.fused

    def reorder(self, *axes: Axis | Sequence[Axis]) -> None:
        """Put axes into the given order; those not named keep their places."""
        chosen = _flat(axes)
        for axis in chosen:
            self._leaf(axis, "reorder")
        if len(set(chosen)) != len(chosen):
            twice = next(a for a in chosen if chosen.count(a) > 1)
            raise self._error("reorder", twice, "it is named twice")
        places = sorted(self.leaf_iter_vars.index(axis) for axis in chosen)
        for place, axis in zip(places, chosen, strict=True):
            self.leaf_iter_vars[place] = axis
        self._record(Reorder(tuple(chosen)))

    def tile(
        self, x_parent: Axis, y_parent: Axis, x_factor: Expr | int, y_factor: Expr | int
    ) -> tuple[Axis, Axis, Axis, Axis]:
        """Split two axes and put the parts in the order x_outer, y_outer, x_inner, y_inner."""
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    # ------------------------------------------------------- kinds of loops

    def vectorize(self, var: Axis) -> None:
        """Run the iterations of an axis in the lanes of vectors."""
        self._refuse_reduction(var, "vectorize")
        self._mark(var, "vectorize").iter_type = IterType.VECTORIZED

    def unroll(self, var: Axis) -> None:
        """Write out the iterations of an axis."""
        self._mark(var, "unroll").iter_type = IterType.UNROLLED

    def parallel(self, var: Axis) -> None:
        """Share the iterations of an axis out to threads."""
        self._refuse_reduction(var, "parallel")
        self._mark(var, "parallel").iter_type = IterType.PARALLELIZED

    def bind(self, ivar: Axis, thread_ivar: ThreadAxis) -> None:
        """Let each iteration of an axis be one thread of a device."""
        if not isinstance(thread_ivar, ThreadAxis):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise self._error(
                "bind", ivar, f"{thread_ivar!r} is no thread axis", 'te.thread_axis("threadIdx.x")'
            )
        self._mark(ivar, "bind").bind_thread = thread_ivar

    def env_threads(self, threads: ThreadAxis | Sequence[ThreadAxis]) -> None:
        """Threads around the whole stage, as for the steps of a scan."""
        self.threads += list(threads) if isinstance(threads, Sequence) else [threads]
        self.schedule.note("env_threads")

    def tensorize(self, var: Axis, tensor_intrin: Any) -> None:
        """Let an intrinsic compute what is inside an axis, the axis included."""
        mark = self._mark(var, "tensorize")
        mark.iter_type, mark.tensor_intrin = IterType.TENSORIZED, tensor_intrin

    def pragma(self, var: Axis, pragma_type: str, pragma_value: Any = None) -> None:
        """Give the loop of an axis a note that passes and back ends read.

        "vectorize", "unroll" and "parallel" do what the methods of these names do.
        """
        if pragma_type in _PRAGMA_KINDS:
            getattr(self, pragma_type.removesuffix("ized").removesuffix("ed"))(var)
            return
        self._mark(var, "pragma").pragmas.append((pragma_type, pragma_value))

    def prefetch(self, tensor: Tensor, var: Axis, offset: Expr | int) -> None:
        """Ask for the elements of a tensor that `offset` later iterations of an axis will read."""
        amount = offset if isinstance(offset, Expr) else const(offset)
        self._mark(var, "prefetch").prefetches.append((tensor, amount))

    # ------------------------------------------------------------- memory

    def set_scope(self, scope: Scope) -> None:
        """Say in which memory the result lives."""
        if self.is_output and scope != "global":
            raise self._error("set_scope", None, f"{self.name} is an output, which is global")
        if not is_scope(scope):
            raise self._error("set_scope", None, f"there is no memory {scope!r}")
        self.scope = scope
        self.schedule.note("set_scope")

    def storage_align(self, axis: Axis, factor: int, offset: int) -> None:
        """Let rows along an axis start at multiples of `factor` elements, plus `offset`."""
        self._mark_any(axis, "storage_align").align = (factor, offset)

    def double_buffer(self) -> None:
        """Keep two copies of the result, one being written while the other is read."""
        self._option("double_buffer", True)

    def rolling_buffer(self) -> None:
        """Keep only the rows that are still needed, in a buffer that is written round and round."""
        self._option("rolling_buffer", True)

    def transform_layout(self, mapping_function: Callable[..., Any]) -> None:
        """Store the result in another layout: the function gives the new indices of an element."""
        self._option("transform_layout", mapping_function)

    def set_store_predicate(self, predicate: Expr) -> None:
        """Only store where a condition over the thread axes holds, such as on one thread.

        It may leave elements unwritten, so it is no step of a schedule and stands in no trace:
        `tl.lower(s, args)` takes it, while `s.replay().schedule`, the explorer and saved sessions
        show the stage without it.
        """
        self.store_predicate = predicate
        self.schedule.note("set_store_predicate")

    # ------------------------------------------------------------- place

    def compute_at(self, parent: Placed, scope: Axis) -> Placed:
        self._refuse_output("compute_at")
        return super().compute_at(parent, scope)

    def compute_inline(self) -> None:
        """Put the formula in place of each read of the result."""
        self._refuse_output("compute_inline")
        if getattr(self.op, "reduce_axis", ()):
            raise self._error(
                "compute_inline",
                None,
                f"{self.name} is a reduction, whose value is known only after all its iterations",
                "use compute_at to compute it near its consumer",
            )
        if isinstance(self.op, ScanOp):
            raise self._error("compute_inline", None, f"{self.name} is a scan, not one formula")
        self.attach_type, self.attach_stage, self.attach_ivar = AttachType.INLINE, None, None
        self.attach_span = user_span()
        self.schedule.note("compute_inline")

    def _refuse_output(self, primitive: str) -> None:
        if self.is_output:
            raise self._error(
                primitive,
                None,
                f"{self.name} is an output of the schedule and must be stored whole",
            )
        if isinstance(self.op, PlaceholderOp):
            raise self._error(primitive, None, f"{self.name} is an input, which nothing computes")

    # ------------------------------------------------------------- helpers

    def restart(self, op: Operation) -> None:
        """Go on with another operation, on which no steps have been taken."""
        self.op = op
        self.changes, self.marks = [], {}
        self.leaf_iter_vars = list(root_axes(op))

    def _record(self, change: Change) -> None:
        self.changes.append((change, user_span()))
        self.schedule.note(_STEP_NAMES[type(change)])

    def _option(self, name: str, value: Any) -> None:
        self.options[name] = value
        self.schedule.note(name)

    def _mark(self, axis: Axis, primitive: str) -> AxisMark:
        self._leaf(axis, primitive)
        return self._mark_any(axis, primitive)

    def _mark_any(self, axis: Axis, primitive: str) -> AxisMark:
        if axis not in self.all_iter_vars:
            raise self._error(primitive, axis, f"the axes of {self.name} are {self._leaf_names()}")
        self.schedule.note(primitive)
        return self.marks.setdefault(axis, AxisMark())

    def _leaf(self, axis: Axis, primitive: str) -> None:
        if not isinstance(axis, Axis):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise self._error(primitive, None, f"{axis!r} is no axis", "take axes from C.op.axis")
        if axis in self.leaf_iter_vars:
            return
        for relation in self.relations:
            if isinstance(relation, Split) and relation.parent is axis:
                raise self._error(
                    primitive,
                    axis,
                    f"it was split into {relation.outer.name} and {relation.inner.name}",
                    "name one of those",
                )
            if isinstance(relation, Fuse) and axis in relation.axes:
                raise self._error(
                    primitive, axis, f"it was fused into {relation.fused.name}", "name that"
                )
        raise self._error(primitive, axis, f"the axes of {self.name} are {self._leaf_names()}")

    def _leaf_names(self) -> str:
        return ", ".join(axis.name for axis in self.leaf_iter_vars) or "none"

    def _refuse_reduction(self, axis: Axis, primitive: str) -> None:
        self._leaf(axis, primitive)
        if axis.kind == "reduce":
            raise self._error(
                primitive,
                axis,
                "it is reduced over, so its iterations add to the same elements",
                "use s.rfactor to make partial results along it first",
            )

    def _positive(self, primitive: str, axis: Axis, value: Expr | int | None) -> int | None:
        known = const_int(value) if isinstance(value, Expr) else value
        if value is not None and (known is None or known < 1):
            shown = "a value known only at run time" if known is None else known
            raise self._error(
                primitive,
                axis,
                f"the number of parts must be a positive constant, not {shown}",
                "build one kernel for each number that you need" if known is None else None,
            )
        return known

    def _error(
        self, primitive: str, axis: Axis | None, why: str, hint: str | None = None
    ) -> ScheduleError:
        name = getattr(axis, "name", None)
        where = f"{name} of stage {self.name}" if name else f"stage {self.name}"
        verb = "parallelize" if primitive == "parallel" else primitive
        return ScheduleError(f"cannot {verb} {where}: {why}", hint=hint, span=user_span())


_STEP_NAMES: dict[type, str] = {
    Split: "split", Fuse: "fuse", Singleton: "fuse", Reorder: "reorder",
}  # fmt: skip


def root_axes(op: Operation) -> tuple[Axis, ...]:
    """The axes of an operation, those reduced over last."""
    return (*getattr(op, "axis", ()), *getattr(op, "reduce_axis", ()))


def _flat(axes: Sequence[Axis | Sequence[Axis]]) -> list[Axis]:
    found: list[Axis] = []
    for axis in axes:
        found += axis if isinstance(axis, Sequence) else [axis]
    return found
