"""Results that are written over an input which nothing needs any more: less memory is touched.

The memory plan proposes, the schedule of the kernel decides: only it tells in which order elements
are read and written. The kernel then has one parameter for both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tvmlab.ir import Buffer, Program, replace_buffers, walk, with_body
from tvmlab.schedule.dependence import earlier, find_shared
from tvmlab.schedule.index import index_of, parts_handed_over
from tvmlab.schedule.kinds import block_kind, single_store

from .groups import Group
from .ir import Graph
from .operators import find
from .views import View


def proposals(
    graph: Graph, groups: Sequence[Group], views: Sequence[View], apart: Collection[str] = ()
) -> dict[int, int]:
    """For numbers of groups, which input the result may replace, as far as lifetimes allow.

    Parameters
    ----------
    apart
        Values that must have memory of their own.
    """
    made = {o: n for n, group in enumerate(groups) for o in group.outputs}
    last = {i: n for n, group in enumerate(groups) for i in group.inputs}
    # What views lie in is needed longer than its own readers tell, and so are its parts.
    inner = made.keys() - {*graph.outputs, *apart}
    inner -= {n for v in views for n in (v.source, v.name)}
    found: dict[int, int] = {}
    for number, group in enumerate(groups):
        if len(group.outputs) != 1 or group.outputs[0] not in inner:
            continue
        wanted = graph.types[group.outputs[0]]
        for place, name in enumerate(group.inputs):
            fits = name in inner and last[name] == number and graph.types[name] == wanted
            if fits and _read_once_around(group, place):
                found[number] = place
                break
    return found


def _read_once_around(group: Group, place: int) -> bool:
    """Whether an input is read by operators that need an element for few others."""
    name = group.body.inputs[place]
    readers = group.body.consumers.get(name, ())
    return bool(readers) and all(find(n).kind in ("injective", "reduction") for n in readers)


def overwriting(program: Program, place: int) -> Program | None:
    """The kernel with its result in the memory of an input, which is no parameter any more.

    None if an element might be needed after it was overwritten.

    Parameters
    ----------
    program
        A schedule's program with one result, its last parameter.
    place
        The number of the input.
    """
    given, result = program.params[place], program.params[-1]
    if not isinstance(given, Buffer) or not isinstance(result, Buffer):
        return None
    index = index_of(program)
    writers, users = index.writers.get(result, []), index.users(given)
    if len(writers) != 1 or block_kind(writers[0]) != "complete" or not single_store(writers[0]):
        return None
    (end,) = writers
    alone = not any({given, result} & parts_handed_over(user) for user in (*users, end))
    before = all(index.position[user] <= index.position[end] for user in users)
    if index.writers.get(given) or index.readers.get(result) or not alone or not before:
        return None
    body = replace_buffers(program.body, {given: result})
    if any(getattr(node, "buffer", None) is given for node in walk(body)):
        return None
    params = tuple(p for p in program.params if p is not given)
    joined = replace(with_body(program, body), params=params)
    again = index_of(joined)
    last = again.blocks[end.symbol]
    for symbol in dict.fromkeys(user.symbol for user in (*users, end)):
        user = again.blocks[symbol]
        orders = earlier(again.common_loops(user, last))
        pairs = [(user, last)] if user is last else [(user, last), (last, user)]
        if any(find_shared(again, *pair, result, orders) is not None for pair in pairs):
            return None
    return joined


def homes(over: Mapping[str, str]) -> dict[str, str]:
    """For each value that replaces another one, in order, the first value that lay there."""
    found: dict[str, str] = {}
    for name, source in over.items():
        found[name] = found.get(source, source)
    return found
