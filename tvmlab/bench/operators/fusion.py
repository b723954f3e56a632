"""What joining operators to one kernel brings: the paper's cases, each against itself in parts.

Without fusion batch normalization is a kernel of its own, and so is each element-wise operator;
each of them has the schedule that it has anyway. In the paper normalization is two operators, a
product and a sum, and without fusion two kernels: that is the second one to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from tvmlab.bench.row import Array, Contender, Inputs, Operator, Peer, Row, random_inputs
from tvmlab.graph import BuildOptions, Graph, GraphBuilder, TensorType, build, evaluate
from tvmlab.runtime import create
from tvmlab.target import Target

_PARTS = BuildOptions(fuse=False, without=frozenset({"fold_norm"}))


def _graph(row: Row, split_norm: bool = False) -> Graph:
    net = GraphBuilder(row.name)
    inputs = [
        net.input(name, TensorType.of("float32", shape))
        for name, shape in zip("xhc", row.shapes, strict=False)
    ]
    random = np.random.default_rng(1)

    def noise(*shape: int) -> str:
        scale = np.float32(1 / max(prod(shape[:-1]), 1) ** 0.5)
        return net.param(random.standard_normal(shape, dtype=np.float32) * scale, "w")

    if split_norm:
        _conv(net, inputs, noise, row, split_norm=True)
    else:
        _GRAPHS[row.operator](net, inputs, noise, row)
    return net.graph()


_Noise = Callable[..., str]


def _conv(
    net: GraphBuilder, inputs: Sequence[str], noise: _Noise, row: Row, split_norm: bool = False
) -> None:  # fmt: skip
    outputs, kernel, groups = (row.option(n, 1) for n in ("outputs", "kernel", "groups"))
    channels = row.shapes[0][1]
    weight = noise(outputs, channels // groups, kernel, kernel)
    y = net.add("conv", inputs[0], weight, strides=(1, 1), pads=(kernel // 2,) * 4,
                dilations=(1, 1), groups=groups)  # fmt: skip
    numbers = np.linspace(0.5, 1.5, outputs, dtype=np.float32)
    if not split_norm:
        moments = [net.param(numbers, "n") for _ in range(4)]
        net.output(net.add("relu", net.add("batch_norm", y, *moments)))
        return
    # What normalization with these moments comes to: (y - n) * (n / sqrt(n + epsilon)) + n.
    scale = numbers / np.sqrt(numbers + np.float32(1e-5))
    shift = numbers - numbers * scale
    for op, values in (("multiply", scale), ("add", shift)):
        y = net.add(op, y, net.param(values.reshape(outputs, 1, 1), "n"))
    net.output(net.add("relu", y))


def _rnn(net: GraphBuilder, inputs: Sequence[str], noise: _Noise, row: Row) -> None:
    units = row.shapes[0][1]
    net.output(net.add("tanh", _gates(net, inputs, noise, units, units)))


def _lstm(net: GraphBuilder, inputs: Sequence[str], noise: _Noise, row: Row) -> None:
    units = row.shapes[0][1]
    gates = _gates(net, inputs, noise, units, 4 * units)
    i, f, n, o = net.add_several("split", [gates], 4, {"axis": 1, "sizes": (units,) * 4})
    i, f, o = (net.add("sigmoid", v) for v in (i, f, o))
    c = net.add("add", net.add("multiply", f, inputs[2]),
                net.add("multiply", i, net.add("tanh", n)))  # fmt: skip
    net.output(net.add("multiply", o, net.add("tanh", c)))
    net.output(c)


def _gates(
    net: GraphBuilder, inputs: Sequence[str], noise: _Noise, units: int, width: int
) -> str:  # fmt: skip
    x, h = (net.add("matmul", value, noise(units, width)) for value in inputs[:2])
    return net.add("add", net.add("add", x, h), noise(width))


_GRAPHS: dict[str, Callable[[GraphBuilder, Sequence[str], _Noise, Row], None]] = {
    "conv_norm_relu": _conv,
    "rnn_cell": _rnn,
    "lstm_cell": _lstm,
}


def _contender(
    name: str, graph: Graph, inputs: Inputs, target: Target, options: BuildOptions
) -> Contender:
    plan, lib, params = build(graph, target, options=options)
    module = create(plan, lib)
    module.bind_params(params)
    module.run(**dict(zip(graph.inputs, inputs, strict=True)))
    kernels = f"{len(plan.steps)} kernel{'s' if len(plan.steps) > 1 else ''}"
    return Contender(name, module.run, lambda: module.get_output(0), prepared=kernels)


def _ours(row: Row, inputs: Inputs, target: Target) -> Contender:
    return _contender("tvmlab", _graph(row), inputs, target, BuildOptions())


def _in_parts(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
    target = Target.host().with_threads(threads)
    made = [_contender("tvmlab without fusion", _graph(row), inputs, target, _PARTS)]
    if row.operator == "conv_norm_relu":
        graph = _graph(row, split_norm=True)
        made.append(_contender("each operator alone", graph, inputs, target, _PARTS))
    return made


def _reference(row: Row, inputs: Inputs) -> Array:
    graph = _graph(row)
    return np.asarray(
        evaluate(graph, dict(zip(graph.inputs, inputs, strict=True)))[graph.outputs[0]]
    )


def _inputs(row: Row) -> list[Array]:
    return [array - np.float32(0.5) for array in random_inputs(row)]


OPERATORS = {
    name: Operator(_ours, _reference, (Peer("tvmlab", _in_parts),), measure="seconds",
                   inputs=_inputs)
    for name in _GRAPHS
}  # fmt: skip

ROWS = (
    Row("fusion", "fused-conv-1x1", "conv_norm_relu", ((1, 128, 28, 28),),
        options=(("outputs", 256),)),
    Row("fusion", "fused-conv-3x3", "conv_norm_relu", ((1, 64, 56, 56),),
        options=(("outputs", 64), ("kernel", 3))),
    Row("fusion", "fused-depthwise", "conv_norm_relu", ((1, 512, 14, 14),),
        options=(("outputs", 512), ("kernel", 3), ("groups", 512))),
    Row("fusion", "fused-rnn-cell", "rnn_cell", ((1, 128), (1, 128))),
    Row("fusion", "fused-lstm-cell", "lstm_cell", ((1, 128), (1, 128), (1, 128))),
)  # fmt: skip
