"""Where the values of an outline lie, and the steps of a run: what kernels are called with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tvmlab.runtime import PlanStep

from .groups import Group
from .in_place import homes
from .kernels import CompiledKernel
from .memory import Life, MemoryPlan, plan_memory
from .outline import Outline, states_of
from .types import TensorType
from .views import places_of

Place = tuple[str, int]
"""What holds a value ("" for the workspace), and from which byte on."""


@dataclass(frozen=True)
class Arrangement:
    """The steps of a run, and where values lie that are no inputs, outputs or parameters.

    Attributes
    ----------
    types
        Of the values that have places.
    replaced
        Results that are written over another value: which one.
    """

    steps: tuple[PlanStep, ...]
    memory: MemoryPlan
    places: Mapping[str, Place]
    types: Mapping[str, TensorType]
    replaced: Mapping[str, str]

    def used(self) -> Iterator[str]:
        """The names of all values that steps are called with."""
        return (name for step in self.steps for name in step.values)


def arrangement_of(outline: Outline, kernels: Mapping[str, CompiledKernel]) -> Arrangement:
    """The arrangement of a whole graph."""
    return _arranged(outline, kernels, {}, 0)


def _arranged(
    outline: Outline, kernels: Mapping[str, CompiledKernel], around: Mapping[str, Place], start: int
) -> Arrangement:
    """The arrangement of a graph whose part of the workspace begins at `start`.

    Parameters
    ----------
    around
        Where values lie that a body takes from the graph around it.
    """
    graph = outline.graph
    replaced = {
        group.outputs[0]: group.inputs[request.over]
        for group, request in zip(outline.groups, outline.asked, strict=True)
        if request is not None and kernels[request.symbol].in_place
    }
    states = {
        made: state
        for number in outline.loops
        for made, state in states_of(outline.groups[number]).items()
    }
    within, home = places_of(outline.views), homes({**replaced, **states})
    # Bodies are arranged for their size first: only the graph around them says where they lie.
    rooms = {n: _arranged(body, kernels, {}, 0).memory for n, body in outline.loops.items()}
    lives = _lives(outline, within, home)
    lives += [Life(f"{n}.body", room.peak, n, n) for n, room in rooms.items()]
    memory = plan_memory(lives)
    offsets = {name: start + offset for name, offset in memory.offsets.items()}
    found: dict[str, Place] = {**around, **{name: ("", at) for name, at in offsets.items()}}
    found.update({name: found[place] for name, place in home.items()})
    for name, (holder, first) in within.items():
        base, offset = found.get(holder, (holder, 0))
        found[name] = base, offset + first * graph.types[name].dtype.itemsize
    bodies = {
        n: _arranged(body, kernels, found, offsets[f"{n}.body"])
        for n, body in outline.loops.items()
    }
    for n in rooms:
        del found[f"{n}.body"]
    types = {name: graph.types[name] for name in found if name not in around}
    for body in bodies.values():
        found.update(body.places)
        types.update(body.types)
    places = {name: place for name, place in found.items() if name in types}
    return Arrangement(tuple(_steps(outline, kernels, bodies)), memory, places, types, replaced)


def _lives(
    outline: Outline, within: Mapping[str, tuple[str, int]], home: Mapping[str, str]
) -> list[Life]:
    """How long each value must be kept that is neither given nor asked for.

    A value is kept as long as a view of it is read, and as what is written over it; results of a
    body until they are copied.
    """
    whole = {name: holder for name, (holder, _) in within.items()}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, group in enumerate(outline.groups):
        for name in (whole.get(o, o) for o in group.outputs):
            first.setdefault(name, number)
            last[name] = number
        for name in group.inputs:
            last[whole.get(name, name)] = number
    for name, place in home.items():
        last[place] = max(last[place], last[name])
    asked = set(outline.graph.outputs)
    if outline.copies:
        last.update(dict.fromkeys(asked, len(outline.groups)))
        asked = set[str]()
    return [
        Life(name, outline.graph.types[name].nbytes, number, last[name])
        for name, number in first.items()
        if name not in asked and name not in home
    ]


def _steps(
    outline: Outline, kernels: Mapping[str, CompiledKernel], bodies: Mapping[int, Arrangement]
) -> Iterator[PlanStep]:
    for number, (group, request) in enumerate(zip(outline.groups, outline.asked, strict=True)):
        if request is None:
            yield _loop(group, bodies[number])
        else:
            yield _call(group, request.symbol, request.over, kernels[request.symbol])
    for source, target, request in outline.copies:
        yield PlanStep(f"{target} (next)", request.symbol, (source, target), 1, ())


def _call(group: Group, symbol: str, place: int, kernel: CompiledKernel) -> PlanStep:
    """The call of a group's kernel; what is written over is handed in once."""
    over = group.inputs[place] if kernel.in_place else None
    args = (*(i for i in group.inputs if i != over), *group.outputs)
    return PlanStep(group.name, symbol, args, len(group.outputs),
                    tuple(n.name or n.op for n in group.nodes), kernel.flops)  # fmt: skip


def _loop(group: Group, body: Arrangement) -> PlanStep:
    """A step that goes through a body's steps as long as its first argument holds."""
    (node,) = group.nodes
    args = (node.inputs[0], *group.outputs)
    return PlanStep(group.name, "", args, len(group.outputs), (node.name,), body=body.steps)
