"""`tvmlab tune MODEL.onnx`: schedules of a model's kernels, searched most where most time goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvmlab.graph.compiler import build_with_report
from tvmlab.graph.groups import Group, body_of
from tvmlab.graph.kernels import schedule_of, unscheduled
from tvmlab.inspect import table
from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, UserError
from tvmlab.target import Target
from tvmlab.tune import Space, TaskScheduler, Tuner, generic_space

from .models import show_progress
from .terminal import heading, indented, print_json
from .tuning_bar import follow

_LARGEST_ROUND = 16


@dataclass(frozen=True)
class KernelTask:
    """A kernel of a model that is tuned.

    Attributes
    ----------
    name
        The node that decides it; see `Group.name`.
    runs
        How often one run of the model calls it.
    start
        The hash of its program by the default schedule.
    """

    name: str
    runs: int
    tuner: Tuner
    start: str

    @property
    def default(self) -> float | None:
        """Seconds of the default schedule; None if it was not measured."""
        found = (t for t in self.tuner.trials if t.program_hash == self.start and t.ok)
        return next((t.seconds for t in found), None)

    @property
    def best(self) -> float | None:
        """Seconds of the best schedule so far."""
        return None if self.tuner.best is None else self.tuner.best.seconds


def tune_model(
    path: Path, sizes: Mapping[str, int], target: Target, arguments: Any, common: dict[str, Any]
) -> int:
    """Search, and tell each kernel's time before and after; the exit code is 1 if none has one."""
    _, report = build_with_report(path, target, sizes=sizes, progress=show_progress)
    tasks = kernel_tasks(report.groups, target, common)
    if not tasks:
        raise OptionError(
            f"{path} has no kernel to tune",
            hint="it computes nothing, or nothing that a space can be made of",
        )
    each = max(1, min(_LARGEST_ROUND, arguments.trials // len(tasks)))
    scheduler = TaskScheduler({s: (t.tuner, t.runs) for s, t in tasks.items()}, batch=each)
    follow(
        scheduler.run(arguments.trials), path.name, arguments.trials,
        lambda: sum(t.tuner.measured for t in tasks.values()),
        lambda: _total(scheduler.seconds()),
        seconds=arguments.seconds, hidden=arguments.json,
    )  # fmt: skip
    return _tell(path, list(tasks.values()), as_json=arguments.json)


def kernel_tasks(
    groups: tuple[Group, ...], target: Target, common: dict[str, Any]
) -> dict[str, KernelTask]:
    """A tuner for each kernel that a space can be made of; the default schedule is its first."""
    runs = Counter(group.kernel for group in groups)
    found: dict[str, tuple[str, Space, Schedule]] = {}
    for group in groups:
        if group.kernel in found:
            continue
        body = body_of(group.text)
        with suppress(UserError):  # nothing to schedule, or nothing that the generic space takes
            space = generic_space(unscheduled(body, group.kernel), target)
            start = schedule_of(body, group.kernel, target)
            found[group.kernel] = group.name, space, start
    return {
        kernel: KernelTask(
            name,
            runs[kernel],
            Tuner(space, starts=(start,), **common),
            structural_hash(start.program),
        )
        for kernel, (name, space, start) in found.items()
    }


def _total(seconds: float | None) -> str:
    return "not all measured yet" if seconds is None else f"{seconds * 1e6:.1f} us"


def _tell(path: Path, tasks: list[KernelTask], *, as_json: bool) -> int:
    tasks.sort(key=lambda t: -(t.best or 0.0) * t.runs)
    rows = [
        {"name": t.name, "kernel": t.tuner.workload.name, "runs": t.runs,
         "trials": t.tuner.measured, "default_seconds": t.default, "best_seconds": t.best}
        for t in tasks
    ]  # fmt: skip
    if as_json:
        print_json(rows)
    else:
        print(heading(f"kernels of {path.name}"))
        head = ("kernel", "runs", "trials", "default us", "best us")
        lines = [(t.name, str(t.runs), str(t.tuner.measured), _micro(t.default), _micro(t.best))
                 for t in tasks]  # fmt: skip
        print(indented(table([head, *lines])))
        print("tvmlab compile --tuned takes these schedules")
    return 0 if any(t.best is not None for t in tasks) else 1


def _micro(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.1f}"
