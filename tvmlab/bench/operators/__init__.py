"""What is measured, a family a file: its operators and the rows of its tables.

A family is a module with `OPERATORS` and `ROWS`; its name stands in `_FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from tvmlab.bench.row import Operator, Row
from tvmlab.support import OptionError

from . import build_time, conv, dot, elementwise, fusion, gemm, networks, rows

_FAMILIES = (gemm, conv, elementwise, rows, dot, build_time, fusion, networks)

OPERATORS: dict[str, Operator] = {k: v for f in _FAMILIES for k, v in f.OPERATORS.items()}
ROWS: tuple[Row, ...] = tuple(row for family in _FAMILIES for row in family.ROWS)
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(row.group for row in ROWS))


def find_rows(names: Sequence[str] | None = None) -> list[Row]:
    """The rows of groups, of names, and of patterns such as "sgemm-*"; all without names.

    Raises
    ------
    OptionError
        If a name stands for nothing.
    """
    if not names:
        return list(ROWS)
    found: dict[str, Row] = {}
    for name in names:
        matching = [r for r in ROWS if r.group == name or fnmatchcase(r.name, name)]
        if not matching:
            known = [*GROUPS, *(row.name for row in ROWS)]
            close = get_close_matches(name, known, n=1)
            tip = f"did you mean {close[0]!r}? " if close else ""
            raise OptionError(
                f"there is no benchmark named {name!r}",
                hint=f"{tip}groups are {', '.join(GROUPS)}; tvmlab bench --list shows all rows",
            )
        found |= {row.name: row for row in matching}
    return list(found.values())
