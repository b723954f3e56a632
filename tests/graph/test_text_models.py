"""Models with text: what works on it runs on the host, before and after what is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tvmlab.graph import GraphError, build
from tvmlab.graph.onnx.backend import TvmlabBackend

STRING, INT64, FLOAT = TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 4)]


def model_of(nodes: list[Any], output: int, constants: list[Any] | None = None) -> Any:
    graph = helper.make_graph(
        nodes, "words",
        [helper.make_tensor_value_info("x", STRING, [None])],
        [helper.make_tensor_value_info("y", output, [None])],
        constants or [],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=OPSETS)


TEXTS: Any = {"end": [b"!"], "short": [b"a"]}


def label(inputs: str, output: str, **attrs: Any) -> Any:
    return helper.make_node("LabelEncoder", [inputs], [output], domain="ai.onnx.ml", **attrs)


def run(model: Any, *words: str) -> list[Any]:
    return TvmlabBackend.prepare(model).run([np.array(words, object)])[0].tolist()


def test_text_before_and_after_numbers() -> None:
    two = helper.make_tensor("two", INT64, [1], [2])
    model = model_of(
        [
            helper.make_node("StringNormalizer", ["x"], ["small"], case_change_action="LOWER",
                             stopwords=["the"]),
            label("small", "number", keys_strings=["cat", "dog"], values_int64s=[3, 5]),
            helper.make_node("Mul", ["number", "two"], ["twice"]),
            label("twice", "y", keys_int64s=[6, 10], values_strings=["six", "ten"],
                  default_string="?"),
        ],
        STRING, [two],
    )  # fmt: skip
    assert run(model, "The", "Dog", "CAT", "cow") == ["ten", "six", "?"]
    assert run(model, "dog") == ["ten"]


def test_text_constants_and_splits() -> None:
    end = helper.make_tensor("end", STRING, [1], TEXTS["end"])
    model = model_of([helper.make_node("StringConcat", ["x", "end"], ["y"])], STRING, [end])
    assert run(model, "a", "b") == ["a!", "b!"]
    model = model_of([helper.make_node("StringSplit", ["x"], ["", "y"], delimiter=",")], INT64)
    assert run(model, "a,b", "c") == [2, 1]


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([helper.make_node("Transpose", ["x"], ["y"])], r"\(Transpose\): it works on text, which"),
        (
            [label("x", "n", keys_strings=["a"], values_int64s=[1]),
             helper.make_node("Neg", ["n"], ["m"]),
             label("m", "t", keys_int64s=[1], values_strings=["a"]),
             label("t", "k", keys_strings=["a"], values_int64s=[1]),
             helper.make_node("Neg", ["k"], ["y"])],
            "needs what is made from text after other numbers",
        ),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_told_at_once(nodes: list[Any], told: str) -> None:
    with pytest.raises(GraphError, match=told):
        TvmlabBackend.prepare(model_of(nodes, INT64))


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (helper.make_node("StringConcat", ["x", "z"], ["y"]), "it reads z, which has no value"),
        (helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action="SHOUT"),
         "case_change_action is 'SHOUT'"),
        (label("x", "y", keys_strings=["a", "b"], values_strings=["c"]), "2 keys for 1 values"),
    ],
)  # fmt: skip
def test_wrong_nodes_are_named(node: Any, told: str) -> None:
    prepared = TvmlabBackend.prepare(model_of([node], STRING))
    with pytest.raises(GraphError, match=told):
        prepared.run([np.array(["a"], object)])


def test_text_of_a_wrong_shape_and_models_that_are_only_compiled() -> None:
    short = helper.make_tensor("short", STRING, [1], TEXTS["short"])
    short.dims[0] = 7
    concat = helper.make_node("StringConcat", ["x", "short"], ["y"])
    model = model_of([concat], STRING, [short])
    with pytest.raises(GraphError, match=r"claims the shape \[7\], but has 1 texts"):
        TvmlabBackend.prepare(model)
    with pytest.raises(GraphError) as caught:
        build(model_of([helper.make_node("Identity", ["x"], ["y"])], STRING))
    assert "TvmlabBackend" in (caught.value.hint or "")
