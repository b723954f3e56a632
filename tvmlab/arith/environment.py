"""What is known about symbols at one place of a program: the data behind `Bounds`.

Kept apart from `Bounds` so that the analyses which read it (`ranges`, `facts`) can stand below the
class whose methods call them.
"""

from __future__ import annotations

from tvmlab.ir import Expr

from .interval import Interval
from .linear import LinearForm, Terms
from .modular import Modular


class Environment:
    """Knowledge plus the memo tables of the analyses made under it. Knowledge never changes.

    Attributes
    ----------
    terms
        The interning table, shared by all environments derived from one.
    intervals
        Ranges of variables and of other atoms.
    moduli
        Remainders known of atoms.
    facts
        Forms that are at most zero; their arithmetic is exact.
    known
        Conditions (by representative) whose value is known.
    kept
        Variables that are not replaced by their value although there is only one.
    """

    __slots__ = (
        "atom_ranges",
        "facts",
        "form_ranges",
        "forms",
        "intervals",
        "kept",
        "known",
        "moduli",
        "shown",
        "simplified",
        "terms",
    )

    def __init__(
        self,
        terms: Terms,
        intervals: dict[Expr, Interval],
        moduli: dict[Expr, Modular],
        facts: tuple[LinearForm, ...],
        known: dict[Expr, bool],
        kept: frozenset[Expr],
    ) -> None:
        self.terms = terms
        self.intervals = intervals
        self.moduli = moduli
        self.facts = facts
        self.known = known
        self.kept = kept
        # Memo tables, filled on demand; nodes are their own keys, by identity.
        self.atom_ranges: dict[Expr, Interval] = {}
        self.form_ranges: dict[LinearForm, Interval] = {}
        self.simplified: dict[Expr, Expr] = {}
        self.forms: dict[Expr, LinearForm] = {}
        self.shown: dict[Expr, Expr] = {}
