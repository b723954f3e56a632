"""Producers and consumers of a program as a graph."""

from __future__ import annotations

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.inspect import FlowReport, SymbolIds, flow_report
from tvmlab.schedule import Schedule
from tvmlab.target import Target


def flow(schedule: Schedule) -> FlowReport:
    return flow_report(schedule.program, SymbolIds(), Target.host())


def names(report: FlowReport) -> set[tuple[str, str]]:
    known = {node.id: f"{node.kind} {node.name}" for node in report.nodes}
    return {(known[e.source], known[e.sink]) for e in report.edges}


def test_a_product_reads_two_inputs_and_uses_each_element_again() -> None:
    a, b = te.placeholder((4, 8), name="A"), te.placeholder((8, 16), name="B")
    k = te.reduce_axis(8, "k")
    c = te.compute((4, 16), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    report = flow(tl.Schedule(c))
    assert names(report) == {
        ("input A", "block C"), ("input B", "block C"), ("block C", "output C"),
    }  # fmt: skip
    read = {e.source: e for e in report.edges}
    first = next(n.id for n in report.nodes if n.name == "A")
    assert (read[first].touches, read[first].elements) == (4 * 8 * 16, 4 * 8)
    assert [n.name for n in report.nodes if n.id in report.updates] == ["C"]


def test_every_edge_goes_down_a_layer_or_more() -> None:
    x = te.placeholder((8, 32), name="x")
    schedule = tl.Schedule(topi.softmax(x))
    report = flow(schedule)
    layer = {node.id: node.layer for node in report.nodes}
    assert all(layer[e.source] < layer[e.sink] for e in report.edges)
    assert {n.name for n in report.nodes if n.kind == "block"} == {
        block.symbol.name for block in schedule.blocks()
    }


def test_staged_data_stand_between_and_inlined_ones_are_gone() -> None:
    x = te.placeholder((16, 16), name="x")
    y = te.compute((16, 16), lambda i, j: x[i, j] + 1.0, name="y")
    z = te.compute((16, 16), lambda i, j: y[i, j] * 2.0, name="z")
    schedule = tl.Schedule(z)
    schedule.compute_inline("y")
    assert names(flow(schedule)) == {("input x", "block z"), ("block z", "output z")}
    schedule.cache_read("z", "x", "local")
    kept = [n for n in flow(schedule).nodes if n.kind == "intermediate"]
    assert [(n.scope, n.bytes) for n in kept] == [("local", 16 * 16 * 4)]


def test_sizes_known_only_at_run_time_are_left_open() -> None:
    n = te.var("n")
    x = te.placeholder((n,), name="x")
    report = flow(tl.Schedule(te.compute((n,), lambda i: x[i] + 1.0, name="y")))
    assert {node.bytes for node in report.nodes} == {None}
    assert {edge.touches for edge in report.edges} == {None}
