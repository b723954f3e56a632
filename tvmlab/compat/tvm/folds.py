"""Reductions by name, of what old programs hold to be 32-bit integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvmlab.te as _te
from tvmlab.ir.mixed import mixing
from tvmlab.support import items_of
from tvmlab.te import Axis

from .mixing import converted, old_index


def _fold(name: str) -> Callable[..., Any]:
    own = getattr(_te, name)

    def fold(value: Any, *more: Any, span: Any = None, **named: Any) -> Any:
        del span
        over = named.get("axis", next(iter(more), None))
        if isinstance(over, Axis) or items_of(over) is not None:  # not the larger of two numbers
            several = items_of(value)
            value = old_index(value) if several is None else tuple(map(old_index, several))
        with mixing(converted):
            return own(value, *more, **named)

    fold.__name__ = name
    fold.__doc__ = own.__doc__
    return fold


sum, prod, min, max = map(_fold, ("sum", "prod", "min", "max"))
