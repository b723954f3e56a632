"""Studies of the current state that take seconds: a proof, a profile, a pool of processors.

Each runs at the desk when it is asked for; what came of it is kept with the state, and a view asks
for it again whenever work in the background begins or ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

from tvmlab.bench.probing import Counted, Missing, ProbeResult
from tvmlab.inspect import linked_machine, plain
from tvmlab.inspect.emulated import emulated_values
from tvmlab.inspect.pool import pool_machines, pool_report, pool_states
from tvmlab.inspect.profile import profile_report
from tvmlab.ir import Program, to_text
from tvmlab.schedule import HistoryNode
from tvmlab.support import TvmlabError
from tvmlab.tune import MeasureRequest, MeasureResult, MeasureSettings
from tvmlab.tune.measure.request import target_to_json

from .apart import CancelledError, run_apart
from .measuring import Measuring, Owner
from .state import JobReport
from .telling import told

Study = Literal["proof", "profile", "pool"]
STUDIES: tuple[Study, ...] = get_args(Study)
Found = dict[str, Any]

_TITLES = {
    "proof": "running the schedule in the interpreter",
    "profile": "watching the kernel run",
    "pool": "measuring on several processors",
}
_SECONDS = 90.0
_QUICK = MeasureSettings(repeats=7, budget_seconds=0.25)


class Studies:
    """The studies of one session's states."""

    def __init__(self, owner: Owner, measuring: Measuring) -> None:
        self._owner = owner
        self._measuring = measuring
        self._found: dict[Study, WeakKeyDictionary[Program, Found]] = {
            name: WeakKeyDictionary() for name in STUDIES
        }
        self._times: dict[tuple[str, str], MeasureResult] = {}

    def start(self, what: Study) -> None:
        """Queue a study of the current state."""
        owner = self._owner
        work: Callable[[HistoryNode, threading.Event], Found] = {
            "proof": self._proof,
            "profile": self._profile,
            "pool": self._pool,
        }[what]
        with owner.lock:
            node = owner.schedule.history.node
            owner.desk.put(lambda cancelled: self._carry_out(what, node, work, cancelled))
            owner.show_job(JobReport("study", _TITLES[what], 0, 1, "waiting"))

    def found(self, what: Study) -> Found | None:
        """What is known of the current state."""
        return self._found[what].get(self._owner.schedule.program)

    @property
    def shares(self) -> dict[str, list[float]] | None:
        """Measured shares of the lines of the current state: own and inclusive."""
        known = self.found("profile")
        if known is None or not known.get("lines"):
            return None
        return {line["row"]: [line["own"], line["inclusive"]] for line in known["lines"]}

    def _carry_out(
        self,
        what: Study,
        node: HistoryNode,
        work: Callable[[HistoryNode, threading.Event], Found],
        cancelled: threading.Event,
    ) -> None:
        owner = self._owner
        with owner.lock:
            owner.show_job(JobReport("study", _TITLES[what], 0, 1))
        found: Found | None
        try:
            found = {"failure": "", **work(node, cancelled)}
        except CancelledError:
            found = None
        except TvmlabError as error:
            found = {"failure": told(error)}
        except Exception as error:  # say so in the view; the session goes on
            found = {"failure": f"{type(error).__name__}: {error}"}
        with owner.lock:
            if found is not None:
                self._found[what][node.program] = found
            owner.show_job(None)

    def _proof(self, node: HistoryNode, cancelled: threading.Event) -> Found:
        history = self._owner.schedule.history
        request = {
            "program": to_text(history.nodes[0].program),
            "trace": history.trace(node.id).to_json(),
            "target": target_to_json(self._owner.target),
        }
        return run_apart("tvmlab.inspect.proof_child", request, cancelled, _SECONDS)

    def _profile(self, node: HistoryNode, cancelled: threading.Event) -> Found:
        owner = self._owner
        code = linked_machine(node.program, owner.target, "asm", owner.writer.ids)
        request = {
            "program": to_text(node.program),
            "target": target_to_json(owner.target),
            "listing": code.text,
        }
        answer = run_apart("tvmlab.bench.probing.child", request, cancelled, _SECONDS)
        return plain(profile_report(code, _probe_result(answer)))

    def _pool(self, node: HistoryNode, cancelled: threading.Event) -> Found:
        owner = self._owner
        history, machines = owner.schedule.history, pool_machines(owner.target)
        states = pool_states(history)
        start = history.nodes[0].program
        total, done = len(machines) * len(states), 0
        results: dict[tuple[str, int], MeasureResult] = {}
        for name, target in machines.items():
            for state in states:
                if cancelled.is_set():
                    raise CancelledError("it was cancelled")
                with owner.lock:
                    owner.show_job(JobReport("study", _TITLES["pool"], done, total, name))
                key = (name, owner.writer.hash_of(state))
                if key not in self._times:
                    request = MeasureRequest.of(
                        state.program, target, reference=start, settings=_QUICK
                    )
                    self._times[key] = self._measuring.run(request, cancelled)
                results[name, state.id] = self._times[key]
                done += 1
        steps = [n.step for n in history.path(node.id) if n.step is not None]
        values = emulated_values(start, steps)
        return plain(pool_report(history, list(machines), results, values))


def _probe_result(answer: dict[str, Any]) -> ProbeResult:
    """The result that a child wrote as JSON."""
    lists: dict[str, Any] = {
        "counted": tuple(Counted(**c) for c in answer["counted"]),
        "missing": tuple(Missing(**m) for m in answer["missing"]),
        "samples": tuple((line, times) for line, times in answer["samples"]),
    }
    fields: dict[str, Any] = {**answer, **lists}
    return ProbeResult(**fields)
