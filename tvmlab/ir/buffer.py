"""Regions: rectangular parts of buffers."""

from __future__ import annotations

from tvmlab.support import Readable, node

from .expr import Buffer, Expr


@node
class Region(Readable):
    """A box of a buffer: for each dimension the first index and the number of indices."""

    buffer: Buffer
    mins: tuple[Expr, ...]
    extents: tuple[Expr, ...]
