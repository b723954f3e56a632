"""`explore`: from a schedule to a picture that one can work on."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from tvmlab.schedule import Schedule, TeSchedule
from tvmlab.support import OptionError, UserError
from tvmlab.target import TargetLike

from .comms import register_target
from .registry import keep_session, open_session
from .session_file import load_session

if TYPE_CHECKING:
    from .widget import ExplorerWidget


def explore(
    schedule: Schedule | str | PathLike[str],
    *,
    target: TargetLike = "cpu",
    name: str | None = None,
) -> ExplorerWidget:
    """Show a schedule in a notebook, to look at and to change.

    Steps taken in the picture change `schedule`, and steps taken on `schedule` in Python show in
    the picture. Exploring the same schedule again shows the same session once more.

    Parameters
    ----------
    schedule
        What to explore, or the path of a saved session.
    target
        The machine that measurements and generated code are for.
    name
        What the session is called; by default the name of the kernel.

    Raises
    ------
    UserError
        If this is no schedule, or the packages of the lab are not installed.
    """
    if not isinstance(schedule, (Schedule, str, PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _not_explorable(schedule)
    try:
        from .widget import ExplorerWidget
    except ModuleNotFoundError as error:
        raise OptionError(
            f"the explorer needs the package {error.name}", hint='pip install "tvmlab[lab]"'
        ) from error
    if isinstance(schedule, Schedule):
        session = open_session(schedule, target=target, name=name)
    else:
        session = keep_session(load_session(schedule, target=target))
    register_target()
    session.measuring.warm()
    return ExplorerWidget(session)


def _not_explorable(given: object) -> UserError:
    if not isinstance(given, TeSchedule):
        return UserError(
            f"cannot explore {type(given).__name__}: it is no schedule",
            hint="make one first: tl.explore(tl.Schedule(C))",
        )
    hint = "explore the schedule that they make: tl.explore(s.replay().schedule)"
    guarded = [stage.name for stage in given.stages if stage.store_predicate is not None]
    if guarded:
        hint += (
            f"; it shows {', '.join(guarded)} without set_store_predicate, which is no step of a "
            f"schedule: only tl.lower(s, args) takes it"
        )
    return UserError("cannot explore a te schedule: its stages only write steps down", hint=hint)
