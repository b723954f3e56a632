"""Loops whose end the compiled model finds out, against the reference of the onnx package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from onnx.reference import ReferenceEvaluator

import tvmlab as tl
from tvmlab.graph import GraphError, evaluate, export
from tvmlab.graph.onnx import from_onnx
from tvmlab.runtime import load
from tvmlab.support import RuntimeFailure, UserError
from tvmlab.widgets.graph_model import Model
from tvmlab.widgets.graph_session import GraphSession


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels so small are compiled before another process has started."""
    monkeypatch.setattr("tvmlab.graph.kernels.WORTH_PROCESSES", 99)


def model(inputs: str, outputs: str, nodes: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> net ({inputs}) => ({outputs}) {{ {nodes} }}'
    )


ROOT = model(
    "float a",
    "float y, float twice",
    """
    one = Constant <value = float {1.0}> ()
    true = Constant <value = bool {1}> ()
    x = Loop ("", true, one) <body = turn (int64 i, bool c, float x) => (bool on, float next) {
        half = Constant <value = float {0.5}> ()
        small = Constant <value = float {1e-3}> ()
        other = Div (a, x)
        sum = Add (x, other)
        next = Mul (sum, half)
        step = Sub (next, x)
        size = Abs (step)
        on = Greater (size, small)
    }>
    y = Identity (x)
    twice = Add (x, x)
    """,
)
"""The square root by Newton's steps, until one is short."""

GROWING = model(
    "int64 most, bool begin, float[2,2] a, float[2,2] b",
    "float[2,2] p, float[2,2] q, float[2,2] kept",
    """
    w = Constant <value = float[2,2] {0.9, 0.3, -0.2, 1.1}> ()
    k, p, q = Loop (most, begin, a, a, b)
        <body = turn (int64 i, bool c, float[2,2] k, float[2,2] p, float[2,2] q)
         => (bool on, float[2,2] same, float[2,2] left, float[2,2] right) {
        same = Identity (k)
        left = Identity (q)
        number = Cast <to = 1> (i)
        turned = MatMul (p, w)
        moved = Add (turned, number)
        right = Add (moved, q)
        largest = ReduceMax <keepdims = 0> (right)
        far = Constant <value = float {40.0}> ()
        on = Less (largest, far)
    }>
    kept = Neg (k)
    """,
)
"""States that change places, one that stays, a constant factor, a bound handed in."""

NESTED = model(
    "float[3] x",
    "float[3] y",
    """
    true = Constant <value = bool {1}> ()
    y = Loop ("", true, x) <body = outer (int64 i, bool c, float[3] s) => (bool on, float[3] t) {
        go = Constant <value = bool {1}> ()
        u = Loop ("", go, s)
            <body = inner (int64 j, bool d, float[3] v) => (bool more, float[3] w) {
            two = Constant <value = float {1.5}> ()
            w = Mul (v, two)
            grown = ReduceMax <keepdims = 0> (w)
            base = ReduceMax <keepdims = 0> (s)
            twice = Add (base, base)
            more = Less (grown, twice)
        }>
        t = Add (u, x)
        top = ReduceMax <keepdims = 0> (t)
        end = Constant <value = float {50.0}> ()
        on = Less (top, end)
    }>
    """,
)


def check(proto: onnx.ModelProto, feed: dict[str, Any], folder: Path | None = None) -> None:
    reference: Any = ReferenceEvaluator(proto)
    wanted = reference.run(None, feed)
    graph = from_onnx(proto)
    found = evaluate(graph, feed)
    built = tl.compiler.build(graph)
    modules = [tl.runtime.create(built.graph, built.lib)]
    modules[0].bind_params(built.params)
    if folder is not None:
        modules.append(load(export(built, folder / "module")))
    for module in modules:
        for _ in range(2):
            module.run(**feed)
            for number, name in enumerate(graph.outputs):
                np.testing.assert_allclose(module.get_output(number), wanted[number], rtol=1e-5)
                np.testing.assert_allclose(found[name], wanted[number], rtol=1e-5)


@pytest.mark.parametrize("a", [2.0, 10000.0])
def test_as_many_turns_as_it_takes(a: float, tmp_path: Path) -> None:
    check(ROOT, {"a": np.array(a, "f4")}, tmp_path)


