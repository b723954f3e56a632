"""The table of operators: for each its attributes, its rule of types, and what it computes.

An operator stands here in two functions: one gives the types of its outputs, one computes them with
NumPy, slowly and plainly. The second is the reference for compiled code, and folds constants.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, Union, cast

from numpy.typing import NDArray

from tvmlab.graph.ir import Attribute, Node
from tvmlab.graph.types import GraphError, TensorType
from tvmlab.support import DType, OptionError, ShapeError, TypeMismatch, UserError, shown

Array: TypeAlias = NDArray[Any]
Kind: TypeAlias = Literal["injective", "reduction", "complex", "opaque"]
"""The classes that decide fusion: each element from single elements; sums over dimensions; what
takes element-wise work onto its output; and what stays alone."""

Form: TypeAlias = Literal["int", "float", "text", "flag", "ints", "floats", "dtype"]


@dataclass(frozen=True, slots=True)
class Attr:
    """What an attribute is: its form, its default (None: it must be given), its choices."""

    form: Form
    default: Attribute | None = None
    choices: tuple[Attribute, ...] = ()


class Attrs:
    """The attributes of a node, checked, with defaults filled in."""

    def __init__(self, values: Mapping[str, Attribute]) -> None:
        self._values = values

    def int(self, name: str) -> int:
        return cast("int", self._values[name])

    def float(self, name: str) -> float:
        return cast("float", self._values[name])

    def text(self, name: str) -> str:
        return cast("str", self._values[name])

    def flag(self, name: str) -> bool:
        return bool(self._values[name])

    def ints(self, name: str) -> tuple[int, ...]:
        return cast("tuple[int, ...]", self._values[name])

    def floats(self, name: str) -> tuple[float, ...]:
        return cast("tuple[float, ...]", self._values[name])

    def dtype(self, name: str) -> DType:
        return DType.of(self.text(name))

    def __contains__(self, name: str) -> bool:
        return name in self._values


@dataclass(frozen=True, slots=True)
class Call:
    """A node being typed: the types of its inputs (None where one is left out), its attributes."""

    types: tuple[TensorType | None, ...]
    attrs: Attrs

    def __getitem__(self, number: int) -> TensorType:
        found = self.get(number)
        if found is None:
            raise ShapeError(f"input {number} is left out, but it is needed")
        return found

    def get(self, number: int) -> TensorType | None:
        """The type of an optional input."""
        return self.types[number] if number < len(self.types) else None

    @property
    def given(self) -> list[TensorType]:
        """The types of all inputs, none of which may be left out."""
        return [self[n] for n in range(len(self.types))]


Types: TypeAlias = Union[TensorType, Sequence[TensorType]]
Infer: TypeAlias = Callable[[Call], Types]
Evaluate: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of graphs.

    Attributes
    ----------
    inputs
        The least and the greatest number of inputs; None for any number.
    outputs
        How many it makes; 0 if that depends on its attributes.
    evaluate
        Takes the attributes and an array for each input; gives an array or a tuple of them.
    """

    name: str
    kind: Kind
    inputs: tuple[int, int | None]
    outputs: int
    attrs: Mapping[str, Attr]
    infer: Infer
    evaluate: Evaluate = field(repr=False)


OPERATORS: dict[str, Operator] = {}


def operator(
    name: str,
    infer: Infer,
    evaluate: Evaluate,
    kind: Kind = "injective",
    inputs: int | tuple[int, int | None] = 1,
    outputs: int = 1,
    **attrs: Attr,
) -> None:
    """Enter an operator into the table."""
    assert name not in OPERATORS, name
    arity = (inputs, inputs) if isinstance(inputs, int) else inputs
    OPERATORS[name] = Operator(name, kind, arity, outputs, attrs, infer, evaluate)


def find(node: Node) -> Operator:
    """The operator of a node.

    Raises
    ------
    GraphError
        If there is none of that name.
    """
    found = OPERATORS.get(node.op)
    if found is None:
        close = difflib.get_close_matches(node.op, OPERATORS, n=1)
        raise GraphError(
            f"node {node.name} has the operator {node.op!r}, which does not exist",
            hint=f"did you mean {close[0]!r}?" if close else "tvmlab.graph.OPERATORS lists them",
        )
    return found


def attributes(node: Node) -> Attrs:
    """The node's attributes, checked, with defaults.

    Raises
    ------
    GraphError
        It names node and attribute.
    """
    spec = find(node)
    unknown = [name for name in node.attrs if name not in spec.attrs]
    if unknown:
        raise GraphError(
            f"{_where(node)} has no attribute {unknown[0]!r}",
            hint=f"attributes are {', '.join(spec.attrs) or 'none'}",
        )
    values: dict[str, Attribute] = {}
    for name, attr in spec.attrs.items():
        given = node.attrs.get(name, attr.default)
        if given is None:
            raise GraphError(f"{_where(node)} needs the attribute {name!r}")
        values[name] = _checked(node, name, attr, given)
    return Attrs(values)


