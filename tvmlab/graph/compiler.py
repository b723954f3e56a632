"""`build`: from a graph to a plan, a library of kernels, and parameters.

>>> graph, lib, params = build(model, "cpu")                       # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tvmlab.runtime import ObjectCache, ObjectLibrary, Plan, TensorSpec, gathered
from tvmlab.target import Target

from .arrangement import Arrangement, arrangement_of
from .builder import bind
from .groups import Group
from .ir import Array, Graph
from .kernels import FindSchedule, Progress, compile_all, with_found
from .memory import MemoryPlan
from .options import BuildOptions
from .outline import Outline, outline_of
from .passes import PassRecord
from .types import GraphError, type_of
from .views import View


class Built(NamedTuple):
    """A compiled graph: the plan of its run, its kernels, and the parameters it needs."""

    graph: Plan
    lib: ObjectLibrary
    params: dict[str, Array]


@dataclass(frozen=True)
class BuildReport:
    """What building did, for views and tests."""

    graph: Graph
    groups: tuple[Group, ...]
    memory: MemoryPlan
    passes: tuple[PassRecord, ...] = ()
    found: frozenset[str] = frozenset()
    """Kernels whose schedules came from `schedules`."""
    views: tuple[View, ...] = ()
    """Values that need no kernel, because they lie within others."""
    compile_seconds: float = 0.0
    """What compiling all kernels takes of a processor, also if they came from the cache."""
    replaced: Mapping[str, str] = field(default_factory=dict[str, str])
    """Results that are written over another value: which one."""


def build(
    model: Graph | str | Path | Any,
    target: Target | str = "cpu",
    params: Mapping[str, Array] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    options: BuildOptions | None = None,
    progress: Progress | None = None,
    schedules: FindSchedule | None = None,
) -> Built:
    """Compile a graph.

    Parameters
    ----------
    model
        A graph, the path of an ONNX file, or an `onnx.ModelProto`.
    target
        The machine, as for `tvmlab.build`.
    params
        Arrays for inputs that are known now, which become parameters.
    sizes
        Numbers for the names in its shapes, such as `{"batch": 1}`.
    schedules
        Gives a kernel's unscheduled program its schedule, or None for the default one;
        `tvmlab.tune.lookup(log)` is one that takes what was tuned.

    Returns
    -------
    Built
        `graph, lib, params`, for `tvmlab.runtime.create(graph, lib)`.

    Raises
    ------
    GraphError
        If a size is not known, or an operator cannot be compiled.
    """
    built, _ = build_with_report(model, target, params, sizes=sizes, options=options,
                                 progress=progress, schedules=schedules)  # fmt: skip
    return built


def build_with_report(
    model: Graph | str | Path | Any,
    target: Target | str = "cpu",
    params: Mapping[str, Array] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    options: BuildOptions | None = None,
    progress: Progress | None = None,
    schedules: FindSchedule | None = None,
) -> tuple[Built, BuildReport]:
    """As `build`, with what happened on the way."""
    chosen, machine = options or BuildOptions(), Target.of(target)
    if isinstance(model, Graph):
        graph = bind(_with_params(model, params or {}), sizes or {})
    else:
        # Here, because the package onnx is needed for models alone.
        from .onnx import from_onnx

        graph = from_onnx(model, sizes=sizes, params=params)
    if graph.names:
        names = sorted(graph.names)
        raise GraphError(
            f"the graph {graph.name} has inputs of unknown size: {', '.join(names)}",
            hint=f"give them: build(model, sizes={{{names[0]!r}: 1}}), or --size {names[0]}=1",
        )
    outline = outline_of(graph, chosen, machine)
    requests = list({r.symbol: r for r in outline.requests()}.values())
    if schedules is not None:
        requests = with_found(requests, machine, schedules)
    kernels = compile_all(requests, machine, ObjectCache() if chosen.cache else None, progress)
    arranged = arrangement_of(outline, kernels)
    notes = {
        "groups": {r.symbol: r.text for r in requests},
        "over": {r.symbol: r.over for r in requests if kernels[r.symbol].in_place},
        "ends": list(outline.ends),
    }
    plan = replace(_plan(outline, arranged, machine), notes=notes)
    library = ObjectLibrary({symbol: kernel.data for symbol, kernel in kernels.items()})
    parameters = outline.parameters()
    needed = gathered({s.name: parameters[s.name] for s in plan.params})
    found = frozenset(r.symbol for r in requests if r.trace)
    groups = tuple(group for group, _ in outline.compiled())
    report = BuildReport(outline.graph, groups, arranged.memory, outline.passes, found,
                         outline.views, sum(kernel.seconds for kernel in kernels.values()),
                         arranged.replaced)  # fmt: skip
    return Built(plan, library, needed), report


def _with_params(graph: Graph, params: Mapping[str, Array]) -> Graph:
    unknown = params.keys() - {*graph.inputs, *graph.params}
    if unknown:
        raise GraphError(f"the graph {graph.name} has no input {sorted(unknown)[0]!r}",
                         hint=f"inputs are {', '.join(graph.inputs)}")  # fmt: skip
    if not params:
        return graph
    inputs = [i for i in graph.inputs if i not in params]
    return graph.with_nodes(graph.nodes, inputs=inputs, params={**graph.params, **params})


def _plan(outline: Outline, arranged: Arrangement, target: Target) -> Plan:
    graph, parameters = outline.graph, outline.parameters()
    used = set(arranged.used())

    def spec(name: str) -> TensorSpec:
        return TensorSpec(name, graph.types[name].dtype, graph.types[name].sizes)

    return Plan(
        name=graph.name,
        target={"triple": target.triple, "cpu": target.cpu, "features": target.features},
        inputs=tuple(spec(i) for i in graph.inputs),
        params=tuple(
            TensorSpec(name, type_of(array).dtype, array.shape)
            for name, array in parameters.items() if name in used
        ),
        outputs=tuple(spec(o) for o in graph.outputs),
        values=tuple(
            TensorSpec(name, type_.dtype, type_.sizes) for name, type_ in arranged.types.items()
        ),
        offsets={name: offset for name, (_, offset) in arranged.places.items()},
        within={name: holder for name, (holder, _) in arranged.places.items() if holder},
        workspace=arranged.memory.peak,
        steps=arranged.steps,
    )  # fmt: skip
