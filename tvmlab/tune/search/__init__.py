"""Searches: which points of a space to measure next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmlab.support import OptionError, shown
from tvmlab.tune.spaces import Space

from .base import Score, Search
from .guided import Annealing, Evolution, GuidedSearch
from .simple import GeneticSearch, GridSearch, HillClimb, RandomSearch

SEARCHES: dict[str, Callable[..., Search]] = {
    "annealing": Annealing,
    "evolution": Evolution,
    "genetic": GeneticSearch,
    "random": RandomSearch,
    "grid": GridSearch,
    "climb": HillClimb,
}


def make_search(name: str, space: Space, seed: int, **options: Any) -> Search:
    """A search by its name.

    Raises
    ------
    OptionError
        If there is none of that name.
    """
    if name not in SEARCHES:
        raise OptionError(
            f"there is no search {shown(name)}", hint=f"searches are {', '.join(SEARCHES)}"
        )
    return SEARCHES[name](space, seed, **options)


__all__ = [
    "SEARCHES",
    "Annealing",
    "Evolution",
    "GeneticSearch",
    "GridSearch",
    "GuidedSearch",
    "HillClimb",
    "RandomSearch",
    "Score",
    "Search",
    "make_search",
]
