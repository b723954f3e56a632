"""Passes that make graphs fast: the text before and after, and that values stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import topi
from tvmlab.graph import Graph, GraphBuilder, TensorType, evaluate
from tvmlab.graph.compiler import BuildOptions, build_with_report
from tvmlab.graph.passes import fold_constants, fold_norm, fold_pad, optimize, use_blocks
from tvmlab.graph.passes.pack_dense import pack_dense
from tvmlab.graph.passes.sink_layout import sink_layout
from tvmlab.graph.passes.spread import spread
from tvmlab.graph.passes.turn_factors import turn_factors
from tvmlab.runtime import num_threads
from tvmlab.support import OptionError
from tvmlab.target import Target

_RANDOM = np.random.default_rng(0)


def _noise(*shape: int) -> np.ndarray:
    return _RANDOM.standard_normal(shape).astype("f4")


def _conv(g: GraphBuilder, x: str, channels: tuple[int, int], kernel: int, **attrs: object) -> str:
    inner, outer = channels
    values = {"strides": (1, 1), "pads": (kernel // 2,) * 4, "dilations": (1, 1), **attrs}
    groups = int(values.get("groups", 1))  # type: ignore[call-overload]
    weight = g.param(_noise(outer, inner // groups, kernel, kernel) / 8, "w")
    return g.add("conv", x, weight, **values)  # type: ignore[arg-type]


def _norm(g: GraphBuilder, x: str, channels: int) -> str:
    parts = [g.param(abs(_noise(channels)) + 0.5, "n") for _ in range(4)]
    return g.add("batch_norm", x, *parts)


def _ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def _equal(before: Graph, after: Graph, tolerance: float = 1e-4) -> None:
    data = {i: _noise(*before.types[i].sizes) for i in before.inputs}
    wanted, found = evaluate(before, data), evaluate(after, data)
    for name in before.outputs:
        scale = np.abs(wanted[name]).max()
        np.testing.assert_allclose(found[name], wanted[name], atol=tolerance * scale, rtol=0)


def test_batch_norm_is_folded() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 8, 6, 6)))
    y = _norm(g, _conv(g, x, (8, 4), 3), 4)
    shift = g.param(_noise(4, 1, 1), "shift")
    g.output(g.add("relu", g.add("add", y, shift)))
    before = g.graph()
    after = fold_norm(before)
    assert _ops(before) == ["conv", "batch_norm", "add", "relu"]
    assert _ops(after) == ["conv", "relu"]
    _equal(before, after)


def test_scales_of_pixels_stay() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 4, 4, 4)))
    y = _conv(g, x, (4, 4), 1)
    g.output(g.add("multiply", y, g.param(_noise(4, 4), "pixels")))
    before = g.graph()
    assert fold_norm(before) is before


def test_a_convolution_with_two_readers_keeps_its_filters() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 4, 4, 4)))
    y = _conv(g, x, (4, 4), 1)
    g.output(g.add("add", _norm(g, y, 4), y))
    before = g.graph()
    assert fold_norm(before) is before


def test_margins_are_folded() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 4, 5, 5)))
    y = g.add("pad", x, pads=(0, 0, 1, 0, 0, 0, 1, 2))
    g.output(_conv(g, y, (4, 4), 3, pads=(0, 0, 0, 1)))
    before = g.graph()
    after = fold_pad(before)
    assert _ops(after) == ["conv"]
    assert after.nodes[0].attrs["pads"] == (1, 0, 1, 3)
    _equal(before, after)


def _residual() -> Graph:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 3, 16, 16)))
    y = g.add("relu", _norm(g, _conv(g, x, (3, 24), 3, strides=(2, 2)), 24))
    y = g.add("max_pool", y, kernel=(3, 3), strides=(1, 1), pads=(1,) * 4, dilations=(1, 1))
    z = _norm(g, _conv(g, y, (24, 24), 3, groups=24), 24)
    z = _conv(g, g.add("clip", z, low=0.0, high=6.0), (24, 24), 1)
    y = g.add("relu", g.add("add", z, y))
    y = g.add("tanh", _conv(g, y, (24, 64), 1))
    y = g.add("relu", _conv(g, y, (64, 64), 3))
    y = g.add("mean", y, axes=(2, 3), keepdims=False)
    g.output(g.add("matmul", y, g.param(_noise(64, 10) / 8, "d")))
    return g.graph()


def test_layouts_after_folding() -> None:
    before = fold_norm(_residual())
    after = fold_constants(use_blocks(before, 16))
    assert _ops(after) == [
        "blocked_conv", "relu", "blocked_pool", "blocked_conv", "clip", "blocked_conv", "add",
        "relu", "blocked_conv", "tanh", "blocked_conv", "relu", "mean", "reshape", "matmul",
    ]  # fmt: skip
    assert str(after.types[after.nodes[0].outputs[0]]) == "float32[1, 2, 8, 8, 16]"
    _equal(before, after)


@pytest.mark.parametrize("optimize", [True, False])
def test_compiled_values(optimize: bool) -> None:
    graph = _residual()
    built, report = build_with_report(graph, options=BuildOptions(optimize=optimize))
    module = tl.runtime.create(built.graph, built.lib)
    module.bind_params(built.params)
    data = _noise(1, 3, 16, 16)
    wanted = evaluate(graph, {"x": data})["matmul"]
    for threads in (1, 2):
        with num_threads(threads):
            module.run(x=data)
            scale = np.abs(wanted).max()
            np.testing.assert_allclose(module.get_output(0), wanted, atol=1e-4 * scale, rtol=0)
    if optimize:
        assert [r.name for r in report.passes if r.changed] == [
            "fold_norm", "use_blocks", "pack_dense", "pack_weights"
        ]  # fmt: skip
        assert len(built.graph.steps) < 10


def test_large_images_go_through_winograd() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 32, 16, 16)))
    y = g.add("relu", _conv(g, x, (32, 32), 3))
    g.output(g.add("relu", _conv(g, y, (32, 32), 3)))
    before = g.graph()
    after = fold_constants(use_blocks(before, 16))
    assert _ops(after) == ["layout_transform", "winograd_conv", "relu", "winograd_conv", "relu",
                           "layout_transform"]  # fmt: skip
    _equal(before, after)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pad", "more", "channels"),
    [(4, 4, 2, 1, 0, 16), (5, 3, 2, 1, 1, 3), (4, 3, 3, 0, 0, 8), (1, 4, 1, 0, 0, 6),
     (3, 4, 1, 2, 0, 5)],
)  # fmt: skip
def test_transposed_convolutions_are_spread(
    size: int, kernel: int, stride: int, pad: int, more: int, channels: int
) -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 16, size, size)))
    weight, bias = g.param(_noise(16, channels, kernel, kernel), "w"), g.param(_noise(channels))
    y = g.add("conv_transpose", x, weight, bias, strides=(stride,) * 2, pads=(pad,) * 4,
              dilations=(1, 1), output_padding=(more,) * 2)  # fmt: skip
    g.output(g.add("tanh", y))
    before = g.graph()
    after = spread(before)
    assert "conv_transpose" not in _ops(after)
    _equal(before, after)
    _equal(before, fold_constants(use_blocks(after, 8)))


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pad", "more"), [(8, 4, 2, 1, 0), (5, 4, 2, 0, 1), (4, 3, 2, 1, 1)]
)
def test_transposed_convolutions_by_winograd(
    size: int, kernel: int, stride: int, pad: int, more: int
) -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, 16, size, size)))
    weight, bias = g.param(_noise(16, 32, kernel, kernel) / 8, "w"), g.param(_noise(32))
    y = g.add("conv_transpose", x, weight, bias, strides=(stride,) * 2, pads=(pad,) * 4,
              dilations=(1, 1), output_padding=(more,) * 2)  # fmt: skip
    g.output(g.add("tanh", y))
    before = g.graph()
    machine = Target.of("cpu")
    if topi.channel_block(machine) == 1:
        pytest.skip("blocks of channels do not suit this machine")
    after = spread(before, machine)
    assert _ops(after)[:2] == ["spread_filters", "spread_winograd"]
    _equal(before, after)
    block = topi.channel_block(machine)
    _equal(before, fold_constants(use_blocks(after, block)))


@pytest.mark.parametrize("transposed", [True, False])
def test_flattened_images_meet_sorted_weights(transposed: bool) -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (2, 3, 6, 6)))
    y = g.add("relu", _conv(g, x, (3, 32), 3))
    flat = g.add("reshape", y, shape=(2, -1))
    shape = (10, 32 * 36) if transposed else (32 * 36, 10)
    weight = g.param(_noise(*shape) / 8, "d")
    g.output(g.add("matmul", flat, weight, transpose_b=transposed))
    before = g.graph()
    blocked = fold_constants(use_blocks(before, 16))
    after = sink_layout(blocked)
    assert _ops(blocked) == ["blocked_conv", "relu", "layout_transform", "reshape", "matmul"]
    assert _ops(after) == ["blocked_conv", "relu", "reshape", "matmul"]
    _equal(before, after)
    assert sink_layout(after) is after


def test_passes_can_be_left_out() -> None:
    graph = _residual()
    _, records = optimize(graph, Target.of("cpu"), {"fold_norm"})
    assert "fold_norm" not in [r.name for r in records]
    with pytest.raises(OptionError, match="no pass named 'fold'") as refused:
        optimize(graph, Target.of("cpu"), {"fold"})
    assert "fold_norm" in str(refused.value.hint)


def test_factors_are_turned_by_the_transpose_before() -> None:
    g = GraphBuilder("net")
    q, k = (g.input(n, TensorType.of("float32", (1, 6, 2, 8))) for n in "qk")
    turned = [g.add("transpose", v, perm=(0, 2, 1, 3)) for v in (q, k)]
    g.output(g.add("matmul", *turned, transpose_b=True))
    before = g.graph()
    after = turn_factors(before)
    assert [dict(n.attrs) for n in after.nodes] == [
        {"perm": (0, 2, 1, 3)}, {"perm": (0, 2, 3, 1)}, {}
    ]  # fmt: skip
    _equal(before, after)


def test_known_matrices_are_packed() -> None:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (2, 5, 24)))
    y = g.add("matmul", x, g.param(_noise(40, 24), "w"), transpose_b=True)
    y = g.add("add", g.add("add", y, g.param(_noise(40), "b")), g.param(_noise(40), "c"))
    g.output(g.add("relu", g.add("matmul", y, g.param(_noise(40, 3), "v"))))
    before = g.graph()
    after = fold_constants(pack_dense(before, Target.of("cpu")))
    assert _ops(after) == ["packed_dense", "add", "add", "packed_dense", "relu"]
    _equal(before, after)
    _run_equal(before)


def _run_equal(graph: Graph) -> None:
    built = tl.compiler.build(graph)
    module = tl.runtime.create(built.graph, built.lib)
    module.bind_params(built.params)
    data = {i: _noise(*graph.types[i].sizes) for i in graph.inputs}
    module.run(**data)
    for number, name in enumerate(graph.outputs):
        wanted = evaluate(graph, data)[name]
        found = module.get_output(number)
        np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max(), rtol=0)
