"""Is everything that is read among what several accesses write, and if not, what is missing?

    for i in range(5):  T[i * 2] = ...
    for i in range(9):  ... = T[i]          T[1] is read, and nothing writes it.

The elements that an access touches are a set of points: the loops around it are projected away.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from contextlib import suppress

from tvmlab.ir import Expr, Var

from .conflicts import Access
from .isl import BeyondBudgetError, point_outside
from .linear_system import Conjunction, Constraint, Form, NotLinearError, Translator, variables_of

MAX_SYSTEMS = 32
"""Combinations of cases of one access; more are not looked at."""


def missing_element(
    read: Access, writes: Sequence[Access], facts: Sequence[Expr] = ()
) -> tuple[int, ...] | None:
    """An element that `read` touches and none of `writes` does; None if there is no such element.

    A read that is not linear counts as one of the whole buffer, a write that is not linear as
    none: an element that is given may be reached after all, but None is certain.

    Raises
    ------
    BeyondBudgetError
        If it could not be found out in time.
    """
    cells: list[Hashable] = [("cell", n) for n in range(len(read.indices))]
    wanted = _systems(read, facts, exact=False)
    written = [s for access in writes for s in _systems(access, facts, exact=True)]
    sizes = [v for s in (*wanted, *written) for v in variables_of(s) if isinstance(v, Var)]
    kept = [*cells, *dict.fromkeys(sizes)]
    point = point_outside(wanted, written, kept)
    return None if point is None else tuple(point[cell] for cell in cells)


def _systems(access: Access, facts: Sequence[Expr], *, exact: bool) -> list[Conjunction]:
    """The elements of an access as alternatives, over cells, sizes and variables of its own."""
    inside = {v: ("loop", v) for v, _ in access.loops}
    translator = Translator(lambda v: inside.get(v, v))
    limits = [limit for v, extent in access.loops for limit in (v >= 0, v < extent)]
    sizes = Translator(lambda v: v)
    parts: list[Sequence[Conjunction]] = []
    for condition in (*limits, *access.conditions):
        try:
            parts.append(translator.conditions(condition))
        except NotLinearError:
            if exact:
                return []
    for n, (index, size) in enumerate(zip(access.indices, access.buffer.shape, strict=True)):
        cell = Form({("cell", n): 1})
        try:
            cases = translator.cases(index)
            parts.append([(*c.given, Constraint(cell.plus(c.form, -1), equal=True)) for c in cases])
            continue
        except NotLinearError:
            if exact:
                return []
        try:
            ends = sizes.cases(size)
        except NotLinearError:
            raise BeyondBudgetError from None
        parts.append(
            [
                (*e.given, Constraint(cell), Constraint(e.form.plus(cell, -1).shift(-1)))
                for e in ends
            ]
        )
    for fact in facts:
        # Without one, more sizes are looked at, in reads and writes alike.
        with suppress(NotLinearError):
            parts.append(sizes.conditions(fact))
    systems = list(itertools.islice(itertools.product(*parts), MAX_SYSTEMS + 1))
    if len(systems) > MAX_SYSTEMS:
        if exact:
            return []
        raise BeyondBudgetError
    return [tuple(itertools.chain.from_iterable(system)) for system in systems]
