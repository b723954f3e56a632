"""Images in the layout that the machine's vectors like, from the first convolution to the last.

Each value has up to two versions: plain, and in blocks of channels ("NCHW16c"). Operators that can
work on blocks take blocks if their image is there in blocks, or if they gain enough; others get the
plain version, for which a transformation is put in once, where it is first needed. Lanes beyond the
last channel hold numbers that nobody reads: filters are filled up with zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import attributes
from tvmlab.support import FLOAT32

from .edit import GraphEdit
from .layout_conv import ConvSite, conv_site

_GAIN = 1 / 40
"""Nanoseconds that blocks save for one operation of a convolution, about."""

_MOVE = 1 / 5
"""Nanoseconds that the transformation of one byte takes, about."""

# Functions that are finite at zero: what fills up the last block goes through them, too.
_UNARY = frozenset({
    "abs", "celu", "clip", "cos", "elu", "erf", "exp", "gelu", "hard_sigmoid", "hard_swish",
    "identity", "leaky_relu", "mish", "negative", "relu", "selu", "sigmoid", "silu", "sin",
    "softplus", "softsign", "sqrt", "tanh", "thresholded_relu",
})  # fmt: skip
_BINARY = frozenset({"add", "subtract", "multiply", "maximum", "minimum"})

_ANCHORS = frozenset({"conv", "spread_winograd"})


def use_blocks(graph: Graph, block: int) -> Graph:
    """The graph with images in blocks of channels where that pays off.

    Parameters
    ----------
    block
        Channels in a block.
    """
    if block < 2 or not any(n.op in _ANCHORS for n in graph.nodes):
        return graph
    return _Layouts(graph, block).run()


_Rule: TypeAlias = Callable[["_Layouts", Node], bool]


class _Layouts:
    """The new graph, and for each value the names of its versions."""

    def __init__(self, graph: Graph, block: int) -> None:
        self.graph, self.block = graph, block
        self.layout = f"NCHW{block}c"
        self.made = GraphEdit(graph)
        self.blocked: dict[str, str] = {}
        self.plain: dict[str, str] = {n: n for n in (*graph.inputs, *graph.params)}

    def run(self) -> Graph:
        """The new graph."""
        for node in self.graph.nodes:
            rule = _RULES.get(node.op)
            if rule is None or not rule(self, node):
                for value in node.used:
                    self.get_plain(value)
                self.made.keep(node)
                self.plain.update({o: o for o in node.made})
        for output in self.graph.outputs:
            self.get_plain(output)
        return self.made.done()

    def is_image(self, value: str) -> bool:
        """Whether a value is a float image of two dimensions, of known size."""
        type_ = self.graph.types[value]
        return type_.rank == 4 and type_.dtype == FLOAT32 and not type_.names

    def channels(self, value: str) -> int:
        """The channels of an image, without what fills up blocks."""
        return self.graph.types[value].sizes[1]

    def has_full_blocks(self, value: str) -> bool:
        """Whether no block of a value's channels needs to be filled up."""
        return self.channels(value) % self.block == 0

    def get_blocked(self, value: str) -> str:
        """The version in blocks, made if need be."""
        if value not in self.blocked:
            self.blocked[value] = self.made.emit(
                "layout_transform", (self.plain[value],), node=f"{value}.{self.layout}",
                source="NCHW", target=self.layout,
            )  # fmt: skip
        return self.blocked[value]

    def get_plain(self, value: str) -> str:
        """The plain version under the value's own name, made if need be."""
        if value not in self.plain:
            type_, source = self.graph.types[value], self.blocked[value]
            if type_.sizes[2:] == (1, 1) and self.has_full_blocks(value):
                self.made.emit("reshape", (source,), value, shape=type_.sizes)
            else:
                filled = 0 if self.has_full_blocks(value) else self.channels(value)
                self.made.emit(
                    "layout_transform", (source,), value, source=self.layout, target="NCHW",
                    channels=filled,
                )  # fmt: skip
            self.plain[value] = value
        return value


def _conv(state: _Layouts, node: Node) -> bool:
    site = conv_site(state.graph, node, state.block)
    if site is None or not _pays(state, node, site):
        return False
    inputs = [node.inputs[0] if site.layout == "NCHW" else state.get_blocked(node.inputs[0])]
    if site.layout == "NCHW":
        state.get_plain(node.inputs[0])
    made, weight, output = state.made, node.inputs[1], node.outputs[0]
    if site.winograd_tile:
        inputs.append(made.emit("winograd_filters", (weight,), node=f"{weight}.winograd",
                                tile=site.winograd_tile, block=state.block))  # fmt: skip
    else:
        inputs.append(made.emit("layout_transform", (weight,), node=f"{weight}.packed",
                                source="OIHW", target=site.kernel_layout))  # fmt: skip
    if len(node.used) > 2:
        bias = made.params[node.inputs[2]]
        filled = np.pad(bias, (0, -len(bias) % state.block))
        inputs.append(made.param(filled, node.inputs[2]) if len(filled) > len(bias)
                      else node.inputs[2])  # fmt: skip
    if site.winograd_tile:
        result = made.emit("winograd_conv", inputs, node=f"{output}.{state.layout}",
                           pads=attributes(node).ints("pads"), layout=state.layout)  # fmt: skip
    else:
        attrs = {**node.attrs, "groups": site.groups}
        result = made.emit("blocked_conv", inputs, node=f"{output}.{state.layout}", attrs=attrs,
                           layout=site.layout, kernel_layout=site.kernel_layout,
                           out_layout=state.layout)  # fmt: skip
    state.blocked[output] = result
    return True


