"""Which steps belong together: the groups of a menu, in the order in which they are shown."""

from __future__ import annotations

FAMILIES: dict[str, tuple[str, ...]] = {
    "shape of the loops": (
        "split", "tile", "fuse", "reorder", "skew", "peel", "partition", "hoist_condition",
        "merge_conditions",
    ),
    "how it runs": (
        "vectorize", "unroll", "parallel", "bind", "env_threads", "serial", "software_pipeline",
    ),
    "where it is computed": (
        "compute_at", "reverse_compute_at", "compute_root", "compute_inline",
        "reverse_compute_inline",
    ),
    "sums": ("decompose_reduction", "rfactor", "shift_factor"),
    "memory": (
        "cache_read", "cache_write", "set_scope", "prefetch", "stream", "double_buffer",
        "rolling_buffer", "store_in", "transform_layout", "transform_block_layout", "pad",
        "storage_align",
    ),
    "instructions": ("tensorize", "blockize"),
    "notes": ("pragma", "annotate", "annotate_block", "unannotate", "unannotate_block", "assume"),
}  # fmt: skip
"""The primitives of each family; every primitive is in one."""

_PLACES = {
    name: (place, family)
    for place, (family, names) in enumerate(FAMILIES.items())
    for name in names
}
OTHER = "other steps"
"""The family of a primitive that was registered from outside."""


def family_of(primitive: str) -> str:
    """The group of a menu that a step stands in."""
    return _PLACES[primitive][1] if primitive in _PLACES else OTHER


def place_of(primitive: str) -> int:
    """The place of that group among the others."""
    return _PLACES[primitive][0] if primitive in _PLACES else len(FAMILIES)
