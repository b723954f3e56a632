"""What of a model is not supported, told at once, before any work."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from tvmlab.graph.types import GraphError

from .proto import GraphProto, ModelProto, NodeProto, has_function
from .registry import CONVERTERS

_DEEPEST = 24
_HINTS = {
    "NonZero": "use a mask: the size of its result depends on the data",
    "NonMaxSuppression": "leave the selection of boxes to the program around the model",
    "Unique": "the size of its result depends on the data",
    "SequenceAt": "use separate tensors instead of a sequence",
}


_LATEST = 9999
"""No domain will have a later version: damaged files claim any number."""


def check_support(model: ModelProto) -> int:
    """The version of the standard that a model uses.

    Raises
    ------
    GraphError
        It lists every node that is not supported, each with the nearest alternative.
    """
    _require_text(model, 0)
    versions = {o.domain if o.domain != "ai.onnx" else "": int(o.version)
                for o in model.opset_import}  # fmt: skip
    opset = versions.get("", 0)
    own = {(f.domain, f.name) for f in model.functions}
    if not versions and not own:
        raise GraphError("the model does not say which version of the operators it uses",
                         hint="it may be truncated, or no ONNX model")  # fmt: skip
    for domain, version in versions.items():
        if not 0 <= version <= _LATEST:
            raise GraphError(f"the model uses version {version} of the operators of "
                             f"{domain or 'ONNX'}, and there is none such")  # fmt: skip
    found: dict[str, None] = {}
    for node in _all_nodes(model):
        domain = "" if node.domain == "ai.onnx" else node.domain
        key = (domain, node.op_type)
        known = key in CONVERTERS or (node.domain, node.op_type) in own
        if not known and not has_function(domain, node.op_type, versions.get(domain, opset)):
            found[_complaint(node, domain)] = None
    if found:
        lines = list(found)
        more = [f"and {len(lines) - 20} more"] if len(lines) > 20 else []
        error = GraphError(
            f"the model uses {len(lines)} node(s) that are not supported",
            hint="replace them in the model, or cut the model before them",
        )
        error.notes = (*lines[:20], *more)
        raise error
    return opset or 20


def _complaint(node: NodeProto, domain: str) -> str:
    op = f"{domain}.{node.op_type}" if domain else node.op_type
    tip = _HINTS.get(node.op_type)
    if tip is None:
        close = difflib.get_close_matches(node.op_type, [n for _, n in CONVERTERS], n=1)
        tip = (
            f"the nearest supported operator is {close[0]}" if close else "there is no alternative"
        )
    return f"{node.name or (node.output[0] if node.output else '?')}: {op} ({tip})"


def _require_text(message: Any, depth: int) -> None:
    """Refuse names that are no text: damaged files have such."""
    if depth > 4 * _DEEPEST:
        raise GraphError(f"messages of the model are nested more than {4 * _DEEPEST} deep")
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in [value] if hasattr(value, "ListFields") else value:
                _require_text(one, depth + 1)
        elif field.type == field.TYPE_STRING:
            for one in [value] if isinstance(value, (str, bytes)) else value:
                if not isinstance(one, str):
                    raise GraphError(
                        f"the field {field.full_name} of the model is not text: {one!r:.60}",
                        hint="the file may be damaged",
                    )


def _all_nodes(model: ModelProto) -> Iterator[NodeProto]:
    """The nodes of the graph, of graphs inside nodes, and of functions."""

    def inside(graph: GraphProto, depth: int) -> Iterator[NodeProto]:
        if depth > _DEEPEST:
            raise GraphError(f"graphs are nested more than {_DEEPEST} deep")
        for node in graph.node:
            yield from _with_inner(node, depth)

    def _with_inner(node: NodeProto, depth: int) -> Iterator[NodeProto]:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from inside(attribute.g, depth + 1)

    yield from inside(model.graph, 0)
    for function in model.functions:
        for node in function.node:
            yield from _with_inner(node, 0)
