"""Passes over graphs: each takes a graph and returns another that computes the same."""

from .clean import fold_constants, remove_dead, share_equal
from .fold_norm import fold_norm
from .fold_pad import fold_pad
from .fuse import fuse
from .layout import use_blocks
from .pipeline import PassRecord, optimize

__all__ = [
    "PassRecord",
    "fold_constants",
    "fold_norm",
    "fold_pad",
    "fuse",
    "optimize",
    "remove_dead",
    "share_equal",
    "use_blocks",
]
