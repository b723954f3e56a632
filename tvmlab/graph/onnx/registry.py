"""The table of converters: what of the standard becomes what of a graph.

A converter gets a `Site`, the node with its surroundings, and gives the names of the values that
stand for the node's outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, Union

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.ir import Array, Attribute, Node
from tvmlab.graph.types import GraphError, TensorType
from tvmlab.support import DType

from .frame import Frame, Inside
from .proto import GraphProto, NodeProto, TensorProto, attribute_value, element_type, tensor_array

Result: TypeAlias = Union[str, Sequence[str]]
Converter: TypeAlias = Callable[["Site"], Result]


class NeedsValue(GraphError):  # noqa: N818 - the name says what is wrong
    """A value must be known while the graph is built; `value` is its name in the model."""

    def __init__(self, message: str, value: str, hint: str | None = None) -> None:
        GraphError.__init__(self, message, hint=hint)
        self.value = value


class Surroundings(Protocol):
    """What a site asks of the importer; `frame` is the turn of a loop that is being built."""

    opset: int

    @property
    def frame(self) -> Frame | None: ...

    def type_of(self, value: str) -> TensorType: ...
    def array_of(self, value: str) -> Array | None: ...
    def add(self, op: str, inputs: Sequence[str], count: int, attrs: dict[str, Attribute],
            names: Sequence[str], node: str) -> list[str]: ...  # fmt: skip
    def param(self, array: Any, name: str) -> str: ...
    def branch(self, site: Site, graph: GraphProto, inputs: Sequence[str]) -> Sequence[str]: ...
    def apart(self, types: Sequence[TensorType], make: Inside) -> Frame: ...
    def value_of(self, name: str) -> str: ...
    def nodes_so_far(self) -> Sequence[Node]: ...


class Site:
    """A node of a model being converted.

    Attributes
    ----------
    inputs
        Values of the graph being built; "" for inputs that are left out.
    sizes
        Inputs that are lists of sizes, some of which are names.
    """

    def __init__(
        self,
        node: NodeProto,
        inputs: Sequence[str],
        around: Surroundings,
        sizes: Mapping[int, Array] | None = None,
    ) -> None:
        self.node, self.around = node, around
        self.sizes = dict(sizes or {})
        self.inputs = list(inputs)
        self.attrs: dict[str, Any] = {a.name: attribute_value(a) for a in node.attribute}
        self.opset = around.opset

    # ------------------------------------------------------------------ reading

    @property
    def name(self) -> str:
        """What messages call the node."""
        return self.node.name or (self.node.output[0] if self.node.output else self.node.op_type)

    def has(self, number: int) -> bool:
        """Whether an optional input is given."""
        return number < len(self.inputs) and bool(self.inputs[number])

    def __getitem__(self, number: int) -> str:
        if not self.has(number):
            raise self.error(f"input {number} is missing")
        return self.inputs[number]

    def get(self, number: int) -> str:
        """An optional input, "" if it is left out."""
        return self.inputs[number] if self.has(number) else ""

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute; an error if it is missing and has no default."""
        value = self.attrs.get(name)
        if value is None:
            if default is None:
                raise self.error(f"the attribute {name!r} is missing")
            return default
        fits = isinstance(value, (int, float) if isinstance(default, float) else type(default))
        if default is not None and not fits:
            raise self.error(f"the attribute {name!r} is {value!r}, of the wrong kind")
        return value

    def type(self, number: int = 0) -> TensorType:
        """The type of an input."""
        return self.around.type_of(self[number])

    def shape_of(self, value: str) -> tuple[Dim, ...]:
        """The shape of a value."""
        return self.around.type_of(value).shape

    def dtype_of(self, value: str) -> DType:
        """The element type of a value."""
        return self.around.type_of(value).dtype

    @property
    def rank(self) -> int:
        """The number of dimensions of the first input."""
        return self.type().rank

    def known(self, number: int) -> Array | None:
        """The value of an input, if it is known now."""
        return self.around.array_of(self.inputs[number]) if self.has(number) else None

    def constant(self, number: int, what: str) -> Array:
        """The value of an input that must be known now.

        Raises
        ------
        NeedsValue
            If it is computed only when the model runs.
        """
        found = self.known(number)
        if found is None:
            value = self.node.input[number]
            raise NeedsValue(
                f"{self.where}: {what} is computed when the model runs ({value}), but a graph has "
                "fixed shapes",
                value,
                hint="give the inputs it depends on as params, or sizes for unknown dimensions",
            )
        return found

    def ints(self, number: int, what: str) -> tuple[int, ...]:
        """A list of whole numbers that must be known now."""
        return tuple(int(v) for v in self.constant(number, what).reshape(-1))

    def ints_of(self, name: str, number: int, what: str) -> tuple[int, ...] | None:
        """Whole numbers that older models have as an attribute, newer ones as an input."""
        if name in self.attrs:
            return tuple(self.attrs[name])
        return self.ints(number, what) if self.has(number) else None

    def tensor(self, name: str) -> Array:
        """An attribute that is a tensor."""
        value = self.attr(name)
        if not isinstance(value, TensorProto):
            raise self.error(f"the attribute {name!r} is no tensor")
        return tensor_array(value, None)

    def graph(self, name: str) -> GraphProto:
        """An attribute that is a graph."""
        value = self.attr(name)
        if not isinstance(value, GraphProto):
            raise self.error(f"the attribute {name!r} is no graph")
        return value

    def element_type(self, name: str, default: int | None = None) -> DType:
        """An attribute that is an element type."""
        return element_type(int(self.attr(name, default)), f"{self.where}: {name}")

    # ------------------------------------------------------------------ writing

    def add(self, op: str, *inputs: str, **attrs: Attribute) -> str:
        """A node with one output."""
        return self.add_several(op, inputs, 1, attrs)[0]

    def add_several(
        self, op: str, inputs: Sequence[str], count: int, attrs: dict[str, Attribute]
    ) -> list[str]:
        """A node with several outputs."""
        names = [o or f"{self.name}.{n}" for n, o in enumerate(self.node.output)]
        return self.around.add(op, inputs, count, attrs, names, self.name)

    def param(self, array: Any, name: str = "") -> str:
        """A constant."""
        return self.around.param(np.asarray(array), name or f"{self.name}.const")

    def scalar(self, number: float, like: str) -> str:
        """A constant of no dimensions, of the type of a value."""
        return self.param(np.asarray(number).astype(self.dtype_of(like).numpy))

    def reshape(self, value: str, shape: Sequence[Dim]) -> str:
        """A value in another shape, at most one size of which may be a name."""
        unknown = [d for d, s in enumerate(shape) if not isinstance(s, int)]
        if len(unknown) > 1:
            raise self.error(f"the shape {list(shape)} has more than one unknown size")
        sizes = tuple(-1 if d in unknown else int(s) for d, s in enumerate(shape))  # type: ignore[arg-type]
        return value if tuple(shape) == self.shape_of(value) else self.add("reshape", value,
                                                                           shape=sizes)  # fmt: skip

    def cast(self, value: str, dtype: DType | str) -> str:
        """A value converted to an element type."""
        to = DType.of(dtype)
        return value if self.dtype_of(value) == to else self.add("cast", value, dtype=to.name)

    # ----------------------------------------------------------------- refusing

    @property
    def where(self) -> str:
        """The node, for messages."""
        return f"node {self.name} ({self.node.op_type})"

    def error(self, message: str, hint: str | None = None) -> GraphError:
        """An error that names the node."""
        return GraphError(f"{self.where}: {message}", hint=hint)


CONVERTERS: dict[tuple[str, str], Converter] = {}


def onnx_op(*names: str, domain: str = "") -> Callable[[Converter], Converter]:
    """Enter a function as the converter of operators of the standard."""

    def enter(function: Converter) -> Converter:
        for name in names:
            assert (domain, name) not in CONVERTERS, name
            CONVERTERS[domain, name] = function
        return function

    return enter


def same_name(table: dict[str, str]) -> None:
    """Enter operators that need only another name."""
    for name, op in table.items():
        CONVERTERS["", name] = lambda site, op=op: site.add(op, *site.inputs)
