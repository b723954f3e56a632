"""Results are written over what nothing needs any more, where the schedule allows it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tvmlab as tl
import tvmlab.te as te
from tvmlab.graph import BuildOptions, Graph, GraphBuilder, TensorType, evaluate
from tvmlab.graph.compiler import BuildReport, build_with_report
from tvmlab.graph.in_place import overwriting
from tvmlab.ir import Expr, Var
from tvmlab.schedule import Schedule

SHAPE = (24, 40)


def check(graph: Graph, options: BuildOptions | None = None) -> BuildReport:
    """Run a graph as it is and without anything in place, against the reference."""
    inputs = {
        name: np.random.default_rng(0).standard_normal(graph.types[name].sizes).astype("f4")
        for name in graph.inputs
    }
    wanted = evaluate(graph, inputs)
    built, report = build_with_report(graph, options=options)
    module = tl.runtime.create(built.graph, built.lib)
    module.bind_params(built.params)
    for _ in range(2):
        module.run(**inputs)
        for number, name in enumerate(graph.outputs):
            np.testing.assert_allclose(
                module.get_output(number), wanted[name], rtol=1e-4, atol=1e-5
            )
    return report


def chain(*operators: str) -> tuple[GraphBuilder, str]:
    net = GraphBuilder("net")
    value = net.input("x", TensorType.of("float32", SHAPE))
    for op in operators:
        value = net.add(op, value, axis=1) if op == "softmax" else net.add(op, value)
    return net, value


def test_a_chain_stays_in_one_place() -> None:
    net, value = chain("softmax", "exp", "sqrt", "tanh")
    net.output(net.add("softmax", value, axis=0))
    apart = BuildOptions(fuse=False, optimize=False)
    report = check(net.graph(), apart)
    assert len(report.replaced) == 3
    assert report.memory.peak == report.memory.lower_bound == 24 * 40 * 4


def test_not_what_is_needed_later() -> None:
    net, value = chain("softmax")
    net.output(net.add("softmax", net.add("exp", net.add("tanh", value)), axis=0))
    net.output(net.add("softmax", value, axis=0))
    report = check(net.graph(), BuildOptions(fuse=False, optimize=False))
    assert value not in report.replaced.values()
    assert len(report.replaced) == 1


def test_not_inputs_parameters_and_outputs() -> None:
    net, value = chain("exp")
    weight = net.param(np.ones(SHAPE, "f4"), "w")
    net.output(net.add("add", value, weight))
    assert not check(net.graph(), BuildOptions(fuse=False, optimize=False)).replaced


def conv(net: GraphBuilder, x: str, w: str) -> str:
    return net.add("conv", x, w, strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1), groups=1)


def test_a_residual_is_replaced_by_the_sum() -> None:
    net = GraphBuilder("net")
    x = net.input("x", TensorType.of("float32", (1, 32, 14, 14)))
    random = np.random.default_rng(1)
    for _ in range(3):
        w = [net.param(random.standard_normal((32, 32, 3, 3)).astype("f4") / 17, "w")
             for _ in range(2)]  # fmt: skip
        y = conv(net, net.add("relu", conv(net, x, w[0])), w[1])
        x = net.add("relu", net.add("add", y, x))
    net.output(net.add("mean", x, axes=(2, 3), keepdims=False))
    report = check(net.graph())
    assert report.replaced
    assert not check(net.graph(), BuildOptions(in_place=False)).replaced


_OPERATORS = ("tanh", "add", "softmax0", "softmax1", "transpose", "shift", "mean")


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed: int) -> None:
    random = np.random.default_rng(seed)
    operators = random.choice(_OPERATORS, 7)
    net = GraphBuilder("net")
    values = [net.input("x", TensorType.of("float32", (12, 12)))]
    for op in operators:
        one, two = (values[int(random.integers(len(values)))] for _ in range(2))
        match op:
            case "tanh":
                made = net.add("tanh", one)
            case "add":
                made = net.add("add", one, two)
            case "transpose":
                made = net.add("transpose", one, perm=(1, 0))
            case "shift":
                rows = net.add("slice", one, starts=(0,), ends=(1,), axes=(0,), steps=(1,))
                made = net.add("subtract", two, rows)
            case "mean":
                made = net.add("subtract", one, net.add("mean", one, axes=(1,), keepdims=True))
            case _:
                made = net.add("softmax", one, axis=int(op[-1]))
        values.append(made)
    net.output(net.add("tanh", values[-1]))
    check(net.graph(), BuildOptions(fuse=bool(seed % 2)))


def _program(body: str) -> Schedule:
    x = te.placeholder((8, 8), name="x")
    y = te.placeholder((8, 8), name="y")
    elements: dict[str, Callable[[Var, Var], Expr]] = {
        "same": lambda i, j: x[i, j] * 2 + y[j, i],
        "turned": lambda i, j: x[j, i] + y[i, j],
        "neighbor": lambda i, j: x[i, j] + x[i, (j + 1) % 8] + y[i, j],
        "first": lambda i, j: x[i, 0] + x[i, j] + y[i, j],
    }
    out = te.compute((8, 8), elements[body], name="out")
    return Schedule(out, args=[x, y, out])


@pytest.mark.parametrize(
    ("body", "safe"), [("same", True), ("turned", False), ("neighbor", False), ("first", False)]
)
def test_what_a_schedule_reads_decides(body: str, safe: bool) -> None:
    sch = _program(body)
    i, j = sch.loops("out")
    sch.parallel(i)
    sch.vectorize(j)
    joined = overwriting(sch.program, 0)
    assert (joined is not None) == safe
    if joined is not None:
        assert [p.name for p in joined.params] == ["y", "out"]
        x, y = np.random.default_rng(0).random((2, 8, 8), np.float32)
        place = x.copy()
        tl.build(joined)(y, place)
        np.testing.assert_allclose(place, x * 2 + y.T, rtol=1e-6)


def test_a_copy_read_before_all_is_safe() -> None:
    sch = _program("turned")
    copied = sch.cache_read("out", "x")
    joined = overwriting(sch.program, 0)
    assert copied is not None
    assert joined is not None
    x, y = np.random.default_rng(0).random((2, 8, 8), np.float32)
    place = x.copy()
    tl.build(joined)(y, place)
    np.testing.assert_allclose(place, x.T + y, rtol=1e-6)
