"""The tree of states with what each step bought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvmlab.ir import BlockSymbol, Buffer, Var
from tvmlab.schedule import PRIMITIVES, History, HistoryNode, Step

from .measurement import Gain, Measured, gain_over


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One state; the fields are those of the protocol's `HistoryNode`."""

    id: str
    parent: str | None
    label: str
    code: str
    checkpoint: str | None
    seconds: float | None
    gain: Gain | None
    step_gain: Gain | None


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """The whole tree, parents before children."""

    nodes: tuple[HistoryRow, ...]
    current: str
    can_undo: bool
    can_redo: bool


class HistoryReporter:
    """Makes the reports of one history; what a step is called and written as is kept."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._code: dict[int, str] = {}

    def report(self, measured: Mapping[int, Measured]) -> HistoryReport:
        """The tree with its gains, from measurements by node id."""
        history = self.history
        nodes = list(history.nodes.values())
        for node in reversed(nodes):  # the ends of branches first, which tell the way to them
            self.code(node)
        rows = tuple(self._row(node, measured) for node in nodes)
        return HistoryReport(rows, str(history.current), history.can_undo, history.can_redo)

    def _row(self, node: HistoryNode, measured: Mapping[int, Measured]) -> HistoryRow:
        own = measured.get(node.id)
        return HistoryRow(
            id=str(node.id),
            parent=None if node.parent is None else str(node.parent),
            label=step_label(node.step),
            code=self.code(node),
            checkpoint=node.label,
            seconds=None if own is None else own.median,
            gain=self._gain(node, measured),
            step_gain=None if node.parent is None else gain_over(measured.get(node.parent), own),
        )

    def _gain(self, node: HistoryNode, measured: Mapping[int, Measured]) -> Gain | None:
        start, own = measured.get(0), measured.get(node.id)
        if node.parent is None and start is not None:
            return Gain(1.0, 1.0, 1.0, "gain")  # what all others are measured by
        return gain_over(start, own)

    def code(self, node: HistoryNode) -> str:
        """The Python of a node's step, with the query for loops that it may need."""
        if node.id not in self._code:
            self._write_way(node)
        return self._code[node.id]

    def _write_way(self, node: HistoryNode) -> None:
        """Write the steps to a state, for all states on the way: they begin alike."""
        start, *rest = self.history.path(node.id)
        self._code[start.id] = ""
        for state, lines in zip(rest, self.history.trace(node.id).lines_by_step(), strict=True):
            self._code[state.id] = "\n".join(lines)


def step_label(step: Step | None) -> str:
    """A step in two or three words, such as `split i`."""
    if step is None:
        return "start"
    title = PRIMITIVES[step.primitive].title
    names: list[str] = []
    for param in PRIMITIVES[step.primitive].params:
        value = step.args.get(param.name)
        told = isinstance(value, str) and param.kind in ("name", "scope", "choice")
        if told and param.name != "tail":
            names.append(str(value))
        else:
            names += _names(value)
    return " ".join(part for part in (title, ", ".join(names)) if part)


def _names(value: Any) -> list[str]:
    if isinstance(value, (Var, BlockSymbol, Buffer)):
        return [value.name]
    if isinstance(value, (tuple, list)):
        symbols: list[str] = []
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            symbols += _names(part)
        return symbols if len(symbols) <= 3 else [*symbols[:2], "…"]
    return []
