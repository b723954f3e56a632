"""`tvmlab compile`, `run` and `profile`: from a model file to a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tvmlab.cli import main
from tvmlab.graph.compiler import build_with_report
from tvmlab.graph.groups import body_of
from tvmlab.graph.kernels import unscheduled
from tvmlab.tune import Measurer, Tuner, TuningLog, generic_space


@pytest.fixture
def model(tmp_path: Path) -> Path:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", 1, ["batch", 4])],
        [helper.make_tensor_value_info("y", 1, ["batch", 4])],
    )
    path = tmp_path / "net.onnx"
    opset = [helper.make_opsetid("", 17)]
    made = helper.make_model(graph, opset_imports=opset, ir_version=8)
    path.write_bytes(made.SerializeToString())
    return path


def test_compile_run_profile(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert main(["compile", str(model), "-o", out, "--size", "batch=2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"] == 1
    x = np.array([[1, -2, 3, -4], [-1, 2, -3, 4]], "f4")
    np.save(tmp_path / "x.npy", x)
    assert main(["run", out, "--input", f"x={tmp_path / 'x.npy'}", "--output", out]) == 0
    assert "float32[2, 4]" in capsys.readouterr().out
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "output_0.npy"), np.maximum(x, 0))
    assert main(["profile", out, "--repeats", "2"]) == 0
    said = capsys.readouterr().out
    assert "1 steps" in said
    assert main(["run", out, "--size", "batch=4"]) == 1
    assert "is compiled, so its sizes are fixed" in capsys.readouterr().err
    assert "this process at its peak" in said
    assert main(["profile", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["bytes"] == 64


def test_compile_with_tuned_schedules(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report = build_with_report(model, sizes={"batch": 64})
    (group,) = report.groups
    program = unscheduled(body_of(group.text), group.kernel)
    with TuningLog(tmp_path / "log.sqlite") as log, Measurer(1) as runner:
        assert list(Tuner(generic_space(program), log=log, runner=runner).run(2))
    words = ["compile", str(model), "-o", str(tmp_path / "out"), "--size", "batch=64"]
    assert main([*words, "--tuned", str(tmp_path / "log.sqlite")]) == 0
    assert "schedules from the tuning log: 1 of 1" in capsys.readouterr().out


def test_compile_to_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = numpy_helper.from_array(np.eye(8, 16, dtype="f4"), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", 1, ["batch", 8])],
        [helper.make_tensor_value_info("y", 1, ["batch", 16])],
        [weights],
    )
    path = tmp_path / "net.onnx"
    opset = [helper.make_opsetid("", 17)]
    made = helper.make_model(graph, opset_imports=opset, ir_version=8)
    path.write_bytes(made.SerializeToString())
    samples = tmp_path / "samples.npz"
    np.savez(samples, x=np.linspace(-1, 1, 32, dtype="f4").reshape(4, 1, 8))
    out = str(tmp_path / "out")
    words = ["compile", str(path), "-o", out, "--size", "batch=1", "--int8", str(samples)]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameter_bytes"] < 8 * 16 * 4
    assert main(["run", out]) == 0
    samples.write_text("letters")
    assert main(words) == 1
    assert "it is no archive of plain arrays" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compile", "MODEL", "-o", "out", "--pinned", "nopins"], "the pins nopins cannot be read"),
        (["compile", "MODEL", "-o", "out", "--int8", "nodata"], "the samples nodata cannot be"),
        (["compile", "MODEL", "-o", "out"], "has inputs of unknown size: batch"),
        (["compile", "MODEL", "-o", "out", "--tuned", "nolog"], "there is no tuning log nolog"),
        (["compile", "MODEL", "-o", "MODEL", "--size", "batch=1"], "exists and is no module"),
        (["run", "MODEL", "--size", "batch"], "--size batch is no size"),
        (["run", "MODEL", "--size", "batch=1", "--size", "n=2"], "leaves no size 'n' open"),
        (["run", "nowhere.onnx"], "the model nowhere.onnx cannot be read"),
        (["run", "MODEL", "--size", "batch=1", "--input", "x"], "--input x names no file"),
        (["run", "MODEL", "--size", "batch=1", "--input", "z=a.npy"], "has no input 'z'"),
        (["run", "MODEL", "--size", "batch=1", "--input", "x=a.npy"], "a.npy cannot be read"),
    ],
)
def test_mistakes(
    model: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(model) if w == "MODEL" else w for w in words]) == 1
    assert message in capsys.readouterr().err
