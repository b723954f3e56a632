"""Compiled graphs as rows: lanes, what was joined and why not more, and what passes did."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tvmlab.graph import GraphBuilder, TensorType
from tvmlab.graph.compiler import build_with_report
from tvmlab.inspect.graph_html import graph_html
from tvmlab.inspect.graph_lanes import lanes_of
from tvmlab.inspect.graph_passes import join_diff, pass_diff, pass_rows
from tvmlab.inspect.graph_view import bodies_of, graph_rows

READS = st.integers(1, 12).flatmap(
    lambda count: st.tuples(
        *(st.sets(st.integers(0, max(n - 1, 0)), max_size=3 if n else 0) for n in range(count))
    )
)


@given(READS)
def test_each_value_has_one_lane_from_its_step_to_its_last_reader(reads: tuple[set[int]]) -> None:
    lanes = lanes_of([sorted(r) for r in reads])
    for step, own in enumerate(lanes):
        readers = [n for n, r in enumerate(reads) if step in r]
        assert own.out == bool(readers)
        for later in range(step + 1, max(readers, default=step) + 1):
            assert (own.column in lanes[later].through) == (later != max(readers))
            assert (own.column in lanes[later].into) == (later in readers)
        # Nobody else stands in a lane that passes by.
        assert own.column not in own.through


def test_rows_say_what_was_joined_and_why_not_more() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (8, 16)))
    w = g.input("w", TensorType.of("float32", (16, 16)))
    hidden = g.add("relu", g.add("matmul", x, w))
    g.output(g.add("softmax", g.add("matmul", hidden, w), axis=1))
    built, report = build_with_report(g.graph())
    rows = graph_rows(built.graph, bodies_of(built.graph))
    assert [r.kind for r in rows] == ["complex", "complex", "reduction"]
    assert rows[0].ops == ("matmul", "relu")
    assert rows[0].fused == "relu joined onto the output of matmul"
    assert rows[1].ends == "a complex operator takes only element-wise work onto its output"
    assert rows[2].ends == "its result is an output of the model"
    assert (rows[1].inputs[0].row, rows[1].inputs[1].role) == ("0", "input")
    assert rows[0].readers == ("1",)
    passes = pass_rows(report.passes, rows)
    assert (passes[-1].name, passes[-1].before, passes[-1].after) == ("join_nodes", 4, 3)
    assert any("relu joined" in line.text for line in join_diff(rows))
    assert "<td>matmul, relu</td>" in graph_html("net", rows)


def test_a_pass_shows_the_nodes_before_and_after_it() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (4,)))
    g.output(g.add("exp", x))
    g.add("log", x)
    _, report = build_with_report(g.graph())
    first = report.passes[0]
    rows = pass_rows(report.passes, ())
    assert (first.name, rows[0].changed, rows[0].summary) == ("remove_dead", True, "−1 log")
    assert [(d.sign, d.text.split()[0]) for d in pass_diff(first)] == [(" ", "exp:"), ("-", "log:")]
