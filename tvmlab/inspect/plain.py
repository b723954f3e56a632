"""Reports as plain data: frozen dataclasses to what `json.dumps` and the views' protocol take.

>>> plain(Fact("iterations", "12"))
{'label': 'iterations', 'value': '12'}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast


def plain(value: Any) -> Any:
    """A report, or anything made of reports, as dictionaries, lists, numbers and strings.

    A number that JSON cannot write (infinity, not-a-number) becomes None.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in cast("tuple[Any, ...]", value)]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    raise TypeError(f"{type(value).__name__} is not part of a report")
