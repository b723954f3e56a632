"""Convolutions in plain layouts, filters copied to panels in the call, against NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from helpers.windows import convolution, random
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.target import Target

LAYOUTS = (("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "OHWI"))


@dataclass(frozen=True)
class Case:
    images: tuple[int, int, int, int]
    filters: tuple[int, int, int]
    layouts: tuple[str, str] = LAYOUTS[0]
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    stride: int = 1
    dilation: int = 1
    followed: bool = False


def check(case: Case, target: Target) -> str:
    """Compare with NumPy; returns the schedule's text."""
    stride, dilation, pads = case.stride, case.dilation, case.pads
    x, w = random(case.images, 0), random((case.filters[0], case.images[1], *case.filters[1:]), 1)
    around = [(pads[0], pads[2]), (pads[1], pads[3])]
    want = convolution(x, w, (stride, stride), (dilation, dilation), around)
    plain, kept = case.layouts
    arrays = [topi.pack_array(x, "NCHW", plain), topi.pack_array(w, "OIHW", kept)]
    a, f = (te.placeholder(v.shape, name=n) for v, n in zip(arrays, "AW", strict=True))
    out = topi.conv2d(a, f, stride, pads, dilation, plain, kernel_layout=kept)
    tensors, wanted = [a, f], topi.pack_array(want, "NCHW", plain)
    if case.followed:
        tensors.append(te.placeholder(out.shape, name="R"))
        arrays.append(random(wanted.shape, 2))
        out = topi.relu(topi.add(out, tensors[-1]))
        wanted = np.maximum(wanted + arrays[-1], 0)
    got = np.full(wanted.shape, np.nan, np.float32)
    sch = topi.schedule_conv(out, target, args=[*tensors, out])
    tl.build(sch, target)(*arrays, got)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-3)
    return str(sch)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kernel = draw(st.sampled_from([(1, 1), (2, 3), (3, 3)]))
    channels, outputs = draw(st.sampled_from([6, 16, 32])), draw(st.sampled_from([16, 32, 48, 80]))
    height, width = draw(st.integers(5, 20)), draw(st.integers(5, 20))
    return Case(
        (draw(st.integers(1, 2)), channels, height, width),
        (outputs, *kernel),
        draw(st.sampled_from(LAYOUTS)),
        draw(st.tuples(*[st.integers(0, 2)] * 4)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 2)),
        draw(st.booleans()),
    )


def with_threads(case: Case, threads: int) -> None:
    check(case, Target.host().with_threads(threads))


@settings(max_examples=6, deadline=None)
@given(cases(), st.integers(1, 3))
def test_convolutions(case: Case, threads: int) -> None:
    with_threads(case, threads)


@pytest.mark.slow
def test_many_convolutions() -> None:
    run = given(cases(), st.integers(1, 3))(with_threads)
    settings(max_examples=150, deadline=None)(run)()


@pytest.mark.parametrize("features", ["llvm -mattr=-avx512f", "llvm -mattr=-avx,-avx2,-avx512f"])
def test_narrower_machines(features: str) -> None:
    check(Case((1, 16, 9, 14), (32, 3, 3)), Target.of(features))


@pytest.mark.parametrize("layouts", LAYOUTS)
def test_filters_and_sums_go_through_registers(layouts: tuple[str, str]) -> None:
    machine = Target.of("llvm -mattr=+avx512f")
    if machine.lanes(32) != 16:
        pytest.skip("vectors are shorter here")
    text = check(Case((1, 16, 14, 14), (32, 3, 3), layouts), machine)
    assert "W_global = alloc" in text
    assert ('"transpose_32_14x16"' in text) == (layouts[0] == "NCHW")


def test_few_places_or_channels_have_no_panels() -> None:
    for images, filters in (((1, 16, 4, 4), (32, 3, 3)), ((1, 2, 14, 14), (32, 3, 3))):
        text = check(Case(images, filters, pads=(0, 0, 0, 0)), Target.host())
        assert "W_global" not in text


@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks(rank: int) -> None:
    letters, size = {1: ("W", (40,)), 3: ("DHW", (3, 4, 6))}[rank]
    x, w = random((1, 16, *size), 0), random((32, 16, *[3] * rank), 1)
    want = convolution(x, w, (1,) * rank, (1,) * rank, [(1, 1)] * rank)
    a, f = te.placeholder(x.shape, name="A"), te.placeholder(w.shape, name="W")
    formula = topi.conv1d if rank == 1 else topi.conv3d
    got = np.full(want.shape, np.nan, np.float32)
    sch = topi.schedule_conv(formula(a, f, padding=1, layout=f"NC{letters}"))
    tl.build(sch)(x, w, got)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)
