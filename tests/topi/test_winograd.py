"""Winograd's algorithm under its schedule, against NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.windows import convolution, random
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.ir import const_int
from tvmlab.support import ShapeError
from tvmlab.target import CacheLevel, Target


def check(
    shape: tuple[int, int, int, int],
    filters: int,
    tile: int,
    pads: tuple[int, int, int, int],
    layout: str,
    epilogue: bool,
) -> None:
    x = random(shape, 0)
    w = random((filters, shape[1], 3, 3), 1) / np.float32(3 * shape[1] ** 0.5)
    want = convolution(x, w, (1, 1), (1, 1), [(pads[0], pads[2]), (pads[1], pads[3])])
    packed, u = topi.pack_array(x, "NCHW", layout), topi.pack_winograd(w, tile)
    a, f = te.placeholder(packed.shape, name="A"), te.placeholder(u.shape, name="U")
    result = topi.conv2d_winograd(a, f, pads, layout)
    args, arrays = [a, f], [packed, u]
    expected = topi.pack_array(want, "NCHW", layout)
    if epilogue:
        other = te.placeholder(result.shape, name="R")
        result = topi.relu(topi.add(result, other))
        args.append(other)
        arrays.append(random(expected.shape, 2))
        expected = np.maximum(expected + arrays[-1], 0)
    got = np.full(expected.shape, np.nan, np.float32)
    tl.build(topi.schedule_conv(result, args=[*args, result]))(*arrays, got)
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-5 if tile == 2 else 5e-5)


PADS = st.tuples(*(st.integers(0, 2) for _ in range(4)))


@settings(max_examples=5, deadline=None)
@given(
    st.tuples(st.integers(1, 2), st.sampled_from([16, 32]), st.integers(3, 14), st.integers(3, 14)),
    st.sampled_from([16, 48]), st.sampled_from([2, 4]), PADS,
    st.sampled_from(["NCHW16c", "NHWC"]), st.booleans(),
)  # fmt: skip
def test_winograd(
    shape: tuple[int, int, int, int],
    filters: int,
    tile: int,
    pads: tuple[int, int, int, int],
    layout: str,
    epilogue: bool,
) -> None:
    check(shape, filters, tile, pads, layout, epilogue)


@pytest.mark.slow
@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("layout", ["NCHW16c", "NHWC"])
@pytest.mark.parametrize("size", [1, 3, 4, 7, 9, 14, 28])
def test_winograd_of_many_sizes(tile: int, layout: str, size: int) -> None:
    for width, pads, epilogue in ((size, (1, 1, 1, 1), True), (size + 5, (2, 1, 0, 2), False)):
        check((1, 32, size, width), 48, tile, pads, layout, epilogue)


def test_rounding_is_that_of_a_direct_sum() -> None:
    """Errors against double precision, on sums of unit size."""
    errors: dict[int, float] = {}
    x, w = random((1, 64, 12, 12), 0), random((16, 64, 3, 3), 1) / np.float32(24)
    want = topi.pack_array(convolution(x, w, (1, 1), (1, 1), [(1, 1)] * 2), "NCHW", "NCHW16c")
    packed = topi.pack_array(x, "NCHW", "NCHW16c")
    for tile in (2, 4):
        u = topi.pack_winograd(w, tile)
        a, f = te.placeholder(packed.shape, name="A"), te.placeholder(u.shape, name="U")
        result = topi.conv2d_winograd(a, f)
        got = np.empty([const_int(s) or 0 for s in result.shape], np.float32)
        tl.build(topi.schedule_conv(result))(packed, u, got)
        errors[tile] = float(np.abs(got - want).max())
    assert errors[2] < 5e-6
    assert errors[4] < 2e-5


def test_refusals() -> None:
    a = te.placeholder((1, 1, 8, 8, 16), name="A")
    u = te.placeholder((4, 4, 1, 16, 16), name="U")
    with pytest.raises(ShapeError, match="channels that lie together, not NCHW;"):
        topi.conv2d_winograd(te.placeholder((1, 16, 8, 8), name="B"), u, layout="NCHW")
    with pytest.raises(ShapeError, match="packed for 32 channels in blocks of 16, but images"):
        topi.conv2d_winograd(a, te.placeholder((4, 4, 1, 32, 16), name="U"))
    with pytest.raises(ShapeError, match=r"tiles .* are of 2x2 or 4x4 outputs, not 3"):
        topi.conv2d_winograd(a, te.placeholder((5, 5, 1, 16, 16), name="U"))
    with pytest.raises(ShapeError, match=r"tiles .* are of 2x2 or 4x4 outputs, not 6"):
        topi.pack_winograd(np.zeros((1, 1, 3, 3), np.float32), 6)
    with pytest.raises(ShapeError, match="needs 3x3 filters"):
        topi.pack_winograd(np.zeros((1, 1, 5, 5), np.float32))
    with pytest.raises(ShapeError, match="a window of 3 does not fit into 2"):
        topi.conv2d_winograd(te.placeholder((1, 1, 2, 8, 16), name="A"), u, 0)
    with pytest.raises(ShapeError, match="needs known sizes"):
        topi.conv2d_winograd(te.placeholder((te.var("n"), 1, 8, 8, 16), name="A"), u)


def test_which_tiles_are_chosen() -> None:
    machine = Target.of("cpu")
    caches = tuple(CacheLevel(n + 1, s << 10, 64, 1) for n, s in enumerate((32, 1024, 32768)))
    big, small = replace(machine, caches=caches), replace(machine, caches=caches[:2])
    block = topi.channel_block(machine)
    if block == 1:
        assert topi.winograd_tile(28, 28, 64, 64, machine) == 0
        return
    assert topi.winograd_tile(28, 28, 128, 128, big) == 4
    assert topi.winograd_tile(7, 7, 512, 512, big) == 2
    assert topi.winograd_tile(14, 14, 256, 256, small) == 0
    assert topi.winograd_tile(2, 2, 64, 64, big) == 0
    assert topi.winograd_tile(28, 28, 3, 64, big) == 0
