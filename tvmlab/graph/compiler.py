"""`build`: from a graph to a plan, a library of kernels, and parameters.

>>> graph, lib, params = build(model, "cpu")                       # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tvmlab.runtime import ObjectCache, ObjectLibrary, Plan, PlanStep, TensorSpec, gathered
from tvmlab.target import Target

from .builder import bind
from .groups import Group
from .in_place import homes, proposals
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
    in_place
        Whether results may be written over inputs that nothing needs any more.
    """

    optimize: bool = True
    fuse: bool = True
    cache: bool = True
    in_place: bool = True
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
    graph = remove_empty(graph)
    records: list[PassRecord] = []
    if chosen.optimize:
        graph, records = optimize(graph, machine, chosen.without)
    graph = _with_own_outputs(graph)
    groups, ends = fuse_with_reasons(graph, enabled=chosen.fuse)
    groups, views = split_views(graph, groups)
    over = proposals(graph, groups, views) if chosen.in_place else {}
    asked = [_request(group, over.get(number, -1)) for number, group in enumerate(groups)]
    requests = list({r.symbol: r for r in asked}.values())
    if schedules is not None:
        requests = with_found(requests, machine, schedules)
    kernels = compile_all(requests, machine, ObjectCache() if chosen.cache else None, progress)
    steps = [
        _step(group, request, kernels[request.symbol])
        for group, request in zip(groups, asked, strict=True)
    ]
    replaced = {
        group.outputs[0]: group.inputs[request.over]
        for group, request in zip(groups, asked, strict=True) if kernels[request.symbol].in_place
    }  # fmt: skip
    memory = plan_memory(_lives(graph, groups, views, homes(replaced)))
    notes = {
        "groups": {r.symbol: r.text for r in requests},
        "over": {r.symbol: r.over for r in requests if kernels[r.symbol].in_place},
        "ends": ends,
    }
    offsets = _offsets(graph, memory, views, homes(replaced))
    plan = replace(_plan(graph, steps, memory, offsets, machine), notes=notes)
    library = ObjectLibrary({symbol: kernel.data for symbol, kernel in kernels.items()})
    needed = gathered({s.name: graph.params[s.name] for s in plan.params})
    found = frozenset(r.symbol for r in requests if r.trace)
    report = BuildReport(graph, tuple(groups), memory, tuple(records), found, tuple(views),
                         sum(kernel.seconds for kernel in kernels.values()),
                         replaced)  # fmt: skip
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


def _request(group: Group, over: int) -> KernelRequest:
    """The kernel of a group, of another name if it may write over an input."""
    symbol = group.kernel if over < 0 else f"{group.kernel}_over{over}"
    return KernelRequest(symbol, group.text, over=over)


def _step(group: Group, request: KernelRequest, kernel: CompiledKernel) -> PlanStep:
    """The call of a group's kernel; what is written over is handed in once."""
    over = group.inputs[request.over] if kernel.in_place else None
    args = (*(i for i in group.inputs if i != over), *group.outputs)
    return PlanStep(group.name, request.symbol, args, len(group.outputs),
                    tuple(n.name or n.op for n in group.nodes), kernel.flops)  # fmt: skip


def _lives(
    graph: Graph, groups: list[Group], views: list[View], home: Mapping[str, str]
) -> list[Life]:
    """How long each value must be kept that is neither given nor asked for.

    A value is kept as long as a view of it is read, and as what is written over it.
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
    for name, place in home.items():
        last[place] = max(last[place], last[name])
    return [
        Life(name, graph.types[name].nbytes, number, last[name])
        for name, number in first.items()
        if name not in graph.outputs and name not in home
    ]


def _offsets(
    graph: Graph, memory: MemoryPlan, views: list[View], home: Mapping[str, str]
) -> dict[str, int]:
    """Where values lie in the workspace, also those that lie within others."""
    found = dict(memory.offsets)
    found.update({name: found[place] for name, place in home.items()})
    for view in views:
        step = graph.types[view.source].dtype.itemsize
        found[view.name] = found[view.source] + view.first * step
    return found


def _plan(
    graph: Graph, steps: list[PlanStep], memory: MemoryPlan, offsets: Mapping[str, int],
    target: Target,
) -> Plan:  # fmt: skip
    used = {name for step in steps for name in step.args}

    def spec(name: str) -> TensorSpec:
        return TensorSpec(name, graph.types[name].dtype, graph.types[name].sizes)

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
