"""Operators that read images at computed places, and transforms of signals."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tvmlab.graph import build, evaluate
from tvmlab.graph.onnx import from_onnx
from tvmlab.graph.types import GraphError
from tvmlab.runtime import create

Array = NDArray[Any]
RNG = np.random.default_rng(7)


def model(
    op: str, inputs: dict[str, Array | None], constants: tuple[str, ...], opset: int, **attrs: Any
) -> onnx.ModelProto:
    """One node; the inputs named in `constants` are part of the model."""
    node = helper.make_node(op, [n if a is not None else "" for n, a in inputs.items()], ["y"],
                            **attrs)  # fmt: skip
    given = {n: a for n, a in inputs.items() if a is not None}
    values = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in given.items()
        if n not in constants
    ]
    known = [numpy_helper.from_array(given[n], n) for n in constants if n in given]
    out = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", values, [out], known)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def result(
    op: str,
    inputs: dict[str, Array | None],
    constants: tuple[str, ...] = (),
    opset: int = 20,
    *,
    compiled: bool = False,
    **attrs: Any,
) -> Array:
    """What the graph of one node gives."""
    proto = model(op, inputs, constants, opset, **attrs)
    feed = {n: a for n, a in inputs.items() if a is not None and n not in constants}
    if not compiled:
        graph = from_onnx(proto)
        return evaluate(graph, feed)[graph.outputs[0]]
    built = build(proto)
    module = create(built.graph, built.lib)
    module.bind_params(built.params)
    module.run(**feed)
    return module.get_output(0)


def reference(op: str, inputs: dict[str, Array], opset: int = 20, **attrs: Any) -> Array:
    """What the onnx package says."""
    evaluator: Any = ReferenceEvaluator(model(op, dict(inputs), (), opset, **attrs))
    return evaluator.run(None, inputs)[0]


def noise(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype("float32")


# ---------------------------------------------------------------------------- signals


@pytest.mark.parametrize("length", [None, 5, 8, 13])
@pytest.mark.parametrize(("half", "inverse"), [(0, 0), (1, 0), (0, 1)])
@pytest.mark.parametrize("axis", [1, 2])
def test_transforms_equal_numpy(axis: int, half: int, inverse: int, length: int | None) -> None:
    x = noise(2, 8, 7, 1 if half else 2)
    numbers = x[..., 0] if half else x[..., 0] + 1j * x[..., 1]
    own: Any = np.fft.rfft if half else np.fft.ifft if inverse else np.fft.fft
    want = own(numbers, n=length, axis=axis)
    n = None if length is None else np.array(length)
    made = result("DFT", {"x": x, "n": n, "axis": np.array(axis)}, ("n", "axis"),
                  onesided=half, inverse=inverse)  # fmt: skip
    np.testing.assert_allclose(made[..., 0] + 1j * made[..., 1], want, atol=2e-5)


@pytest.mark.parametrize("length", [8, 9])
def test_half_of_the_frequencies_gives_the_signal_back(length: int) -> None:
    signal = noise(3, length)
    half = np.fft.rfft(signal, axis=1)
    x = np.stack([half.real, half.imag], -1).astype("float32")
    made = result("DFT", {"x": x, "n": np.array(length)}, ("n",), onesided=1, inverse=1)
    np.testing.assert_allclose(made[..., 0], signal, atol=1e-5)


def test_the_axis_of_the_parts_is_refused() -> None:
    with pytest.raises(GraphError, match="axis 2 is that of real and imaginary parts"):
        result("DFT", {"x": noise(2, 8, 1), "n": None, "axis": np.array(2)}, ("axis",))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("step", "length", "half"), [(4, 16, 1), (5, 12, 0), (16, 16, 1)])
def test_short_transforms_equal_numpy(step: int, length: int, half: int, compiled: bool) -> None:
    signal, window = noise(2, 50, 1), np.hanning(length).astype("float32")
    frames = (50 - length) // step + 1
    pieces = np.stack([signal[:, f * step : f * step + length, 0] for f in range(frames)], 1)
    own: Any = np.fft.rfft if half else np.fft.fft
    want = own(pieces * window, axis=-1)
    given: dict[str, Array | None] = {"x": signal, "step": np.array(step), "window": window}
    made = result("STFT", given, ("step", "window"), 17, compiled=compiled, onesided=half)
    np.testing.assert_allclose(made[..., 0] + 1j * made[..., 1], want, atol=2e-5)


def test_a_frame_longer_than_the_signal_is_refused() -> None:
    given: dict[str, Array | None] = {
        "x": noise(1, 8, 1), "step": np.array(2), "window": None, "length": np.array(9)
    }  # fmt: skip
    with pytest.raises(GraphError, match="frames of 9 numbers every 2 in a signal of 8"):
        result("STFT", given, ("step", "length"), 17)


@pytest.mark.parametrize(("bands", "length"), [(8, 16), (20, 64), (40, 16), (1, 8)])
def test_weights_of_the_mel_scale(bands: int, length: int) -> None:
    given = {
        "bands": np.array(bands), "length": np.array(length), "rate": np.array(8192),
        "low": np.array(20, "float32"), "high": np.array(4000, "float32"),
    }  # fmt: skip
    made = result("MelWeightMatrix", dict(given), tuple(given), 17)
    want = reference("MelWeightMatrix", given, 17)
    np.testing.assert_allclose(made, want, atol=1e-6)


# ---------------------------------------------------------------------------- samples


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_grids_equal_the_reference(mode: str, padding: str, corners: int) -> None:
    image, grid = noise(2, 3, 5, 4), (noise(2, 6, 3, 2) * 0.9).astype("float32")
    if (mode, padding) == ("cubic", "border"):
        # Outside of the image, onnx's reference moves points and not their neighbors, unlike ONNX
        # Runtime and PyTorch.
        grid = grid.clip(-0.7, 0.7)
    attrs: dict[str, Any] = {"mode": mode, "padding_mode": padding, "align_corners": corners}
    made = result("GridSample", {"x": image, "grid": grid}, **attrs)
    want = reference("GridSample", {"x": image, "grid": grid}, **attrs)
    np.testing.assert_allclose(made, want, atol=1e-5)


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize(
    ("image", "points"), [((1, 1, 4, 4), (3, 3)), ((2, 3, 5, 7), (6, 2)), ((1, 2, 1, 6), (1, 9))]
)
def test_cubic_grids_that_leave_the_image(
    image: tuple[int, ...], points: tuple[int, ...], corners: int
) -> None:
    """Where the standard's reference errs, ONNX Runtime decides: outside, neighbors are moved."""
    runtime: Any = pytest.importorskip("onnxruntime")
    feed = {"x": noise(*image), "grid": noise(image[0], *points, 2) * np.float32(1.5)}
    attrs: dict[str, Any] = {"mode": "cubic", "padding_mode": "border", "align_corners": corners}
    made = result("GridSample", dict(feed), **attrs)
    proto = model("GridSample", dict(feed), (), 20, **attrs)
    peer = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(made, peer.run(None, feed)[0], atol=2e-5)


