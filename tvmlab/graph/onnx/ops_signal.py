"""Converters of Fourier transforms.

A transform of a known length is a product with a constant matrix of cosines and sines. For the
lengths of audio models that is quicker than it sounds: products are what runs best.
"""

from __future__ import annotations

import numpy as np

from tvmlab.graph.ir import Array
from tvmlab.graph.operators import axis_of

from .registry import Site, onnx_op
from .values import Value


def _waves(length: int, bins: int, parts: int) -> Array:
    """From `length` numbers of one or two parts to `bins` complex ones: shape (n, parts, k, 2)."""
    # The product is reduced to one turn first: it may be large, the angle must be exact.
    turns = np.outer(np.arange(length), np.arange(bins)) % length
    angle = 2 * np.pi / length * turns
    cosine, sine = np.cos(angle), np.sin(angle)
    real = np.stack([cosine, -sine], -1)
    imaginary = np.stack([sine, cosine], -1)
    return np.stack([real, imaginary][:parts], 1)


def _waves_back(length: int) -> Array:
    """From complex numbers to complex numbers: shape (k, 2, n, 2)."""
    forth = _waves(length, length, 2)
    return forth * np.array([[1, -1], [-1, 1]])[:, None] / length


def _waves_back_to_real(length: int) -> Array:
    """From the first half of the frequencies to real numbers: shape (k, 2, n, 1)."""
    bins = length // 2 + 1
    back = _waves_back(length)[:bins, :, :, :1]
    # All but the first one, and the middle one if there is one, stand for their mirror image too.
    twice = np.full(bins, 2.0)
    twice[0] = 1
    if length % 2 == 0:
        twice[-1] = 1
    return back * twice[:, None, None, None]


def _length(site: Site, default: int) -> int:
    length = int(site.ints(1, "the length")[0]) if site.has(1) else default
    if length < 1:
        raise site.error(f"the length is {length}", hint="give a length of 1 or more")
    return length


@onnx_op("DFT")
def _dft(site: Site) -> str:
    value, rank = Value(site, site[0]), site.rank
    given = site.ints(2, "the axis")[0] if site.has(2) else -2
    axis = axis_of(site.attr("axis", 1) if site.opset < 20 else given, rank)
    if axis == rank - 1:
        raise site.error(f"the axis {axis} is that of real and imaginary parts",
                         hint=f"choose one from 0 to {rank - 2}")  # fmt: skip
    sizes = site.type().sizes
    count, parts = int(sizes[axis]), int(sizes[-1])
    inverse, half = bool(site.attr("inverse", 0)), bool(site.attr("onesided", 0))
    if inverse and half:
        length = _length(site, 2 * (count - 1))
        waves = _waves_back_to_real(length)
    else:
        length = _length(site, count)
        bins = length // 2 + 1 if half else length
        waves = _waves_back(length)[:, :parts] if inverse else _waves(length, bins, parts)
    # What is missing is zero, so its waves are not needed; what is too much is left out.
    used = min(count, waves.shape[0])
    order = [d for d in range(rank - 1) if d != axis]
    last = value.transpose(*order, axis, rank - 1)
    if used < count:
        last = Value(site, site.add("slice", last.name, starts=(0,), ends=(used,),
                                    axes=(rank - 2,), steps=(1,)))  # fmt: skip
    found = _transformed(last, waves[:used])
    back = np.argsort([*order, axis, rank - 1])
    return found.transpose(*(int(d) for d in back)).name


def _transformed(value: Value, waves: Array) -> Value:
    """The last two dimensions, numbers and their parts, times waves."""
    length, parts, bins, out = waves.shape
    dtype = value.site.dtype_of(value.name).numpy
    table = Value(value.site, value.site.param(waves.reshape(length * parts, -1).astype(dtype)))
    around = value.shape[:-2]
    rows = Value(value.site, value.site.add("reshape", value.name, shape=(-1, length * parts)))
    return rows.matmul(table).reshape(*around, bins, out)


@onnx_op("STFT")
def _stft(site: Site) -> str:
    """Transforms of pieces of a signal that follow each other by `frame_step`."""
    signal = Value(site, site[0])
    if site.rank == 2:
        signal = signal.reshape(*signal.shape, 1)
    batch, total, _ = signal.shape
    parts = int(site.type().sizes[2]) if site.rank == 3 else 1
    step = int(site.ints(1, "the step")[0])
    length = int(site.ints(3, "the length")[0]) if site.has(3) else int(site.type(2).sizes[0])
    if not isinstance(total, int) or step < 1 or not 1 <= length <= total:
        raise site.error(f"frames of {length} numbers every {step} in a signal of {total}",
                         hint="frames must fit into a signal of known size")  # fmt: skip
    frames = (total - length) // step + 1
    places = np.arange(frames)[:, None] * step + np.arange(length)
    pieces = Value(site, site.add("gather", signal.name, site.param(places), axis=1))
    if site.has(2):
        if site.type(2).sizes != (length,):
            raise site.error(f"the window has {site.type(2).sizes[0]} numbers, a frame {length}")
        pieces = pieces * Value(site, site[2]).reshape(length, 1)
    bins = length // 2 + 1 if site.attr("onesided", 1) else length
    found = _transformed(pieces, _waves(length, bins, parts))
    return found.reshape(batch, frames, bins, 2).name


@onnx_op("MelWeightMatrix")
def _mel_weights(site: Site) -> str:
    """Triangles over the frequencies of a transform, evenly spaced as the ear hears them."""
    bands, length, rate = (int(site.ints(n, "the number")[0]) for n in range(3))
    low, high = (float(site.constant(n, "the frequency").reshape(-1)[0]) for n in (3, 4))
    if bands < 1 or length < 1 or rate < 1:
        raise site.error(f"{bands} bands of a transform of {length} numbers at {rate} Hz",
                         hint="each must be 1 or more")  # fmt: skip
    first, last = (2595 * np.log10(1 + f / 700) for f in (low, high))
    mels = first + np.arange(bands + 2) * (last - first) / (bands + 2)
    edges = ((length + 1) * 700 * (10 ** (mels / 2595) - 1) // rate).astype(int)
    weights = np.zeros((length // 2 + 1, bands))
    bins = np.arange(length // 2 + 1)
    for band, (left, top, right) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        rise, fall = (bins >= left) & (bins <= top), (bins >= top) & (bins < right)
        if top > left:
            weights[rise, band] = (bins[rise] - left) / (top - left)
        elif top < len(bins):
            weights[top, band] = 1
        weights[fall, band] = (right - bins[fall]) / max(right - top, 1)
    dtype = site.element_type("output_datatype", 1)
    return site.param(weights.astype(dtype.numpy))
