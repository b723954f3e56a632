"""Converters of nodes that hold graphs: built in place, as often as they run.

Where it is not known which branch is taken, both are computed; where it is not known how often a
loop runs, the compiled model finds out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .loops import while_loop
from .registry import Site, onnx_op

_MOST_TURNS = 256

_MOST_WRITTEN = 1 << 13
"""Nodes of all turns of a loop that are written out."""


@onnx_op("If")
def _if(site: Site) -> list[str]:
    """The branch of a condition that is known now; else a choice between the results of both."""
    condition = site.known(0)
    if condition is None:
        return _choices(site)
    branch = "then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"
    return list(site.around.branch(site, site.graph(branch), []))


def _choices(site: Site) -> list[str]:
    results = [
        site.around.branch(site, site.graph(name), []) for name in ("then_branch", "else_branch")
    ]
    if any(site.around.type_of(a) != site.around.type_of(b) for a, b in zip(*results, strict=True)):
        # Results of different shapes: which one it is has to be known.
        site.constant(0, "which branch is taken")
    condition = site.reshape(site[0], ())
    return [site.add("where", condition, a, b) for a, b in zip(*results, strict=True)]


@onnx_op("Loop")
def _loop(site: Site) -> list[str]:
    """Written out turn by turn if its end is known now, else a loop of the compiled model."""
    if (site.has(0) and site.known(0) is None) or (site.has(1) and site.known(1) is None):
        return while_loop(site)
    body = site.graph("body")
    limit = int(site.constant(0, "how often the loop runs").reshape(())) if site.has(0) else None
    alive = bool(site.constant(1, "whether the loop runs").reshape(())) if site.has(1) else True
    state, rows = [site[n] for n in range(2, len(site.inputs))], list[list[str]]()
    turn = 0
    while alive and (limit is None or turn < limit):
        if turn >= _MOST_TURNS or turn * len(body.node) > _MOST_WRITTEN:
            return while_loop(site)
        counter = site.param(np.array(turn, np.int64))
        results = list(
            site.around.branch(site, body, [counter, site.param(np.array(True)), *state])
        )
        condition = site.around.array_of(results[0])
        if condition is None:
            return while_loop(site)
        alive, turn = bool(condition.reshape(())), turn + 1
        state = results[1 : 1 + len(state)]
        rows.append(results[1 + len(state) :])
    scans = [_stacked(site, [r[n] for r in rows], 0) for n in range(len(rows[0]) if rows else 0)]
    return [*state, *scans]


@onnx_op("Scan")
def _scan(site: Site) -> list[str]:
    """A body over the slices of some inputs, which it takes with a state."""
    if site.opset < 9:
        raise site.error("Scan of opset 8 is not supported", hint="convert the model to opset 9")
    body = site.graph("body")
    count = int(site.attr("num_scan_inputs"))
    first = len(site.inputs) - count
    state = [site[n] for n in range(first)]
    sources = [site[n] for n in range(first, len(site.inputs))]
    axes = _axes(site, "scan_input_axes", sources)
    backwards = site.attr("scan_input_directions", (0,) * count)
    turns = int(site.around.type_of(sources[0]).sizes[axes[0]])
    if turns > _MOST_TURNS:
        raise site.error(f"the scan runs more than {_MOST_TURNS} times")
    rows: list[list[str]] = []
    for turn in range(turns):
        slices = [
            _slice(site, s, axis, turns - 1 - turn if back else turn)
            for s, axis, back in zip(sources, axes, backwards, strict=True)
        ]
        results = list(site.around.branch(site, body, [*state, *slices]))
        state = results[:first]
        rows.append(results[first:])
    made = len(rows[0])
    directions = site.attr("scan_output_directions", (0,) * made)
    places = site.attr("scan_output_axes", (0,) * made)
    scans = [
        _stacked(site, [r[n] for r in (rows[::-1] if directions[n] else rows)], places[n])
        for n in range(made)
    ]
    return [*state, *scans]


def _axes(site: Site, name: str, values: Sequence[str]) -> list[int]:
    given = site.attr(name, (0,) * len(values))
    ranks = [site.around.type_of(v).rank for v in values]
    return [a + r if a < 0 else a for a, r in zip(given, ranks, strict=True)]


def _slice(site: Site, value: str, axis: int, place: int) -> str:
    cut = site.add("slice", value, starts=(place,), ends=(place + 1,), axes=(axis,), steps=(1,))
    shape = list(site.shape_of(cut))
    return site.reshape(cut, shape[:axis] + shape[axis + 1 :])


def _stacked(site: Site, parts: Sequence[str], axis: int) -> str:
    """Values side by side along a new dimension."""
    shape = list(site.shape_of(parts[0]))
    axis = axis + len(shape) + 1 if axis < 0 else axis
    rows = [site.reshape(p, [*shape[:axis], 1, *shape[axis:]]) for p in parts]
    return site.add("concat", *rows, axis=axis)