def test_a_grid_in_three_dimensions_compiled() -> None:
    image, grid = noise(1, 2, 3, 4, 5), (noise(1, 2, 3, 2, 3) * 0.7).astype("float32")
    made = result("GridSample", {"x": image, "grid": grid}, compiled=True)
    want = reference("GridSample", {"x": image, "grid": grid})
    np.testing.assert_allclose(made, want, atol=1e-5)


def test_places_that_are_no_numbers_read_nothing_outside() -> None:
    """A grid of NaN and infinities must not lead out of the image."""
    grid = np.array([np.nan, 0, np.inf, 0, -np.inf, 1e30, 0, -1e30], "float32")
    image = noise(1, 2, 3, 3)
    made = result("GridSample", {"x": image, "grid": grid.reshape(1, 2, 2, 2)}, compiled=True,
                  padding_mode="border")  # fmt: skip
    # A weighted sum of elements of the image lies between them; what lies beside it hardly does.
    known = made[~np.isnan(made)]
    assert known.size >= made.size // 2
    assert known.min() >= image.min() - 1e-5
    assert known.max() <= image.max() + 1e-5


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("half", ["half_pixel", "output_half_pixel"])
def test_regions_equal_the_reference(mode: str, half: str) -> None:
    corners = RNG.uniform(-3, 20, (5, 2))
    rois = np.concatenate([corners, corners + RNG.uniform(0, 15, (5, 2))], 1).astype("float32")
    given = {"x": noise(2, 3, 9, 10), "rois": rois, "batch": np.array([0, 1, 1, 0, 1])}
    attrs: dict[str, Any] = {
        "mode": mode, "coordinate_transformation_mode": half, "output_height": 2,
        "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5,
    }  # fmt: skip
    made = result("RoiAlign", dict(given), opset=16, **attrs)
    np.testing.assert_allclose(made, reference("RoiAlign", given, 16, **attrs), atol=1e-5)


