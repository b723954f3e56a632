"""`GraphSession`: a compiled model that is looked at, measured, and given other schedules.

>>> session = GraphSession(Model.of("model.onnx"))                 # doctest: +SKIP
>>> session.profile(); session.wait()
>>> schedule = session.open("3").schedule                          # the loops of a kernel
>>> session.pin("3"); session.wait()                               # the model now runs with them
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from tvmlab.graph.kernels import KernelRequest, compile_kernel, schedule_of, unscheduled
from tvmlab.graph.text import to_text
from tvmlab.inspect import plain
from tvmlab.inspect.graph_passes import join_diff, pass_diff, pass_rows
from tvmlab.inspect.graph_view import GraphRow, bodies_of, graph_rows
from tvmlab.ir import Program
from tvmlab.runtime import ObjectCache, create
from tvmlab.schedule import Schedule
from tvmlab.support import TvmlabError, UserError, fields_of
from tvmlab.target import Target, TargetLike

from .desk import Desk
from .graph_model import Model, difference, noise, patched
from .listeners import Listener, Listeners, Message
from .registry import open_session
from .session import Session
from .telling import told

VERSION = 1
REPEATS = 20

_numbers = itertools.count(1)


class GraphSession:
    """One compiled model with its profile and pinned schedules, shared by any number of views.

    Parameters
    ----------
    model
        What is looked at.
    target
        The machine that kernels are compiled for.
    """

    def __init__(self, model: Model, *, target: TargetLike = "cpu") -> None:
        self.id = f"g{next(_numbers)}"
        self.model = model
        self.target = Target.of(target)
        self.lock = threading.RLock()
        self.desk = Desk("tvmlab-graph")
        self.pins = model.pins
        self.module = model.module()
        self._bodies = bodies_of(model.plan)
        self._programs: dict[str, Program] = {}
        self._opened: dict[str, Session] = {}
        self._times: list[Any] = []
        self._before: dict[str, float] = {}
        self._total: float | None = None
        self._job: str | None = None
        self._note = model.note
        self._listeners = Listeners(f"graph {self.id}", self.lock)
        self._passes = plain(pass_rows(model.passes, self.rows()))
        self._state: Message = {"revision": 0, **self._write()}

    # ----------------------------------------------------------------- views

    @property
    def state(self) -> Message:
        """What the views show, as plain data. Never changed in place."""
        return self._state

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a view with each new state; returns a function that ends this."""
        return self._listeners.add(listener)

    def rows(self) -> tuple[GraphRow, ...]:
        """The kernels as the view shows them."""
        marks = dict.fromkeys(self.model.tuned, "tuned")
        marks |= {k: "pinned" for k in self._bodies if self._pinned(k) is not None}
        threads = self.target.num_threads
        return graph_rows(self.model.plan, self._bodies, times=self._times, before=self._before,
                          schedules=marks, peaks=self.target.peaks, threads=threads)  # fmt: skip

    def refresh(self) -> None:
        """Write the state anew and send it."""
        with self.lock:
            self._state = {"revision": self._state["revision"] + 1, **self._write()}
            self._listeners.tell(self._state)

    # --------------------------------------------------------------- working

    def profile(self) -> None:
        """Measure each kernel on noise, in the background; the times come to the state."""
        self._later("measuring", self._profile)

    def open(self, row: str) -> Session:
        """The session of a kernel's schedule: what is done in it can be pinned for the model."""
        kernel = self._kernel(row)
        with self.lock:
            if kernel not in self._opened:
                schedule = self._schedule(kernel)
                name = self.model.plan.steps[int(row)].name
                self._opened[kernel] = open_session(schedule, target=self.target, name=name)
            return self._opened[kernel]

    def pin(self, row: str) -> None:
        """Build the kernel again with the schedule of its session, in the background."""
        kernel = self._kernel(row)
        session = self._opened.get(kernel)
        if session is None:
            raise UserError("this kernel's schedule was not opened, so there is none to pin")
        trace = session.schedule.trace.to_json()
        label = session.name
        self._later(f"building {label}", lambda: self._exchange(kernel, trace, label))

    def unpin(self, row: str) -> None:
        """Give a kernel its default schedule back."""
        kernel = self._kernel(row)
        self._later("building the default", lambda: self._exchange(kernel, "", ""))

    def compare_pass(self, name: str) -> list[Any]:
        """The lines before and after a pass."""
        for record in self.model.passes:
            if record.name == name:
                return plain(pass_diff(record))
        return plain(join_diff(self.rows()))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for work in the background; False if it takes longer than the timeout."""
        return self.desk.wait(timeout)

    def close(self) -> None:
        """End the session; the module stays as it is."""
        self.desk.close()
        self._listeners.clear()

    # ---------------------------------------------------------------- inside

    def _later(self, what: str, work: Callable[[], None]) -> None:
        def task(cancelled: threading.Event) -> None:
            if cancelled.is_set():
                return
            self._show(what)
            try:
                work()
            except TvmlabError as error:
                self._note = told(error)
            finally:
                self._show(None)

        self.desk.put(task)

    def _show(self, job: str | None) -> None:
        with self.lock:
            self._job = job
            self.refresh()

    def _profile(self) -> None:
        self.module.run(**noise(self.model.plan))
        times = self.module.profile(repeats=REPEATS)
        total = self.module.time(repeats=10).min
        with self.lock:
            self._times, self._total = times, total

    def _exchange(self, kernel: str, trace: str, label: str) -> None:
        """Compile a kernel with other steps, and run the model with it if results stay equal."""
        body = self._bodies[kernel]
        over = (fields_of(self.model.plan.notes.get("over")) or {}).get(kernel)
        place = over if isinstance(over, int) else -1
        request = KernelRequest(kernel, to_text(body), trace, place)
        made = compile_kernel(request, self.target, ObjectCache())
        if place >= 0 and not made.in_place:
            raise UserError("the model keeps the result in the place of an input, which these "
                            "steps read after it is overwritten, so the schedule is not pinned",
                            hint="build the model with BuildOptions(in_place=False)")  # fmt: skip
        library = patched(self.model.library, kernel, made.data)
        module = create(self.model.plan, library)
        module.bind_params(self.model.params)
        error = difference(self.module, module, noise(self.model.plan))
        if error > 1e-3:
            raise UserError(f"the model's results would differ by {error:.2g} of their largest "
                            "element, so the schedule is not pinned")  # fmt: skip
        before = {t.step.kernel: t.seconds for t in self._times}
        with self.lock:
            self.model.library, self.module = library, module
            program = self._program(kernel)
            if trace:
                self.pins.put(program, trace, label)
            else:
                self.pins.drop(program)
            if kernel in before:
                self._before.setdefault(kernel, before[kernel])
            self._note = f"{label or 'the default schedule'}: results differ by {error:.1g}"
        self._profile()

    def _kernel(self, row: str) -> str:
        steps = self.model.plan.steps
        if not row.isdigit() or int(row) >= len(steps):
            raise UserError(f"there is no row {row!r} in the graph")
        step = steps[int(row)]
        if step.body:
            raise UserError(f"{step.name} is a loop over {len(step.body)} steps, so it has no "
                            "schedule of its own")  # fmt: skip
        kernel = step.kernel
        if kernel not in self._bodies:
            raise UserError(f"what {step.name} computes was not kept with the module",
                            hint="compile the model again with this version")  # fmt: skip
        return kernel

    def _program(self, kernel: str) -> Program:
        if kernel not in self._programs:
            self._programs[kernel] = unscheduled(self._bodies[kernel], kernel)
        return self._programs[kernel]

    def _pinned(self, kernel: str) -> str | None:
        return self.pins.trace_of(self._program(kernel)) if len(self.pins) else None

    def _schedule(self, kernel: str) -> Schedule:
        trace = self._pinned(kernel)
        if trace is not None:
            return Schedule.replay(self._program(kernel), trace)
        return schedule_of(self._bodies[kernel], kernel, self.target)

    def _write(self) -> Message:
        plan, rows = self.model.plan, self.rows()
        return {
            "version": VERSION,
            "graph": {
                "id": self.id,
                "name": plan.name,
                "target": f"{plan.target.get('cpu', '')}, {self.target.num_threads} threads",
                "inputs": [str(s) for s in plan.inputs],
                "outputs": [str(s) for s in plan.outputs],
                "parameter_bytes": sum(s.nbytes for s in plan.params),
                "workspace": plan.workspace,
                "nodes": sum(len(r.nodes) for r in rows),
                "seconds": self._total,
            },
            "rows": plain(rows),
            "passes": self._passes,
            "pins": len(self.pins),
            "job": self._job,
            "note": self._note,
        }

    def __repr__(self) -> str:
        return f"<GraphSession {self.id} of {self.model.plan.name}, {len(self.pins)} pin(s)>"
