"""The suite of the onnx package: what fails is listed, and must fail; everything else must pass.

A listed test that begins to pass fails here, so that the lists stay true.
"""

from __future__ import annotations

import unittest
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import numpy_helper

from tvmlab.graph.onnx.backend import TvmlabBackend

FAILURES = Path(__file__).with_name("suite_failures.txt")
LIGHT = Path(str(onnx.backend.test.__file__)).parent / "data" / "light"
LEAST = {"Node": 1530, "Simple": 23, "PyTorchConverted": 78, "PyTorchOperator": 34}
"""How many must pass: 72 % of all node tests, 95 % of those converted from PyTorch."""
SAMPLE = (
    "add", "conv_with_strides_padding", "softmax_axis_1", "maxpool_2d_pads", "gather_0",
    "layer_normalization_2d_axis1", "reshape_negative_dim", "qlinearconv", "lstm_defaults",
)  # fmt: skip


def listed() -> dict[str, str]:
    """Tests that fail, each with the reason that stands above it."""
    found: dict[str, str] = {}
    reason = ""
    for line in FAILURES.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found


@pytest.fixture
def items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """All tests by category and name; models are copied to a folder of ours."""
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the suite's own arithmetic
        runner: Any = onnx.backend.test.BackendTest(TvmlabBackend, __name__)
    found: dict[str, dict[str, Any]] = runner._test_items
    return {category.removesuffix("Model"): tests for category, tests in found.items()}


def outcome(tests: dict[str, Any]) -> tuple[list[str], list[str], dict[str, str]]:
    """Which tests of the suite pass, which are skipped, and which fail, with the message."""
    case = type("Suite", (unittest.TestCase,), {name: item.func for name, item in tests.items()})
    passed: list[str] = []
    skipped: list[str] = []
    failed: dict[str, str] = {}
    for name in tests:
        result = unittest.TestResult()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case(name).run(result)
        plain = name.removesuffix("_cpu")
        if result.skipped:
            skipped.append(plain)
        elif result.errors or result.failures:
            failed[plain] = (result.errors or result.failures)[0][1].strip().splitlines()[-1]
        else:
            passed.append(plain)
    return passed, skipped, failed


def on_cpu(tests: dict[str, Any]) -> dict[str, Any]:
    return {n: i for n, i in tests.items() if n.endswith("_cpu")}


def test_sample(items: dict[str, dict[str, Any]]) -> None:
    chosen = {f"test_{name}_cpu": items["Node"][f"test_{name}_cpu"] for name in SAMPLE}
    passed, skipped, failed = outcome(chosen)
    assert (len(passed), skipped, failed) == (len(SAMPLE), [], {})


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("category", LEAST)
def test_suite(category: str, items: dict[str, dict[str, Any]]) -> None:
    passed, skipped, failed = outcome(on_cpu(items[category]))
    known = listed()
    assert skipped == []
    assert {n: m for n, m in failed.items() if n not in known} == {}
    assert [n for n in passed if n in known] == []
    assert len(passed) >= LEAST[category]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("path", sorted(LIGHT.glob("*.onnx")), ids=lambda p: p.stem)
def test_light_models(path: Path) -> None:
    model = onnx.ModelProto.FromString(path.read_bytes())
    constants = {t.name for t in model.graph.initializer}
    inputs: list[Any] = []
    for declared in (i for i in model.graph.input if i.name not in constants):
        shape = [d.dim_value for d in declared.type.tensor_type.shape.dim]
        count = int(np.prod(shape))
        inputs.append((np.arange(count, dtype=np.float32) / np.float32(count)).reshape(shape))
    wanted = onnx.TensorProto.FromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    (result,) = TvmlabBackend.prepare(model).run(inputs)
    np.testing.assert_allclose(result, numpy_helper.to_array(wanted), rtol=1e-3, atol=1e-5)
