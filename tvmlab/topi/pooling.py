"""Pooling: the largest element or the mean of each window, along one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Attribute, Expr, const_int
from tvmlab.support import OptionError, ShapeError
from tvmlab.te import Tensor

from .geometry import Numbers, Padding, margins, out_size, per_dimension
from .layout import Layout
from .shape import pad
from .tag import ELEMWISE


def pool2d(
    data: Tensor,
    kernel: Numbers,
    stride: Numbers = 1,
    padding: Padding = 0,
    kind: str = "max",
    layout: str = "NCHW",
    count_include_pad: bool = True,
    *,
    ceil_mode: bool = False,
    dilation: Numbers = 1,
) -> Tensor:
    """The largest element ("max") or the mean ("avg") of each window.

    Parameters
    ----------
    layout
        Of the data and the output: every dimension besides N and C is pooled over, so that "NCW"
        and "NCDHW" pool along one and three dimensions.
    count_include_pad
        Whether a mean counts the margin's zeros too.
    ceil_mode
        Whether a last window counts that leaves the margin behind; it must begin before it.
    """
    return _Pooling.of(data, layout, (kernel, stride, dilation), padding, ceil_mode).compute(
        data, kind, count_include_pad
    )


def global_pool(data: Tensor, kind: str = "avg", layout: str = "NCHW") -> Tensor:
    """The largest element or the mean of each channel; spatial dimensions become one element."""
    sizes = Layout.of(layout).sizes(data.shape)
    spatial = [_known(sizes[s]) for s in Layout.of(layout).names if s not in "NC"]
    return pool2d(data, spatial, 1, 0, kind, layout)


@dataclass(frozen=True, slots=True)
class _Pooling:
    """Windows along the spatial dimensions of a layout."""

    layout: Layout
    spatial: str
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    """Margins as asked for; `extra` is what windows of `ceil_mode` reach beyond."""
    extra: tuple[int, ...]
    places: tuple[Expr, ...]

    @staticmethod
    def of(
        data: Tensor,
        text: str,
        steps: tuple[Numbers, Numbers, Numbers],
        padding: Padding,
        ceil_mode: bool,
    ) -> _Pooling:
        layout = Layout.of(text)
        spatial = "".join(n for n in layout.names if n not in "NC")
        rank = len(spatial)
        kernel = per_dimension(steps[0], rank, "kernel")
        stride = per_dimension(steps[1], rank, "stride")
        dilation = per_dimension(steps[2], rank, "dilation")
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
        before, after = margins(padding, reach)
        sizes = layout.sizes(data.shape)
        places: list[Expr] = []
        extra: list[int] = []
        for s, r, step, b, a in zip(spatial, reach, stride, before, after, strict=True):
            more = _beyond(_known(sizes[s]), r, step, b, a) if ceil_mode else 0
            extra.append(more)
            places.append(out_size(sizes[s], r, step, b, a + more))
        return _Pooling(
            layout, spatial, kernel, stride, dilation, before, after, tuple(extra), tuple(places)
        )

    def compute(self, data: Tensor, kind: str, count_include_pad: bool) -> Tensor:
        """The tensor of all windows."""
        if kind not in ("max", "avg"):
            raise OptionError(f"there is no pooling {kind!r}", hint='it is "max" or "avg"')
        letters = self.layout.letters
        fill = te.min_value(data.dtype) if kind == "max" else 0.0
        padded = self._padded(data, fill)
        over = [te.reduce_axis(k, f"rv{i}") for i, k in enumerate(self.kernel)]
        shape = list(data.shape)
        for s, places in zip(self.spatial, self.places, strict=True):
            shape[letters.index(s)] = places

        def window(*indices: Any) -> Expr:
            at = list(indices)
            for s, r, step, gap in zip(self.spatial, over, self.stride, self.dilation, strict=True):
                at[letters.index(s)] = indices[letters.index(s)] * step + r * gap
            return (te.max if kind == "max" else te.sum)(padded[tuple(at)], axis=over)

        attrs: dict[str, Attribute] = {
            "conv": "pool",
            "out_layout": self.layout.text,
            "step": self.stride[-1],
        }
        whole = te.compute(tuple(shape), window, f"pool_{kind}", f"pool_{kind}", attrs)
        if kind == "max":
            return whole

        def mean(*indices: Any) -> Expr:
            return whole[indices] / self._count(data, indices, count_include_pad)

        return te.compute(tuple(shape), mean, name="pool_avg_mean", tag=ELEMWISE)

    def _padded(self, data: Tensor, fill: Any) -> Tensor:
        letters = self.layout.letters
        first, last = [0] * len(letters), [0] * len(letters)
        for s, b, a, more in zip(self.spatial, self.before, self.after, self.extra, strict=True):
            first[letters.index(s)], last[letters.index(s)] = b, a + more
        return pad(data, first, last, fill, "pad_temp") if any(first + last) else data

    def _count(self, data: Tensor, indices: Sequence[Any], with_margins: bool) -> Any:
        """How many elements a window's mean is taken of."""
        count: Any = 1
        sizes = self.layout.sizes(data.shape)
        for d, s in enumerate(self.spatial):
            if with_margins and not self.extra[d]:
                count = count * self.kernel[d]
                continue
            start = indices[self.layout.letters.index(s)] * self.stride[d] - self.before[d]
            low, high = (-self.before[d], self.after[d]) if with_margins else (0, 0)
            gap = self.dilation[d]
            first = te.maximum((low - start + (gap - 1)) // gap, 0)
            end = te.minimum((sizes[s] + high - start + (gap - 1)) // gap, self.kernel[d])
            count = count * (end - first)
        return te.cast(te.maximum(count, 1), data.dtype) if isinstance(count, Expr) else count


def _beyond(size: int, reach: int, stride: int, before: int, after: int) -> int:
    """How far the last window reaches behind the margin if it only has to begin before it."""
    room = size + before + after
    places = max(0, -(-(room - reach) // stride)) + 1
    if (places - 1) * stride >= size + before:
        places -= 1
    return max(0, (places - 1) * stride + reach - room)


def _known(size: Expr) -> int:
    found = const_int(size)
    if found is None:
        raise ShapeError(f"the size of the image must be a known number, not {size}")
    return found
