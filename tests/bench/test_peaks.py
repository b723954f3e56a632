"""Limits of the machine: the micro-benchmarks do what they count, and their file is kept well."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from tvmlab.bench import machine_peaks, measure_peaks, peaks
from tvmlab.bench.peak_ir import CHAINS, STREAMS, multiply_add, multiply_kinds, rate_ir
from tvmlab.bench.peaks import clock_ghz
from tvmlab.bench.stream_ir import copy_ir, read_ir, write_ir
from tvmlab.codegen import compile_module
from tvmlab.runtime import BufferParam, Kernel, ScalarParam, Signature, empty
from tvmlab.support import FLOAT32, INDEX, ParseError
from tvmlab.target import MachinePeaks, Target, peaks_path, read_peaks

HOST = Target.host()


def kernel(text: str, name: str, buffers: int, scalars: int) -> Kernel:
    sizes = [f"n{b}" for b in range(buffers)]
    params = (
        *(BufferParam(f"B{b}", FLOAT32, (sizes[b],), written=True) for b in range(buffers)),
        *(ScalarParam(f"s{s}", INDEX) for s in range(scalars)),
        *(ScalarParam(size, INDEX) for size in sizes),
    )
    return Kernel(compile_module(text, HOST).object_bytes, Signature(name, params))


@pytest.mark.parametrize("bits", [32, 128, HOST.vector_bits])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_multiply_add_is_done(bits: int, threads: int) -> None:
    """With factor 1 and addend 1 a chain counts its steps."""
    steps = 57
    kind = multiply_add(dataclasses.replace(HOST, vector_bits=bits), "float32")
    data = np.ones((2 + CHAINS + threads, kind.lanes), np.float32)
    data[2 : 2 + CHAINS] = np.arange(CHAINS)[:, None]
    flat = data.ravel()
    kernel(rate_ir(kind), "peak_rate", 1, 2)(flat, steps, threads)
    total = CHAINS * steps + sum(range(CHAINS))
    assert (flat.reshape(data.shape)[2 + CHAINS :] == total).all()


@pytest.mark.parametrize("lanes", [1, HOST.lanes(32)])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_element_is_read_and_copied(lanes: int, threads: int) -> None:
    blocks, rounds = 5, 2
    elements = blocks * threads * STREAMS * lanes
    data = np.arange(elements, dtype=np.float32) % 31
    sums = np.zeros(elements, np.float32)
    kernel(read_ir(lanes), "peak_read", 2, 3)(data, sums, blocks, rounds * blocks, threads)
    parts = data.reshape(threads, blocks * STREAMS, lanes).sum(axis=1)
    assert (sums[: threads * lanes] == rounds * parts.ravel()).all()


@pytest.mark.parametrize("past_caches", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_element_is_written(past_caches: bool, threads: int) -> None:
    lanes, blocks = HOST.lanes(32), 5
    elements = blocks * threads * STREAMS * lanes
    data = np.arange(elements, dtype=np.float32)
    copy = empty(elements, "float32")
    text = copy_ir(lanes, past_caches=past_caches)
    kernel(text, "peak_copy", 2, 3)(data, copy, blocks, blocks, threads)
    assert (copy == data).all()
    text = write_ir(lanes, past_caches=past_caches)
    kernel(text, "peak_write", 2, 3)(data, copy, blocks, blocks, threads)
    steps = np.repeat(np.arange(blocks), STREAMS * lanes)
    assert (copy == np.tile(steps, threads)).all()


def test_the_clock_is_one_of_this_century() -> None:
    assert 0.2 < clock_ghz() < 10


def test_the_chains_stay_in_registers() -> None:
    """The measured loop is multiply-adds and nothing that touches memory."""
    text = compile_module(rate_ir(multiply_add(HOST, "float32")), HOST).asm
    if HOST.arch != "x86_64" or not HOST.has("fma"):
        pytest.skip("looks for x86-64 instructions")
    lines = [line for line in text.splitlines() if "vfmadd" in line]
    assert len(lines) >= CHAINS
    assert not any("(" in line for line in lines)


def test_a_quick_measurement_gives_positive_numbers() -> None:
    found = measure_peaks(HOST.with_threads(2), quick=True)
    assert found.gflops.keys() == {1, 2}
    assert found.rates.keys() == {kind.dtype for kind in multiply_kinds(HOST)}
    assert all(rate > 0.1 for rates in found.rates.values() for rate in rates.values())
    assert found.rate("float32", 1) == found.gflops[1]
    assert found.rate("float32", 3) is found.rate("complex64", 1) is None
    assert {b.threads for b in found.bandwidths} == {1, 2}
    for bandwidth in found.bandwidths:
        assert bandwidth.read > 0
        assert bandwidth.write > 0
        assert bandwidth.copy > 0
        assert found.level_of(bandwidth.capacity, bandwidth.threads) is bandwidth
        assert found.bandwidth(bandwidth.level, bandwidth.threads) is bandwidth
    assert found.bandwidth("L9", 1) is None
    assert MachinePeaks.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_the_file_is_measured_once_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Target] = []
    made = measure_peaks(HOST.with_threads(1), quick=True)

    def measure(target: Target) -> MachinePeaks:
        calls.append(target)
        return dataclasses.replace(made, rates={"float32": {1: float(len(calls))}})

    monkeypatch.setattr(peaks, "measure_peaks", measure)
    assert read_peaks(tmp_path) is None
    assert machine_peaks(tmp_path).gflops == machine_peaks(tmp_path).gflops == {1: 1.0}
    assert machine_peaks(tmp_path, again=True).gflops == {1: 2.0}
    [file] = tmp_path.iterdir()
    file.write_text(file.read_text()[:-20])
    assert machine_peaks(tmp_path).gflops == {1: 3.0}
    assert len(calls) == 3
    assert [p.name for p in tmp_path.iterdir()] == [file.name] == [peaks_path(tmp_path).name]


def test_a_target_knows_the_limits_of_its_host_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TVMLAB_CACHE_DIR", str(tmp_path))
    assert HOST.peaks is None
    made = measure_peaks(HOST.with_threads(1), quick=True)
    peaks_path().write_text(json.dumps(made.to_json()))
    assert HOST.peaks == HOST.with_threads(1).peaks == made
    assert Target.of("llvm -mtriple=riscv64-linux-gnu").peaks is None


def test_data_that_are_no_peaks() -> None:
    with pytest.raises(ParseError, match="machine peaks of version 9 cannot be read"):
        MachinePeaks.from_json({"version": 9})
    others: list[object] = [[], {}, {"version": 2, "rates": 3}]
    for data in others:
        with pytest.raises(ParseError, match="this is no record of machine peaks"):
            MachinePeaks.from_json(data)
