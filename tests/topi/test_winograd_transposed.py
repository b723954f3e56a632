"""Transposed convolutions by Winograd's algorithm, against sums of spread inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.windows import random

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.support import ShapeError
from tvmlab.target import CacheLevel, Target

Pair = tuple[int, int]


def spread(
    x: np.ndarray, w: np.ndarray, stride: Pair, before: Pair, size: Pair
) -> np.ndarray:  # fmt: skip
    """Each input times the filters, added where the filters lie."""
    tall, wide = x.shape[2:]
    whole = [(n - 1) * s + k for n, s, k in zip((tall, wide), stride, w.shape[2:], strict=True)]
    room = [max(n, b + m) for n, b, m in zip(whole, before, size, strict=True)]
    out = np.zeros((x.shape[0], w.shape[1], *room))
    for i in range(tall):
        for j in range(wide):
            y, z = i * stride[0], j * stride[1]
            out[:, :, y : y + w.shape[2], z : z + w.shape[3]] += np.einsum(
                "nc,cokl->nokl", x[:, :, i, j], w
            )
    return out[:, :, before[0] : before[0] + size[0], before[1] : before[1] + size[1]]


def check(
    shape: tuple[int, int, int, int], filters: int, kernel: Pair, stride: Pair, before: Pair,
    size: Pair, tile: int,
) -> None:  # fmt: skip
    x = random(shape, 0)
    w = random((shape[1], filters, *kernel), 1) / np.float32(2 * shape[1] ** 0.5)
    want = topi.pack_array(np.maximum(spread(x, w, stride, before, size), 0), "NCHW", "NCHW16c")
    packed = topi.pack_array(x, "NCHW", "NCHW16c")
    u = topi.pack_transposed_winograd(w, stride, tile)
    a, f = te.placeholder(packed.shape, name="A"), te.placeholder(u.shape, name="U")
    result = topi.relu(topi.conv2d_transpose_winograd(a, f, stride, before, size))
    got = np.full(want.shape, np.nan, np.float32)
    tl.build(topi.schedule_conv(result, args=[a, f, result]))(packed, u, got)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 if tile == 2 else 3e-5)


def test_a_layer_of_a_generator() -> None:
    check((1, 32, 4, 4), 16, (4, 4), (2, 2), (1, 1), (8, 8), 2)


@pytest.mark.slow
@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "before", "size"),
    [
        ((1, 16, 8, 8), (4, 4), (2, 2), (1, 1), (16, 16)),
        ((2, 16, 5, 7), (3, 4), (2, 2), (0, 1), (12, 14)),
        ((1, 16, 5, 6), (5, 2), (3, 1), (2, 0), (13, 7)),
        ((1, 16, 5, 6), (3, 3), (2, 2), (2, 0), (8, 14)),
        ((1, 32, 3, 1), (4, 4), (2, 2), (3, 1), (4, 2)),
    ],
)
def test_of_many_sizes(
    shape: tuple[int, int, int, int], kernel: Pair, stride: Pair, before: Pair, size: Pair,
    tile: int,
) -> None:  # fmt: skip
    check(shape, 32, kernel, stride, before, size, tile)


def test_refusals() -> None:
    a = te.placeholder((1, 1, 4, 4, 16), name="A")
    wide = te.placeholder((3, 3, 4, 1, 32, 16), name="V")
    unknown = te.placeholder((te.var("n"), 1, 4, 4, 16), name="B")
    u = te.placeholder((3, 3, 4, 1, 16, 16), name="U")
    with pytest.raises(ShapeError, match="do not have two elements for each output"):
        topi.pack_transposed_winograd(np.zeros((16, 16, 5, 4), np.float32), (2, 2), 2)
    with pytest.raises(ShapeError, match=r"of 2x2 or 4x4 outputs, not 3"):
        topi.pack_transposed_winograd(np.zeros((16, 16, 4, 4), np.float32), (2, 2), 3)
    with pytest.raises(ShapeError, match=r"for 4 remainders do not fit stride \[3, 3\]"):
        topi.conv2d_transpose_winograd(a, u, (3, 3), (1, 1), (8, 8))
    with pytest.raises(ShapeError, match="packed for 32 channels in blocks of 16, but images"):
        topi.conv2d_transpose_winograd(a, wide, (2, 2), (1, 1), (8, 8))
    with pytest.raises(ShapeError, match="needs known sizes"):
        topi.conv2d_transpose_winograd(unknown, u, (2, 2), (1, 1), (8, 8))


def test_which_tiles_are_chosen() -> None:
    machine = Target.of("cpu")
    block = topi.channel_block(machine)
    if block == 1:
        assert topi.transposed_winograd_tile((8, 8), (64, 64), (2, 2), machine) == 0
        return
    caches = tuple(CacheLevel(n + 1, s << 10, 64, 1) for n, s in enumerate((32, 1024, 32768)))
    big = replace(machine, caches=caches)
    assert topi.transposed_winograd_tile((8, 8), (512, 256), (2, 2), big) == 2
    assert topi.transposed_winograd_tile((32, 32), (128, 64), (2, 2), big) == 4
    assert topi.transposed_winograd_tile((32, 32), (128, 3), (2, 2), big) == 0
    assert topi.transposed_winograd_tile((8, 8), (2048, 2048), (2, 2), big) == 0
