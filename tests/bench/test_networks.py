"""Networks are told to all libraries in their own words, and all compute the same."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tvmlab.bench.footprint import module_footprint
from tvmlab.bench.networks import NETWORKS, to_graph, to_onnx, to_torch
from tvmlab.bench.operators import OPERATORS, find_rows
from tvmlab.bench.operators.networks import ROWS
from tvmlab.bench.peers.tvm_peer import PYTHON_VARIABLE
from tvmlab.bench.row import Peer, Row
from tvmlab.graph import GraphBuilder, TensorType, evaluate
from tvmlab.graph.compiler import build_with_report
from tvmlab.graph.onnx import from_onnx
from tvmlab.runtime import ObjectLibrary
from tvmlab.target import Target


def test_rows_have_the_shapes_of_the_networks() -> None:
    assert {row.name: row.shapes for row in ROWS} == {n: (f().shape,) for n, f in NETWORKS.items()}


@pytest.mark.parametrize("name", ["dqn", "lstm", "encoder", "dcgan"])
def test_a_graph_equals_its_torch_module(name: str) -> None:
    torch: Any = pytest.importorskip("torch")
    recipe = NETWORKS[name]()
    x = recipe.sample()
    with torch.inference_mode():
        wanted = to_torch(recipe)(torch.from_numpy(x)).numpy()
    graph = to_graph(recipe)
    found = evaluate(graph, {"x": x})[graph.outputs[0]]
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, atol=1e-5 * scale, rtol=0)


@pytest.mark.parametrize("name", ["resnet18", "mobilenet-v2", "encoder"])
def test_an_onnx_model_is_imported_to_the_same_types(name: str) -> None:
    recipe = NETWORKS[name]()
    graph, imported = to_graph(recipe), from_onnx(to_onnx(recipe))
    assert imported.types[imported.outputs[0]] == graph.types[graph.outputs[0]]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_compiled_networks_equal_torch(name: str) -> None:
    torch: Any = pytest.importorskip("torch")
    import tvmlab as tl

    recipe = NETWORKS[name]()
    x = recipe.sample()
    with torch.inference_mode():
        wanted = to_torch(recipe)(torch.from_numpy(x)).numpy()
    graph, lib, params = tl.compiler.build(to_graph(recipe))
    module = tl.runtime.create(graph, lib)
    module.bind_params(params)
    module.run(x=x)
    found, scale = module.get_output(0).reshape(wanted.shape), np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, atol=1e-4 * scale, rtol=0)


def test_the_memory_of_a_process_is_stated() -> None:
    net = GraphBuilder("small")
    net.output(net.add("relu", net.input("x", TensorType.of("float32", (4, 8)))))
    built, report = build_with_report(net.graph())
    assert report.compile_seconds > 0
    assert re.fullmatch(r"\d+ MB \(\d+ of it Python\)", module_footprint(built))
    missing = built._replace(lib=ObjectLibrary({}))
    assert module_footprint(missing).startswith("unknown: ")


def test_apache_tvm_says_why_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = find_rows(["dqn"])
    peer = _peer(row, "apache-tvm")
    assert "not being tuned" in peer.patience
    monkeypatch.delenv(PYTHON_VARIABLE, raising=False)
    with pytest.raises(ImportError, match="names no Python that has apache-tvm"):
        peer.make(row, [], 1)
    monkeypatch.setenv(PYTHON_VARIABLE, "/bin/false")
    with pytest.raises(ImportError, match="the process of apache-tvm ended"):
        peer.make(row, OPERATORS[row.operator].inputs(row), 1)


def _peer(row: Row, library: str) -> Peer:
    return next(p for p in OPERATORS[row.operator].peers if p.library == library)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # within PyTorch's compiler
@pytest.mark.parametrize("library", ["apache-tvm", "torch.compile"])
def test_patient_peers_compute_the_same(library: str) -> None:
    if library == "apache-tvm" and not os.environ.get(PYTHON_VARIABLE):
        pytest.skip(f"{PYTHON_VARIABLE} names no Python that has apache-tvm")
    pytest.importorskip("torch")
    (row,) = find_rows(["dqn"])
    operator = OPERATORS[row.operator]
    inputs = operator.inputs(row)
    (contender,) = _peer(row, library).make(row, inputs, 1)
    contender.run()
    wanted = operator.reference(row, inputs)
    np.testing.assert_allclose(contender.result(), wanted, atol=1e-5, rtol=1e-4)
    assert contender.facts["compiled in"].endswith(" s")


@pytest.mark.parametrize("name", ["fused-depthwise", "fused-lstm-cell"])
def test_fused_and_in_parts_compute_the_same(name: str) -> None:
    (row,) = find_rows([name])
    small = replace(row, shapes=tuple((1, 16, *shape[2:]) for shape in row.shapes))
    if row.options:
        small = replace(small, options=(("outputs", 16), ("kernel", 3), ("groups", 16)))
    operator = OPERATORS[row.operator]
    inputs = operator.inputs(small)
    wanted = operator.reference(small, inputs)
    ours = operator.ours(small, inputs, Target.host())
    parts = operator.peers[0].make(small, inputs, 1)
    kernels = [int(contender.prepared.split()[0]) for contender in (ours, *parts)]
    assert kernels == ([1, 3, 4] if name == "fused-depthwise" else kernels[:2])
    assert kernels[0] < kernels[1]
    for contender in (ours, *parts):
        np.testing.assert_allclose(contender.result(), wanted, rtol=0, atol=1e-5)
