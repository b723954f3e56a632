"""`build`: from a graph to a plan, a library of kernels, and parameters.

>>> graph, lib, params = build(model, "cpu")                       # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tvmlab.runtime import ObjectCache, ObjectLibrary, Plan, PlanStep, TensorSpec, gathered
from tvmlab.target import Target

from .builder import bind
from .groups import Group
from .ir import Array, Graph, Node
from .kernels import (
    CompiledKernel,
    FindSchedule,
    KernelRequest,
    Progress,
    compile_all,
    with_found,
)
from .memory import Life, MemoryPlan, plan_memory
from .passes import PassRecord, fuse_with_reasons, optimize, remove_empty
from .types import GraphError
from .views import View, split_views


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a graph is compiled.

    Attributes
    ----------
    optimize
        Whether passes may rewrite the graph first: fold, change layouts, pack weights.
    fuse
        Whether nodes are joined to larger kernels.
    without
        Names of passes that are left out.
    cache
        Whether objects may come from, and go to, the cache on disk.
    """

    optimize: bool = True
    fuse: bool = True
    cache: bool = True
    without: frozenset[str] = frozenset()


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
    graph = remove_empty(graph)
    records: list[PassRecord] = []
    if chosen.optimize:
        graph, records = optimize(graph, machine, chosen.without)
    graph = _with_own_outputs(graph)
    groups, ends = fuse_with_reasons(graph, enabled=chosen.fuse)
    groups, views = split_views(graph, groups)
    requests = list({g.kernel: KernelRequest(g.kernel, g.text) for g in groups}.values())
    if schedules is not None:
        requests = with_found(requests, machine, schedules)
    kernels = compile_all(requests, machine, ObjectCache() if chosen.cache else None, progress)
    memory = plan_memory(_lives(graph, groups, views))
    notes = {"groups": {g.kernel: g.text for g in groups}, "ends": ends}
    plan = replace(_plan(graph, groups, kernels, memory, machine, views), notes=notes)
    library = ObjectLibrary({symbol: kernel.data for symbol, kernel in kernels.items()})
    needed = gathered({s.name: graph.params[s.name] for s in plan.params})
    found = frozenset(r.symbol for r in requests if r.trace)
    report = BuildReport(graph, tuple(groups), memory, tuple(records), found, tuple(views),
                         sum(kernel.seconds for kernel in kernels.values()))  # fmt: skip
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


def _with_own_outputs(graph: Graph) -> Graph:
    """Copies for outputs that are inputs, parameters, or named twice: each gets its own memory."""
    nodes, outputs = list(graph.nodes), list[str]()
    types = dict(graph.types)
    for number, output in enumerate(graph.outputs):
        if (output in graph.producers and output not in outputs) or graph.types[output].count == 0:
            outputs.append(output)
            continue
        name = f"{output}.out{number}"
        types[name] = types[output]
        nodes.append(Node("identity", (output,), (name,), {}, name))
        outputs.append(name)
    return graph.with_nodes(nodes, outputs=outputs, types=types)


def _lives(graph: Graph, groups: list[Group], views: list[View]) -> list[Life]:
    """How long each value must be kept that is neither given nor asked for.

    A value is kept as long as a view of it is read.
    """
    whole: dict[str, str] = {}
    for view in views:
        whole[view.name] = whole.get(view.source, view.source)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, group in enumerate(groups):
        for name in group.outputs:
            first[name] = last[name] = number
        for name in group.inputs:
            last[whole.get(name, name)] = number
    return [
        Life(name, graph.types[name].nbytes, number, last[name])
        for name, number in first.items()
        if name not in graph.outputs
    ]


def _offsets(graph: Graph, memory: MemoryPlan, views: list[View]) -> dict[str, int]:
    """Where values lie in the workspace, also those that are views of others."""
    found = dict(memory.offsets)
    for view in views:
        step = graph.types[view.source].dtype.itemsize
        found[view.name] = found[view.source] + view.first * step
    return found


def _plan(
    graph: Graph, groups: list[Group], kernels: Mapping[str, CompiledKernel], memory: MemoryPlan,
    target: Target, views: list[View],
) -> Plan:  # fmt: skip
    offsets = _offsets(graph, memory, views)
    used = {i for g in groups for i in g.inputs}

    def spec(name: str) -> TensorSpec:
        return TensorSpec(name, graph.types[name].dtype, graph.types[name].sizes)

    steps = [
        PlanStep(g.name, g.kernel, (*g.inputs, *g.outputs), len(g.outputs),
                 tuple(n.name or n.op for n in g.nodes), kernels[g.kernel].flops)
        for g in groups
    ]  # fmt: skip
    return Plan(
        name=graph.name,
        target={"triple": target.triple, "cpu": target.cpu, "features": target.features},
        inputs=tuple(spec(i) for i in graph.inputs),
        params=tuple(spec(p) for p in graph.params if p in used),
        outputs=tuple(spec(o) for o in graph.outputs),
        values=tuple(spec(v) for v in offsets),
        offsets=offsets,
        workspace=memory.peak,
        steps=tuple(steps),
    )
