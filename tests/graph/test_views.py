"""Values that lie within others need no kernel, and no memory of their own."""

from __future__ import annotations

import numpy as np
import pytest

import tvmlab as tl
from tvmlab.graph import GraphBuilder, TensorType, evaluate
from tvmlab.graph.compiler import BuildOptions, build_with_report

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


def test_inputs_and_outputs_have_their_own_memory() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (4, 6)))
    y = g.add("reshape", x, shape=(24,))
    g.output(g.add("reshape", g.add("softmax", y, axis=0), shape=(6, 4)))
    _, report = build_with_report(g.graph())
    assert report.views == ()
