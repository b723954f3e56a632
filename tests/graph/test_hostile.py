"""Model files that lie, are damaged, or reach for what is not theirs: refused at once, in words."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.parser import parse_graph

from tvmlab.graph import GraphError
from tvmlab.graph.onnx import from_onnx
from tvmlab.support import TvmlabError


def model_of(nodes: list[Any], initializers: list[Any] | None = None, shape: Any = (2, 3)) -> Any:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        initializers or [],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def constant(dims: list[int], data: bytes = b"", kind: int = 1) -> TensorProto:
    tensor = TensorProto(name="w", data_type=kind, raw_data=data)
    tensor.dims.extend(dims)
    return tensor


def external(location: str, length: int = 24, **more: str) -> TensorProto:
    tensor = constant([2, 3])
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "length": str(length), **more}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


ADD = [helper.make_node("Add", ["x", "w"], ["y"], name="add")]


def node(op: str, *inputs: str, **attrs: Any) -> Any:
    return model_of([helper.make_node(op, list(inputs) or ["x"], ["y"], name="n", **attrs)])


MODELS: dict[str, tuple[Callable[[], Any], str]] = {
    "circle": (
        lambda: model_of([helper.make_node("Relu", ["b"], ["y"], name="one"),
                          helper.make_node("Relu", ["y"], ["b"], name="two")]),
        "one, two wait for one another: the graph has a circle",
    ),
    "no result": (
        lambda: model_of([helper.make_node("Shape", ["x"], [], name="n"),
                          helper.make_node("Relu", ["x"], ["y"])]),
        "node n (Shape) has no output",
    ),
    "impossible version": (
        lambda: helper.make_model(model_of(ADD).graph, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("a.b", 1 << 40)], ir_version=8),
        "version 1099511627776 of the operators of a.b, and there is none such",
    ),
    "self": (lambda: model_of([helper.make_node("Relu", ["y"], ["y"], name="n")]), "a circle"),
    "lost input": (lambda: node("Relu", "nothing"), "reads nothing, which is neither an input"),
    "no output": (lambda: model_of([helper.make_node("Relu", ["x"], ["z"])]), "y is used, but"),
    "2 GB claim": (
        lambda: model_of(ADD, [constant([1 << 29], b"12")]),
        "the tensor w claims 2147483648 bytes, but has 2",
    ),
    "overflowing claim": (
        lambda: model_of(ADD, [constant([1 << 62, 1 << 62], b"12")]),
        "bytes, but has 2",
    ),
    "negative size": (lambda: model_of(ADD, [constant([-2, 3])]), "which is impossible"),
    "many dimensions": (lambda: model_of(ADD, [constant([1] * 99, b"1234")]), "is impossible"),
    "negative input": (lambda: model_of([helper.make_node("Relu", ["x"], ["y"])], [],
                                        (-3, 2)), "is -3, which is impossible"),
    "huge input": (
        lambda: model_of([helper.make_node("Relu", ["x"], ["y"])], [], (1 << 40, 1 << 9)),
        "would not fit into any memory",
    ),
    "huge fill": (
        lambda: model_of([helper.make_node("ConstantOfShape", ["s"], ["c"]),
                          helper.make_node("ReduceMax", ["c"], ["y"], keepdims=0)],
                         [numpy_helper.from_array(np.array([1 << 30, 1 << 30]), "s")]),
        "would not fit into any memory",
    ),
    "huge range": (
        lambda: model_of([helper.make_node("Range", ["a", "b", "c"], ["y"], name="n")],
                         [numpy_helper.from_array(np.array(v), k)
                          for k, v in (("a", 0), ("b", 1 << 60), ("c", 1))]),
        "is too long",
    ),
    "huge pad": (lambda: model_of(
        [helper.make_node("Pad", ["x", "p"], ["y"], name="n")],
        [numpy_helper.from_array(np.array([1 << 60] * 4), "p")]), "a size cannot be"),
    "wrong type": (lambda: model_of(ADD, [constant([2, 3], b"\0" * 48, 7)]), "one element type"),
    "unknown type": (lambda: model_of(ADD, [constant([2, 3], b"", 99)]), "element type 99"),
    "wrong shapes": (lambda: model_of(ADD, [constant([4, 5], b"\0" * 80)]), "cannot be stretched"),
    "bad axis": (lambda: node("Softmax", axis=7), "axis is 7, but the input has 2 dimension(s)"),
    "bad perm": (lambda: node("Transpose", perm=[0, 0]), "perm is [0, 0], no order of 2"),
    "float for int": (lambda: node("Softmax", axis=1.5), "'axis' is 1.5, of the wrong kind"),
    "text for ints": (lambda: node("Transpose", perm="ab"), "node n (Transpose)"),
    "missing input": (lambda: node("Add"), "is missing"),
    "zero stride": (lambda: model_of([helper.make_node(
        "MaxPool", ["x"], ["y"], name="n", kernel_shape=[2, 2], strides=[0, 1])], [], (1, 1, 4, 4)),
        "strides is [0, 1]"),
    "unsupported": (lambda: node("NonZero"), "1 node(s) that are not supported"),
    "unknown domain": (lambda: node("Relu", domain="com.evil"), "not supported"),
    "absolute path": (lambda: model_of(ADD, [external("/etc/passwd")]), "not in the model"),
    "parent path": (lambda: model_of(ADD, [external("../secret")]), "not in the model"),
    "hidden parent": (lambda: model_of(ADD, [external("a/../../secret")]), "not in the model"),
    "no path": (lambda: model_of(ADD, [external("")]), "not in the model"),
    "zero byte": (lambda: model_of(ADD, [external("w\0x")]), "not in the model"),
    "folder as data": (lambda: model_of(ADD, [external(".")]), "not in the model"),
    "link outside": (lambda: model_of(ADD, [external("link")]), "not in the model"),
    "data too short": (lambda: model_of(ADD, [external("short")]), "claims 24 bytes at 0 of short"),
    "offset beyond": (lambda: model_of(ADD, [external("data", offset="99")]), "at 99 of data"),
    "negative offset": (lambda: model_of(ADD, [external("data", offset="-4")]), "at -4 of data"),
    "no number": (lambda: model_of(ADD, [external("data", offset="x")]), "that is no number"),
    "own length": (lambda: model_of(ADD, [external("data", length=8)]), "claims 24 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_refused_at_once(name: str, tmp_path: Path) -> None:
    make, message = MODELS[name]
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"\0" * 24)
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "data").write_bytes(b"\0" * 24)
    (folder / "short").write_bytes(b"\0" * 8)
    path = folder / "m.onnx"
    path.write_bytes(make().SerializeToString())
    start = time.process_time()
    with pytest.raises(GraphError) as error:
        from_onnx(path)
    assert time.process_time() - start < 1
    assert message in f"{error.value}"


def test_external_data_beside_the_model(tmp_path: Path) -> None:
    data = np.arange(6, dtype="f4")
    (tmp_path / "w.bin").write_bytes(b"skip" + data.tobytes())
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(ADD, [external("w.bin", offset="4")]).SerializeToString())
    np.testing.assert_array_equal(from_onnx(path).params["w"], data.reshape(2, 3))
    with pytest.raises(GraphError, match="came without a folder"):
        from_onnx(path.read_bytes())


def test_truncated_files(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.ones((2, 3), "f4"), "w")
    data = model_of(ADD, [weights]).SerializeToString()
    for length in range(0, len(data), 7):
        with pytest.raises(GraphError):
            from_onnx(data[:length])
    with pytest.raises(GraphError, match=r"the model .* cannot be read"):
        from_onnx(tmp_path / "nowhere.onnx")
    with pytest.raises(GraphError, match="a model cannot be read from 7"):
        from_onnx(7)  # type: ignore[arg-type]


def test_deep_nesting() -> None:
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["z"])], "i", [],
                              [helper.make_tensor_value_info("z", 1, None)])  # fmt: skip
    for _ in range(28):
        nested = helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)
        inner = helper.make_graph([nested], "i", [], [helper.make_tensor_value_info("z", 1, None)])
        inner.node[0].attribute.pop()  # one branch is enough, two would double each time
    deep = model_of([helper.make_node("Relu", ["x"], ["y"])])
    deep.graph.node.extend(inner.node)
    with pytest.raises(GraphError, match="nested more than 24 deep"):
        from_onnx(deep)


def test_names_that_are_no_text() -> None:
    data = node("Relu", "x").SerializeToString()
    assert data.count(b"Relu") == 1
    with pytest.raises(GraphError, match="op_type of the model is not text"):
        from_onnx(data.replace(b"Relu", b"R\xff\xfeu"))


def good_model() -> Any:
    weights = numpy_helper.from_array(np.ones((4, 2, 3, 3), "f4"), "w")
    return model_of(
        [
            helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
            helper.make_node("Shape", ["c"], ["s"]),
            helper.make_node("Reshape", ["c", "s"], ["r"]),
            helper.make_node("Softmax", ["r"], ["p"], axis=1),
            helper.make_node("Loop", ["", "true", "p"], ["y"], body=parse_graph(TURN)),
        ],
        [weights, numpy_helper.from_array(np.array(True), "true")],
        (1, 2, 5, 5),
    )


def test_loops_in_loops_that_would_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is short enough to be written out, but not all of them as often as they run."""
    monkeypatch.setattr("tvmlab.graph.onnx.importer._MOST_INSIDE", 2000)
    inner = "t = Add (s, s)"
    for depth in range(6):
        inner = f"""
            many{depth} = Constant <value = int64 {{200}}> ()
            t = Loop (many{depth}, c, s)
                <body = l{depth} (int64 i{depth}, bool c, float s) => (bool c, float t)
                {{ {inner} }}>
        """
    graph = parse_graph(f"net (float x) => (float t) {{ c = Constant <value = bool {{1}}> () "
                        f"s = Constant <value = float {{0.0}}> () {inner} }}")  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(GraphError, match="written out, have more than 2000 nodes"):
        from_onnx(model)


