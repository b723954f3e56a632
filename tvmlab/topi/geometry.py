"""Where windows stand: numbers for each spatial dimension, margins, the count of places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union

from tvmlab.ir import Expr, const_int
from tvmlab.support import OptionError, ShapeError

Numbers: TypeAlias = Union[int, Sequence[int]]
"""A number for all spatial dimensions, or one for each."""

Padding: TypeAlias = Union[int, str, Sequence[int]]
"""A number, "SAME" or "VALID", one for each dimension, or all that stand before, then all after."""


def per_dimension(value: Numbers, rank: int, what: str, least: int = 1) -> tuple[int, ...]:
    """A number for each of `rank` spatial dimensions.

    Raises
    ------
    ShapeError
        If there are not as many, or one is smaller than `least`.
    """
    found = (value,) * rank if isinstance(value, int) else tuple(int(v) for v in value)
    if len(found) != rank:
        raise ShapeError(
            f"{what} {list(found)} must be one number, or one for each of {rank} dimension(s)"
        )
    if min(found) < least:
        raise ShapeError(f"{what} {list(found)} must be at least {least}")
    return found


def margins(padding: Padding, reach: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The margins before and behind along each dimension.

    Parameters
    ----------
    reach
        From the first to the last element of a window, for "SAME".
    """
    rank = len(reach)
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise OptionError(f"there is no padding {padding!r}", hint='it is "SAME" or "VALID"')
        if padding.upper() == "VALID":
            return (0,) * rank, (0,) * rank
        before = tuple((r - 1) // 2 for r in reach)
        return before, tuple(r - 1 - b for r, b in zip(reach, before, strict=True))
    given = (padding,) * rank if isinstance(padding, int) else tuple(int(p) for p in padding)
    if len(given) not in (1, rank, 2 * rank):
        raise ShapeError(f"padding {list(given)} must be one, {rank} or {2 * rank} numbers")
    if min(given) < 0:
        raise ShapeError(f"padding {list(given)} must not be negative")
    if len(given) == 2 * rank:
        return given[:rank], given[rank:]
    each = given * rank if len(given) == 1 else given
    return each, each


def out_size(size: Expr, reach: int, stride: int, before: int, after: int) -> Expr:
    """How many places a window has along a dimension.

    Raises
    ------
    ShapeError
        If the window is longer than the dimension with its margins.
    """
    known = const_int(size)
    if known is not None and known + before + after < reach:
        raise ShapeError(f"a window of {reach} does not fit into {known + before + after}")
    return (size + (before + after - reach)) // stride + 1
