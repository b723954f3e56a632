"""Looking into values that came from outside: JSON texts, and whatever users pass.

Both functions answer None for anything else, so a caller can say in its own words what is wrong.

>>> items_of([1, "a"]), items_of("no list"), fields_of({"op": "split"})
((1, 'a'), None, {'op': 'split'})
"""

from __future__ import annotations

from typing import cast


def items_of(value: object) -> tuple[object, ...] | None:
    """The items of a list or tuple."""
    return tuple(cast("list[object]", value)) if isinstance(value, (list, tuple)) else None


def fields_of(value: object) -> dict[str, object] | None:
    """The fields of a JSON object."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None
