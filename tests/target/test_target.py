"""Descriptions of machines: detection, parsing, refusals."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tvmlab.support import OptionError, available_cpus, default_num_threads
from tvmlab.target import CacheLevel, Target, devices
from tvmlab.target.caches import host_caches


def test_host() -> None:
    host = Target.host()
    assert Target.of("cpu") == Target.of("llvm") == host
    assert Target.of(host) is host
    assert host.kind == "cpu"
    assert host.vector_bits % 128 == 0
    assert host.lanes(32) == host.vector_bits // 32
    assert host.num_threads == available_cpus()
    if host.has("avx512f"):
        assert (host.vector_bits, host.num_registers) == (512, 32)
        assert "-prefer-256-bit" in host.features
        assert not host.has("prefer-256-bit")


@pytest.mark.parametrize(
    ("spec", "bits", "registers"),
    [
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4", 512, 32),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3", 256, 16),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64", 128, 16),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64 -mattr=+avx2,+avx", 256, 16),
        ("llvm -mtriple=aarch64-linux-gnu", 128, 32),
        ("llvm -mtriple=armv7-linux-gnueabihf -mattr=+neon", 128, 16),
        ("llvm -mtriple=armv7-linux-gnueabihf", 0, 0),
        ("llvm -mtriple=riscv64-linux-gnu -mattr=+v", 128, 32),
        ("llvm -mtriple=wasm32 -mattr=+simd128", 128, 16),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=skylake", 256, 16),
    ],
)
def test_vector_registers(spec: str, bits: int, registers: int) -> None:
    target = Target.of(spec)
    assert (target.vector_bits, target.num_registers) == (bits, registers)
    assert target.lanes(32) == max(1, bits // 32)


def test_options_change_parts_of_the_host() -> None:
    target = Target.of("cpu -num-threads=3 -mattr=-avx512f")
    assert target.num_threads == 3
    assert not target.has("avx512f")
    assert target.vector_bits <= 256
    assert target.triple == Target.host().triple
    assert Target.of(str(target).split(" (")[0]).triple == target.triple


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpu", "target 'gpu' is not known\nhint: .*known: cpu, llvm"),
        ("llm", "did you mean llvm"),
        ("", "target '' is not known"),
        ("llvm -mcp=x", r"target option '-mcp=x' is not known\nhint: did you mean -mcpu=\.\.\."),
        ("llvm fast", "target option 'fast' is not known"),
        ("llvm -mcpu", "target option -mcpu has no value"),
        ("llvm -mcpu=znver99", "the processor 'znver99' is not known for x86_64\nhint: .*znver4"),
        ("llvm -mtriple=foo-linux", "no code can be made for the machine 'foo-linux'\nhint: a tri"),
        (
            "llvm -mtriple=aarch64-linux-gnu -mattr=+bogus",
            "feature 'bogus' is not known for aa",
        ),
        ("llvm -num-threads=0", "target option -num-threads is '0', not a positive number"),
    ],
)
def test_refusals(spec: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Target.of(spec)


def test_thread_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVMLAB_NUM_THREADS", "7")
    assert default_num_threads() == 7
    assert Target.host().num_threads == 7
    monkeypatch.setenv("TVMLAB_NUM_THREADS", "many")
    with pytest.raises(OptionError, match="TVMLAB_NUM_THREADS is 'many', not a positive number"):
        default_num_threads()


def test_affinity_counts() -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no affinity on this system")
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert available_cpus() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_device_report() -> None:
    (cpu,) = devices()
    assert cpu["kind"] == "cpu"
    assert cpu["cores"] >= 1
    assert cpu["llvm"].count(".") == 2
    if Target.host().arch == "x86_64":
        assert cpu["features"]["AVX2"] == Target.host().has("avx2")
        assert {"FMA", "AVX512", "AVX512_VNNI", "AVX512_BF16", "AMX_INT8"} <= set(cpu["features"])
    assert [c["level"] for c in cpu["caches"]] == [c.level for c in host_caches()]


def test_caches_grow_outwards() -> None:
    sizes = [c.size for c in host_caches()]
    assert sizes == sorted(sizes)
    assert all(isinstance(c, CacheLevel) and c.line >= 16 for c in host_caches())


def test_llvm_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, tvmlab.target, tvmlab.runtime, tvmlab.codegen.llvm\n"
        "assert 'llvmlite' not in sys.modules\n"
        "tvmlab.target.Target.host()\n"
        "assert 'llvmlite' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