def _spread(state: _Layouts, node: Node) -> bool:
    """Only images in blocks are spread by Winograd's algorithm."""
    output = node.outputs[0]
    inputs = (state.get_blocked(node.inputs[0]), *node.inputs[1:])
    attrs = {**node.attrs, "layout": state.layout}
    state.blocked[output] = state.made.emit("spread_winograd", inputs, attrs=attrs,
                                            node=f"{output}.{state.layout}")  # fmt: skip
    return True


def _pays(state: _Layouts, node: Node, site: ConvSite) -> bool:
    """Whether a convolution saves more than the transformations around it cost."""
    source, (output,) = node.inputs[0], node.outputs
    moved = 0
    if source not in state.blocked and site.layout != "NCHW":
        moved += state.graph.types[source].nbytes
    readers = state.graph.consumers.get(output, ())
    if output in state.graph.outputs or any(n.op not in _RULES for n in readers):
        moved += state.graph.types[output].nbytes
    return site.flops * _GAIN >= moved * _MOVE


def _pool(state: _Layouts, node: Node) -> bool:
    if node.inputs[0] not in state.blocked or len(attributes(node).ints("kernel")) != 2:
        return False
    output = node.outputs[0]
    state.blocked[output] = state.made.emit(
        "blocked_pool", (state.blocked[node.inputs[0]],), node=f"{output}.{state.layout}",
        fold=node.op[:3], layout=state.layout, attrs=node.attrs,
    )  # fmt: skip
    return True


def _unary(state: _Layouts, node: Node) -> bool:
    if node.inputs[0] not in state.blocked:
        return False
    output = node.outputs[0]
    inputs = (state.blocked[node.inputs[0]], *node.inputs[1:])
    state.blocked[output] = state.made.emit(node.op, inputs, node=f"{output}.{state.layout}",
                                            attrs=node.attrs)  # fmt: skip
    return True


def _binary(state: _Layouts, node: Node) -> bool:
    """Element by element, of images in blocks and of numbers for each channel or for all."""
    output = node.outputs[0]
    if not any(i in state.blocked for i in node.inputs) or not state.is_image(output):
        return False
    inputs = [_operand(state, value, state.channels(output)) for value in node.inputs]
    if not all(inputs):
        return False
    state.blocked[output] = state.made.emit(node.op, inputs, node=f"{output}.{state.layout}",
                                            attrs=node.attrs)  # fmt: skip
    return True


def _operand(state: _Layouts, value: str, channels: int) -> str:
    """An operand for images in blocks; "" if it would have to be transformed."""
    if value in state.blocked:
        return state.blocked[value] if state.channels(value) == channels else ""
    array = state.made.params.get(value)
    if array is None or array.ndim > 4:
        return ""
    shape = (1,) * (4 - array.ndim) + array.shape
    if math.prod(shape) == 1:
        return value if array.ndim < 2 else state.made.param(array.reshape(1), value)
    if shape[1] != channels or math.prod(shape) != channels:
        return ""
    filled = np.pad(array.reshape(-1), (0, -channels % state.block))
    return state.made.param(filled.reshape(-1, 1, 1, state.block), value)


def _interleave(state: _Layouts, node: Node) -> bool:
    """From blocks to blocks where channels fill them, else to the plain image at once."""
    source, output = node.inputs[0], node.outputs[0]
    if source not in state.blocked:
        return False
    attrs = {**node.attrs, "layout": state.layout}
    if attributes(node).int("channels") % state.block:
        state.made.emit("interleave", (state.blocked[source],), output, attrs=attrs)
        state.plain[output] = output
        return True
    attrs["out_layout"] = state.layout
    state.blocked[output] = state.made.emit(
        "interleave", (state.blocked[source],), node=f"{output}.{state.layout}", attrs=attrs
    )
    return True


def _mean(state: _Layouts, node: Node) -> bool:
    """The mean of all pixels, which has one pixel or none."""
    source, output, attrs = node.inputs[0], node.outputs[0], attributes(node)
    axes = sorted(a % 4 for a in attrs.ints("axes"))
    if source not in state.blocked or axes != [2, 3]:
        return False
    keep = attrs.flag("keepdims")
    if not keep and not state.has_full_blocks(source):
        return False
    found = state.made.emit("mean", (state.blocked[source],), node=f"{output}.{state.layout}",
                            axes=(2, 3), keepdims=keep)  # fmt: skip
    if keep:
        state.blocked[output] = found
    else:
        shape = state.graph.types[output].sizes
        state.made.emit("reshape", (found,), output, shape=shape)
        state.plain[output] = output
    return True


def _concat(state: _Layouts, node: Node) -> bool:
    known = all(i in state.blocked and state.has_full_blocks(i) for i in node.inputs)
    if not known or attributes(node).int("axis") % 4 != 1:
        return False
    output = node.outputs[0]
    state.blocked[output] = state.made.emit(
        "concat", [state.blocked[i] for i in node.inputs], node=f"{output}.{state.layout}", axis=1
    )
    return True


def _reshape(state: _Layouts, node: Node) -> bool:
    """A single pixel with full blocks lies in memory as it does without blocks."""
    source, output = node.inputs[0], node.outputs[0]
    if source not in state.blocked or source in state.plain:
        return False
    if state.graph.types[source].sizes[2:] != (1, 1) or not state.has_full_blocks(source):
        return False
    state.made.emit("reshape", (state.blocked[source],), output,
                    shape=state.graph.types[output].sizes)  # fmt: skip
    state.plain[output] = output
    return True


_RULES: dict[str, _Rule] = {
    "conv": _conv,
    "spread_winograd": _spread,
    "max_pool": _pool,
    "avg_pool": _pool,
    "interleave": _interleave,
    "mean": _mean,
    "concat": _concat,
    "reshape": _reshape,
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_BINARY, _binary),
}
