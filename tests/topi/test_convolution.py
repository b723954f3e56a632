"""Convolutions in every layout, under their default schedules, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from helpers.windows import convolution, random
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.ir import const_int
from tvmlab.support import OptionError, ScheduleError, ShapeError
from tvmlab.target import Target
from tvmlab.te import Tensor
from tvmlab.topi.conv_anchor import find_anchor
from tvmlab.topi.conv_plan import ConvPlan, plan_conv

Array = NDArray[Any]
FORMULAS: dict[int, Callable[..., Tensor]] = {1: topi.conv1d, 2: topi.conv2d, 3: topi.conv3d}
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def sizes_of(tensor: Tensor) -> list[int]:
    return [const_int(s) or 0 for s in tensor.shape]


@dataclass(frozen=True)
class Case:
    batch: int
    channels: int
    filters: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    groups: int
    layouts: tuple[str, str, str]
    epilogue: bool


@st.composite
def cases(draw: st.DrawFn, rank: int) -> Case:
    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    groups = draw(st.sampled_from([1, 1, 1, 2, 3]))
    blocks = draw(st.sampled_from([0, 4, 8, 16]))
    channels, filters = draw(st.integers(1, 9)) * groups, draw(st.integers(1, 20)) * groups
    if groups > 1 and draw(st.booleans()):
        channels = filters = groups  # depthwise
    if blocks:
        channels, filters = -(-channels // groups) * groups * blocks, -(-filters // 8) * blocks
        filters *= groups
    s = SPATIAL[rank]
    if blocks:
        i = f"{blocks}i" if channels // groups % blocks == 0 else ""
        layouts = (f"NC{s}{blocks}c", f"OI{s}{i}{blocks}o", f"NC{s}{blocks}c")
    else:
        last = draw(st.booleans())
        layouts = (f"N{s}C", f"{s}IO", f"N{s}C") if last else (f"NC{s}", f"OI{s}", f"NC{s}")
    kernel, dilation = each(1, 3), each(1, 2)
    pads = tuple(zip(each(0, 2), each(0, 2), strict=True))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    more = each(0, 30 if rank == 1 else 12 if rank == 2 else 5)
    size = tuple(max(1, r - b - a) + m for r, (b, a), m in zip(reach, pads, more, strict=True))
    return Case(
        draw(st.integers(1, 2)), channels, filters, size, kernel, each(1, 3), dilation, pads,
        groups, layouts, draw(st.booleans()),
    )  # fmt: skip


def check(case: Case) -> None:
    x = random((case.batch, case.channels, *case.size), 0)
    w = random((case.filters, case.channels // case.groups, *case.kernel), 1)
    rank = len(case.size)
    plain, filters = f"NC{SPATIAL[rank]}", f"OI{SPATIAL[rank]}"
    want = convolution(x, w, case.stride, case.dilation, case.pads, case.groups)
    images, kernel, out = case.layouts
    arrays = [topi.pack_array(x, plain, images), topi.pack_array(w, filters, kernel)]
    tensors = [te.placeholder(a.shape, name=n) for a, n in zip(arrays, "AW", strict=True)]
    padding = [b for b, _ in case.pads] + [a for _, a in case.pads]
    result = FORMULAS[rank](
        *tensors, case.stride, padding, case.dilation, images,
        groups=case.groups, kernel_layout=kernel, out_layout=out,
    )  # fmt: skip
    packed = topi.pack_array(want, plain, out)
    if case.epilogue:
        other = te.placeholder(result.shape, name="R")
        result = topi.relu(topi.add(result, other))
        arrays.append(random(packed.shape, 2))
        tensors.append(other)
        packed = np.maximum(packed + arrays[-1], 0)
    got = np.full(packed.shape, np.nan, np.float32)
    tl.build(topi.schedule_conv(result, args=[*tensors, result]))(*arrays, got)
    np.testing.assert_allclose(got, packed, rtol=1e-4, atol=2e-4)


@settings(max_examples=8, deadline=None)
@given(cases(1))
def test_conv1d(case: Case) -> None:
    check(case)


@settings(max_examples=25, deadline=None)
@given(cases(2))
def test_conv2d(case: Case) -> None:
    check(case)


@settings(max_examples=6, deadline=None)
@given(cases(3))
def test_conv3d(case: Case) -> None:
    check(case)


@st.composite
def depthwise_cases(draw: st.DrawFn) -> Case:
    """Each channel by itself, in vectors of channels: large enough for tiles of several rows."""

    def pair(low: int, high: int) -> tuple[int, int]:
        return (draw(st.integers(low, high)), draw(st.integers(low, high)))

    blocks = draw(st.sampled_from([0, 8, 16, 32]))
    channels = draw(st.integers(1, 2)) * (blocks or draw(st.integers(1, 20)))
    packed = (f"NCHW{blocks}c", f"OIHW{blocks}o", f"NCHW{blocks}c")
    return Case(
        1, channels, channels, pair(5, 33), pair(1, 5), pair(1, 3), (1, 1),
        (pair(0, 2), pair(0, 2)), channels, packed if blocks else ("NHWC", "HWIO", "NHWC"),
        draw(st.booleans()),
    )  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(depthwise_cases())
def test_depthwise(case: Case) -> None:
    check(case)


@pytest.mark.slow
def test_many_depthwise() -> None:
    settings(max_examples=150, deadline=None)(given(depthwise_cases())(check))()


def test_rows_of_a_depthwise_convolution_with_a_stride_are_computed_in_pairs() -> None:
    dense, in_steps = depthwise_plan(14, 1), depthwise_plan(28, 2)
    assert (dense.tall, dense.pixels) == (1, 14)
    assert (in_steps.tall, in_steps.pixels) == (2, 7)
    assert depthwise_plan(7, 2).tall == 1, "four rows are too few for pairs"


def depthwise_plan(size: int, step: int) -> ConvPlan:
    machine = Target.of("llvm -mcpu=skylake-avx512")
    a, w = te.placeholder((1, 4, size, size, 16)), te.placeholder((4, 1, 3, 3, 16))
    c = topi.conv2d(
        a, w, step, 1, layout="NCHW16c", kernel_layout="OIHW16o", out_layout="NCHW16c", groups=64
    )
    return plan_conv(find_anchor([c]), machine)


@pytest.mark.slow
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_many_convolutions(rank: int) -> None:
    settings(max_examples=60, deadline=None)(given(cases(rank))(check))()


def test_first_layer_brings_channels_together() -> None:
    check(
        Case(
            1, 3, 32, (20, 18), (7, 7), (2, 2), (1, 1), ((3, 3), (3, 3)), 1,
            ("NCHW", "OIHW16o", "NCHW16c"), True,
        )
    )  # fmt: skip


def test_depthwise_in_its_own_filter_layout() -> None:
    x, w = random((2, 6, 9, 8), 0), random((6, 2, 3, 3), 1)
    a, f = te.placeholder(x.shape, name="A"), te.placeholder(w.shape, name="W")
    result = topi.depthwise_conv2d(a, f, (1, 2), 1)
    want = convolution(x, w.reshape(12, 1, 3, 3), (1, 2), (1, 1), [(1, 1), (1, 1)], groups=6)
    got = np.empty(want.shape, np.float32)
    tl.build(topi.schedule_conv(result))(x, w, got)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("features", ["llvm -mattr=-avx512f", "llvm -mattr=-avx,-avx2,-avx512f"])
def test_narrower_machines(features: str) -> None:
    machine = Target.of(features)
    block = topi.channel_block(machine)
    assert block in (4, 8)
    x, w = random((1, 2 * block, 9, 9), 0), random((4 * block, 2 * block, 3, 3), 1)
    want = convolution(x, w, (1, 1), (1, 1), [(1, 1), (1, 1)])
    images = topi.pack_array(x, "NCHW", f"NCHW{block}c")
    filters = topi.pack_array(w, "OIHW", f"OIHW{block}i{block}o")
    a, f = te.placeholder(images.shape, name="A"), te.placeholder(filters.shape, name="W")
    result = topi.conv2d(a, f, 1, 1, layout=f"NCHW{block}c", kernel_layout=f"OIHW{block}i{block}o")
    packed = topi.pack_array(want, "NCHW", f"NCHW{block}c")
    got = np.empty(packed.shape, np.float32)
    tl.build(topi.schedule_conv(result, machine), machine)(images, filters, got)
    np.testing.assert_allclose(got, packed, rtol=1e-4, atol=1e-4)


def test_packed_sums_stay_in_registers() -> None:
    a = te.placeholder((1, 4, 14, 14, 16), name="A")
    w = te.placeholder((4, 4, 3, 3, 16, 16), name="W")
    c = topi.conv2d(a, w, 1, 1, layout="NCHW16c", kernel_layout="OIHW16i16o")
    text = tl.build(topi.schedule_conv(topi.relu(c))).source("lowered")
    assert "conv2d = alloc" not in text
    assert text.count('scope="register"') >= 14


def test_producers_element_by_element_are_inlined() -> None:
    a, w = te.placeholder((1, 2, 5, 5), name="A"), te.placeholder((3, 2, 3, 3), name="W")
    sch = topi.schedule_conv(topi.conv2d(topi.relu(a), w, padding=1))
    assert "relu" not in [b.name for b in sch.blocks()]


@pytest.mark.parametrize("padding", [0, 1])
def test_operators_of_one_name_behind(padding: int) -> None:
    x, w = random((1, 2, 6, 6), 0), random((3, 2, 3, 3), 1)
    want = convolution(x, w, (1, 1), (1, 1), [(padding, padding)] * 2)
    others = [random(want.shape, n) for n in (2, 3)]
    a, f = te.placeholder(x.shape, name="A"), te.placeholder(w.shape, name="W")
    r, t = (te.placeholder(want.shape, name=n) for n in "RT")
    made = topi.add(topi.relu(topi.add(topi.relu(topi.conv2d(a, f, padding=padding)), r)), t)
    got = np.empty(want.shape, np.float32)
    tl.build(topi.schedule_conv(made, args=[a, f, r, t, made]))(x, w, *others, got)
    wanted = np.maximum(np.maximum(want, 0) + others[0], 0) + others[1]
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def test_two_outputs_keep_the_convolution() -> None:
    x, w = random((1, 2, 6, 6), 0), random((3, 2, 3, 3), 1)
    a, f = te.placeholder(x.shape, name="A"), te.placeholder(w.shape, name="W")
    c = topi.conv2d(a, f, padding=1)
    sch = topi.schedule_conv([c, topi.relu(c)])
    want = convolution(x, w, (1, 1), (1, 1), [(1, 1), (1, 1)])
    plain, positive = np.empty(want.shape, np.float32), np.empty(want.shape, np.float32)
    tl.build(sch)(x, w, plain, positive)
    np.testing.assert_allclose(plain, want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(positive, np.maximum(want, 0), rtol=1e-4, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 20), min_size=4, max_size=4),
    st.sampled_from(["NCHW", "NHWC", "NCHW4c", "NCHW16c", "CNHW8n", "WHCN"]),
    st.sampled_from(["NCHW", "NHWC", "NCHW4c", "NCHW16c"]),
)
def test_layouts_of_arrays(shape: list[int], there: str, back: str) -> None:
    x = random(shape, 0)
    sizes = dict(zip("NCHW", shape, strict=True))
    moved = topi.pack_array(x, "NCHW", there)
    again = topi.pack_array(moved, there, back, sizes)
    np.testing.assert_array_equal(again, topi.pack_array(x, "NCHW", back))


@settings(max_examples=5, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=4, max_size=4),
    st.sampled_from(["NHWC", "NCHW4c", "NCHW16c"]),
)
def test_layouts_of_tensors(shape: list[int], there: str) -> None:
    x = random(shape, 0)
    a = te.placeholder(x.shape, name="A")
    moved = topi.layout_transform(a, "NCHW", there)
    want = topi.pack_array(x, "NCHW", there)
    got = np.full(want.shape, np.nan, np.float32)
    tl.build(moved)(x, got)
    np.testing.assert_array_equal(got, want)
    p = te.placeholder(want.shape, name="P")
    back = topi.layout_transform(p, there, "NCHW", dict(zip("NCHW", shape, strict=True)))
    again = np.full(x.shape, np.nan, np.float32)
    tl.build(back)(want, again)
    np.testing.assert_array_equal(again, x)


def test_what_does_not_fit() -> None:
    a, w = te.placeholder((1, 6, 5, 5), name="A"), te.placeholder((4, 6, 3, 3), name="W")
    with pytest.raises(ShapeError, match="images have 6 channels, but filters take 6 in each of 2"):
        topi.conv2d(a, w, groups=2)
    with pytest.raises(ShapeError, match="4 filters are no 3 equal groups"):
        topi.conv2d(a, w, groups=3)
    with pytest.raises(ShapeError, match="a window of 7 does not fit into 5"):
        topi.conv2d(a, w, dilation=3)
    with pytest.raises(ShapeError, match=r"stride \[1, 2, 3\] must be one number, or one for each"):
        topi.conv2d(a, w, stride=(1, 2, 3))
    with pytest.raises(ShapeError, match=r"stride \[0, 0\] must be at least 1"):
        topi.conv2d(a, w, stride=0)
    with pytest.raises(ShapeError, match=r"padding \[1, 2, 3\] must be one, 2 or 4 numbers"):
        topi.conv2d(a, w, padding=(1, 2, 3))
    with pytest.raises(ShapeError, match=r"padding \[-1, -1\] must not be negative"):
        topi.conv2d(a, w, padding=-1)
    with pytest.raises(OptionError, match="there is no padding 'FULL'"):
        topi.conv2d(a, w, padding="FULL")
    with pytest.raises(OptionError, match="'NCHW16' is no layout"):
        topi.conv2d(a, w, layout="NCHW16")
    with pytest.raises(ShapeError, match="layout NCW has not the dimensions of a 2-dimensional"):
        topi.conv2d(a, w, layout="NCW")
    with pytest.raises(ShapeError, match="a tensor in layout NCHW16c has 5 dimensions, not 4"):
        topi.conv2d(a, w, layout="NCHW16c")
    with pytest.raises(ShapeError, match="a block of C has 5 elements in NHWC16c"):
        topi.Layout.of("NHWC16c").sizes(te.placeholder((1, 2, 3, 4, 5), name="B").shape)
    with pytest.raises(ShapeError, match="the dimensions are NCHW and NCW"):
        topi.layout_transform(a, "NCHW", "NCW")


@pytest.mark.parametrize(("side", "channels", "asks"), [
    (7, 512, True), (14, 512, True), (56, 512, False), (7, 64, False), (7, 4096, False),
])  # fmt: skip
def test_filters_from_memory_are_asked_for(side: int, channels: int, asks: bool) -> None:
    """If few pixels meet them, there are many, and those of a panel stay in the second cache."""
    target = Target.host()
    image = te.placeholder((1, channels // 16, side, side, 16), name="A")
    filters = te.placeholder((channels // 16, channels // 16, 1, 1, 16, 16), name="W")
    kernel = "OIHW16i16o"
    made = topi.conv2d(image, filters, layout="NCHW16c", kernel_layout=kernel)
    assert ("prefetch" in str(topi.schedule_conv(made, target).program)) == asks


@pytest.mark.parametrize(("blocks", "asks"), [(16, True), (2, False), (1, False)])
def test_filters_of_few_tiles_are_asked_for(blocks: int, asks: bool) -> None:
    """If there are channels after those that are computed."""
    image = te.placeholder((1, 16, 20, 20, 16), name="A")
    filters = te.placeholder((6, 6, blocks, 256, 16), name="U")
    made = topi.conv2d_winograd(image, filters)
    assert ("prefetch" in str(topi.schedule_conv(made, Target.host()).program)) == asks


def test_nothing_to_schedule() -> None:
    a = te.placeholder((4, 4), name="A")
    with pytest.raises(ScheduleError, match="there is no convolution or pooling to schedule"):
        topi.schedule_conv(topi.relu(a))
