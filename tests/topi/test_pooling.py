"""Pooling in several layouts, under the default schedule, against NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from helpers.windows import pooling, random
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.ir import const_int
from tvmlab.support import OptionError

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@dataclass(frozen=True)
class Case:
    channels: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    kind: str
    block: int
    count_include_pad: bool
    ceil_mode: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rank = draw(st.sampled_from([1, 2, 2, 2, 3]))

    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    kernel, dilation = each(1, 3), each(1, 2)
    # As everywhere: at most half a window of margin.
    pads = tuple((draw(st.integers(0, k // 2)), draw(st.integers(0, k // 2))) for k in kernel)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    more = each(0, 20 if rank == 1 else 10 if rank == 2 else 4)
    size = tuple(max(1, r - b - a) + m for r, (b, a), m in zip(reach, pads, more, strict=True))
    return Case(
        draw(st.integers(1, 20)), size, kernel, each(1, 3), dilation, pads,
        draw(st.sampled_from(["max", "avg"])), draw(st.sampled_from([0, 1, 4, 16])),
        draw(st.booleans()), draw(st.booleans()),
    )  # fmt: skip


def check(case: Case) -> None:
    rank = len(case.size)
    plain = f"NC{SPATIAL[rank]}"
    layout = {0: plain, 1: f"N{SPATIAL[rank]}C"}.get(case.block, f"{plain}{case.block}c")
    x = random((2, case.channels, *case.size), 0)
    packed = topi.pack_array(x, plain, layout)
    a = te.placeholder(packed.shape, name="A")
    padding = [b for b, _ in case.pads] + [e for _, e in case.pads]
    result = topi.pool2d(
        a, case.kernel, case.stride, padding, case.kind, layout, case.count_include_pad,
        ceil_mode=case.ceil_mode, dilation=case.dilation,
    )  # fmt: skip
    shape = [const_int(s) or 0 for s in result.shape]
    letters = topi.Layout.of(layout).letters
    places = [shape[letters.index(s)] for s in SPATIAL[rank]]
    for n, k, s, d, (b, e), p in zip(
        case.size, case.kernel, case.stride, case.dilation, case.pads, places, strict=True
    ):
        room = n + b + e - (k - 1) * d - 1
        up = -(-room // s) + 1
        assert p == (up - ((up - 1) * s >= n + b) if case.ceil_mode else room // s + 1)
    want = pooling(
        x, case.kernel, case.stride, case.dilation, case.pads, case.kind, places,
        case.count_include_pad,
    )  # fmt: skip
    got = np.full(shape, np.nan, np.float32)
    tl.build(topi.schedule_conv(result))(packed, got)
    sizes = {"C": case.channels}
    np.testing.assert_allclose(
        topi.pack_array(got, layout, plain, sizes), want, rtol=1e-5, atol=1e-6
    )


@settings(max_examples=20, deadline=None)
@given(cases())
def test_pooling(case: Case) -> None:
    check(case)


@pytest.mark.slow
def test_much_pooling() -> None:
    settings(max_examples=60, deadline=None)(given(cases())(check))()


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NCHW16c"])
def test_global_mean(layout: str) -> None:
    x = random((1, 32, 7, 7), 0)
    packed = topi.pack_array(x, "NCHW", layout)
    result = topi.global_pool(te.placeholder(packed.shape, name="A"), "avg", layout)
    want = topi.pack_array(x.mean((2, 3), keepdims=True), "NCHW", layout)
    got = np.empty(want.shape, np.float32)
    tl.build(topi.schedule_conv(result))(packed, got)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_unknown_pooling() -> None:
    with pytest.raises(OptionError, match="there is no pooling 'median'"):
        topi.pool2d(te.placeholder((1, 1, 4, 4), name="A"), 2, kind="median")
