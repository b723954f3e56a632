"""The state that views show, put together from reports and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmlab.inspect import (
    HistoryReporter,
    Measured,
    SymbolIds,
    machine_report,
    nest_report,
    plain,
    workload_report,
)
from tvmlab.ir import Program, structural_hash
from tvmlab.schedule import HistoryNode, Schedule
from tvmlab.target import Target

from .ledger import Ledger

VERSION = 1
State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class JobReport:
    """Work in the background; the fields are those of the protocol's `Job`."""

    kind: str
    title: str
    done: int
    total: int
    message: str | None = None


class StateWriter:
    """Writes the state of one schedule as plain data, keeping what does not change."""

    def __init__(self, schedule: Schedule, target: Target, ids: SymbolIds) -> None:
        self.schedule = schedule
        self.target = target
        self.ids = ids
        self._history = HistoryReporter(schedule.history)
        self._hashes: dict[int, str] = {}
        first = schedule.history.nodes[0].program
        self._workload = plain(workload_report(first))
        self._machine = plain(machine_report(target))
        self._rows: tuple[Program, int, Any] | None = None
        self._python: tuple[int, str] | None = None

    def hash_of(self, node: HistoryNode) -> str:
        """What a state's program is, whatever its loops are called."""
        known = self._hashes.get(node.id)
        if known is None:
            known = self._hashes[node.id] = structural_hash(node.program)
        return known

    def measured_nodes(self, ledger: Ledger) -> dict[int, Measured]:
        """The states whose programs were measured."""
        found: dict[int, Measured] = {}
        for node in list(self.schedule.history.nodes.values()):
            measured = ledger.measured(self.hash_of(node))
            if measured is not None:
                found[node.id] = measured
        return found

    def write(self, session: dict[str, str], ledger: Ledger, job: JobReport | None) -> State:
        """The whole state but for its revision."""
        node = self.schedule.history.node
        current = self.hash_of(node)
        return {
            "version": VERSION,
            "session": session,
            "workload": self._workload,
            "target": self._machine,
            "rows": self._nest_rows(node),
            "history": plain(self._history.report(self.measured_nodes(ledger))),
            "python": self._code(node),
            "measurement": plain(ledger.report(current)),
            "plot": _plot(ledger, current, node.id),
            "job": None if job is None else plain(job),
        }

    def _nest_rows(self, node: HistoryNode) -> Any:
        """The rows, made anew only for another program, or the same reached by another way."""
        if self._rows is None or self._rows[0] is not node.program or self._rows[1] != node.id:
            report = nest_report(self.schedule, ids=self.ids, target=self.target)
            self._rows = (node.program, node.id, plain(report.rows))
        return self._rows[2]

    def _code(self, node: HistoryNode) -> str:
        if self._python is None or self._python[0] != node.id:
            self._python = (node.id, self.schedule.history.trace(node.id).to_python())
        return self._python[1]


def _plot(ledger: Ledger, current: str, node: int) -> Any:
    plot = plain(ledger.plot(current, node))
    for number, point in enumerate(plot["points"]):
        if ledger.points[number].trace is None and ledger.points[number].node is None:
            del point["id"]  # nothing to open behind it
    return plot
