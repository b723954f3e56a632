"""`tvmlab demo matmul`: what it shows is what the compiler says and what was measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

import tvmlab as tl
from tvmlab.cli import demo, main
from tvmlab.cli.matmul_demo import MatmulDemo, run_matmul
from tvmlab.inspect import nest_report, nest_text
from tvmlab.topi import matmul


@pytest.fixture(scope="module")
def report() -> MatmulDemo:
    return run_matmul(48)


def test_text_has_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "matmul", "--size", "256"]) == 0
    text = capsys.readouterr().out
    parts = ["C = A @ B", "As written", "A step that is refused", "The steps", "After the steps"]
    found = [text.index(part) for part in [*parts, "Measured"]]
    assert found == sorted(found)
    assert "for k in range(256)" in text
    assert "for example: k=0 and k=1 both update C[0, 0]" in text
    assert "would work: parallelize i instead" in text
    assert "= sch.split(" in text
    assert re.search(r"P for \w+ in parallel\(\d+\)", text)
    for name in ("as written", "scheduled", "NumPy"):
        assert re.search(rf"\n  {name} .* GFLOP/s", text)
    assert "The result agrees with NumPy" in text


def test_json_is_the_same_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "matmul", "--size", "24", "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["workload"] == "24 × 24 × 24 · float32"
    assert data["operations"] == 2 * 24**3
    assert data["refused"]["rule"] == "parallel.reduction"
    assert data["check"]["agrees"] is True
    for timed in (data["unscheduled"], data["scheduled"], data["numpy"]):
        assert 0 < timed["lower"] <= timed["median"] <= timed["upper"]
        assert timed["gflops"] == pytest.approx(data["operations"] / timed["median"] / 1e9)


def test_the_steps_make_the_schedule_that_is_shown(report: MatmulDemo) -> None:
    _, _, c = matmul(48, 48, 48)
    sch = tl.Schedule(c, name="matmul")
    exec(report.python, {"sch": sch})
    assert nest_text(nest_report(sch)) == report.after
    assert report.after != report.before


@pytest.mark.parametrize("size", [2, 3, 33])
def test_any_size(size: int) -> None:
    assert run_matmul(size).check.agrees


def test_a_wrong_result_is_said_and_fails(
    report: MatmulDemo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = replace(report.check, agrees=False, largest_difference=3.0)

    def run_wrong(size: int) -> MatmulDemo:
        return replace(report, check=wrong)

    monkeypatch.setattr(demo, "run_matmul", run_wrong)
    assert main(["demo", "matmul"]) == 1
    assert "does NOT agree with NumPy: the largest difference is 3.0e+00" in capsys.readouterr().out