TURN = """
turn (int64 i, bool c, float[1,4,5,5] s) => (bool on, float[1,4,5,5] t) {
    t = Mul (s, s)
    least = Constant <value = float {0.01}> ()
    most = ReduceMax <keepdims = 0> (t)
    on = Greater (most, least)
}
"""


def mutations(seed: int, count: int) -> None:
    """Random changes of a good file: each is read or refused, never anything else."""
    good = good_model().SerializeToString()
    rng = np.random.default_rng(seed)
    for _ in range(count):
        data = bytearray(good)
        for _ in range(int(rng.integers(1, 6))):
            place = int(rng.integers(len(data)))
            kind = rng.integers(3)
            if kind == 0:
                data[place] = int(rng.integers(256))
            elif kind == 1:
                del data[place : place + int(rng.integers(1, 9))]
            else:
                data[place:place] = rng.bytes(int(rng.integers(1, 9)))
        read_or_refused(bytes(data))


def read_or_refused(data: bytes) -> None:
    start = time.process_time()
    with contextlib.suppress(TvmlabError):
        from_onnx(data)
    assert time.process_time() - start < 1


def test_mutated_files() -> None:
    mutations(0, 300)


@pytest.mark.slow
def test_many_mutated_files() -> None:
    mutations(1, 10_000)


