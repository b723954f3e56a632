"""Hardware tensor intrinsics, declared by public API only, as a user would declare one's own."""

from .dot import dot, dot_tile
from .interleave import interleave
from .kinds import BF16, KINDS, LANES, S8S8, U8S8, DotKind
from .transpose import transpose_tile

__all__ = [
    "BF16",
    "KINDS",
    "LANES",
    "S8S8",
    "U8S8",
    "DotKind",
    "dot",
    "dot_tile",
    "interleave",
    "transpose_tile",
]