def test_a_number_of_points_that_depends_on_the_region_is_refused() -> None:
    given = {"x": noise(1, 1, 4, 4), "rois": noise(1, 4), "batch": np.array([0])}
    with pytest.raises(GraphError, match="sampling_ratio is 0"):
        result("RoiAlign", dict(given), opset=16)


@pytest.mark.parametrize(("shared", "groups", "stride"), [(1, 1, 1), (2, 1, 2), (1, 2, 1)])
def test_moved_windows_equal_the_reference(shared: int, groups: int, stride: int) -> None:
    out = (7 + 2 - 3) // stride + 1
    given = {
        "x": noise(2, 4, 7, 7), "w": noise(6, 4 // groups, 3, 3),
        "offset": noise(2, shared * 18, out, out), "b": noise(6),
        "mask": noise(2, shared * 9, out, out),
    }  # fmt: skip
    attrs: dict[str, Any] = {"pads": [1] * 4, "strides": [stride] * 2, "group": groups,
                             "offset_group": shared, "kernel_shape": [3, 3]}  # fmt: skip
    made = result("DeformConv", dict(given), opset=19, **attrs)
    np.testing.assert_allclose(made, reference("DeformConv", given, 19, **attrs), atol=1e-4)


@pytest.mark.parametrize(("stride", "pad", "dilation"), [(1, 0, 1), (2, 1, 1), (3, 0, 2)])
def test_columns_become_an_image(stride: int, pad: int, dilation: int) -> None:
    places = [(n + 2 * pad - dilation - 1) // stride + 1 for n in (6, 9)]
    given = {"x": noise(2, 12, places[0] * places[1]), "image": np.array([6, 9]),
             "block": np.array([2, 2])}  # fmt: skip
    attrs: dict[str, Any] = {
        "strides": [stride] * 2,
        "pads": [pad] * 4,
        "dilations": [dilation] * 2,
    }
    made = result("Col2Im", dict(given), ("image", "block"), 18, **attrs)
    np.testing.assert_allclose(made, reference("Col2Im", given, 18, **attrs), atol=1e-5)


def test_elements_go_back_to_where_a_pooling_took_them_from() -> None:
    x = np.arange(1, 5, dtype="float32").reshape(1, 1, 2, 2)
    given = {"x": x, "at": np.array([0, 3, 8, 15]).reshape(1, 1, 2, 2)}
    made = result("MaxUnpool", dict(given), opset=11, kernel_shape=[2, 2], strides=[2, 2])
    want = np.zeros((1, 1, 4, 4), "float32")
    want.reshape(-1)[[0, 3, 8, 15]] = x.reshape(-1)
    np.testing.assert_array_equal(made, want)
