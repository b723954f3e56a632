"""Our cycles of inner loops beside those of llvm-mca, which simulates a processor's pipeline.

`loop_reports` bounds a loop by its ports and its longest chain; the simulator adds what it knows of
queues and decoders, so it finds a little more. Where a Debian package has it: `apt install llvm`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

from tvmlab import te, topi
from tvmlab.codegen import loop_reports
from tvmlab.driver import build
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.topi import matmul, schedule_matmul

MCA = shutil.which("llvm-mca")
CPU = "icelake-server"
TARGET = Target.of(f"llvm -mcpu={CPU}")
ROUNDS = 100


def product() -> Schedule:
    return schedule_matmul(matmul(512, 512, 512)[2], TARGET)


def exponential() -> Schedule:
    x = te.placeholder((4096,), name="X")
    return topi.schedule(te.compute((4096,), lambda i: te.exp(x[i]), name="Y"), TARGET)


def line() -> Schedule:
    x, z = te.placeholder((4096,), name="X"), te.placeholder((4096,), name="Z")
    y = te.compute((4096,), lambda i: x[i] * 2.0 + z[i], name="Y")
    return topi.schedule(y, TARGET)


def row_sums() -> Schedule:
    x, k = te.placeholder((64, 4096), name="X"), te.reduce_axis(4096, "k")
    y = te.compute((64,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    return topi.schedule(y, TARGET)


def simulated(loop: str) -> float:
    """Cycles of an iteration by llvm-mca."""
    assert MCA is not None
    code = "\n".join(text for text in loop.splitlines() if not text.startswith("\t."))
    command = [MCA, f"-mcpu={CPU}", f"-iterations={ROUNDS}"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=True)
    total = re.search(r"Total Cycles:\s*(\d+)", done.stdout)
    assert total is not None, done.stdout
    return int(total[1]) / ROUNDS


@pytest.mark.skipif(MCA is None, reason="llvm-mca is not installed (apt install llvm)")
@pytest.mark.parametrize("schedule", [product, exponential, line, row_sums])
def test_cycles_are_close_to_those_of_the_simulator(schedule: Callable[[], Schedule]) -> None:
    reports = loop_reports(build(schedule(), target=TARGET).source("asm"), CPU)
    report = max(reports, key=lambda r: r.flops)
    found = simulated(report.text)
    assert 0.75 * found <= report.cycles <= 1.02 * found, (report.bound_by, report.text)
