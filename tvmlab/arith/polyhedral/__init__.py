"""Questions about all iterations of loops at once: do two accesses meet, and where first? Is
all that is read written?

Index expressions become systems of linear constraints over whole numbers (`linear_system`); the
integer set library answers whether one has a solution and which is the smallest (`isl`, the one
place that imports it, on first use). Callers see expressions, variables and numbers only. The parts
load with the first question.
"""

from typing import TYPE_CHECKING

from tvmlab.support import on_demand

if TYPE_CHECKING:
    from .conflicts import Access, Clash, Order, Relation, find_clash
    from .isl import BeyondBudgetError
    from .loop_bounds import Bound, loop_bounds
    from .missing import missing_element

__all__ = [
    "Access",
    "BeyondBudgetError",
    "Bound",
    "Clash",
    "Order",
    "Relation",
    "find_clash",
    "loop_bounds",
    "missing_element",
]

__getattr__ = on_demand(
    __name__,
    {
        "conflicts": ["Access", "Clash", "Order", "Relation", "find_clash"],
        "isl": ["BeyondBudgetError"],
        "loop_bounds": ["Bound", "loop_bounds"],
        "missing": ["missing_element"],
    },
)
