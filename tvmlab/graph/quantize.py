"""`quantize`: convolutions and products in bytes instead of floats, measured on samples.

>>> small = quantize(graph, {"image": samples})                    # doctest: +SKIP
>>> graph, lib, params = build(small)                              # doctest: +SKIP

Weights become int8 with a scale for each output channel; values become uint8 with one scale and
zero point, from the range that the samples took. Sums are exact in int32. What lies between stays
in float32, in the layout NHWC where it can, so that bytes need no turning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tvmlab.topi as topi
from tvmlab.runtime import create
from tvmlab.support import FLOAT32
from tvmlab.target import Target

from .ir import Array, Graph, Node
from .operators import attributes
from .passes import remove_dead
from .passes.edit import GraphEdit
from .passes.pipeline import optimize_before_layout
from .types import GraphError

_LEVELS = 255
_LEAST_CHANNELS = 8
"""Images of fewer channels, as those that come from outside, gain nothing."""
_ELEMENTWISE = frozenset({"relu", "clip", "sigmoid", "silu", "hard_swish", "leaky_relu", "tanh"})


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest value that samples took, with zero between them."""

    low: float
    high: float

    @property
    def scale(self) -> float:
        """What one step of a byte stands for."""
        return (self.high - self.low) / _LEVELS or 1.0

    @property
    def zero(self) -> int:
        """The byte that stands for zero."""
        return int(np.clip(round(-self.low / self.scale), 0, _LEVELS))


def quantize(graph: Graph, samples: Mapping[str, Any], target: Target | str = "cpu") -> Graph:
    """The graph with its convolutions and products in bytes.

    Parameters
    ----------
    samples
        For each input an array of samples: one dimension more than the input, or, for inputs of
        batch 1, samples in place of the batch. A few dozen typical ones are enough.

    Raises
    ------
    GraphError
        If samples are missing, do not fit, or are not finite; or if nothing can be quantized.
    """
    if graph.names:
        raise GraphError(f"the graph {graph.name} has sizes that are not known",
                         hint="give them first: bind(graph, sizes)")  # fmt: skip
    runs = _checked(graph, samples)
    folded = optimize_before_layout(graph, Target.of(target))
    wanted = [node for node in folded.nodes if _fits(folded, node)]
    if not wanted:
        raise GraphError(
            f"the graph {graph.name} has no convolution or product by known weights in float32, so "
            "there is nothing to quantize",
            hint="dense, and convolutions of images without groups, can be",
        )
    ranges = _measured(folded, {node.inputs[0] for node in wanted}, runs, target)
    return _Rewriter(folded, {id(n) for n in wanted}, ranges).graph()


def _checked(graph: Graph, samples: Mapping[str, Any]) -> list[dict[str, Array]]:
    """The samples as inputs of single runs."""
    known = ", ".join(f"{i}: {graph.types[i]}" for i in graph.inputs)
    for name in samples:
        if name not in graph.inputs:
            raise GraphError(f"samples are given for {name!r}, which is no input",
                             hint=f"inputs are {known}")  # fmt: skip
    given: dict[str, list[Array]] = {}
    for name in graph.inputs:
        if name not in samples:
            raise GraphError(
                f"samples for the input {name} are missing", hint=f"inputs are {known}"
            )
        given[name] = _samples_of(graph, name, np.asarray(samples[name]))
    counts = {name: len(arrays) for name, arrays in given.items()}
    if len(set(counts.values())) > 1:
        raise GraphError(f"the inputs have different numbers of samples: {counts}")
    count = next(iter(counts.values()), 0)
    return [{name: arrays[n] for name, arrays in given.items()} for n in range(count)]


