"""`watch`: a search that runs while one looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, UserError
from tvmlab.target import TargetLike
from tvmlab.tune import Tuner, partial_space

from .comms import register_target
from .search_session import SearchSession

if TYPE_CHECKING:
    from .search_widget import SearchWidget


def watch(
    search: Tuner | Schedule | SearchSession,
    trials: int = 200,
    *,
    start: bool = True,
    target: TargetLike = "cpu",
) -> SearchWidget:
    """Search in the background and show it: the notebook stays free for other work.

    Parameters
    ----------
    search
        What searches. For a schedule: a search of what is inside its outer loops, which begins with
        that schedule.
    trials
        How many schedules to measure, besides those that the tuner's log has.
    start
        Whether to begin at once; else with the button.
    target
        The machine, for a schedule.

    Raises
    ------
    UserError
        If this is none of these, or the packages of the lab are not installed.
    """
    try:
        from .search_widget import SearchWidget
    except ModuleNotFoundError as error:
        raise OptionError(
            f"watching a search needs the package {error.name}", hint='pip install "tvmlab[lab]"'
        ) from error
    if isinstance(search, Schedule):
        search = Tuner(partial_space(search, target), starts=(search,))
    if isinstance(search, Tuner):
        search = SearchSession(search, trials)
    if not isinstance(search, SearchSession):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UserError(
            f"cannot watch {type(search).__name__}: it is no search",
            hint="make one: tl.watch(Tuner(generic_space(C)))",
        )
    register_target()
    if start and search.status == "ready":
        search.start()
    return SearchWidget(search)
