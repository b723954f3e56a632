"""Goals of exercises: what a schedule must look like, and how few cache misses it may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Literal

from tvmlab.driver import lower
from tvmlab.inspect.wording import plural
from tvmlab.ir import TRUE, Alloc, Block, For, LoopKind, Program, const_int, uses_var, walk
from tvmlab.schedule import Schedule, index_of

from .traffic import misses

GoalKind = Literal["legality", "value", "structure", "traffic"]
Finding = tuple[bool, str]
"""Whether a goal is met, and what was found."""
_CACHES = ("the small cache", "both caches")


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that is asked of a schedule."""

    kind: GoalKind
    title: str
    look: Callable[[Schedule], Finding]


def is_kind(block: str, kind: LoopKind, least: int = 2, *, innermost: bool = False) -> Goal:
    """A loop around a block is of a kind, with at least some iterations."""

    def look(schedule: Schedule) -> Finding:
        loops = _around(schedule.program, block)
        asked = loops[-1:] if innermost else loops
        met = any(lp.kind == kind and (const_int(lp.extent) or 0) >= least for lp in asked)
        return met, _nest_words(loops)

    place = "the innermost loop" if innermost else "a loop"
    return Goal("structure", f"{place} of {block} is {kind}, with {least} rounds or more", look)


def bound_to(block: str, thread: str, least: int) -> Goal:
    """A loop around a block is given to threads of a device."""

    def look(schedule: Schedule) -> Finding:
        loops = _around(schedule.program, block)
        met = any(lp.thread == thread and (const_int(lp.extent) or 0) >= least for lp in loops)
        return met, _nest_words(loops)

    return Goal("structure", f"{thread} has a loop of {block} with {least} rounds or more", look)


def innermost_runs_over(block: str, axis: str) -> Goal:
    """The innermost loop around a block is one of an axis of its formula."""

    def look(schedule: Schedule) -> Finding:
        loops = _around(schedule.program, block)
        met = bool(loops) and _runs_over(schedule.program, loops[-1], block, axis)
        return met, _nest_words(loops)

    return Goal("structure", f"the innermost loop of {block} runs over {axis}", look)


def tile_at_most(block: str, axis: str, most: int, inside: str) -> Goal:
    """All loops of an axis that stand inside the outermost loop of another are short."""

    def look(schedule: Schedule) -> Finding:
        program = schedule.program
        loops = _around(program, block)
        starts = [n for n, lp in enumerate(loops) if _runs_over(program, lp, block, inside)]
        inner = loops[starts[0] + 1 :] if starts else []
        sizes = [const_int(lp.extent) for lp in inner if _runs_over(program, lp, block, axis)]
        met = bool(sizes) and all(size is not None and 1 < size <= most for size in sizes)
        return met, _nest_words(loops)

    title = f"inside of the first loop over {inside}, loops over {axis} have at most {most} rounds"
    return Goal("structure", title, look)


def no_guard_around(kind: LoopKind) -> Goal:
    """No block in a loop of a kind has a condition."""

    def look(schedule: Schedule) -> Finding:
        index = index_of(schedule.program)
        blocks = [
            b for b in index.blocks.values() if any(lp.kind == kind for lp in index.loops_around(b))
        ]
        guarded = [b.name for b in blocks if b.predicate != TRUE]
        if not blocks:
            return False, f"there is no {kind} loop"
        words = f"{', '.join(guarded)} asks a condition" if guarded else "no condition"
        return not guarded, words

    return Goal("structure", f"in {kind} loops, no condition is asked", look)


def room_at_most(buffer: str, most: int, *, scope: str = "") -> Goal:
    """Once lowered, an intermediate takes few elements, in a scope if one is named."""

    def look(schedule: Schedule) -> Finding:
        lowered = lower(schedule, simple_mode=True)
        allocs = [node.buffer for node in walk(lowered.body) if isinstance(node, Alloc)]
        asked = [b for b in allocs if b.name.startswith(buffer) and (not scope or b.scope == scope)]
        room = sum(prod(b.const_shape or (most + 1,)) for b in asked)
        if scope and not asked:
            return False, f"nothing of {buffer} is {scope}"
        return room <= most, plural(room, "element")

    where = f"a {scope} buffer" if scope else "memory"
    return Goal("structure", f"{buffer} takes {where} of at most {plural(most, 'element')}", look)


def computed_at_most(block: str, most: int) -> Goal:
    """A block stays a block and has few iterations: little is computed twice."""

    def look(schedule: Schedule) -> Finding:
        program = schedule.program
        if not _blocks(program, block):
            return False, f"{block} is computed anew at each use"
        loops = _around(program, block)
        rounds = prod(const_int(loop.extent) or most + 1 for loop in loops)
        return rounds <= most, f"{rounds} times"

    return Goal("structure", f"{block} is computed at most {most} times", look)


def misses_at_most(most: int, level: int = 0) -> Goal:
    """In the teaching caches, at most so many accesses miss a level (and those before it)."""

    def look(schedule: Schedule) -> Finding:
        found = misses(schedule.program)[level]
        return found <= most, f"{found} misses"

    return Goal("traffic", f"at most {most} accesses miss {_CACHES[level]}", look)


def _blocks(program: Program, name: str) -> list[Block]:
    return [b for b in index_of(program).blocks.values() if b.name == name]


def _around(program: Program, name: str) -> list[For]:
    """The loops around the block of a name; none if it is gone."""
    found = _blocks(program, name)
    return index_of(program).loops_around(found[0]) if found else []


def _runs_over(program: Program, loop: For, block: str, axis: str) -> bool:
    """Whether a loop is what became of an axis, by what the block is bound to."""
    block_node = _blocks(program, block)[0]
    return any(
        it.var.name == f"v{axis}" and uses_var(binding, {loop.var})
        for it, binding in zip(block_node.iters, block_node.bindings, strict=True)
    )


def _nest_words(loops: list[For]) -> str:
    if not loops:
        return "there is no such block"
    return "loops: " + ", ".join(
        f"{lp.var.name} ({lp.thread or lp.kind} {const_int(lp.extent)})" for lp in loops
    )
