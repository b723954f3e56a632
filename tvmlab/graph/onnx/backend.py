"""tvmlab as a backend of the onnx package, for its suite of tests.

Shapes of graphs are fixed, so a model is compiled for the shapes of the arrays it is run on. Values
that shapes depend on, such as the target of a Reshape that is an input, are taken as known: the
model is compiled again for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from tvmlab.graph.compiler import BuildOptions, build
from tvmlab.graph.ir import Array, Graph
from tvmlab.graph.types import GraphError
from tvmlab.runtime import GraphModule, create
from tvmlab.support import fields_of

from .importer import from_onnx
from .proto import tensor_array
from .registry import NeedsValue
from .support import check_support
from .text_model import TextModel, as_texts, has_text

_LARGEST_KNOWN = 4096
"""Elements of an input that may be taken as known: shapes and lists of indices are short."""


class Prepared(BackendRep):
    """A model that is compiled for the shapes it is run on."""

    def __init__(self, model: onnx.ModelProto, options: BuildOptions) -> None:
        check_support(model)
        self._model, self._options = model, options
        constants = {t.name for t in model.graph.initializer}
        self._inputs = [i.name for i in model.graph.input if i.name not in constants]
        self._modules: dict[Any, GraphModule] = {}
        self._known: set[str] = set()

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        """The outputs for a list of arrays, or a mapping of names to arrays."""
        del kwargs
        fields = fields_of(inputs)
        given = dict(zip(self._inputs, inputs, strict=False)) if fields is None else fields
        return self.run_arrays({str(name): _array(a) for name, a in given.items()})

    def run_arrays(self, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
        """The outputs for arrays by name."""
        module = self._module(arrays)
        wanted = [s.name for s in module.plan.inputs]
        module.run(**{name: arrays[name] for name in wanted})
        return tuple(module.get_output(n) for n in range(len(module.plan.outputs)))

    def _module(self, arrays: Mapping[str, Array]) -> GraphModule:
        while True:
            key = self._key(arrays)
            if key in self._modules:
                return self._modules[key]
            try:
                graph = self._graph(arrays)
            except NeedsValue as error:
                self._learn(error, arrays)
                continue
            made = build(graph, options=self._options)
            module = create(made.graph, made.lib)
            module.bind_params(made.params)
            self._modules[key] = module
            return module

    def _graph(self, arrays: Mapping[str, Array]) -> Graph:
        known = {n: arrays[n] for n in self._known if n in arrays}
        shapes = {n: a.shape for n, a in arrays.items() if n not in known}
        return from_onnx(self._model, shapes=shapes, params=known)

    def _key(self, arrays: Mapping[str, Array]) -> Any:
        return tuple(
            (name, a.dtype.str, a.shape, a.tobytes() if name in self._known else b"")
            for name, a in sorted(arrays.items())
        )

    def _learn(self, error: NeedsValue, arrays: Mapping[str, Array]) -> None:
        """Take the inputs that a value depends on as known, if they are short."""
        found = {n for n in _sources(self._model.graph, error.value) if n in arrays}
        new = {n for n in found - self._known if arrays[n].size <= _LARGEST_KNOWN}
        if not new:
            raise error
        self._known |= new


def _array(value: Any) -> Array:
    """An input as an array; the suite also passes tensors of the standard."""
    if isinstance(value, onnx.TensorProto):
        return tensor_array(value, None)
    return np.asarray(value)


def _sources(graph: onnx.GraphProto, value: str) -> set[str]:
    """The inputs of a graph that a value depends on."""
    makers = {o: node for node in graph.node for o in node.output}
    inputs = {i.name for i in graph.input}
    found: set[str] = set()
    seen: set[str] = set()
    stack = [value]
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in inputs:
            found.add(name)
        elif name in makers:
            stack.extend(makers[name].input)
    # A value inside a function's body has a name of its own: then any input may be meant.
    return found or inputs


class PreparedText(BackendRep):
    """A model with text: its part without text is compiled when it is run."""

    def __init__(self, model: onnx.ModelProto, options: BuildOptions) -> None:
        self._names = [i.name for i in model.graph.input]
        self._parts: dict[bytes, Prepared] = {}
        self._options = options
        self._model = TextModel(model, self._numbers)

    def _numbers(self, part: onnx.ModelProto, given: Mapping[str, Array]) -> Sequence[Array]:
        key = part.SerializeToString()
        if key not in self._parts:
            self._parts[key] = Prepared(part, self._options)
        return self._parts[key].run_arrays(given)

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        """The outputs for a list of arrays, or a mapping of names to arrays."""
        del kwargs
        fields = fields_of(inputs)
        given = dict(zip(self._names, inputs, strict=False)) if fields is None else fields
        arrays = {str(n): _array(a) for n, a in given.items()}
        arrays = {n: as_texts(a) if a.dtype.kind in "OSU" else a for n, a in arrays.items()}
        return tuple(self._model.run(arrays).values())


class TvmlabBackend(Backend):
    """What `onnx.backend.test.BackendTest` asks for."""

    options = BuildOptions()

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """A model ready to run.

        Raises
        ------
        GraphError
            If it uses what is not supported.
        """
        del kwargs
        if not cls.supports_device(device):
            raise GraphError(f"there is no device {device!r}", hint="models run on the CPU")
        if has_text(model.graph):
            return PreparedText(model, cls.options)
        return Prepared(model, cls.options)

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any
    ) -> Any:
        """The outputs of a model."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU",
        outputs_info: Sequence[Any] | None = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """The outputs of a single node.

        Raises
        ------
        GraphError
            Always: the suite makes a model of each node.
        """
        del node, inputs, device, outputs_info, kwargs
        raise GraphError("a single node is not run", hint="make a model of it")

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether there is such a device: the CPU only."""
        return device.split(":")[0] == "CPU"
