"""The schedule primitives, one family a file. Importing this package fills the registry."""

from tvmlab.schedule.registry import PRIMITIVES

from . import (
    annotate,
    assume,
    attach,
    bind,
    blockize,
    cache,
    decompose,
    inline,
    layout,
    loops,
    note,
    peel,
    pipeline,
    reorder,
    rfactor,
    skew,
    storage,
    tile,
)

__all__ = [
    "PRIMITIVES",
    "annotate",
    "assume",
    "attach",
    "bind",
    "blockize",
    "cache",
    "decompose",
    "inline",
    "layout",
    "loops",
    "note",
    "peel",
    "pipeline",
    "reorder",
    "rfactor",
    "skew",
    "storage",
    "tile",
]
