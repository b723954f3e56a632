"""Kernels take schedules from a tuning log where it knows their programs, and values stay."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tvmlab.graph.kernels as kernels
from tvmlab.graph import BuildOptions, Graph, GraphBuilder, TensorType
from tvmlab.graph.compiler import BuildReport, Built, build_with_report
from tvmlab.graph.groups import body_of
from tvmlab.graph.kernels import FindSchedule, compile_kernel, unscheduled
from tvmlab.ir import Program, parse, structural_hash, to_text
from tvmlab.runtime import create
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, ScheduleError
from tvmlab.target import Target
from tvmlab.tune import Trial, TuningLog, lookup
from tvmlab.tune.log.trial import target_key, workload_of

SHAPE = (40, 48)
X, Y = np.random.default_rng(0).standard_normal((2, *SHAPE)).astype("f4")
FRESH = BuildOptions(cache=False)


def network() -> Graph:
    """A chain that is fused to one kernel, and a sum over rows."""
    g = GraphBuilder("net")
    x, y = (g.input(n, TensorType.of("float32", SHAPE)) for n in "xy")
    chain = g.add("relu", g.add("multiply", g.add("add", x, y), y))
    g.output(chain)
    g.output(g.add("sum", chain, axes=(1,), keepdims=0))
    return g.graph()


def built(find: FindSchedule | None) -> tuple[Built, BuildReport]:
    return build_with_report(network(), options=FRESH, schedules=find)


def values(made: Built) -> list[np.ndarray]:
    module = create(made.graph, made.lib)
    module.run(x=X, y=Y)
    return [module.get_output(n) for n in range(2)]


def scheduled(program: Program) -> Schedule:
    """A schedule that no default is: tiles of 5 rows of the last block, for threads."""
    sch = Schedule(program)
    first = sch.blocks()[-1]
    loops = sch.loops(first)
    outer, _ = sch.split(loops[0], [None, 5])
    sch.parallel(outer)
    return sch


def log_of(path: Path, programs: list[Program]) -> Path:
    """A log in which one schedule of each program was measured."""
    with TuningLog(path) as log:
        for program in programs:
            sch = scheduled(program)
            work = workload_of(program)
            log.add_workload(work)
            log.add(Trial(work.key, target_key(Target.host()), trace=sch.trace.to_json(),
                          program_hash=structural_hash(sch.program), seconds=1e-6))  # fmt: skip
    return path


def test_logged_schedules_are_taken_where_programs_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, report = built(None)
    assert report.found == frozenset()
    group = max(report.groups, key=lambda g: len(g.nodes))
    assert len(group.nodes) > 1
    program = unscheduled(body_of(group.text), group.kernel)
    path = log_of(tmp_path / "log.sqlite", [program])

    lowered: list[Program] = []
    real = kernels.lower

    def recorded(program: Program, target: Target) -> object:
        lowered.append(program)
        return real(program, target)

    monkeypatch.setattr(kernels, "lower", recorded)
    tuned, told = built(lookup(path))
    assert told.found == {group.kernel}
    wanted = structural_hash(scheduled(program).program)
    assert [p.name for p in lowered if structural_hash(p) == wanted] == [group.kernel]
    assert tuned.lib.objects[group.kernel] != plain.lib.objects[group.kernel]
    for got, expected in zip(values(tuned), values(plain), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_a_log_of_other_programs_changes_nothing(tmp_path: Path) -> None:
    plain, _ = built(None)
    tuned, told = built(lookup(tmp_path / "none"))
    assert told.found == frozenset()
    assert tuned.lib.objects == plain.lib.objects


def test_the_cache_tells_schedules_apart(tmp_path: Path) -> None:
    plain, report = built(None)
    symbols = {g.kernel for g in report.groups}
    cached = kernels.ObjectCache(tmp_path)
    for group in report.groups:
        request = kernels.KernelRequest(group.kernel, group.text)
        compile_kernel(request, Target.host(), cached)
        (tuned,) = kernels.with_found([request], Target.host(), lambda p, _: scheduled(p))
        assert kernels.cached_kernel(request, Target.host(), cached) is not None
        assert kernels.cached_kernel(tuned, Target.host(), cached) is None
    assert symbols == set(plain.lib.objects)


def test_several_processes_take_them_too(tmp_path: Path) -> None:
    _, report = built(None)
    requests = [kernels.KernelRequest(g.kernel, g.text) for g in report.groups]
    requests = kernels.with_found(requests, Target.host(), lambda p, _: scheduled(p))
    here = {r.symbol: compile_kernel(r, Target.host(), None).data for r in requests}
    there = kernels.compile_in_processes(
        [(r.symbol, r.text, r.trace, r.over) for r in requests], Target.host(), None
    )
    assert {symbol: data for symbol, data, *_ in there} == here


def test_steps_that_do_not_fit_are_refused() -> None:
    other = GraphBuilder("other")
    other.output(other.add("relu", other.input("x", TensorType.of("float32", (8,)))))
    strange = Schedule(unscheduled(other.graph(), "k"))
    strange.split(strange.loops(strange.blocks()[0])[0], [None, 4])
    with pytest.raises(ScheduleError):
        built(lambda _program, _target: strange)


def test_a_twin_with_other_names_takes_the_same_schedule(tmp_path: Path) -> None:
    """What was tuned as an operator by itself serves the layers of a network that compute it."""
    _, report = built(None)
    group = max(report.groups, key=lambda g: len(g.nodes))
    program = unscheduled(body_of(group.text), group.kernel)
    names = ["left", "right", "below", "tied", "made", "total"]
    text = to_text(program)
    for number, block in enumerate(Schedule(program).blocks()):
        text = re.sub(rf"\b{block.name}\b", names[number], text)
    for number, buffer in enumerate(program.buffers):
        text = re.sub(rf"\b{buffer.name}\b", f"{names[number]}_there", text)
    twin = parse(text)
    assert structural_hash(twin) == structural_hash(program)
    path = log_of(tmp_path / "log.sqlite", [twin])
    tuned, told = built(lookup(path))
    assert told.found == {group.kernel}
    for got, expected in zip(values(tuned), values(built(None)[0]), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_a_log_without_the_program_serves_no_twins(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "log.sqlite") as log, pytest.raises(OptionError, match="no workload"):
        log.program("0" * 64)
