"""Models with text: its operators run on the host, before and after what is compiled.

>>> TextModel(model, run_numbers).run({"words": words})               # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmlab.graph.ir import Array
from tvmlab.graph.types import GraphError
from tvmlab.support import UserError

from .proto import GraphProto, ModelProto, NodeProto, TensorProto, numeric_part
from .text_ops import TEXT_OPS, attributes_of, makes_text

RunNumbers = Callable[[ModelProto, Mapping[str, Array]], Sequence[Array]]


def text_values(graph: GraphProto) -> set[str]:
    """The inputs and constants of a graph that are text."""
    found = {t.name for t in graph.initializer if t.data_type == TensorProto.STRING}
    return found | {
        i.name for i in graph.input if i.type.tensor_type.elem_type == TensorProto.STRING
    }


def has_text(graph: GraphProto) -> bool:
    """Whether a model takes, holds or makes text."""
    outputs = (o.type.tensor_type.elem_type == TensorProto.STRING for o in graph.output)
    makes = (n.op_type == "LabelEncoder" and makes_text(n)[0] for n in graph.node)
    return bool(text_values(graph)) or any(outputs) or any(makes)


class TextModel:
    """A model whose nodes on text run on the host, and all others as machine code.

    Parameters
    ----------
    run_numbers
        Compiles and runs the part without text.

    Raises
    ------
    GraphError
        If an operator on text is not supported, or text is needed in the middle of numbers.
    """

    def __init__(self, model: ModelProto, run_numbers: RunNumbers) -> None:
        self._model, self._run_numbers = model, run_numbers
        graph = model.graph
        texts = [t for t in graph.initializer if t.data_type == TensorProto.STRING]
        self._constants = {t.name: _constant(t) for t in texts}
        self._first: list[NodeProto] = []
        self._numbers: list[NodeProto] = []
        self._last: list[NodeProto] = []
        self._sort(graph)

    def _sort(self, graph: GraphProto) -> None:
        """Deal nodes out: before the numbers, the numbers, and after them."""
        text = text_values(graph)
        late: set[str] = set()
        after: set[str] = set()
        for node in graph.node:
            own = [False] * len(node.output)
            host = any(i in text for i in node.input)
            if node.op_type in TEXT_OPS and (host or node.op_type == "LabelEncoder"):
                own = list(makes_text(node))
                host = host or own[0]
            if not host:
                if any(i in after for i in node.input):
                    raise _error(node, "it needs what is made from text after other numbers")
                self._numbers.append(node)
                late.update(node.output)
                continue
            if node.op_type not in TEXT_OPS:
                raise _error(node, "it works on text, which is not supported")
            if any(i in late or i in after for i in node.input):
                self._last.append(node)
                after.update(node.output)
            else:
                self._first.append(node)
            text |= {o for o, is_text in zip(node.output, own, strict=False) if is_text}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by name."""
        values: dict[str, Array] = {**self._constants, **inputs}
        for node in self._first:
            _evaluate(node, values)
        if self._numbers:
            self._compiled(values)
        for node in self._last:
            _evaluate(node, values)
        return {o.name: values[o.name] for o in self._model.graph.output}

    def _compiled(self, values: dict[str, Array]) -> None:
        """Run the part without text."""
        made = {o for n in self._numbers for o in n.output}
        read = dict.fromkeys(i for n in self._numbers for i in n.input if i not in made)
        given = {name: values[name] for name in read if name in values}
        wanted = {i for n in self._last for i in n.input} | {
            o.name for o in self._model.graph.output
        }
        names = [name for n in self._numbers for name in n.output if name in wanted]
        part = numeric_part(self._model, self._numbers, given, names)
        values.update(zip(names, self._run_numbers(part, given), strict=True))


def _constant(tensor: TensorProto) -> Array:
    texts = as_texts([s.decode(errors="replace") for s in tensor.string_data])
    try:
        return texts.reshape(tuple(tensor.dims))
    except ValueError:
        raise GraphError(
            f"the tensor {tensor.name} claims the shape {list(tensor.dims)}, but has "
            f"{len(texts)} texts"
        ) from None


def _evaluate(node: NodeProto, values: dict[str, Array]) -> None:
    missing = [i for i in node.input if i not in values]
    if missing:
        raise _error(node, f"it reads {missing[0]}, which has no value")
    try:
        made = TEXT_OPS[node.op_type](attributes_of(node), [values[i] for i in node.input])
    except UserError as error:
        raise _error(node, error.message) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise _error(node, f"its inputs or attributes do not fit: {error}") from None
    values.update({o: a for o, a in zip(node.output, made, strict=False) if o})


def _error(node: NodeProto, why: str) -> GraphError:
    known = ", ".join(TEXT_OPS)
    return GraphError(
        f"node {node.name} ({node.op_type}): {why}",
        hint=f"operators on text are {known}, before or after all others",
    )


def as_texts(value: Any) -> Array:
    """An input of words as an array of Python texts."""
    array = np.asarray(value)
    if array.dtype.kind in "SU":
        array = array.astype(str).astype(object)
    flat = [x.decode(errors="replace") if isinstance(x, bytes) else x for x in array.reshape(-1)]
    made = np.empty(len(flat), object)
    made[:] = flat
    return made.reshape(array.shape)
