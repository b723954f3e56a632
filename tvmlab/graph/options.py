"""How a graph is compiled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a graph is compiled.

    Attributes
    ----------
    optimize
        Whether passes may rewrite the graph first: fold, change layouts, pack weights.
    fuse
        Whether nodes are joined to larger kernels.
    without
        Names of passes that are left out.
    cache
        Whether objects may come from, and go to, the cache on disk.
    in_place
        Whether results may be written over inputs that nothing needs any more.
    """

    optimize: bool = True
    fuse: bool = True
    cache: bool = True
    in_place: bool = True
    without: frozenset[str] = frozenset()
