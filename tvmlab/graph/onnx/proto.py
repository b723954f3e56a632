"""Reading model files: the only place that imports the onnx package.

What a file claims is checked before memory is set aside for it: sizes against the bytes that are
there, and places of external data against the folder that the model lies in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from tvmlab.graph.ir import Array
from tvmlab.graph.types import GraphError, TensorType
from tvmlab.support import DType, ShapeError, shown

ModelProto = onnx.ModelProto
NodeProto = onnx.NodeProto
GraphProto = onnx.GraphProto
TensorProto = onnx.TensorProto

LARGEST_FILE = 2 << 30

ELEMENT_TYPES: dict[int, str] = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
}  # fmt: skip
_MOST_DIMS = 32


def element_type(number: int, what: str) -> DType:
    """The element type of a number of ONNX.

    Raises
    ------
    GraphError
        If tvmlab has no such type.
    """
    name = ELEMENT_TYPES.get(number)
    if name is None:
        names = {v: k for k, v in TensorProto.DataType.items()}
        raise GraphError(
            f"{what} is of the element type {names.get(number, number)}, which is not supported",
            hint="text runs on the host: tvmlab.graph.onnx.backend.TvmlabBackend.prepare(model)"
            if number == TensorProto.STRING
            else f"supported are {', '.join(ELEMENT_TYPES.values())}",
        )
    return DType.of(name)


def read_model(source: Any) -> tuple[ModelProto, Path | None]:
    """The model of a file, of bytes, or a model itself; and the folder of its external data.

    Raises
    ------
    GraphError
        If there is no such file, or it holds no model.
    """
    if isinstance(source, ModelProto):
        return source, None
    if isinstance(source, bytes):
        return _decoded(source, "the data"), None
    if not isinstance(source, (str, Path)):
        raise GraphError(
            f"a model cannot be read from {shown(source)}",
            hint="pass the path of an .onnx file, its bytes, or a ModelProto",
        )
    path = Path(source)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise GraphError(f"{path} is larger than 2 GiB, which no ONNX file can be",
                             hint="large weights belong into external data beside it")  # fmt: skip
        data = path.read_bytes()
    except OSError as error:
        raise GraphError(f"the model {path} cannot be read: {error.strerror}") from None
    return _decoded(data, str(path)), path.parent


def _decoded(data: bytes, what: str) -> ModelProto:
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, ValueError, RuntimeError):
        raise GraphError(
            f"{what} is no ONNX model, or is damaged",
            hint="it may be truncated: compare its size with the original",
        ) from None
    if not model.graph.node and not model.graph.output:
        raise GraphError(f"{what} holds no graph", hint="it may be truncated, or no ONNX model")
    return model


def tensor_array(tensor: TensorProto, folder: Path | None) -> Array:
    """The values of a constant tensor.

    Raises
    ------
    GraphError
        If its size does not fit to its data, or the data lies where it may not.
    """
    what = f"the tensor {tensor.name or '(without a name)'}"
    dims = [int(d) for d in tensor.dims]
    dtype = element_type(tensor.data_type, what)
    if len(dims) > _MOST_DIMS or any(d < 0 for d in dims):
        raise GraphError(f"{what} has the shape {dims}, which is impossible")
    wanted = math.prod(dims) * dtype.itemsize
    if tensor.data_location == TensorProto.EXTERNAL:
        data = _external(tensor, what, folder, wanted)
        return np.frombuffer(data, _little(dtype)).reshape(dims).astype(dtype.numpy, copy=False)
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != wanted:
            raise GraphError(f"{what} claims {wanted} bytes, but has {len(tensor.raw_data)}")
        return np.frombuffer(tensor.raw_data, _little(dtype)).reshape(dims).astype(
            dtype.numpy, copy=False)  # fmt: skip
    entries = sum(len(getattr(tensor, f)) for f in (
        "float_data", "int32_data", "int64_data", "double_data", "uint64_data"))  # fmt: skip
    if entries != math.prod(dims):
        raise GraphError(f"{what} claims {math.prod(dims)} elements, but has {entries}")
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, OverflowError) as error:
        raise GraphError(f"{what} is damaged: {error}") from None


def _little(dtype: DType) -> Any:
    return dtype.numpy if dtype.kind == "bfloat" else dtype.numpy.newbyteorder("<")


def _external(tensor: TensorProto, what: str, folder: Path | None, wanted: int) -> bytes:
    """Bytes from a file beside the model, never from elsewhere."""
    entries = {e.key: e.value for e in tensor.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise GraphError(f"{what} lies in the file {shown(location)}, but the model came without a "
                         "folder", hint="load the model by its path")  # fmt: skip
    root = folder.resolve()
    outside = not location or "\\" in location or "\0" in location
    path = root if outside else (root / location).resolve()
    if outside or Path(location).is_absolute() or root not in path.parents or not path.is_file():
        raise GraphError(f"{what} names the file {shown(location)}, which is not in the model's "
                         "folder", hint="external data must lie beside the model")  # fmt: skip
    try:
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", wanted))
    except ValueError:
        raise GraphError(f"{what} has an offset or length that is no number") from None
    size = path.stat().st_size
    if length != wanted or offset < 0 or offset + length > size:
        raise GraphError(
            f"{what} claims {wanted} bytes at {offset} of {location}, which has {size}"
        )
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def attribute_value(attribute: Any) -> Any:
    """An attribute as a Python value; tensors and graphs as they are."""
    kind = attribute.type
    if kind == onnx.AttributeProto.FLOAT:
        return float(attribute.f)
    if kind == onnx.AttributeProto.INT:
        return int(attribute.i)
    if kind == onnx.AttributeProto.STRING:
        return attribute.s.decode(errors="replace")
    if kind == onnx.AttributeProto.FLOATS:
        return tuple(float(v) for v in attribute.floats)
    if kind == onnx.AttributeProto.INTS:
        return tuple(int(v) for v in attribute.ints)
    if kind == onnx.AttributeProto.STRINGS:
        return tuple(v.decode(errors="replace") for v in attribute.strings)
    if kind == onnx.AttributeProto.TENSOR:
        return attribute.t
    if kind == onnx.AttributeProto.GRAPH:
        return attribute.g
    return None


def inlined(model: ModelProto) -> ModelProto:
    """The model with the bodies of its own functions in place of their calls.

    Raises
    ------
    GraphError
        If a function cannot be inlined.
    """
    try:
        return onnx.inliner.inline_local_functions(model)
    except Exception as error:  # whatever the inliner, which is C++, has to say
        raise GraphError(f"a function of the model cannot be inlined: {error}") from None


def _schema(domain: str, op: str, version: int) -> Any:
    try:
        return onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        return None


def has_function(domain: str, op: str, version: int) -> bool:
    """Whether the standard defines an operator by a body of other operators."""
    schema = _schema(domain, op, version)
    return schema is not None and bool(schema.has_function or schema.has_context_dependent_function)


def function_body(
    node: NodeProto, domain: str, version: int, types: Sequence[TensorType | None]
) -> tuple[Any, int]:
    """The body of an operator as a function, with the node's attributes, and its version.

    Raises
    ------
    GraphError
        If it has none for these types.
    """
    schema = _schema(domain, node.op_type, version)
    body = onnx.FunctionProto()
    if schema.has_function:
        body.CopyFrom(schema.function_body)
    else:
        protos = [_type_proto(t).SerializeToString() for t in types]
        data = schema.get_context_dependent_function(node.SerializeToString(), protos)
        body.ParseFromString(data)
    if not body.node:
        raise GraphError(f"node {node.name} ({node.op_type}) has no body for these inputs")
    given = {a.name: a for a in node.attribute}
    defaults = {n: a.default_value for n, a in schema.attributes.items() if a.default_value.type}
    for inner in body.node:
        _bind_attributes(inner, given, defaults)
    own = next((int(o.version) for o in body.opset_import if o.domain in ("", "ai.onnx")), version)
    return body, own


def _type_proto(type_: TensorType | None) -> Any:
    if type_ is None:
        return onnx.TypeProto()
    numbers = {name: number for number, name in ELEMENT_TYPES.items()}
    sizes = [s if isinstance(s, int) else str(s) for s in type_.shape]
    return onnx.helper.make_tensor_type_proto(numbers[type_.dtype.name], sizes)


def _bind_attributes(node: NodeProto, given: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Replace references to a function's attributes by their values."""
    kept: list[Any] = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            value = given.get(attribute.ref_attr_name, defaults.get(attribute.ref_attr_name))
            if value is None:
                continue
            bound = onnx.AttributeProto()
            bound.CopyFrom(value)
            bound.name = attribute.name
            kept.append(bound)
            continue
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                _bind_attributes(inner, given, defaults)
        kept.append(attribute)
    copies = [onnx.AttributeProto.FromString(a.SerializeToString()) for a in kept]
    del node.attribute[:]
    node.attribute.extend(copies)


