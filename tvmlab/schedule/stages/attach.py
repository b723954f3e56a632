"""Where stages and groups of stages are computed: at the root, inside another stage, or inlined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tvmlab.support import ScheduleError, Span, user_span
from tvmlab.te import Axis

from .axes import AttachType


class Owner(Protocol):
    """What a stage needs of the schedule that it belongs to."""

    def note(self, primitive: str) -> None:
        """Remember the name of a step for the schedule's record."""
        ...


class Placed:
    """Something that is computed somewhere: a stage, or a group of them."""

    def __init__(self, schedule: Owner, name: str) -> None:
        self.schedule = schedule
        self.name = name
        self.group: Group | None = None
        self.attach_type = AttachType.ROOT
        self.attach_stage: Placed | None = None
        self.attach_ivar: Axis | None = None
        self.attach_span: Span | None = None

    @property
    def all_iter_vars(self) -> list[Axis]:
        """Every axis that there is or was."""
        return []

    @property
    def home(self) -> Placed:
        """The stage or group whose attachment decides: the group's, for a stage at its root."""
        if self.attach_type is AttachType.ROOT and self.group is not None:
            return self.group.home
        return self

    def groups_around(self) -> list[Group]:
        """The groups that it is in, the innermost first."""
        return [] if self.group is None else [self.group, *self.group.groups_around()]

    def compute_at(self, parent: Placed, scope: Axis) -> Placed:
        """Compute inside a loop of a consumer, only the part that each iteration needs.

        Before, with two stages::

            for i in range(64): B[i] = ...
            for i in range(64): C[i] = B[i] + B[i + 1]

        After `s[B].compute_at(s[C], C.op.axis[0])`, once lowered::

            for i in range(64):
                for i_1 in range(2): B[i + i_1] = ...
                C[i] = B[i] + B[i + 1]

        Raises
        ------
        ScheduleError
            If the other stage belongs to another schedule, is the stage itself or is computed
            inside it, or has no such axis.
        """
        what = f"cannot compute {self.name} at {scope.name} of {parent.name}"
        if parent.schedule is not self.schedule:
            raise ScheduleError(
                f"{what}: {parent.name} is a stage of another schedule",
                hint="take both stages from one schedule: s[B].compute_at(s[C], axis)",
                span=user_span(),
            )
        if parent is self:
            raise ScheduleError(
                f"{what}: a stage cannot be computed inside itself",
                hint="attach it to a stage that reads it",
                span=user_span(),
            )
        self._refuse_cycle(parent, what)
        if self.group is not None and self.group not in parent.groups_around():
            raise ScheduleError(
                f"{what}: {self.name} belongs to the {self.group.name}, and {parent.name} is "
                f"outside it",
                hint="attach the group itself, or a stage of it to another one of it",
                span=user_span(),
            )
        if scope not in parent.all_iter_vars:
            names = ", ".join(axis.name for axis in parent.all_iter_vars)
            raise ScheduleError(
                f"{what}: {scope.name} is no axis of {parent.name}",
                hint=f"its axes are {names}" if names else None,
                span=user_span(),
            )
        self.attach_type, self.attach_stage, self.attach_ivar = AttachType.SCOPE, parent, scope
        self.attach_span = user_span()
        self.schedule.note("compute_at")
        return self

    def compute_root(self) -> Placed:
        """Compute the whole before its consumers, at the root; takes back compute_at and inline."""
        self.attach_type, self.attach_stage, self.attach_ivar = AttachType.ROOT, None, None
        self.schedule.note("compute_root")
        return self

    def _refuse_cycle(self, parent: Placed, what: str) -> None:
        """A stage goes where the groups around it go, so these are on the way out too."""
        chain = [parent]
        current = parent
        while True:
            if current.attach_type is AttachType.ROOT and current.group is not None:
                current = current.group
            elif current.attach_type is AttachType.SCOPE and current.attach_stage is not None:
                current = current.attach_stage
            else:
                return
            chain.append(current)
            if current is self:
                path = " inside ".join(p.name for p in chain)
                raise ScheduleError(
                    f"{what}: {path} already, so each would wait for the other",
                    hint=_way_out(chain[-2], self),
                    span=user_span(),
                )


def _way_out(inner: Placed, outer: Placed) -> str:
    if isinstance(outer, Group) and inner.group is outer:
        return "attach the group to a stage outside of it that reads what it computes"
    return f"call s[{inner.name}].compute_root() first"


class Group(Placed):
    """Stages that are attached together; a stage of it at its root goes where the group goes.

    `members` are stages, and groups inside this one.
    """

    def __init__(self, schedule: Owner, members: Sequence[Placed]) -> None:
        names = ", ".join(m.name for m in members)
        super().__init__(schedule, f"group of {names}" if names else "empty group")
        self.members: list[Placed] = []
        around = [m.groups_around() for m in members]
        shared = [g for g in (around[0] if around else []) if all(g in a for a in around)]
        self.group = shared[0] if shared else None
        for member in members:
            child = member
            while child.group is not self.group:
                assert child.group is not None
                child = child.group
            if child not in self.members:
                self.members.append(child)
        for child in self.members:
            if self.group is not None:
                self.group.members.remove(child)
            child.group = self
        if self.group is not None:
            self.group.members.append(self)

    @property
    def num_child_stages(self) -> int:
        """How many stages and groups are directly in it."""
        return len(self.members)
