"""The schedule primitives, one family a file. Importing this package fills the registry."""

from tvmlab.schedule.registry import PRIMITIVES

from . import (
    annotate,
    attach,
    bind,
    blockize,
    cache,
    decompose,
    inline,
    layout,
    loops,
    peel,
    pipeline,
    rfactor,
    tile,
)

__all__ = [
    "PRIMITIVES",
    "annotate",
    "attach",
    "bind",
    "blockize",
    "cache",
    "decompose",
    "inline",
    "layout",
    "loops",
    "peel",
    "pipeline",
    "rfactor",
    "tile",
]
