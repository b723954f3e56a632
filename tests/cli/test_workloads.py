"""Names of workloads: which there are, and what is said of one that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tvmlab.cli import main
from tvmlab.cli.parser import UsageError
from tvmlab.cli.workloads import named_workload, workload_names, workload_output
from tvmlab.target import Target

AVX512 = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4")
KINDS = (
    "hint: workloads are matmul-N, matmul-MxNxK, C1 to C12, D1 to D9, conv-28x64x96x3s1 "
    "(size, channels, filters, window, stride) and depthwise-28x64s1 (size, channels, stride)"
)


def refusal(name: str) -> str:
    with pytest.raises(UsageError) as caught:
        workload_output(name, AVX512)
    return str(caught.value)


@pytest.mark.parametrize("name", ["matmul-64", "matmul-16x32x64", "C1", "C5", "C9", "D2", "D9"])
def test_workloads_have_names(name: str) -> None:
    out, default = named_workload(name, Target.of("cpu"))
    assert out.shape
    assert len(default.trace) > 3


def test_groups_of_workloads() -> None:
    assert len(workload_names(["all"])) == 27
    assert workload_names(["C2", "resnet", "matmul-8"])[:2] == ["C2", "C1"]
    assert workload_names(["matmul-8", "matmul-8"]) == ["matmul-8"]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("matmul-16x32x64", (16, 32)),
        ("conv-28x64x96x3s1", (1, 6, 28, 28, 16)),
        ("conv-28x3x96x3s2", (1, 6, 14, 14, 16)),  # only filters must make whole blocks
        ("depthwise-28x64s2", (1, 4, 14, 14, 16)),
    ],
)
def test_sizes_stand_in_the_name(name: str, shape: tuple[int, ...]) -> None:
    assert workload_output(name, AVX512).shape == shape


@pytest.mark.parametrize(
    ("name", "count", "whole"),
    [
        ("conv-28x64x97x3s1", "97 filters", "112 filters"),
        ("depthwise-28x65s1", "65 channels", "80 channels"),
    ],
)
def test_channels_must_make_whole_blocks(name: str, count: str, whole: str) -> None:
    assert refusal(name) == (
        f"{count} cannot be cut into blocks of 16, as many as a vector of this machine holds\n"
        f"hint: take {whole}"
    )


@pytest.mark.parametrize(
    "name",
    ["matmul-0", "matmul-8x0x8", "conv-0x64x96x3s1", "conv-28x64x96x3s0", "conv-28x64x0x3s1",
     "depthwise-28x0s1", "depthwise-28x64s0"],
)  # fmt: skip
def test_no_size_is_zero(name: str) -> None:
    assert refusal(name) == (
        f"the workload {name!r} has a size or stride of 0\nhint: take 1 or more"
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("matmul512", "matmul-512"),
        ("conv-28x64x96x3", "conv-28x64x96x3s1"),
        ("conv-28x64x96x3s-1", "conv-28x64x96x3s1"),
        ("CONV-28x64x96x3s1", "conv-28x64x96x3s1"),
        ("depthwise-28x64", "depthwise-28x64s1"),
        ("depthwise-28x64x3s1", "depthwise-28x64s1"),
    ],
)
def test_a_name_that_is_nearly_one_is_answered_with_that(name: str, meant: str) -> None:
    assert refusal(name) == f"there is no workload {name!r}; did you mean {meant!r}?\n{KINDS}"


def test_any_other_name_is_answered_with_what_there_is() -> None:
    assert refusal("pool") == f"there is no workload 'pool'\n{KINDS}"


@pytest.mark.parametrize("name", ["pool", "conv-28x64x97x3s1"])
def test_the_command_line_is_not_understood(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", name, "--trials", "1", "--log", str(tmp_path / "log")]) == 2
    assert capsys.readouterr().err.startswith("tvmlab: ")