def numeric_part(
    model: ModelProto, nodes: Sequence[NodeProto], given: Mapping[str, Array],
    outputs: Sequence[str],
) -> ModelProto:  # fmt: skip
    """A model of some nodes of another, for arrays that are given and values that are wanted."""
    declared = {i.name: i for i in model.graph.input}
    inputs = [
        declared.get(name)
        or onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in given.items()
    ]
    made = [onnx.ValueInfoProto(name=name) for name in outputs]
    kept = [t for t in model.graph.initializer if t.data_type != TensorProto.STRING]
    graph = onnx.helper.make_graph(list(nodes), model.graph.name, inputs, made, kept)
    part = ModelProto()
    part.CopyFrom(model)
    part.graph.CopyFrom(graph)
    return part


def value_shape(type_proto: Any, what: str) -> tuple[DType, list[Any]]:
    """Element type and shape of a declared value; None for sizes that are not given.

    Raises
    ------
    GraphError, ShapeError
        If it is no tensor, or of a type that is not supported.
    """
    if not type_proto.HasField("tensor_type"):
        kind = type_proto.WhichOneof("value") or "nothing"
        raise GraphError(f"{what} is a {kind.removesuffix('_type')}, not a tensor")
    tensor = type_proto.tensor_type
    dtype = element_type(tensor.elem_type, what)
    if not tensor.HasField("shape"):
        raise ShapeError(f"{what} has no shape, not even a number of dimensions")
    sizes: list[Any] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            sizes.append(int(dim.dim_value))
        else:
            sizes.append(dim.dim_param or None)
    return dtype, sizes
