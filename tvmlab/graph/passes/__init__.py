"""Passes over graphs: each takes a graph and returns another that computes the same."""

from .clean import fold_constants, remove_dead, share_equal
from .empty import remove_empty
from .fold_norm import fold_norm
from .fold_pad import fold_pad
from .fuse import fuse, fuse_with_reasons
from .layout import use_blocks
from .pipeline import PassRecord, optimize
from .simplify import simplify, split_to_slices

__all__ = [
    "PassRecord",
    "fold_constants",
    "fold_norm",
    "fold_pad",
    "fuse",
    "fuse_with_reasons",
    "optimize",
    "remove_dead",
    "remove_empty",
    "share_equal",
    "simplify",
    "split_to_slices",
    "use_blocks",
]
