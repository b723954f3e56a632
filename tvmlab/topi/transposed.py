"""Transposed convolutions, the gradients of convolutions: each input is spread over a window.

With stride s, outputs at places of the same remainder modulo s meet the same filter elements. So
the filters are sorted by remainder into s*s times as many, an ordinary convolution with stride 1
computes the outputs of all remainders, and the last step puts them side by side. No product with
an inserted zero is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tvmlab.te as te
from tvmlab.ir import Expr, const, const_int
from tvmlab.support import ShapeError
from tvmlab.te import Tensor

from .convolution import SPATIAL, convolution
from .geometry import Numbers, Padding, margins, per_dimension
from .layout import Cut, Layout, Place, layout_transform, pack_array, whole
from .tag import INJECTIVE


def conv1d_transpose(
    data: Tensor,
    weight: Tensor,
    stride: Numbers = 1,
    padding: Padding = 0,
    output_padding: Numbers = 0,
    dilation: Numbers = 1,
    layout: str = "NCW",
    *,
    groups: int = 1,
    packed: str | None = None,
    kernel: Numbers | None = None,
) -> Tensor:
    """A transposed convolution along one dimension: see `conv2d_transpose`."""
    steps = (stride, padding, output_padding, dilation)
    return _transposed(data, weight, 1, steps, layout, groups, packed, kernel)


def conv2d_transpose(
    data: Tensor,
    weight: Tensor,
    stride: Numbers = 1,
    padding: Padding = 0,
    output_padding: Numbers = 0,
    dilation: Numbers = 1,
    layout: str = "NCHW",
    *,
    groups: int = 1,
    packed: str | None = None,
    kernel: Numbers | None = None,
) -> Tensor:
    """A transposed convolution along two dimensions.

    Parameters
    ----------
    weight
        Filters (input channels, output channels of a group, height, width); or, with `packed`, what
        `pack_transposed` made of them.
    padding
        How much of the output is cut off around: as in `conv2d`.
    output_padding
        How many outputs more there are behind, fewer than the stride or the dilation.
    packed
        The layout of packed filters, such as "OIHW16i16o".
    kernel
        The size of the filters before they were packed.

    Raises
    ------
    ShapeError
        If sizes do not fit together.
    """
    steps = (stride, padding, output_padding, dilation)
    return _transposed(data, weight, 2, steps, layout, groups, packed, kernel)


def conv3d_transpose(
    data: Tensor,
    weight: Tensor,
    stride: Numbers = 1,
    padding: Padding = 0,
    output_padding: Numbers = 0,
    dilation: Numbers = 1,
    layout: str = "NCDHW",
    *,
    groups: int = 1,
    packed: str | None = None,
    kernel: Numbers | None = None,
) -> Tensor:
    """A transposed convolution along three dimensions: see `conv2d_transpose`."""
    steps = (stride, padding, output_padding, dilation)
    return _transposed(data, weight, 3, steps, layout, groups, packed, kernel)


def pack_transposed(
    weights: NDArray[Any],
    stride: Numbers,
    dilation: Numbers = 1,
    groups: int = 1,
    layout: str | None = None,
) -> NDArray[Any]:
    """Filters IO..., sorted by remainder for a transposed convolution, in a layout of filters.

    Parameters
    ----------
    layout
        Such as "OIHW" (the default in two dimensions) or "OIHW16i16o".
    """
    rank = weights.ndim - 2
    strides = per_dimension(stride, rank, "stride")
    gaps = per_dimension(dilation, rank, "dilation")
    per_in, per_out = weights.shape[0] // groups, weights.shape[1]
    taps = [_taps(k, s, d) for k, s, d in zip(weights.shape[2:], strides, gaps, strict=True)]
    spread = np.zeros(
        (*weights.shape[:2], *(t * s for t, s in zip(taps, strides, strict=True))), weights.dtype
    )
    inside = [slice(0, (k - 1) * d + 1, d) for k, d in zip(weights.shape[2:], gaps, strict=True)]
    spread[(slice(None), slice(None), *inside)] = weights
    cut = [part for pair in zip(taps, strides, strict=True) for part in pair]
    whole_taps = spread.reshape(groups, per_in, per_out, *cut)
    turned: NDArray[Any] = np.flip(whole_taps, tuple(3 + 2 * d for d in range(rank)))
    remainders = [4 + 2 * d for d in range(rank)]
    order = [0, *remainders, 2, 1, *(3 + 2 * d for d in range(rank))]
    found = turned.transpose(order).reshape(-1, per_in, *taps)
    plain = f"OI{SPATIAL[rank]}"
    return pack_array(found, plain, layout or plain)


def _taps(kernel: int, stride: int, dilation: int) -> int:
    """Filter elements of each remainder."""
    return -(-((kernel - 1) * dilation + 1) // stride)


def _transposed(
    data: Tensor,
    weight: Tensor,
    rank: int,
    steps: tuple[Numbers, Padding, Numbers, Numbers],
    text: str,
    groups: int,
    packed: str | None,
    kernel: Numbers | None,
) -> Tensor:
    layout, spatial = Layout.of(text), SPATIAL[rank]
    strides = per_dimension(steps[0], rank, "stride")
    more = per_dimension(steps[2], rank, "output padding", least=0)
    gaps = per_dimension(steps[3], rank, "dilation")
    if any(m >= max(s, d) for m, s, d in zip(more, strides, gaps, strict=True)):
        raise ShapeError(
            f"output padding {list(more)} must be smaller than stride {list(strides)} or dilation"
        )
    if packed is None:
        kernels = tuple(_known(s) for s in weight.shape[2:])
        filters = _phase_filters(weight, kernels, strides, gaps, groups)
        plain, packed = f"OI{spatial}", _kernel_layout(layout, spatial, weight, groups)
        filters = filters if plain == packed else layout_transform(filters, plain, packed)
    else:
        if kernel is None:
            raise ShapeError("packed filters do not say how large they were: pass kernel=")
        kernels, filters = per_dimension(kernel, rank, "kernel"), weight
    reach = [(k - 1) * d + 1 for k, d in zip(kernels, gaps, strict=True)]
    taps = [_taps(k, s, d) for k, s, d in zip(kernels, strides, gaps, strict=True)]
    before, after = margins(steps[1], reach)
    size = layout.sizes(data.shape)
    out: dict[str, Expr | int] = {"N": size["N"]}
    first: list[int] = []
    around: list[list[int]] = [[], []]
    for d, s in enumerate(spatial):
        extent = _known(size[s])
        length = (extent - 1) * strides[d] + reach[d] + more[d] - before[d] - after[d]
        if length < 1:
            raise ShapeError(f"padding {steps[1]} leaves nothing of the output")
        out[s] = length
        skipped = min(before[d] // strides[d], taps[d] - 1)
        first.append(skipped)
        around[0].append(taps[d] - 1 - skipped)
        around[1].append(max(0, (length - 1 + before[d]) // strides[d] + 1 - extent))
    phases = convolution(
        data, filters, (1, 1), (*around[0], *around[1]), rank, (text, packed, text), groups, None
    )
    return _side_by_side(phases, layout, spatial, strides, before, first, out, groups)


def _kernel_layout(layout: Layout, spatial: str, weight: Tensor, groups: int) -> str:
    """A layout of filters that suits images in a layout."""
    block = layout.block("C")
    if block == 1:
        return f"OI{spatial}" if layout.names.startswith("NC") else f"{spatial}IO"
    return (
        f"OI{spatial}{block}i{block}o"
        if not (_known(weight.shape[0]) // groups) % block
        else (f"OI{spatial}{block}o")
    )


def _phase_filters(
    weight: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The filters of `pack_transposed` as a tensor."""
    rank = len(kernel)
    per_in, per_out = _known(weight.shape[0]) // groups, _known(weight.shape[1])
    taps = [_taps(k, s, d) for k, s, d in zip(kernel, stride, dilation, strict=True)]
    phases = int(np.prod(stride))

    def element(f: Any, i: Any, *at: Any) -> Expr:
        group, rest = f // (phases * per_out), f % (phases * per_out)
        remainder, inside = rest // per_out, list[Expr]()
        places: list[Expr] = []
        for d in reversed(range(rank)):
            place = remainder % stride[d] + (taps[d] - 1 - at[d]) * stride[d]
            remainder = remainder // stride[d]
            inside += [place < (kernel[d] - 1) * dilation[d] + 1]
            inside += [(place % dilation[d]).equal(0)] if dilation[d] > 1 else []
            places.insert(0, place // dilation[d])
        read = weight[(group * per_in + i, rest % per_out, *places)]
        return te.if_then_else(te.all(*inside), read, const(0, weight.dtype))

    shape = (groups * phases * per_out, per_in, *taps)
    return te.compute(shape, element, name="phase_filters", tag=INJECTIVE)


def _side_by_side(
    phases: Tensor,
    layout: Layout,
    spatial: str,
    stride: Sequence[int],
    before: Sequence[int],
    first: Sequence[int],
    size: dict[str, Expr | int],
    groups: int,
) -> Tensor:
    """The outputs of all remainders, each at its place."""
    count = int(np.prod(stride))
    size["C"] = _known(layout.sizes(phases.shape)["C"]) // count
    per_out, block = size["C"] // groups, layout.block("C")

    def element(*indices: Any) -> Expr:
        at = layout.element(indices)
        remainder: Expr = const(0)
        place: dict[str, Place] = {"N": at["N"]}
        for d, s in enumerate(spatial):
            y = whole(at[s]) + before[d]
            remainder = remainder * stride[d] + y % stride[d]
            place[s] = y // stride[d] - first[d]
        c = at["C"]
        if isinstance(c, Cut) and per_out % block == 0:
            blocks = per_out // block
            group, inside = c.block // blocks, c.block % blocks
            place["C"] = Cut((group * count + remainder) * blocks + inside, c.lane, block)
        else:
            group, inside = whole(c) // per_out, whole(c) % per_out
            place["C"] = (group * count + remainder) * per_out + inside
        return phases[layout.place(place)]

    name = f"conv{len(spatial)}d_transpose"
    return te.compute(layout.shape(size), element, name=name, tag=INJECTIVE)


def _known(size: Expr) -> int:
    found = const_int(size)
    if found is None:
        raise ShapeError(f"a transposed convolution needs known sizes, not {size}")
    return found
