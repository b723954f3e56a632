"""tvmlab: a tensor-expression compiler whose schedules are live objects.

>>> import tvmlab as tl
>>> from tvmlab import te
>>> A = te.placeholder((64, 64), name="A")
>>> C = te.compute((64, 64), lambda i, j: A[i, j] * 2.0, name="C")
>>> sch = tl.Schedule(C)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import te
from .driver import Executable, build, lower
from .ir import kernel
from .runtime import load_library, register_function
from .schedule import RefusedError, Schedule, Verdict, composite
from .support import TvmlabError, UserError, version

if TYPE_CHECKING:
    from .exercises import exercise
    from .graph import compiler
    from .tune import best
    from .widgets import explore, watch

__all__ = [
    "Executable",
    "Schedule",
    "TvmlabError",
    "UserError",
    "Verdict",
    "best",
    "build",
    "compiler",
    "composite",
    "exercise",
    "explore",
    "kernel",
    "load_library",
    "lower",
    "register_function",
    "te",
    "watch",
]


def __getattr__(name: str) -> Any:
    """Load what costs time, or needs the packages of the lab, only when it is asked for."""
    if name == "__version__":
        return version()
    if name == "compiler":
        from .graph import compiler

        return compiler
    if name == "best":
        from .tune import best

        return best
    if name == "exercise":
        from .exercises import exercise

        return exercise
    if name == "explore":
        from .widgets import explore

        return explore
    if name == "watch":
        from .widgets import watch

        return watch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _schedule_html(schedule: Schedule) -> str:
    from .inspect import nest_html

    return nest_html(schedule)


def _verdict_html(verdict: Verdict) -> str:
    from .inspect import verdict_html

    return verdict_html(verdict)


def _refusal_html(error: RefusedError) -> str:
    from .inspect import refusal_html

    return refusal_html(error)


def _refusal_lines(error: RefusedError) -> list[str]:
    from .inspect import refusal_lines

    return refusal_lines(error)


# Notebooks show a schedule as its loop nest, a verdict as a card, and a refusal without the frames
# inside tvmlab; the drawing stands above the schedule's own floor.
Schedule._repr_html_ = _schedule_html  # pyright: ignore[reportAttributeAccessIssue]
Verdict._repr_html_ = _verdict_html  # pyright: ignore[reportAttributeAccessIssue]
RefusedError._repr_html_ = _refusal_html  # pyright: ignore[reportAttributeAccessIssue]
RefusedError._render_traceback_ = _refusal_lines  # pyright: ignore[reportAttributeAccessIssue]


# Called by name from jupyter-builder, for development installs.
def _jupyter_labextension_paths() -> list[dict[str, Any]]:  # pyright: ignore[reportUnusedFunction]
    """Where JupyterLab's development install finds the built extension."""
    return [{"src": "labextension", "dest": "tvmlab-lab"}]
