"""Values that lie within others need no kernel, and no memory of their own."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tvmlab as tl
from tvmlab.graph import GraphBuilder, TensorType, evaluate
from tvmlab.graph.compiler import BuildOptions, BuildReport, build_with_report
from tvmlab.runtime import Plan
from tvmlab.support import ParseError

_X = np.random.default_rng(0).standard_normal((4, 6)).astype("f4")


_ATTRS: dict[str, dict[str, object]] = {
    "reshape": {"shape": (2, 12)},
    "rows": {"starts": (1,), "ends": (3,), "axes": (0,), "steps": (1,)},
    "columns": {"starts": (1,), "ends": (3,), "axes": (1,), "steps": (1,)},
    "backwards": {"starts": (3,), "ends": (-5,), "axes": (0,), "steps": (-1,)},
    "transpose": {"perm": (1, 0)},
}


@pytest.mark.parametrize(
    ("op", "first"),
    [("reshape", 0), ("rows", 6), ("columns", None), ("backwards", None), ("transpose", None)],
)
def test_what_lies_together_is_a_view(op: str, first: int | None) -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (4, 6)))
    kind = op if op in ("reshape", "transpose") else "slice"
    y = g.add(kind, g.add("exp", x), name="moved", **_ATTRS[op])  # type: ignore[arg-type]
    g.output(g.add("softmax", y, axis=-1))
    graph = g.graph()
    built, report = build_with_report(graph, options=BuildOptions(fuse=False, optimize=False))
    assert [v.first for v in report.views] == ([] if first is None else [first])
    assert len(built.graph.steps) == (3 if first is None else 2)
    module = tl.runtime.create(built.graph, built.lib)
    module.run(x=_X)
    wanted = evaluate(graph, {"x": _X})[graph.outputs[0]]
    np.testing.assert_allclose(module.get_output(0), wanted, rtol=1e-5)


def test_a_value_lives_as_long_as_its_views() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (4, 6)))
    e = g.add("softmax", x, axis=-1)
    flat = g.add("reshape", e, shape=(24,))
    part = g.add("slice", flat, starts=(12,), ends=(24,), axes=(0,), steps=(1,))
    other = g.add("softmax", g.add("softmax", x, axis=0), axis=0)
    for y in (other, part):
        g.output(g.add("softmax", y, axis=-1))
    graph = g.graph()
    built, report = build_with_report(graph, options=BuildOptions(fuse=False, optimize=False))
    assert [(v.source, v.first) for v in report.views] == [(e, 0), (flat, 12)]
    places = built.graph.offsets
    assert places[part] == places[e] + 12 * 4
    module = tl.runtime.create(built.graph, built.lib)
    module.run(x=_X)
    wanted = evaluate(graph, {"x": _X})
    for number, name in enumerate(graph.outputs):
        np.testing.assert_allclose(module.get_output(number), wanted[name], rtol=1e-5)


def check(g: GraphBuilder, *shape: int) -> BuildReport:
    """Compile and run a graph of one input, twice on different arrays, against the reference."""
    graph = g.graph()
    built, report = build_with_report(graph)
    module = tl.runtime.create(built.graph, built.lib)
    module.bind_params(built.params)
    for seed in range(2):
        x = np.random.default_rng(seed).standard_normal(shape).astype("f4")
        module.run(x=x)
        wanted = evaluate(graph, {"x": x})
        for number, name in enumerate(graph.outputs):
            np.testing.assert_allclose(module.get_output(number), wanted[name], 1e-5, 1e-6)
    again = Plan.from_json(json.loads(json.dumps(built.graph.to_json())))
    assert again.within == built.graph.within
    return report


def test_inputs_are_read_and_outputs_written_in_another_shape() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (4, 6)))
    y = g.add("matmul", g.add("reshape", x, shape=(6, 4)), x)
    g.output(g.add("reshape", y, shape=(36,)))
    report = check(g, 4, 6)
    assert len(report.views) == 2
    assert report.memory.unshared == 0


def test_what_is_put_side_by_side_is_written_there() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 4, 6)))
    parts = [g.add("softmax", x, axis=1), g.add("softmax", x, axis=2)]
    inner = g.add("concat", *parts, axis=1)
    outer = g.add("concat", g.add("softmax", inner, axis=2), inner, axis=0)
    g.output(outer)
    g.output(g.add("softmax", outer, axis=1))
    report = check(g, 1, 4, 6)
    assert [group.nodes[0].op for group in report.groups] == ["softmax"] * 4
    assert {v.source for v in report.views} == {inner, outer}


@pytest.mark.parametrize("axis", [0, 1])
def test_what_cannot_lie_side_by_side_is_copied(axis: int) -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (4, 6)))
    part = g.add("softmax", x, axis=1)
    g.output(g.add("concat", part, part if axis == 0 else g.add("softmax", x, axis=0), axis=axis))
    assert check(g, 4, 6).views == ()


def test_steps_of_a_recurrence_share_kernels() -> None:
    """Rows of the input, and the rows that are put together, need no kernels of their own."""
    counts: list[int] = []
    for steps in (5, 9):
        g = GraphBuilder("net")
        x = g.add("softmax", g.input("x", TensorType.of("float32", (steps, 1, 4))), axis=2)
        state = g.param(np.ones((1, 4), "f4"))
        rows: list[str] = []
        for step in range(steps):
            row = g.add("slice", x, starts=(step,), ends=(step + 1,), axes=(0,), steps=(1,))
            row = g.add("reshape", row, shape=(1, 4))
            state = g.add("softmax", g.add("add", state, row), axis=1)
            rows.append(g.add("reshape", state, shape=(1, 1, 4)))
        g.output(g.add("concat", *rows, axis=0))
        report = check(g, steps, 1, 4)
        assert len(report.groups) == steps + 1
        counts.append(len({group.kernel for group in report.groups}))
    assert counts[0] == counts[1]


def test_a_value_within_nothing_is_refused() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (4, 6)))
    g.output(g.add("matmul", g.add("reshape", x, shape=(6, 4)), x))
    built, _ = build_with_report(g.graph())
    saved = built.graph.to_json()
    (value,) = saved["values"]
    for change in ({"within": "elsewhere"}, {"offset": 4}):
        with pytest.raises(ParseError, match="lies outside"):
            Plan.from_json(saved | {"values": [value | change]})
