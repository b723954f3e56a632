"""`tvmlab tune`: a workload by name, the report, going on from the log."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.pretrained import NEEDS_XGBOOST, hide_xgboost
from onnx import helper, numpy_helper

from tvmlab.cli import main
from tvmlab.cli.tune_model import kernel_tasks
from tvmlab.graph.compiler import build_with_report
from tvmlab.target import Target
from tvmlab.tune import CostModel, Trial, TuningLog
from tvmlab.tune.features import REVISION


def test_a_workload_is_tuned_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tune", "matmul-32", "--trials", "4", "--log", str(tmp_path / "log")]
    assert main([*words, "--search", "random"]) == 0
    out = capsys.readouterr().out
    assert "best" in out
    assert "GFLOP/s" in out
    assert "sch." in out
    assert main([*words, "--search", "random", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["measured"] == 8
    assert len(report["curve"]) == 8
    with TuningLog(tmp_path / "log") as log:
        assert len([t for t in log.trials() if t.status != "refused"]) == 8


def test_an_unknown_workload_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "matmul512", "--log", str(tmp_path / "log")]) == 2
    told = capsys.readouterr().err
    assert "did you mean 'matmul-512'" in told
    assert "workloads are matmul-N" in told


def saved_model(folder: Path, rows: int) -> Path:
    """A model of a few kernels."""
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("MatMul", ["e", "w"], ["m"]),
        helper.make_node("Softmax", ["m"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", 1, [rows, 48])],
        [helper.make_tensor_value_info("y", 1, [rows, 32])],
        [numpy_helper.from_array(np.eye(48, 32, dtype="f4"), "w")],
    )
    path = folder / "net.onnx"
    opset = [helper.make_opsetid("", 17)]
    made = helper.make_model(graph, opset_imports=opset, ir_version=8)
    path.write_bytes(made.SerializeToString())
    return path


def test_a_model_is_tuned_and_compiled_with_what_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, log = str(saved_model(tmp_path, 32)), str(tmp_path / "log")
    words = ["tune", model, "--search", "random", "--log", log]
    assert main([*words, "--trials", "6"]) == 0
    out = capsys.readouterr().out
    assert "kernels of net.onnx" in out
    assert "tvmlab compile --tuned" in out
    assert main([*words, "--trials", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sum(row["trials"] for row in rows) == 9
    assert all(row["best_seconds"] <= row["default_seconds"] for row in rows)
    words = ["compile", model, "-o", str(tmp_path / "out"), "--tuned", log, "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["tuned_kernels"] == len(rows) > 1


def test_a_model_that_computes_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(saved_model(tmp_path, 0))
    assert main(["tune", model, "--log", str(tmp_path / "log")]) == 1
    assert "net.onnx has no kernel to tune" in capsys.readouterr().err


def test_kernels_of_a_model_are_refused_if_their_search_needs_xgboost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved_model(tmp_path, 32)
    _, report = build_with_report(model)
    hide_xgboost(monkeypatch)
    assert len(kernel_tasks(report.groups, Target.of("cpu"), {"search": "random"})) > 1
    assert main(["tune", str(model), "--log", str(tmp_path / "log")]) == 1
    assert capsys.readouterr().err.endswith(f"tvmlab: {NEEDS_XGBOOST}\n")


REMEDY = "hint: fit one to measurements and save it, as `tvmlab pretrain FILE` does\n"
EMPTY_MODEL = CostModel().to_json()


def tune_with(model: Path, log: Path) -> int:
    return main(["tune", "matmul-32", "--trials", "1", "--log", str(log), "--model", str(model)])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("letters", " holds no cost model: Expecting value: line 1 column 1 (char 0)"),
        ("", " holds no cost model: Expecting value: line 1 column 1 (char 0)"),
        ('["a list"]', ": this is no tvmlab cost model"),
        (
            json.dumps({**EMPTY_MODEL, "revision": REVISION - 1}),
            ": this cost model was made by another version of tvmlab, with other features",
        ),
        (
            json.dumps({**EMPTY_MODEL, "booster": {}}),
            ": this cost model is damaged: a part is missing or is no number",
        ),
    ],
    ids=["no JSON", "empty", "other JSON", "other features", "damaged"],
)
def test_a_file_that_is_no_model_to_begin_with(
    content: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content)
    assert tune_with(path, tmp_path / "log") == 1
    assert capsys.readouterr().err == f"tvmlab: {path}{reason}\n{REMEDY}"


@pytest.mark.parametrize(
    ("name", "reason"), [("missing.json", "No such file or directory"), (".", "Is a directory")]
)
def test_a_model_to_begin_with_that_cannot_be_read(
    name: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    assert tune_with(path, tmp_path / "log") == 1
    told = capsys.readouterr().err
    assert told == f"tvmlab: the cost model {path} cannot be read: {reason}\n{REMEDY}"


def test_searches_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(tmp_path / "log")
    with TuningLog(log) as opened:
        for n, (search, gflops) in enumerate((("random", 1.0), ("genetic", 2.0))):
            for seed in range(2):
                opened.add(
                    Trial("w", "t", values={"n": n}, seconds=1.0, gflops=gflops + seed,
                          tuner=f"matmul-16/{search}/{seed}/alone")
                )  # fmt: skip
    words = ["searches", "matmul-16", "--seeds", "1", "--trials", "1", "--search", "random"]
    page = tmp_path / "curves.html"
    assert main([*words, "--log", log, "--plot", str(page)]) == 0
    out = capsys.readouterr().out
    assert "matmul-16  random   2" in out
    assert "1.5" in out
    assert "where the median run ended" in out
    assert "random  genetic  1" in out
    assert "random" in page.read_text("utf-8")
    assert main([*words, "--log", log, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {run["search"] for run in found["runs"]} == {"default", "random", "genetic"}
    assert {contest["second"] for contest in found["contests"]} == {"genetic"}