NUMBERS = (-(1 << 63), -1, 0, 1, 2, 3, 7, 255, 1 << 31, 1 << 40, (1 << 63) - 1)
TEXTS = ("", "x", "w", "y", "c", "s", "axis", "Relu", "If", "\0", "../x", "n" * 300)


def other_fields(seed: int, count: int) -> None:
    """Files whose parts are in order, but say other things: no reader refuses them at once."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        model = good_model()
        for _ in range(int(rng.integers(1, 4))):
            fields = list(fields_of(model))
            change(*fields[int(rng.integers(len(fields)))], rng)
        read_or_refused(model.SerializeToString())


def fields_of(message: Any) -> Iterator[tuple[Any, Any]]:
    for field, value in message.ListFields():
        yield message, field
        if field.type == field.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                yield from fields_of(inner)


def change(message: Any, field: Any, rng: np.random.Generator) -> None:
    """Give a field another value; of a list, drop, double or change an element."""
    value = getattr(message, field.name)
    if not field.is_repeated:
        if field.type == field.TYPE_MESSAGE:
            message.ClearField(field.name)
        else:
            set_or_leave(lambda: setattr(message, field.name, another(value, rng)))
        return
    place = int(rng.integers(len(value)))
    match int(rng.integers(3)):
        case 0:
            del value[place]
        case 1:
            value.extend([value[place]] * int(rng.integers(1, 40)))
        case _ if field.type != field.TYPE_MESSAGE:
            set_or_leave(lambda: value.__setitem__(place, another(value[place], rng)))
        case _:
            value.MergeFrom([value[place]])


def set_or_leave(set_it: Callable[[], object]) -> None:
    """Numbers that a field has no room for stay what they were."""
    with contextlib.suppress(ValueError):
        set_it()


def another(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, bytes):
        return value[: int(rng.integers(len(value) + 1))] + rng.bytes(int(rng.integers(9)))
    if isinstance(value, str):
        return TEXTS[int(rng.integers(len(TEXTS)))]
    return type(value)(NUMBERS[int(rng.integers(len(NUMBERS)))])


def test_files_with_other_fields() -> None:
    other_fields(0, 200)


@pytest.mark.slow
def test_many_files_with_other_fields() -> None:
    other_fields(1, 10_000)
