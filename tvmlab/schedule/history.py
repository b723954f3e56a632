"""Every state that a schedule has been in, as a tree: undo, redo, branches, checkpoints.

Programs are immutable, so old states cost nothing and are still there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tvmlab.ir import Program
from tvmlab.support import UserError, is_among, require_text, shown

from .trace import Step, Trace


@dataclass(slots=True)
class HistoryNode:
    """A state: the program, the step that led to it, and a name if it is a checkpoint."""

    id: int
    parent: int | None
    step: Step | None
    program: Program
    label: str | None = None
    children: list[int] = field(default_factory=list[int])


class History:
    """A tree of states with a current one.

    `nodes` maps ids to states; id 0 is the unscheduled program. After undo, `redo` follows the
    child that was left last; a new step starts a new branch and forgets nothing.
    """

    def __init__(self, program: Program) -> None:
        self.nodes: dict[int, HistoryNode] = {0: HistoryNode(0, None, None, program)}
        self.current = 0
        self._forward: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def node(self) -> HistoryNode:
        """The current state."""
        return self.nodes[self.current]

    def add(self, step: Step, program: Program) -> HistoryNode:
        """Add a state after the current one and make it current."""
        parent = self.node
        node = HistoryNode(len(self.nodes), parent.id, step, program)
        self.nodes[node.id] = node
        parent.children.append(node.id)
        self._forward[parent.id] = node.id
        self.current = node.id
        return node

    def undo(self) -> HistoryNode:
        """Go to the parent state.

        Raises
        ------
        UserError
            At the unscheduled program.
        """
        parent = self.node.parent
        if parent is None:
            raise UserError("there is nothing to undo: this is the unscheduled program")
        self._forward[parent] = self.current
        self.current = parent
        return self.node

    def redo(self) -> HistoryNode:
        """Go back to the state that was left last.

        Raises
        ------
        UserError
            If there is no later state.
        """
        following = self._forward.get(self.current)
        if following is None:
            raise UserError("there is nothing to redo: no step was undone here")
        self.current = following
        return self.node

    def goto(self, id: int) -> HistoryNode:
        """Make any state current; redo then leads along the way it was reached."""
        if not is_among(id, self.nodes):
            raise UserError(
                f"there is no state {shown(id)} in the history; "
                f"states are 0 to {len(self.nodes) - 1}"
            )
        for below, above in zip(self.path(id), self.path(id)[1:], strict=False):
            self._forward[below.id] = above.id
        self.current = id
        return self.node

    def checkpoint(self, name: str) -> HistoryNode:
        """Give the current state a name; a name can be given again, and moves then."""
        if not require_text(name, "a checkpoint's name").strip():
            raise UserError("a checkpoint needs a name that is not empty")
        for node in self.nodes.values():
            if node.label == name:
                node.label = None
        self.node.label = name
        return self.node

    def find(self, name: str) -> HistoryNode:
        """The state with a checkpoint name."""
        for node in self.nodes.values():
            if node.label == name:
                return node
        known = [n.label for n in self.nodes.values() if n.label]
        raise UserError(
            f"there is no checkpoint named {name!r}",
            hint=f"checkpoints are: {', '.join(known)}" if known else "none has been set yet",
        )

    @property
    def can_undo(self) -> bool:
        return self.node.parent is not None

    @property
    def can_redo(self) -> bool:
        return self.current in self._forward

    def path(self, id: int | None = None) -> list[HistoryNode]:
        """The states from the unscheduled program to a state (the current one by default)."""
        found: list[HistoryNode] = []
        at: int | None = self.current if id is None else id
        while at is not None:
            found.append(self.nodes[at])
            at = self.nodes[at].parent
        return found[::-1]

    def trace(self, id: int | None = None) -> Trace:
        """The steps that lead to a state."""
        return Trace(tuple(n.step for n in self.path(id) if n.step is not None))
