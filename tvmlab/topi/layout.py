"""How the dimensions of images and filters lie in memory, as text such as "NCHW16c".

A capital letter is a dimension; a number and a small letter say that the dimension is cut into
blocks of so many, whose elements lie together at that place. In "NCHW16c", the channel 35 is lane 3
of block 2: one vector register holds 16 channels of a pixel.

>>> packed = layout_transform(image, "NCHW", "NCHW16c")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

import tvmlab.te as te
from tvmlab.ir import Expr, as_expr, const, const_int
from tvmlab.support import DType, OptionError, ShapeError
from tvmlab.target import Target, TargetLike
from tvmlab.te import Tensor

from .tag import INJECTIVE


@dataclass(frozen=True, slots=True)
class Cut:
    """An index in two parts, so that no division is needed to place it in blocks of `size`."""

    block: Expr
    lane: Expr
    size: int

    def whole(self) -> Expr:
        """The index itself."""
        return self.block * self.size + self.lane


Place: TypeAlias = Union[Expr, Cut]


@dataclass(frozen=True, slots=True)
class Layout:
    """Dimensions in order; `blocks` has the block size of each that is cut."""

    text: str
    letters: str
    blocks: Mapping[str, int]

    @staticmethod
    def of(text: str) -> Layout:
        """Understand the text of a layout.

        Raises
        ------
        OptionError
            If it is none.
        """
        parts = re.findall(r"([A-Z])|([1-9][0-9]*)([a-z])", text)
        letters = "".join(big or small for big, _, small in parts)
        blocks = {small.upper(): int(size) for _, size, small in parts if small}
        read = "".join(big + size + small for big, size, small in parts)
        known = all(letters.count(b.lower()) == 1 and b in letters for b in blocks)
        if read != text or not letters or len(set(letters)) != len(letters) or not known:
            raise OptionError(
                f"{text!r} is no layout",
                hint='a layout names dimensions, and blocks of them: "NCHW", "NHWC", "NCHW16c"',
            )
        return Layout(text, letters, blocks)

    @property
    def names(self) -> str:
        """The dimensions, without blocks."""
        return "".join(letter for letter in self.letters if letter.isupper())

    def block(self, name: str) -> int:
        """The block size of a dimension; 1 if it is not cut."""
        return self.blocks.get(name, 1)

    def sizes(self, shape: Sequence[Expr]) -> dict[str, Expr]:
        """The size of each dimension of a tensor in this layout, whole blocks counted."""
        if len(shape) != len(self.letters):
            raise ShapeError(
                f"a tensor in layout {self.text} has {len(self.letters)} dimensions, "
                f"not {len(shape)}"
            )
        found: dict[str, Expr] = {}
        for letter, size in zip(self.letters, shape, strict=True):
            if letter.isupper():
                found[letter] = size * self.block(letter)
            elif const_int(size) not in (None, self.blocks[letter.upper()]):
                raise ShapeError(f"a block of {letter.upper()} has {size} elements in {self.text}")
        return found

    def shape(self, sizes: Mapping[str, Expr | int]) -> tuple[Expr, ...]:
        """The shape of a tensor whose dimensions have these sizes, the last blocks filled up."""
        found: list[Expr] = []
        for letter in self.letters:
            block = self.block(letter.upper())
            size = as_expr(sizes[letter.upper()])
            up = (size + (block - 1)) // block if block > 1 else size
            found.append(up if letter.isupper() else const(block))
        return tuple(found)

    def place(self, at: Mapping[str, Place]) -> tuple[Expr, ...]:
        """The indices of an element that is at these places along the dimensions."""
        found: list[Expr] = []
        for letter in self.letters:
            where, block = at[letter.upper()], self.block(letter.upper())
            if isinstance(where, Cut) and where.size == block:
                found.append(where.block if letter.isupper() else where.lane)
                continue
            index = where.whole() if isinstance(where, Cut) else where
            if letter.islower():
                found.append(index % block)
            else:
                found.append(index // block if block > 1 else index)
        return tuple(found)

    def element(self, indices: Sequence[Expr]) -> dict[str, Place]:
        """The place of an element along each dimension, from its indices."""
        at = dict(zip(self.letters, indices, strict=True))
        return {
            name: Cut(at[name], at[name.lower()], self.blocks[name])
            if name in self.blocks
            else at[name]
            for name in self.names
        }


def whole(place: Place) -> Expr:
    """A place as one index."""
    return place.whole() if isinstance(place, Cut) else place


def channel_block(target: TargetLike = "cpu", dtype: DType | str = "float32") -> int:
    """How many channels a block should have on a machine: those of one vector register."""
    return Target.of(target).lanes(DType.of(dtype).bits)


def layout_transform(
    a: Tensor, source: str, target: str, sizes: Mapping[str, int] | None = None
) -> Tensor:
    """The same elements in another layout.

    Where blocks are not full, zeros fill them.

    Parameters
    ----------
    source, target
        Layouts of the same dimensions, such as "NCHW" and "NCHW16c".
    sizes
        Sizes of dimensions whose last block in `source` is not full: what fills it is left out.

    Raises
    ------
    ShapeError
        If the layouts have different dimensions.
    """
    old, new = _pair(source, target)
    real = {**old.sizes(a.shape), **{n: const(s) for n, s in (sizes or {}).items()}}

    def element(*indices: Any) -> Expr:
        at = new.element(indices)
        read = a[old.place(at)]
        inside = [
            whole(at[name]) < real[name]
            for name in new.blocks
            if (const_int(real[name]) or 1) % new.blocks[name]
        ]
        return te.if_then_else(te.all(*inside), read, const(0, a.dtype)) if inside else read

    return te.compute(new.shape(real), element, name="layout_transform", tag=INJECTIVE)


def pack_array(
    array: NDArray[Any], source: str, target: str, sizes: Mapping[str, int] | None = None
) -> NDArray[Any]:
    """`layout_transform` of a NumPy array, for weights that are packed once."""
    old, new = _pair(source, target)
    real = {n: const_int(s) or 1 for n, s in old.sizes([const(s) for s in array.shape]).items()}
    plain = array.transpose([old.letters.index(c) for c in _cut_order(old)])
    plain = plain.reshape([real[name] for name in old.names])
    real.update(sizes or {})
    plain = plain[tuple(slice(real[name]) for name in old.names)]
    padded = [(0, -real[name] % new.block(name)) for name in old.names]
    filled = np.pad(plain, padded) if any(after for _, after in padded) else plain
    cut: list[int] = []
    for name, size in zip(old.names, filled.shape, strict=True):
        cut += [size // new.block(name), new.block(name)] if name in new.blocks else [size]
    order = "".join(n + n.lower() if n in new.blocks else n for n in old.names)
    moved = filled.reshape(cut).transpose([order.index(c) for c in new.letters])
    return np.ascontiguousarray(moved)


def _cut_order(layout: Layout) -> str:
    """The letters with each block right behind its dimension."""
    return "".join(n + n.lower() if n in layout.blocks else n for n in layout.names)


def _pair(source: str, target: str) -> tuple[Layout, Layout]:
    old, new = Layout.of(source), Layout.of(target)
    if sorted(old.names) != sorted(new.names):
        raise ShapeError(
            f"a tensor in layout {source} cannot be brought to {target}: "
            f"the dimensions are {old.names} and {new.names}"
        )
    return old, new
