"""Whole networks in float32, batch 1: what a user waits for."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np

from tvmlab.bench.footprint import module_footprint
from tvmlab.bench.networks import NETWORKS, Recipe, to_graph, to_onnx, to_torch
from tvmlab.bench.peers import compiled_module, model_peers, torch_peer, tvm_model_peer
from tvmlab.bench.peers.torch_peer import Mode
from tvmlab.bench.row import Array, Contender, Inputs, Operator, Row
from tvmlab.graph import build, evaluate
from tvmlab.graph.compiler import build_with_report
from tvmlab.runtime import create
from tvmlab.target import Target


@lru_cache(maxsize=1)
def _recipe(name: str) -> Recipe:
    return NETWORKS[name]()


def _inputs(row: Row) -> list[Array]:
    return [_recipe(row.name).sample()]


def _ours(row: Row, inputs: Inputs, target: Target) -> Contender:
    network, (x,) = to_graph(_recipe(row.name)), inputs
    built, report = build_with_report(network, target)
    plan, lib, params = built
    ready = time.perf_counter()
    build(network, target)
    again = time.perf_counter()
    module = create(plan, lib)
    module.bind_params(params)
    module.run(x=x)
    first = time.perf_counter()
    memory, weights = report.memory, sum(array.nbytes for array in params.values())
    facts = {
        "kernels": f"{len(plan.kernels)} in {len(plan.steps)} calls",
        "weights": f"{weights / 1e6:.1f} MB",
        "workspace": f"{memory.peak / 1e6:.3f} MB",
        "at least": f"{memory.lower_bound / 1e6:.3f} MB",
        "without sharing": f"{memory.unshared / 1e6:.3f} MB",
        "process at its peak": module_footprint(built),
        "kernels compile in": f"{report.compile_seconds:.1f} s of one core",
        "build, kernels cached": f"{again - ready:.2f} s",
        "first result after": f"{(first - again) * 1e3:.1f} ms",
    }
    return Contender(
        "tvmlab", lambda: module.run(x=x), lambda: module.get_output(0),
        prepared="weights packed, when the network was compiled", facts=facts,
    )  # fmt: skip


def _reference(row: Row, inputs: Inputs) -> Array:
    graph = to_graph(_recipe(row.name))
    return np.asarray(evaluate(graph, {"x": inputs[0]})[graph.outputs[0]])


def _torch(_: Any, row: Row) -> Any:
    return to_torch(_recipe(row.name))


def _operator(*modes: Mode) -> Operator:
    peers = (
        torch_peer(_torch, modes),
        compiled_module(lambda row: to_torch(_recipe(row.name))),
        *model_peers(lambda row: to_onnx(_recipe(row.name))),
        tvm_model_peer(lambda row: to_onnx(_recipe(row.name))),
    )
    return Operator(_ours, _reference, peers, measure="seconds", inputs=_inputs)


OPERATORS = {
    "image_network": _operator("eager", "channels_last"),
    "sequence_network": _operator("eager"),
}

_SHAPES = {
    "resnet18": (1, 3, 224, 224),
    "resnet50": (1, 3, 224, 224),
    "mobilenet-v1": (1, 3, 224, 224),
    "mobilenet-v2": (1, 3, 224, 224),
    "dcgan": (1, 100, 1, 1),
    "dqn": (1, 4, 84, 84),
    "lstm": (16, 1),
    "encoder": (1, 128, 384),
}

ROWS = tuple(
    Row("networks", name, f"{'image' if len(shape) == 4 else 'sequence'}_network", (shape,))
    for name, shape in _SHAPES.items()
)
