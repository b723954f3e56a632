"""`explore`: from a schedule, or a model, to a picture that one can work on."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, cast, overload

from tvmlab.runtime import GraphModule, Plan
from tvmlab.schedule import Schedule, TeSchedule
from tvmlab.support import OptionError, UserError
from tvmlab.target import TargetLike

from .comms import register_target
from .registry import keep_session, open_session
from .session_file import load_session

if TYPE_CHECKING:
    from tvmlab.graph import Built, Graph
    from tvmlab.graph.pins import Pins

    from .graph_widget import GraphWidget
    from .widget import ExplorerWidget

_MODELS = (".onnx", ".zip")


@overload
def explore(
    schedule: Graph | Built | GraphModule,
    *,
    target: TargetLike = ...,
    sizes: dict[str, int] | None = ...,
    pins: Pins | str | PathLike[str] | None = ...,
) -> GraphWidget: ...
@overload
def explore(
    schedule: Schedule,
    *,
    target: TargetLike = ...,
    name: str | None = ...,
    options: Mapping[str, object] | None = ...,
) -> ExplorerWidget: ...
@overload
def explore(
    schedule: str | PathLike[str],
    *,
    target: TargetLike = ...,
    name: str | None = ...,
    options: Mapping[str, object] | None = ...,
    sizes: dict[str, int] | None = ...,
    pins: Pins | str | PathLike[str] | None = ...,
) -> Any: ...
def explore(
    schedule: Any,
    *,
    target: TargetLike = "cpu",
    name: str | None = None,
    options: Mapping[str, object] | None = None,
    sizes: dict[str, int] | None = None,
    pins: Any = None,
) -> Union[ExplorerWidget, GraphWidget]:
    """Show a schedule or a model in a notebook, to look at and to change.

    Steps taken in the picture change `schedule`, and steps taken on `schedule` in Python show in
    the picture. Exploring the same schedule again shows the same session once more.

    Parameters
    ----------
    schedule
        What to explore: a schedule, the path of a saved session; or a model: a graph, what
        `tl.compiler.build` made, a module, or the path of an ONNX file or of an exported module.
    target
        The machine that measurements and generated code are for.
    name
        What the session is called; by default the name of the kernel.
    options
        How this view shows a schedule, whatever the settings of JupyterLab say: `time` is auto,
        s, ms, us or ns; `rate` MFLOP/s, GFLOP/s or TFLOP/s; `bytes` binary or decimal;
        `code_theme` host, plain, light, dark or contrast; `letter_keys` and `auto_measure` are
        True or False.
    sizes
        Numbers for names in a model's shapes.
    pins
        Schedules pinned for a model's kernels, or the file of them.

    Raises
    ------
    UserError
        If this is neither, or the packages of the lab are not installed.
    """
    if _is_model(schedule):
        return _explore_model(schedule, target, sizes, pins)
    if not isinstance(schedule, (Schedule, str, PathLike)):
        raise _not_explorable(schedule)
    try:
        from .widget import ExplorerWidget
    except ModuleNotFoundError as error:
        raise _needs(error) from error
    if isinstance(schedule, Schedule):
        session = open_session(schedule, target=target, name=name)
    else:
        session = keep_session(load_session(cast("str", schedule), target=target))
    register_target()
    session.measuring.warm()
    return ExplorerWidget(session, options)


def _is_model(given: object) -> bool:
    if isinstance(given, (str, PathLike)):
        path = Path(fspath(cast("str | PathLike[str]", given)))
        return path.suffix in _MODELS or path.is_dir()
    if isinstance(given, GraphModule):
        return True
    if isinstance(getattr(given, "graph", None), Plan):
        return True
    return type(given).__module__.startswith("tvmlab.graph.") and hasattr(given, "nodes")


def _explore_model(model: Any, target: TargetLike, sizes: Any, pins: Any) -> GraphWidget:
    # Here, because the graph compiler is needed for models alone.
    from tvmlab.graph.pins import Pins, read_pins

    from .graph_model import Model
    from .graph_session import GraphSession

    try:
        from .graph_widget import GraphWidget
    except ModuleNotFoundError as error:
        raise _needs(error) from error
    chosen = pins if pins is None or isinstance(pins, Pins) else read_pins(pins)
    session = GraphSession(Model.of(model, target=target, sizes=sizes, pins=chosen), target=target)
    register_target()
    return GraphWidget(session)


def _needs(error: ModuleNotFoundError) -> OptionError:
    return OptionError(
        f"the explorer needs the package {error.name}", hint='pip install "tvmlab[lab]"'
    )


def _not_explorable(given: object) -> UserError:
    if not isinstance(given, TeSchedule):
        return UserError(
            f"cannot explore {type(given).__name__}: it is neither a schedule nor a model",
            hint="make one first: tl.explore(tl.Schedule(C)); or pass a graph or a module",
        )
    hint = "explore the schedule that they make: tl.explore(s.replay().schedule)"
    guarded = [stage.name for stage in given.stages if stage.store_predicate is not None]
    if guarded:
        hint += (
            f"; it shows {', '.join(guarded)} without set_store_predicate, which is no step of a "
            f"schedule: only tl.lower(s, args) takes it"
        )
    return UserError("cannot explore a te schedule: its stages only write steps down", hint=hint)
