"""A design space: a template of a schedule with knobs, and its points as rows of numbers.

>>> space = Space(C, template)
>>> space.size
1200
>>> points = space.sample(64, np.random.default_rng(0))
>>> schedule = space.schedule(points[0])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import Program
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, ScheduleError
from tvmlab.target import Target, TargetLike
from tvmlab.te import Tensor, create_program
from tvmlab.tune.features import (
    Features,
    NestBatch,
    Part,
    extract_features,
    feature_names,
    feature_rows,
    joined,
)

from .knobs import Knob, Value
from .limits import Limit, Limits
from .outline import Outline
from .outline_nest import NotOutlinedError
from .prefix import Prefix
from .reader import Chosen, Columns, Declaring, Knobs, Points
from .table import table_rows, table_text

Outputs: TypeAlias = Tensor | Sequence[Tensor] | Program
Template: TypeAlias = Callable[[Any, Knobs], None]
"""`template(schedule, knobs)` takes steps on the schedule; see `Knobs`."""
_DECLARING_RUNS = 100
_NEAR = 0.5
"""How often a mutated number moves to an option close by, instead of any."""


def program_of(outputs: Outputs) -> Program:
    """The unscheduled program of output tensors."""
    if isinstance(outputs, Program):
        return outputs
    return create_program([outputs] if isinstance(outputs, Tensor) else list(outputs))


def _tensors(outputs: Outputs) -> tuple[Tensor, ...]:
    """The output tensors; none if only a program was given."""
    if isinstance(outputs, Program):
        return ()
    return (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)


class Space:
    """All schedules that a template makes of one computation.

    Parameters
    ----------
    outputs
        Output tensors, or an unscheduled program.
    template
        `template(schedule, knobs)` takes steps; it may be called with any values of its knobs.
    target
        What the schedules are for.
    start
        Steps that come before those of the template: a schedule of the same computation.
    limits
        What points must keep to, to be drawn. A point beyond them can still be scheduled.

    Raises
    ------
    OptionError
        If the template has no knob, or asks for one in two ways.
    """

    def __init__(
        self,
        outputs: Outputs,
        template: Template,
        target: TargetLike = "cpu",
        *,
        start: Schedule | None = None,
        limits: Sequence[Limit] = (),
    ) -> None:
        self.program = program_of(outputs)
        self.outputs = _tensors(outputs)
        self.template = template
        self.target = Target.of(target)
        self._start = start
        self.not_outlined = ""
        self._prefix: Prefix | None = None
        self._ignored: dict[bytes, NDArray[np.bool_]] = {}
        self.knobs: Mapping[str, Knob] = self._declared()
        self._sizes = np.array([len(knob) for knob in self.knobs.values()], dtype=np.int64)
        self._limits = Limits(self.knobs, limits)

    def _declared(self) -> Mapping[str, Knob]:
        """The knobs, by running the template at random points until it runs through."""
        rng = np.random.default_rng(0)
        refusal: ScheduleError | None = None
        for _ in range(_DECLARING_RUNS):
            declaring = Declaring(rng)
            try:
                self.template(self.begin(), declaring)
            except ScheduleError as error:
                refusal = error
                continue
            if not declaring.knobs:
                raise OptionError("the template asks for no knob: there is nothing to search")
            return declaring.knobs
        raise OptionError(
            f"the template is refused at each of {_DECLARING_RUNS} random points; the last time: "
            f"{refusal.args[0] if refusal else ''}",
            hint="try its steps by hand on a schedule first",
        ) from refusal

    def begin(self) -> Schedule:
        """The schedule that the template is called with."""
        return Schedule(self.program) if self._start is None else self._start.copy()

    # ---------------------------------------------------------------- points

    @property
    def size(self) -> int:
        """Number of points, also of those that limits exclude or whose steps are refused."""
        return prod(len(knob) for knob in self.knobs.values())

    def sample(self, count: int, rng: np.random.Generator) -> Points:
        """Random points within the limits, drawn with equal chances."""
        return self._limits.redrawn(self._anywhere(count, rng), lambda n: self._anywhere(n, rng))

    def allowed(self, points: Points) -> NDArray[np.bool_]:
        """Which points are within the limits."""
        return self._limits.allow(points)

    def _anywhere(self, count: int, rng: np.random.Generator) -> Points:
        return rng.integers(0, self._sizes, (count, len(self._sizes))).astype(np.int32)

    @property
    def structural(self) -> NDArray[np.bool_]:
        """Which knobs decide about steps; points that agree in them are looked at together."""
        return np.array([not knob.numeric for knob in self.knobs.values()], dtype=bool)

    def essence(self, points: Points) -> Points:
        """The points with the first option for each knob that decides nothing there.

        It is the same for points that are known to give the same schedule; it need not be within
        the limits. What decides nothing is known once features of such points were asked for.
        """
        if not self._ignored:
            return points
        kept = np.ascontiguousarray(points, np.int32).copy()
        kinds, kind = np.unique(kept[:, self.structural], axis=0, return_inverse=True)
        for number, row in enumerate(kinds):
            ignored = self._ignored.get(row.tobytes())
            if ignored is not None:
                kept[np.ix_(kind.ravel() == number, ignored)] = 0
        return kept

    def mutate(
        self, points: Points, rng: np.random.Generator, knobs: NDArray[np.bool_] | None = None
    ) -> Points:
        """A neighbor of each point: one knob, of those with a choice, has another option.

        A point none of whose neighbors is found to be within the limits stays as it is.

        Parameters
        ----------
        knobs
            Which knobs may change; all by default.
        """
        free = np.flatnonzero((self._sizes > 1) & (True if knobs is None else knobs))
        if not len(free):
            return points.copy()

        def neighbors(places: NDArray[np.intp]) -> Points:
            return self._neighbors(points[places], free, rng)

        return self._limits.kept(points, neighbors)

    def _neighbors(
        self, points: Points, free: NDArray[np.intp], rng: np.random.Generator
    ) -> Points:
        rows = np.arange(len(points))
        knob = free[rng.integers(0, len(free), len(points))]
        sizes = self._sizes[knob]
        old = points[rows, knob]
        anywhere = (old + rng.integers(1, sizes)) % sizes
        step = rng.choice(np.array([-2, -1, 1, 2]), len(points))
        near = np.clip(old + step, 0, sizes - 1)
        use_near = (rng.random(len(points)) < _NEAR) & (near != old)
        changed = points.copy()
        changed[rows, knob] = np.where(use_near, near, anywhere)
        return changed

    def cross(self, first: Points, second: Points, rng: np.random.Generator) -> Points:
        """Children of pairs of points: each knob from one of the parents.

        Where no child is found to be within the limits, it is the first parent.
        """

        def children(places: NDArray[np.intp]) -> Points:
            mother = rng.random((len(places), first.shape[1])) < 0.5
            return np.where(mother, first[places], second[places])

        return self._limits.kept(first, children)

    def numbered(self, numbers: NDArray[np.int64] | Sequence[int]) -> Points:
        """Points by their place when all are counted, the last knob fastest."""
        rest = np.array([int(n) for n in numbers], dtype=object)
        columns: list[Any] = []
        for size in reversed(self._sizes.tolist()):
            columns.insert(0, rest % size)
            rest = rest // size
        return np.array(columns, dtype=np.int32).T.reshape(len(rest), len(self._sizes))

    def values(self, point: Points | Sequence[int]) -> dict[str, Value]:
        """The value of each knob at a point."""
        return {
            name: knob.options[int(n)]
            for (name, knob), n in zip(self.knobs.items(), point, strict=True)
        }

    def plain_values(self, point: Points | Sequence[int]) -> dict[str, Any]:
        """The same as JSON holds them: tuples are lists."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.values(point).items()
        }

    def point(self, values: Mapping[str, Any]) -> Points:
        """The point with these values; `values(point(v)) == v`.

        Raises
        ------
        OptionError
            If a knob is missing, unknown, or does not have the value.
        """
        if set(values) != set(self.knobs):
            odd = ", ".join(sorted(set(values) ^ set(self.knobs)))
            raise OptionError(f"these values are not of this space: it differs in {odd}")
        return np.array([k.place(values[n]) for n, k in self.knobs.items()], dtype=np.int32)

    # ------------------------------------------------------------- schedules

    def random_schedule(self, rng: np.random.Generator, tries: int = 100) -> Schedule:
        """The schedule of a random point, of those where no step is refused.

        Raises
        ------
        ScheduleError
            If each of so many points is refused.
        """
        for left in reversed(range(tries)):
            try:
                return self.schedule(self.sample(1, rng)[0])
            except ScheduleError:
                if not left:
                    raise
        raise ScheduleError("no point was tried")

    def schedule(self, point: Points | Sequence[int] | Mapping[str, Any]) -> Schedule:
        """The schedule of a point, an ordinary one with its trace.

        Raises
        ------
        ScheduleError
            If a step of the template is refused at this point.
        """
        row = self.point(point) if isinstance(point, Mapping) else point
        schedule = self.begin()
        self.template(schedule, Chosen(self.knobs, [int(n) for n in row]))
        return schedule

    def features(self, points: Points) -> Features:
        """The features of many points, one row each, without scheduling each of them.

        Points that agree in all structural knobs are looked at together; see `Outline`. A template
        with steps that outlines do not know is scheduled point by point, which is much slower.
        """
        if self.outlined:
            try:
                return self._outlined(points)
            except NotOutlinedError as reason:
                self.not_outlined = str(reason)
        rows = np.zeros((len(points), len(feature_names())), np.float32)
        for n, point in enumerate(points):
            with suppress(ScheduleError):
                rows[n] = extract_features(self.schedule(point).program, self.target.num_threads)
        return rows

    @property
    def outlined(self) -> bool:
        """Whether features are made for many points at once; `not_outlined` says why not."""
        return not self.not_outlined

    def _outlined(self, points: Points) -> Features:
        _, group = np.unique(points[:, self.structural], axis=0, return_inverse=True)
        parts: list[Part] = []
        owners: list[NDArray[np.int64]] = []
        order: list[NDArray[np.int64]] = []
        buffers = np.zeros((len(points), 4))
        for number in range(int(group.max(initial=-1)) + 1):
            members = np.flatnonzero(group.ravel() == number)
            nests, own = self._outline(points[members]).parts()
            parts += nests
            owners += [members] * len(nests)
            order += [np.full(len(members), n) for n in range(len(nests))]
            buffers[members] = own
        if not parts:
            return np.zeros((len(points), len(feature_names())), np.float32)
        batch = NestBatch(joined(parts), np.concatenate(owners), np.concatenate(order), buffers)
        return feature_rows(batch, self.target.num_threads)

    def _outline(self, points: Points) -> Outline:
        if self._prefix is None:
            self._prefix = Prefix(self.begin())
        outline = Outline(self._prefix, len(points))
        columns = Columns(self.knobs, points)
        try:
            self.template(outline, columns)
        except ValueError as error:
            if "truth value" not in str(error):
                raise
            raise NotOutlinedError(
                "the template decides by a number which steps to take"
            ) from error
        if columns.ignored:
            kind = points[0, self.structural].tobytes()
            self._ignored[kind] = np.array([name in columns.ignored for name in self.knobs])
        return outline

    # ----------------------------------------------------------------- tables

    def rows(self) -> list[tuple[str, str, int, str]]:
        """The knobs as a table: name, kind, number of options, examples."""
        return table_rows(self.knobs)

    def __str__(self) -> str:
        return f"{table_text(self.knobs)}\n{self.size:,} points"
