"""Passes over graphs: each takes a graph and returns another that computes the same."""

from .clean import fold_constants, remove_dead, share_equal
from .fuse import fuse

__all__ = ["fold_constants", "fuse", "remove_dead", "share_equal"]