@pytest.mark.parametrize(("most", "begin"), [(100, True), (3, True), (0, True), (5, False)])
def test_bounds_and_states_that_change_places(most: int, begin: bool) -> None:
    a, b = np.random.default_rng(0).random((2, 2, 2)).astype("f4")
    check(GROWING, {"most": np.array(most), "begin": np.array(begin), "a": a, "b": b})


def test_loops_in_loops(tmp_path: Path) -> None:
    check(NESTED, {"x": np.array([1, 2, 3], "f4")}, tmp_path)


WRITING = model(
    "float[4] x",
    "float[6,4] rows, int64[1] last",
    """
    true = Constant <value = bool {1}> ()
    zero = Constant <value = int64[1] {0}> ()
    empty = Constant <value = int64[2] {6, 4}> ()
    start = ConstantOfShape (empty)
    rows, last, y = Loop ("", true, start, zero, x)
        <body = turn (int64 n, bool c, float[6,4] r, int64[1] i, float[4] s)
         => (bool on, float[6,4] filled, int64[1] next, float[4] t) {
        one = Constant <value = int64[1] {1}> ()
        none = Constant <value = int64[1] {0}> ()
        six = Constant <value = int64[1] {6}> ()
        next = Add (i, one)
        end = Min (six, next)
        old = Slice (r, i, end, none, one)
        size = Shape (old)
        half = Constant <value = float {1.5}> ()
        t = Mul (s, half)
        new = Expand (t, size)
        a = Squeeze (i)
        b = Squeeze (end)
        step = Squeeze (one)
        place = Range (a, b, step)
        column = Unsqueeze (place, one)
        indices = Expand (column, size)
        filled = ScatterElements <axis = 0> (r, indices, new)
        sum = ReduceSum <keepdims = 0> (t)
        far = Constant <value = float {30.0}> ()
        on = Less (sum, far)
    }>
    """,
)
"""A row is written in each turn, at a place that the loop counts up."""


def test_places_that_a_loop_counts_up() -> None:
    check(WRITING, {"x": np.array([1, 2, 3, 4], "f4")})


def test_places_that_may_be_negative_are_refused() -> None:
    proto = onnx.ModelProto()
    proto.CopyFrom(WRITING)
    zero = next(n for n in proto.graph.node if n.output[0] == "zero")
    zero.attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(np.array([-1])))
    with pytest.raises(GraphError, match="counted from the state zero, which may be negative"):
        from_onnx(proto)


def test_a_place_outside_is_found_when_the_loop_runs() -> None:
    built = tl.compiler.build(WRITING)
    module = tl.runtime.create(built.graph, built.lib)
    module.bind_params(built.params)
    with pytest.raises(RuntimeFailure):
        module.run(x=np.zeros(4, "f4"))


def test_the_explorer_tells_a_loop_from_a_kernel() -> None:
    session = GraphSession(Model.of(from_onnx(ROOT)))
    (row,) = (row["id"] for row in session.state["rows"] if row["ops"] == ["while_loop"])
    with pytest.raises(UserError, match=r"x is a loop over \d+ steps"):
        session.open(row)
    session.close()


def test_rows_of_a_number_that_nobody_knows_are_refused() -> None:
    proto = onnx.ModelProto()
    proto.CopyFrom(ROOT)
    loop = next(n for n in proto.graph.node if n.op_type == "Loop")
    loop.output.append("rows")
    body = loop.attribute[0].g
    body.node.append(onnx.helper.make_node("Identity", ["next"], ["row"]))
    body.output.append(onnx.helper.make_tensor_value_info("row", 1, []))
    with pytest.raises(GraphError, match="gathers a row in each turn"):
        from_onnx(proto)


def test_a_state_that_grows_is_refused() -> None:
    proto = model(
        "float[1] x",
        "float[n] y",
        """
        true = Constant <value = bool {1}> ()
        y = Loop ("", true, x) <body = turn (int64 i, bool c, float[n] s) => (bool on, float[m] t) {
            t = Concat <axis = 0> (s, x)
            all = ReduceSum <keepdims = 0> (t)
            far = Constant <value = float {9.0}> ()
            on = Less (all, far)
        }>
        """,
    )
    with pytest.raises(GraphError, match=r"the state x is .* before a turn and"):
        from_onnx(proto)