def infer_types(node: Node, types: Sequence[TensorType | None]) -> list[TensorType]:
    """The types of a node's outputs.

    Raises
    ------
    GraphError
        It names the node, and what of it does not fit.
    """
    spec = find(node)
    low, high = spec.inputs
    if len(types) < low or (high is not None and len(types) > high):
        wanted = (
            f"{low}" if high == low else f"{low} or more" if high is None else f"{low} to {high}"
        )
        raise GraphError(f"{_where(node)} takes {wanted} input(s), not {len(types)}")
    attrs = attributes(node)
    try:
        found = spec.infer(Call(tuple(types), attrs))
        made = [found] if isinstance(found, TensorType) else list(found)
        made = [TensorType.of(t.dtype, t.shape) for t in made]
    except GraphError:
        raise
    except UserError as error:
        shapes = ", ".join("-" if t is None else str(t) for t in types)
        raise GraphError(f"{_where(node)} of {shapes}: {error.message}", hint=error.hint) from None
    if len(node.outputs) > len(made):
        raise GraphError(f"{_where(node)} makes {len(made)} output(s), not {len(node.outputs)}")
    return made


def evaluate_node(node: Node, arrays: Sequence[Array | None]) -> list[Array]:
    """A node's outputs, by its reference."""
    result = find(node).evaluate(attributes(node), *arrays)
    return list(cast("tuple[Array, ...]", result)) if isinstance(result, tuple) else [result]


def _where(node: Node) -> str:
    return f"node {node.name or '(without a name)'} ({node.op})"


def _checked(node: Node, name: str, attr: Attr, value: Attribute) -> Attribute:
    try:
        fitting = _FORMS[attr.form](value)
    except (TypeError, ValueError, OverflowError, TypeMismatch):
        raise GraphError(
            f"{_where(node)} has {name} = {shown(value)}, which is no {_WORDS[attr.form]}"
        ) from None
    if attr.choices and fitting not in attr.choices:
        raise GraphError(
            f"{_where(node)} has {name} = {shown(value)}",
            hint=f"it is one of {', '.join(map(str, attr.choices))}",
        )
    return fitting


def _int(value: Any) -> int:
    if isinstance(value, (str, float)):
        raise TypeError
    return value.__index__()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _several(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(value: Any) -> Any:
        if isinstance(value, (str, int, float)):
            raise TypeError
        return tuple(convert(v) for v in value)

    return converted


def _float(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError
    return float(value)


_FORMS: dict[Form, Callable[[Any], Any]] = {
    "int": _int, "float": _float, "text": _text, "flag": lambda v: bool(_int(v)),
    "ints": _several(_int), "floats": _several(_float), "dtype": lambda v: DType.of(_text(v)).name,
}  # fmt: skip
_WORDS: dict[Form, str] = {
    "int": "whole number", "float": "number", "text": "text", "flag": "truth value",
    "ints": "list of whole numbers", "floats": "list of numbers", "dtype": "element type",
}  # fmt: skip


def axis_of(axis: int, rank: int, name: str = "axis") -> int:
    """A dimension counted from the front.

    Raises
    ------
    OptionError
        If the tensor has no such dimension.
    """
    if not -rank <= axis < max(rank, 1):
        raise OptionError(f"{name} is {axis}, but the input has {rank} dimension(s)")
    return axis + rank if axis < 0 else axis


def axes_of(axes: Sequence[int], rank: int, name: str = "axes") -> tuple[int, ...]:
    """Different dimensions counted from the front."""
    found = tuple(axis_of(a, rank, name) for a in axes)
    if len(set(found)) != len(found):
        raise OptionError(f"{name} {list(axes)} names a dimension twice")
    return found


def need(type_: TensorType, what: Literal["float", "number", "int", "bool", "index"]) -> None:
    """Refuse an element type that an operator cannot work on.

    Raises
    ------
    TypeMismatch
        If it is none.
    """
    dtype = type_.dtype
    fits = {
        "float": dtype.is_float, "number": dtype.is_float or dtype.is_int, "int": dtype.is_int,
        "bool": dtype.is_bool, "index": dtype.name in ("int32", "int64"),
    }[what]  # fmt: skip
    if not fits:
        words = {"float": "floats", "number": "numbers", "int": "integers", "bool": "bools",
                 "index": "int32 or int64"}  # fmt: skip
        raise TypeMismatch(f"it works on {words[what]}, not on {dtype}")


def same_dtype(types: Sequence[TensorType]) -> DType:
    """The one element type of all inputs.

    Raises
    ------
    TypeMismatch
        If they differ.
    """
    if len({t.dtype for t in types}) > 1:
        names = " and ".join(dict.fromkeys(str(t.dtype) for t in types))
        raise TypeMismatch(f"its inputs must have one element type, not {names}",
                           hint="insert a cast")  # fmt: skip
    return types[0].dtype
