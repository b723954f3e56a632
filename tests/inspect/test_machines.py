"""The same schedule on other machines."""

from __future__ import annotations

import pytest
from helpers.schedules import matmul_schedule

from tvmlab.inspect import OTHERS, MachinesReport, machines_report
from tvmlab.schedule import Schedule
from tvmlab.support import UserError
from tvmlab.target import Target

HERE = Target.of("llvm -mcpu=icelake-server -num-threads=2")


def tiled() -> Schedule:
    schedule = matmul_schedule(48, 32, 16)
    i, j, k = schedule.loops("C")
    outer, inner = schedule.split(i, [None, 6])
    schedule.reorder(outer, k, inner, j)
    schedule.vectorize(j)
    schedule.unroll(inner)
    schedule.parallel(outer)
    return schedule


def told(report: MachinesReport) -> dict[str, tuple[str, str]]:
    return {fact.label: (fact.here, fact.there) for fact in report.facts}


def test_what_the_machines_are_and_what_the_code_becomes() -> None:
    report = machines_report(tiled().history, HERE, "AVX2 desktop", "12 µs")
    facts = told(report)
    assert facts["vectors"] == ("AVX-512", "AVX2")
    assert facts["float32 lanes"] == ("16", "8")
    assert facts["measured"] == ("12 µs", "not run")
    here, there = (int(n.replace(",", "")) for n in facts["instructions"])
    assert here < there  # twice as many vectors do not fit into half as many registers
    assert "cycles, bound by" in facts["inner loop"][1]


def test_steps_that_do_nothing_there_say_why() -> None:
    report = machines_report(tiled().history, HERE, "RISC-V board")
    notes = {step.label: step.note for step in report.steps}
    assert notes["vectorize j"].startswith("there are no vectors")
    assert notes["parallel i_outer"] == "there is one thread: nothing is shared out"
    assert any(text.startswith("vectorize j:") for text in report.flips)


def test_few_rounds_for_many_threads() -> None:
    report = machines_report(tiled().history, HERE, "AVX-512 server")
    assert [s.note for s in report.steps] == ["8 rounds keep 8 of 32 threads busy"]


def test_every_machine_can_be_compared_with_and_no_other() -> None:
    history = matmul_schedule(8, 8, 8).history
    for name in OTHERS:
        assert machines_report(history, HERE, name).other == name
    with pytest.raises(UserError, match="there is no machine 'abacus'"):
        machines_report(history, HERE, "abacus")
