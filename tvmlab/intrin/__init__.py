"""Hardware tensor intrinsics, declared by public API only, as a user would declare one's own."""

from .dot import dot, dot_tile
from .families import dot_by_name
from .interleave import interleave
from .kinds import ARM_BF16, ARM_S8S8, ARM_U8S8, BF16, KINDS, LANES, S8S8, U8S8, DotKind
from .transpose import transpose_tile

__all__ = [
    "ARM_BF16",
    "ARM_S8S8",
    "ARM_U8S8",
    "BF16",
    "KINDS",
    "LANES",
    "S8S8",
    "U8S8",
    "DotKind",
    "dot",
    "dot_by_name",
    "dot_tile",
    "interleave",
    "transpose_tile",
]
