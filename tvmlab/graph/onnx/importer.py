"""From an ONNX model to a graph.

>>> graph = from_onnx("model.onnx", sizes={"batch": 1})            # doctest: +SKIP

Nodes whose inputs are known are computed at once, so that chains that work out shapes leave no
trace. What is not supported is reported for the whole model before any work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, Union

import numpy as np

from tvmlab.graph.builder import GraphBuilder
from tvmlab.graph.dims import Dim, Sym, as_dim
from tvmlab.graph.ir import Array, Attribute, Graph, Node
from tvmlab.graph.operators import evaluate_node
from tvmlab.graph.passes import remove_dead
from tvmlab.graph.types import GraphError, TensorType, type_of
from tvmlab.support import DType, ShapeError, UserError

from .frame import Frame, Inside
from .ops_sequence import SEQUENCES
from .order import in_order
from .proto import (
    GraphProto,
    ModelProto,
    NodeProto,
    function_body,
    inlined,
    read_model,
    tensor_array,
    value_shape,
)
from .registry import CONVERTERS, Site
from .support import check_support
from .symbolic import is_known, sizes_of

Held: TypeAlias = Union[str, Array, tuple[str, ...]]
"""What a name of the model stands for: a value, sizes that are not all known, or a sequence."""

_LARGEST_FOLDED = 64 << 20
"""Bytes of a constant that is computed now; larger ones are computed when the model runs."""


_MOST_INSIDE = 1 << 14
"""Nodes of graphs inside nodes, each as often as it is written out."""


def from_onnx(
    source: str | Path | bytes | ModelProto,
    *,
    sizes: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
    params: Mapping[str, Any] | None = None,
) -> Graph:
    """The graph of a model.

    Parameters
    ----------
    source
        The path of a file, its bytes, or a `ModelProto`.
    sizes
        Numbers for names of sizes, such as `{"batch": 1}`.
    shapes
        Shapes of inputs, in place of those that the model declares.
    params
        Values of inputs that are known now: they become parameters, and shapes may depend on them.

    Raises
    ------
    GraphError
        If the file is no model, is wrong, or uses what is not supported; names the node.
    """
    model, folder = read_model(source)
    opset = check_support(model)
    model = inlined(model) if model.functions else model
    importer = _Importer(model.graph.name or "model", opset, folder, sizes or {})
    try:
        return importer.whole(model.graph, shapes or {}, params or {})
    except GraphError:
        raise
    except UserError as error:
        raise GraphError(error.message, hint=error.hint) from None


class _Importer:
    """The graph being built, and which of its values stands for which name of the model."""

    def __init__(
        self, name: str, opset: int, folder: Path | None, sizes: Mapping[str, int]
    ) -> None:
        self.opset = opset
        self.builder = GraphBuilder(name)
        self._folder = folder
        self._sizes = sizes
        self._open: set[str] = set()
        self._scopes: list[dict[str, Held]] = [{}]
        self._frames: list[Frame] = []
        self._inside = 0

    # ------------------------------------------------------------- the whole graph

    def whole(
        self,
        graph: GraphProto,
        shapes: Mapping[str, Sequence[int | str]],
        params: Mapping[str, Any],
    ) -> Graph:
        """All of a model's graph."""
        self._constants(graph)
        given = dict(params)
        for value in graph.input:
            if value.name in self._scopes[0]:
                continue  # an initializer with a declaration, as old models have
            if value.name in given:
                array = np.asarray(given.pop(value.name))
                self._scopes[0][value.name] = self.builder.param(array, value.name)
                continue
            type_ = self._declared(value, shapes.get(value.name))
            self._scopes[0][value.name] = self.builder.input(value.name, type_)
        if given:
            raise GraphError(
                f"the model has no input {min(given)!r}",
                hint=f"inputs are {', '.join(i.name for i in graph.input)}",
            )
        unknown = self._sizes.keys() - self._open
        if unknown:
            raise GraphError(
                f"the model leaves no size {min(unknown)!r} open",
                hint=f"it leaves open: {', '.join(sorted(self._open)) or 'none'}",
            )
        self._nodes(graph)
        outputs = [self._value(o.name, f"the output {o.name}") for o in graph.output]
        for output in outputs:
            self.builder.output(output)
        return _with_names(remove_dead(self.builder.graph()), [o.name for o in graph.output])

    def _constants(self, graph: GraphProto) -> None:
        if graph.sparse_initializer:
            raise GraphError("sparse initializers are not supported")
        for tensor in graph.initializer:
            array = tensor_array(tensor, self._folder)
            self._define(tensor.name, self.builder.param(array, tensor.name))

    def _declared(self, value: Any, shape: Sequence[int | str] | None) -> TensorType:
        dtype, sizes = value_shape(value.type, f"the input {value.name}")
        if shape is not None:
            if len(shape) != len(sizes):
                raise GraphError(f"the input {value.name} has {len(sizes)} dimensions, but a shape "
                                 f"of {len(shape)} is given")  # fmt: skip
            sizes = list(shape)
        dims = [self._size(s, f"{value.name}_{d}") for d, s in enumerate(sizes)]
        return TensorType.of(dtype, dims)

    def _size(self, size: Any, name: str) -> Dim:
        if isinstance(size, int):
            if size < 0:
                raise ShapeError(f"the input size {name} is {size}, which is impossible")
            return as_dim(size)
        wanted = Sym.name(str(size or name))
        self._open.add(str(size or name))
        return wanted.bind(self._sizes)

    # -------------------------------------------------------------------- nodes

    def _nodes(self, graph: GraphProto) -> None:
        for node in in_order(graph, self._known_names()):
            self._node(node)

    def _node(self, node: NodeProto) -> None:
        if not node.output:
            raise GraphError(f"node {node.name} ({node.op_type}) has no output")
        found = [self._lookup(i) if i else None for i in node.input]
        if any(isinstance(f, np.ndarray) for f in found) and self._sizes_node(node, found):
            return
        if self._sequence_node(node, found):
            return
        if node.op_type == "Shape" and self._shape_node(node, found[0] if found else None):
            return
        sizes = {n: f for n, f in enumerate(found) if isinstance(f, np.ndarray)
                 and node.op_type == "Reshape" and n == 1}  # fmt: skip
        inputs = [self._value(i, f"node {node.name} ({node.op_type})") if i and n not in sizes
                  else "" for n, i in enumerate(node.input)]  # fmt: skip
        domain = "" if node.domain == "ai.onnx" else node.domain
        site = Site(node, inputs, self, sizes)
        try:
            convert = CONVERTERS.get((domain, node.op_type))
            result = self._body(site, domain) if convert is None else convert(site)
        except GraphError:
            raise
        except UserError as error:
            raise site.error(error.message, error.hint) from None
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise site.error(f"its inputs or attributes do not fit: {error}") from None
        values = [result] if isinstance(result, str) else list(result)
        for name, value in zip(node.output, values, strict=False):
            if name:
                self._define(name, value)
        if len(values) < len(node.output) and any(node.output[len(values) :]):
            raise site.error(f"output {len(values)} is not supported")

    def _sequence_node(self, node: NodeProto, found: list[Any]) -> bool:
        """Build what works on sequences; whether the node does that."""
        rule = SEQUENCES.get(node.op_type)
        if rule is None or (node.op_type == "Identity" and not isinstance(found[0], tuple)):
            return False
        site = Site(node, [f if isinstance(f, str) else "" for f in found], self)
        self._define(node.output[0], rule(site, found))
        return True

    def _sizes_node(self, node: NodeProto, found: list[Any]) -> bool:
        """Compute sizes from sizes; whether the node does that."""
        arrays = [self.array_of(f) if isinstance(f, str) else f for f in found if f is not None]
        if any(a is None for a in arrays):
            return False
        try:
            sizes = sizes_of(node, [np.asarray(a, object) for a in arrays])
        except (ValueError, IndexError, TypeError, ShapeError):
            return False
        if sizes is None:
            return False
        self._define_sizes(node.output[0], sizes)
        return True

    def _shape_node(self, node: NodeProto, source: Any) -> bool:
        if not isinstance(source, str) or not source:
            return False
        shape = self.builder.shape(source)
        attrs = {a.name: a.i for a in node.attribute}
        part = shape[slice(attrs.get("start", 0), attrs.get("end", len(shape)))]
        self._define_sizes(node.output[0], np.array([*part, None], object)[:-1])
        return True

    def _define_sizes(self, name: str, sizes: Array) -> None:
        if is_known(sizes):
            self._define(name, self.builder.param(sizes.astype(np.int64), name))
        else:
            self._define(name, sizes)

    # ------------------------------------------------------ names and surroundings

    def _known_names(self) -> set[str]:
        return {name for scope in self._scopes for name in scope}

    def _lookup(self, name: str) -> Held:
        for level in range(len(self._scopes) - 1, -1, -1):
            found = self._scopes[level].get(name)
            if found is not None:
                return self._from_outside(found, level)
        raise GraphError(f"the value {name} is used, but made by no node")

    def _from_outside(self, found: Held, level: int) -> Held:
        """What a name of an outer scope stands for in the graph that is being built."""
        for frame in self._frames:
            if level < frame.floor:
                if isinstance(found, str):
                    found = frame.taken(found)
                elif isinstance(found, tuple):
                    found = tuple(frame.taken(value) for value in found)
        return found

    def _value(self, name: str, where: str) -> str:
        found = self._lookup(name)
        if isinstance(found, str):
            return found
        if isinstance(found, tuple):
            raise GraphError(f"{where} takes the sequence {name}, but works on tensors")
        shown = ", ".join(str(s) for s in found.reshape(-1))
        raise GraphError(
            f"{where} computes with the sizes [{shown}], which are not known",
            hint="give them: from_onnx(model, sizes={'name': 1})",
        )

    def _define(self, name: str, value: Held) -> None:
        self._scopes[-1][name] = value

    def type_of(self, value: str) -> TensorType:
        """The type of a value of the graph."""
        return self.builder.types[value]

    def array_of(self, value: str) -> Array | None:
        """Its value, if it is a constant."""
        return self.builder.params.get(value)

    def param(self, array: Any, name: str) -> str:
        """A constant."""
        data = np.asarray(array)
        DType.of(data.dtype)
        return self.builder.param(data, name)

    def add(
        self, op: str, inputs: Sequence[str], count: int, attrs: dict[str, Attribute],
        names: Sequence[str], node: str,
    ) -> list[str]:  # fmt: skip
        """A node, or constants if all its inputs are."""
        if op == "identity":
            return [inputs[0]]
        made = self.builder.add_several(op, inputs, count, attrs, names, node)
        arrays = [self.array_of(i) if i else None for i in inputs]
        known = all(a is not None for a, i in zip(arrays, inputs, strict=True) if i)
        known = known and op != "while_loop"  # which may never end
        room = sum(self._bytes(m) for m in made)
        if not inputs or not known or room > _LARGEST_FOLDED:
            return made
        added: Node = self.builder.nodes.pop()
        results = evaluate_node(added, arrays)
        for name, array in zip(made, results, strict=False):
            self.builder.params[name] = array
            self.builder.types[name] = type_of(array)
        return made

    def _bytes(self, value: str) -> int:
        type_ = self.builder.types[value]
        return _LARGEST_FOLDED + 1 if type_.names else type_.nbytes

    def _body(self, site: Site, domain: str) -> Sequence[str]:
        """The outputs of a node by the body that the standard gives of it."""
        types = [self.builder.types[i] if i else None for i in site.inputs]
        body, opset = function_body(site.node, domain, self.opset, types)
        outer, self.opset = self.opset, opset
        pairs = zip(body.input, site.inputs, strict=False)
        scope: dict[str, Held] = {name: value for name, value in pairs if value}
        scopes, self._scopes = self._scopes, [scope]
        try:
            for node in body.node:
                self._node(node)
            return [
                value if isinstance(value := scope.get(o, ""), str) else "" for o in body.output
            ]
        finally:
            self._scopes, self.opset = scopes, outer

    def value_of(self, name: str) -> str:
        """The value that stands for a name of the model."""
        return self._value(name, "a node")

    @property
    def frame(self) -> Frame | None:
        """The graph apart that is being built."""
        return self._frames[-1] if self._frames else None

    def nodes_so_far(self) -> Sequence[Node]:
        """The nodes that are built already."""
        return tuple(self.builder.nodes)

    def branch(self, site: Site, graph: GraphProto, inputs: Sequence[str]) -> Sequence[str]:
        """The outputs of a graph inside a node, built in place on values of its inputs."""
        self._inside += len(graph.node)
        if self._inside > _MOST_INSIDE:
            raise site.error(
                f"loops and branches, written out, have more than {_MOST_INSIDE} nodes",
                hint="export the model with fewer turns",
            )
        self._scopes.append(dict(zip((i.name for i in graph.input), inputs, strict=False)))
        try:
            self._constants(graph)
            self._nodes(graph)
            return [self._value(o.name, site.where) for o in graph.output]
        finally:
            self._scopes.pop()

    def apart(self, types: Sequence[TensorType], make: Inside) -> Frame:
        """A graph of its own, which may take values of the graph around it.

        Parameters
        ----------
        types
            Of the inputs that it has anyway.
        make
            From these inputs, and what brings a value in from outside, to its outputs.
        """
        frame = Frame(self.builder, len(self._scopes))
        self._frames.append(frame)
        self.builder = frame.builder
        try:
            frame.states = [self.builder.input(f"state{n}", t) for n, t in enumerate(types)]
            for output in make(frame.states, frame.taken):
                self.builder.output(output)
        finally:
            self.builder = frame.outer
            self._frames.pop()
        return frame


def _with_names(graph: Graph, names: Sequence[str]) -> Graph:
    """The graph with copies where outputs would not have the model's names for them."""
    nodes, outputs, types = list(graph.nodes), list[str](), dict(graph.types)
    for value, name in zip(graph.outputs, names, strict=True):
        if value == name or name in types:
            outputs.append(value)
            continue
        types[name] = types[value]
        nodes.append(Node("identity", (value,), (name,), {}, name))
        outputs.append(name)
    return graph.with_nodes(nodes, outputs=outputs, types=types)