def _samples_of(graph: Graph, name: str, array: Array) -> list[Array]:
    type_ = graph.types[name]
    shape = type_.sizes
    if array.ndim == len(shape) and shape[:1] == (1,) and array.shape[1:] == shape[1:]:
        array = array[:, None]
    if array.shape[1:] != shape or array.ndim != len(shape) + 1:
        raise GraphError(
            f"samples for {name} have the shape {list(array.shape)}, the input is {type_}",
            hint=f"give an array of shape [samples, {', '.join(map(str, shape))}]",
        )
    if not len(array):
        raise GraphError(f"there are no samples for {name}", hint="a few dozen typical ones do")
    if array.dtype.kind not in "fiub" or (array.dtype.kind == "f") != type_.dtype.is_float:
        raise GraphError(f"samples for {name} are of {array.dtype}, the input is {type_}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise GraphError(f"samples for {name} have elements that are infinite or not a number")
    return [np.ascontiguousarray(a, type_.dtype.numpy) for a in array]


def _fits(graph: Graph, node: Node) -> bool:
    """Whether a node is computed in bytes."""
    if node.op not in ("conv", "matmul") or node.inputs[1] not in graph.params:
        return False
    types = [graph.types[i] for i in (*node.used, *node.outputs)]
    if any(t.dtype != FLOAT32 or not t.count for t in types):
        return False
    if node.op == "conv":
        bias = node.inputs[2] if len(node.inputs) > 2 else ""
        plain = not bias or bias in graph.params
        channels = types[0].shape[1]
        deep = isinstance(channels, int) and channels >= _LEAST_CHANNELS and channels % 4 == 0
        return types[0].rank == 4 and deep and attributes(node).int("groups") == 1 and plain
    return types[1].rank == 2 and types[0].rank >= 2


def _measured(
    graph: Graph, values: set[str], runs: list[dict[str, Array]], target: Target | str
) -> dict[str, Range]:
    """The ranges of values over all samples, by running the graph with them as outputs."""
    # Here, because the compiler stands above.
    from .compiler import build

    names = sorted(values)
    seen = graph.with_nodes(graph.nodes, outputs=tuple(names))
    built = build(remove_dead(seen), target)
    module = create(built.graph, built.lib)
    module.bind_params(built.params)
    inputs = [s.name for s in built.graph.inputs]
    low, high = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for run in runs:
        module.run(**{name: run[name] for name in inputs})
        for number, name in enumerate(names):
            array = module.get_output(number)
            low[name] = min(low[name], float(array.min()))
            high[name] = max(high[name], float(array.max()))
    broken = [n for n in names if not np.isfinite([low[n], high[n]]).all()]
    if broken:
        raise GraphError(f"the samples make the value {broken[0]} infinite or not a number",
                         hint="leave out samples that the model cannot take")  # fmt: skip
    return {name: Range(low[name], high[name]) for name in names}


class _Rewriter:
    """Writes the new graph; keeps for each image whether it lies there as NHWC too."""

    def __init__(self, graph: Graph, wanted: set[int], ranges: Mapping[str, Range]) -> None:
        self._old, self._wanted, self._ranges = graph, wanted, ranges
        self._made = GraphEdit(graph)
        self._turned: dict[str, str] = {}
        self._bytes: dict[str, str] = {}

    def graph(self) -> Graph:
        """The whole graph, node by node."""
        for node in self._old.nodes:
            if id(node) in self._wanted:
                (self._conv if node.op == "conv" else self._dense)(node)
            elif not self._follow(node):
                self._made.keep(node)
        return self._made.done()

    def _follow(self, node: Node) -> bool:
        """Compute an element-wise node on NHWC where its images lie there; whether it does."""
        turned = [self._turned.get(i, "") for i in node.inputs]
        plain = node.op in _ELEMENTWISE and len(node.inputs) == 1
        same = node.op == "add" and len({self._old.types[i].shape for i in node.inputs}) == 1
        if not (plain or same) or not all(turned):
            return False
        made = self._made.emit(node.op, turned, node=f"{node.name}.nhwc", attrs=node.attrs)
        self._back(made, node.outputs[0])
        return True

    def _back(self, nhwc: str, name: str) -> None:
        """An image NHWC under the name of the old one, in the old layout for who needs that."""
        self._turned[name] = nhwc
        self._made.emit("transpose", (nhwc,), name, f"{name}.back", perm=(0, 3, 1, 2))

    def _image(self, value: str) -> str:
        if value not in self._turned:
            self._turned[value] = self._made.emit(
                "transpose", (value,), node=f"{value}.nhwc", perm=(0, 2, 3, 1)
            )
        return self._turned[value]

    def _quantized(self, value: str, source: str) -> str:
        """A value as bytes, once for all who read it."""
        if value not in self._bytes:
            found, emit = self._ranges[value], self._made.emit
            step = self._scalar(1 / found.scale, f"{value}.step")
            made = emit("round", (emit("multiply", (source, step), node=f"{value}.scaled"),))
            if found.zero:
                made = emit("add", (made, self._scalar(found.zero, f"{value}.zero")))
            made = emit("clip", (made,), low=0.0, high=float(_LEVELS))
            self._bytes[value] = emit("cast", (made,), node=f"{value}.bytes", dtype="uint8")
        return self._bytes[value]

    def _scalar(self, number: float, name: str) -> str:
        return self._made.param(np.array(number, np.float32), name)

    def _conv(self, node: Node) -> None:
        attrs, source = attributes(node), node.inputs[0]
        weight = self._old.params[node.inputs[1]]
        out, _, *kernel = weight.shape
        zero = self._ranges[source].zero
        data = self._quantized(source, self._image(source))
        rows = self._made.emit(
            "patches", (data,), node=f"{node.name}.patches", kernel=tuple(kernel),
            strides=attrs.ints("strides"), pads=attrs.ints("pads"),
            dilations=attrs.ints("dilations"), fill=zero,
        )  # fmt: skip
        matrix = weight.transpose(2, 3, 1, 0).reshape(-1, out)
        made = self._product(node, rows, matrix, node.inputs[2] if len(node.inputs) > 2 else "")
        batch, _, height, width = self._old.types[node.outputs[0]].sizes
        image = self._made.emit("reshape", (made,), node=f"{node.name}.image",
                                shape=(batch, height, width, out))  # fmt: skip
        self._back(image, node.outputs[0])

    def _dense(self, node: Node) -> None:
        source = node.inputs[0]
        weight = self._old.params[node.inputs[1]]
        matrix = weight.T if attributes(node).flag("transpose_b") else weight
        sizes = self._old.types[source].sizes
        depth = -(-sizes[-1] // 4) * 4
        rows = self._made.emit("reshape", (self._quantized(source, source),),
                               node=f"{node.name}.rows",
                               shape=(int(np.prod(sizes[:-1])), sizes[-1]))  # fmt: skip
        if depth != sizes[-1]:
            rows = self._made.emit("pad", (rows,), node=f"{node.name}.filled",
                                   pads=(0, 0, 0, depth - sizes[-1]))  # fmt: skip
        made = self._product(node, rows, matrix, "")
        self._made.emit("reshape", (made,), node.outputs[0], node.name,
                        shape=self._old.types[node.outputs[0]].sizes)  # fmt: skip

    def _product(self, node: Node, rows: str, matrix: Array, bias: str) -> str:
        """Bytes times bytes, as floats again, with the bias."""
        found, columns, emit = self._ranges[node.inputs[0]], matrix.shape[1], self._made.emit
        scales: Array = np.abs(matrix).max(0) / 127
        scales[scales == 0] = 1
        whole: Array = np.clip(np.round(matrix / scales), -127, 127).astype(np.int8)
        packed = topi.pack_dot(whole, topi.dot_panel(columns))
        sums = emit("packed_dot", (rows, self._made.param(packed, f"{node.name}.bytes")),
                    node=f"{node.name}.sums")  # fmt: skip
        wide = packed.shape[0] * packed.shape[2]
        if wide != columns:
            sums = emit("slice", (sums,), node=f"{node.name}.columns", starts=(0, 0),
                        ends=(self._made.types[sums].sizes[0], columns), axes=(0, 1),
                        steps=(1, 1))  # fmt: skip
        factor = (scales * found.scale).astype(np.float32)
        shift: Array = -factor * found.zero * whole.astype(np.int64).sum(0)
        if bias:
            shift = shift + self._old.params[bias]
        made = emit("cast", (sums,), node=f"{node.name}.wide", dtype="float32")
        made = emit("multiply", (made, self._made.param(factor, f"{node.name}.factor")))
        shifts = self._made.param(shift.astype(np.float32), f"{node.name}.shift")
        return emit("add", (made, shifts))
