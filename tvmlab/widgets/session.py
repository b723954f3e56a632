"""`Session`: the sole owner of what the views of one schedule show.

Whatever changes goes to every view as a patch of the state. Commands of views are carried out in
`commands`; the same can be done in Python on the schedule and on the session.

>>> session = Session(schedule)
>>> stop = session.subscribe(print)
>>> schedule.undo()
{'type': 'patch', 'revision': 1, 'set': {'rows': ...}}
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Protocol

from tvmlab.driver import count_flops
from tvmlab.inspect import SymbolIds
from tvmlab.ir import Program
from tvmlab.schedule import Fix, Schedule
from tvmlab.support import UserError
from tvmlab.target import Target, TargetLike
from tvmlab.tune import Runner

from .auto import AutoMeasure
from .cell import cell_text
from .desk import Desk
from .exploring import Exploring
from .graft import graft
from .guesses import Guesses
from .ledger import Ledger
from .listeners import Listener, Listeners
from .measuring import Measuring
from .state import JobReport, State, StateWriter
from .studies import Studies
from .tutor import tutor_state

_numbers = itertools.count(1)


class Watched(Protocol):
    """A search that was begun here, as far as its session knows it."""

    @property
    def state(self) -> State: ...
    def close(self) -> None: ...


class Session:
    """One explored schedule with its measurements, shared by any number of views.

    Parameters
    ----------
    schedule
        What is explored. Steps taken on it in Python show in every view.
    target
        The machine that measurements and generated code are for.
    name
        What people call the session; by default the name of the program.
    runner
        Who measures; by default worker processes that all sessions share.
    """

    def __init__(
        self,
        schedule: Schedule,
        *,
        target: TargetLike = "cpu",
        name: str | None = None,
        runner: Runner | None = None,
    ) -> None:
        self.id = f"s{next(_numbers)}"
        self.schedule = schedule
        self.target = Target.of(target)
        self.name = name or schedule.program.name
        self.ids = SymbolIds()
        self.lock = threading.RLock()
        self.ledger = Ledger(count_flops(schedule.history.nodes[0].program))
        self.desk = Desk("tvmlab-session")
        self.guesses = Guesses(schedule.history.nodes[0].program, self.target)
        self.ledger.remark = self.guesses.words
        self.measuring = Measuring(self, runner, self.guesses)
        self.exploring = Exploring(self, self.measuring, self.guesses)
        self.writer = StateWriter(schedule, self.target, self.ids)
        self.studies = Studies(self, self.measuring)
        self.search: Watched | None = None
        self.fixes: dict[str, tuple[Program, Fix]] = {}
        self.notes: tuple[str, ...] = ()
        self.closed = False
        self.decimal_bytes = False
        self._auto_chosen = False
        self._job: JobReport | None = None
        self.auto = AutoMeasure(self.measuring.measure, self.measuring.cancel)
        self._listeners = Listeners(f"session {self.id}", self.lock)
        self._state: State = {"revision": 0, **self._write()}
        self._unsubscribe = schedule.on_change(self._stepped)

    # ----------------------------------------------------------------- views

    @property
    def state(self) -> State:
        """What the views show, as plain data. Never changed in place."""
        return self._state

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Send each change to a view as a patch message; returns a function that ends this."""
        return self._listeners.add(listener)

    def refresh(self) -> None:
        """Write the state anew and send what changed."""
        with self.lock:
            fresh, old = self._write(), self._state
            changed = {key: value for key, value in fresh.items() if old.get(key) != value}
            if not changed:
                return
            revision = int(old["revision"]) + 1
            self._state = {**old, **changed, "revision": revision}
            self._listeners.tell({"type": "patch", "revision": revision, "set": changed})

    def set_auto(self, on: bool) -> None:
        """Measure by itself after each step, or no longer."""
        with self.lock:
            self._auto_chosen = True
            self.auto.on = on
            self.refresh()

    def prefer(self, *, auto: bool, decimal_bytes: bool) -> None:
        """Do as the reader likes it; what was chosen with `set_auto` stays."""
        with self.lock:
            self.decimal_bytes = decimal_bytes
            if not self._auto_chosen:
                self.auto.on = auto
            self.refresh()

    def _stepped(self) -> None:
        self.refresh()
        self.auto.step()

    def show_job(self, job: JobReport | None) -> None:
        """Show work in the background, or that it has ended."""
        with self.lock:
            self._job = job
            self.refresh()

    # --------------------------------------------------------------- working

    def measure(self) -> None:
        """Time the current program in a worker process; the figures come to the state."""
        self.measuring.measure()

    def explore(self, count: int = 24, *, seed: int | None = None) -> None:
        """Measure random schedules of the workload and train the cost model with them."""
        self.exploring.explore(count, seed=seed)

    def cancel(self) -> None:
        """End measuring and exploring early; what was measured stays."""
        self.measuring.cancel()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for work in the background; False if it takes longer than the timeout."""
        return self.desk.wait(timeout)

    def load(self, point: str) -> None:
        """Open the schedule behind a point of the plot, as a new branch from the start.

        Raises
        ------
        UserError
            If there is no such point, or nothing behind it.
        """
        plotted = self.ledger.point(point)
        if plotted is None:
            raise UserError(f"there is no point {point!r} in the plot")
        if plotted.node is not None:
            self.schedule.goto(plotted.node)
        elif plotted.trace is not None:
            graft(self.schedule, plotted.trace)
        else:
            raise UserError("the steps of this schedule were not kept")

    def close(self) -> None:
        """End the session: views hear no more, and its thread ends. The schedule stays as it is."""
        self.auto.stop()
        if self.search is not None:
            self.search.close()
        self.cancel()
        self._unsubscribe()
        self.desk.close()
        with self.lock:
            self.closed = True
            self._listeners.clear()

    def fix_token(self, fix: Fix) -> str:
        """A name by which a view may ask for a fix of the current program."""
        program = self.schedule.program
        if self.fixes and next(iter(self.fixes.values()))[0] is not program:
            self.fixes.clear()  # fixes of other programs mean nothing any more
        token = f"{self.id}-fix{self.schedule.history.current}-{len(self.fixes)}"
        self.fixes[token] = (program, fix)
        return token

    def __repr__(self) -> str:
        return f"<Session {self.id} of {self.name}, {len(self.schedule.trace)} step(s)>"

    def _write(self) -> State:
        session = {"id": self.id, "name": self.name}
        node = self.schedule.history.node
        return {
            **self.writer.write(session, self.ledger, self._job),
            "auto": self.auto.on,
            "exercise": tutor_state(self.schedule),
            "shares": self.studies.shares,
            "guess": self.measuring.guessing.state,
            "search": None if self.search is None else self.search.state,
            "cell": cell_text(self.schedule, self.id, self.writer.hash_of(node)),
        }
