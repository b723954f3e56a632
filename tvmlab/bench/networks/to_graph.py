"""A recipe as a graph of tvmlab."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tvmlab.graph import Graph, GraphBuilder, TensorType

from .recipe import Layer, Recipe


def to_graph(recipe: Recipe) -> Graph:
    """The graph; its input is "x"."""
    g = GraphBuilder(recipe.name)
    values = {"x": g.input("x", TensorType.of(recipe.dtype, recipe.shape))}
    for layer in recipe.layers:
        weights = [g.param(w, f"{layer.name}.w{n}") for n, w in enumerate(layer.weights)]
        inputs = [values[i] for i in layer.inputs]
        values[layer.name] = _LAYERS[layer.kind](g, layer, inputs, weights)
    g.output(values[recipe.result])
    return g.graph()


_Make = Callable[[GraphBuilder, Layer, list[str], list[str]], str]


def _conv(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    stride, pad, groups = (layer.options[n] for n in ("stride", "pad", "groups"))
    return g.add("conv", *x, *w, name=layer.name, strides=(stride,) * 2, pads=(pad,) * 4,
                 dilations=(1, 1), groups=groups)  # fmt: skip


def _conv_transpose(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    stride, pad = layer.options["stride"], layer.options["pad"]
    return g.add("conv_transpose", *x, *w, name=layer.name, strides=(stride,) * 2,
                 pads=(pad,) * 4, dilations=(1, 1), output_padding=(0, 0))  # fmt: skip


def _plain(op: str) -> _Make:
    return lambda g, layer, x, w: g.add(op, *x, *w, name=layer.name)


def _max_pool(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    kernel, stride, pad = (layer.options[n] for n in ("kernel", "stride", "pad"))
    return g.add("max_pool", *x, name=layer.name, kernel=(kernel,) * 2, strides=(stride,) * 2,
                 pads=(pad,) * 4, dilations=(1, 1))  # fmt: skip


def _flatten(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    return g.add("reshape", *x, name=layer.name, shape=(1, -1))


def _dense(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    made = g.add("matmul", *x, w[0], name=layer.name, transpose_b=True)
    return g.add("add", made, w[1], name=f"{layer.name}.sum") if len(w) > 1 else made


def _embedding(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    return g.add("gather", w[0], *x, name=layer.name, axis=0)


def _attention(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    queries, keys, values = x
    scale = g.param(np.float32(layer.options["scale"]), f"{layer.name}.scale")
    scores = g.add("matmul", queries, keys, name=f"{layer.name}.scores", transpose_b=True)
    shares = g.add(
        "softmax", g.add("multiply", scores, scale), name=f"{layer.name}.shares", axis=-1
    )
    return g.add("matmul", shares, values, name=layer.name)


def _lstm(g: GraphBuilder, layer: Layer, x: list[str], w: list[str]) -> str:
    """Unrolled: the part of the inputs is one product, the part of the state one for each step."""
    units, (steps, batch, _) = layer.options["units"], [int(s) for s in g.shape(x[0])]  # type: ignore[arg-type]
    both = g.param(layer.weights[2] + layer.weights[3], f"{layer.name}.bias")
    parts = g.add("add", g.add("matmul", *x, w[0], transpose_b=True), both)
    h = g.param(np.zeros((batch, units), np.float32), f"{layer.name}.h")
    c = g.param(np.zeros((batch, units), np.float32), f"{layer.name}.c")
    made: list[str] = []
    for step in range(steps):
        part = g.add("slice", parts, starts=(step,), ends=(step + 1,), axes=(0,), steps=(1,))
        part = g.add("reshape", part, shape=(batch, 4 * units))
        gates = g.add("add", g.add("matmul", h, w[1], transpose_b=True), part)
        i, f, n, o = g.add_several("split", [gates], 4, {"axis": 1, "sizes": (units,) * 4})
        i, f, o = (g.add("sigmoid", v) for v in (i, f, o))
        c = g.add("add", g.add("multiply", f, c), g.add("multiply", i, g.add("tanh", n)))
        h = g.add("multiply", o, g.add("tanh", c))
        made.append(g.add("reshape", h, shape=(1, batch, units)))
    return g.add("concat", *made, name=layer.name, axis=0)


_LAYERS: dict[str, _Make] = {
    "conv": _conv,
    "conv_transpose": _conv_transpose,
    "norm": _plain("batch_norm"),
    "relu": _plain("relu"),
    "relu6": lambda g, layer, x, w: g.add("clip", *x, name=layer.name, low=0.0, high=6.0),
    "tanh": _plain("tanh"),
    "gelu": _plain("gelu"),
    "add": _plain("add"),
    "max_pool": _max_pool,
    "global_mean": lambda g, layer, x, w: g.add("mean", *x, name=layer.name, axes=(2, 3),
                                                keepdims=False),
    "flatten": _flatten,
    "dense": _dense,
    "embedding": _embedding,
    "lstm": _lstm,
    "attention": _attention,
    "transpose": lambda g, layer, x, w: g.add("transpose", *x, name=layer.name, **layer.options),
    "reshape": lambda g, layer, x, w: g.add("reshape", *x, name=layer.name, **layer.options),
    "layer_norm": _plain("layer_norm"),
}  # fmt: skip
