"""What can be done with a loop or block: every primitive for it, with default arguments, the
choices for each argument, and a verdict. Menus show exactly this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    For,
    Program,
    Var,
    const_int,
    touched_buffers,
)
from tvmlab.te import intrinsics

from .index import ProgramIndex, buffers_read, index_of
from .registry import PRIMITIVES, ParamSpec
from .service import attempt
from .tile_form import form_of_nest
from .verdict import Verdict

_MENU_TAGS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread")
"""The threads that menus offer to bind a loop to."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible value of an argument, with the verdict of the step that would use it."""

    label: str
    value: Any
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Action:
    """A step that a menu offers.

    Attributes
    ----------
    primitive, title, key
        What it does, the words for it, and the key that does it at once.
    args
        Its arguments, with the best choice filled in.
    params
        The parameters that a form may ask for; empty if there is nothing to choose.
    choices
        For each such parameter with a closed set of values, those values with their verdicts.
    verdict
        May it be done with `args`?
    """

    primitive: str
    title: str
    key: str
    args: dict[str, Any]
    params: tuple[ParamSpec, ...]
    choices: dict[str, tuple[Choice, ...]]
    verdict: Verdict


def _verdict(program: Program, name: str, args: dict[str, Any]) -> Verdict:
    """The verdict of a step; menus of neighboring loops and blocks have some in common."""
    if name == "tensorize" or PRIMITIVES[name].steps is not None:
        # What these do is declared by the user, who may declare it anew.
        return attempt(program, name, args).verdict
    return _known_verdict(program, name, tuple(sorted(args.items(), key=itemgetter(0))))


@lru_cache(maxsize=1024)
def _known_verdict(program: Program, name: str, args: tuple[tuple[str, Any], ...]) -> Verdict:
    return attempt(program, name, dict(args)).verdict


def loop_actions(program: Program, loop: Var) -> list[Action]:
    """Every step that acts on or at a loop."""
    index = index_of(program)
    target = index.loops[loop]
    actions = [
        _with_factors(program, target),
        *_moves(program, index, target),
        _fuse(program, target),
        _tile(program, target),
        _asking(program, "partition", {"loop": loop, "points": None}, ("points",)),
        _asking(program, "peel", {"loop": loop, "first": 1, "last": 0}, ("first", "last")),
        *(_simple(program, name, {"loop": loop}) for name in ("vectorize", "unroll", "parallel")),
    ]
    actions.append(_simple(program, "blockize", {"loop": loop}))
    if intrinsics():
        actions.append(_tensorize(program, loop))
    if target.kind != "serial":
        actions.append(_simple(program, "serial", {"loop": loop}))
    else:
        actions.append(_with_choice(program, "bind", {"loop": loop}, "thread", list(_MENU_TAGS)))
    blocks = list(index.blocks)
    for name in ("compute_at", "reverse_compute_at"):
        outside = [b for b in blocks if not index.is_under(index.blocks[b], target)]
        if outside:
            actions.append(_with_choice(program, name, {"loop": loop}, "block", outside))
    inside = [b.symbol for b in index.blocks_under(target) if b.init is not None]
    if inside:
        actions += [
            _with_choice(program, name, {"loop": loop}, "block", inside)
            for name in ("decompose_reduction", "rfactor")
        ]
    actions += _proposed(index, "loop", target, loop)
    return [a for a in actions if a is not None]


def block_actions(program: Program, block: BlockSymbol) -> list[Action]:
    """Every step that acts on a block."""
    index = index_of(program)
    target = index.blocks[block]
    around = [lp.var for lp in index.loops_around(target)]
    read: list[Buffer] = buffers_read(target)
    actions: list[Action] = []
    if read:
        actions.append(_with_choice(program, "cache_read", {"block": block}, "buffer", read))
    actions += [
        _simple(program, "cache_write", {"block": block}, ask=("scope",)),
        _simple(program, "compute_root", {"block": block}),
        _simple(program, "compute_inline", {"block": block}),
        _simple(program, "reverse_compute_inline", {"block": block}),
    ]
    actions += _scope_action(program, target)
    partners = {
        "compute_at": index.consumers_of(target),
        "reverse_compute_at": index.producers_of(target),
    }
    for name, others in partners.items():
        loops = [lp.var for other in others for lp in index.loops_around(other)]
        wanted = list(dict.fromkeys(v for v in loops if v not in around))
        if wanted:
            actions.append(_with_choice(program, name, {"block": block}, "loop", wanted))
    if target.init is not None and around:
        actions += [
            _with_choice(program, name, {"block": block}, "loop", around)
            for name in ("decompose_reduction", "rfactor")
        ]
    if intrinsics() and form_of_nest(target.body, target.init) is not None:
        actions.append(_tensorize(program, block))
    actions += _proposed(index, "block", target, block)
    return actions


def _proposed(
    index: ProgramIndex, kind: str, target: For | Block, subject: Var | BlockSymbol
) -> Iterator[Action]:
    """What primitives propose for a loop or block themselves."""
    for spec in PRIMITIVES.values():
        own = next((p.name for p in spec.params if p.kind == kind), None)
        if spec.propose is None or own is None or spec.subject not in (kind, "buffer"):
            continue
        for proposal in spec.propose(index, target):
            args = {own: subject, **proposal}
            named = [v.name for v in proposal.values() if isinstance(v, (Buffer, BlockSymbol))]
            fixed = [n for n, v in args.items() if isinstance(v, (Var, Buffer, BlockSymbol))]
            ask = tuple(p.name for p in spec.params if p.name not in fixed)
            title = f"{spec.title} of {named[0]}" if named else spec.title
            yield _asking(index.program, spec.name, args, ask, title)


def _tensorize(program: Program, target: Var | BlockSymbol) -> Action:
    """Tensorizing a loop or block by one of the declared intrinsics, of which there may be many."""
    names = list(intrinsics())
    given = {"target": target}
    quick = [attempt(program, "tensorize", {**given, "intrin": n}, fixes=False) for n in names]
    choices = tuple(Choice(n, n, q.verdict) for n, q in zip(names, quick, strict=True))
    best = next((c for c in choices if c.verdict), None)
    args = {**given, "intrin": names[0] if best is None else best.value}
    verdict = _verdict(program, "tensorize", args) if best is None else best.verdict
    spec = PRIMITIVES["tensorize"]
    return Action("tensorize", spec.title, spec.key, args, spec.params[1:], {"intrin": choices},
                  verdict)  # fmt: skip


def _simple(
    program: Program, name: str, args: dict[str, Any], *, ask: tuple[str, ...] = ()
) -> Action:
    spec = PRIMITIVES[name]
    params = tuple(p for p in spec.params if p.name in ask)
    verdict = _verdict(program, name, args)
    # A closed choice, such as a memory scope, does not decide whether the step is legal.
    choices = {p.name: tuple(Choice(c, c, verdict) for c in p.choices) for p in params}
    return Action(name, spec.title, spec.key, args, params, choices, verdict)


def _asking(
    program: Program, name: str, args: dict[str, Any], ask: tuple[str, ...], title: str = ""
) -> Action:
    """An action whose form asks for numbers, with proposed ones filled in."""
    spec = PRIMITIVES[name]
    params = tuple(p for p in spec.params if p.name in ask)
    verdict = _verdict(program, name, args)
    return Action(name, title or spec.title, spec.key, args, params, {}, verdict)


def _choice(program: Program, name: str, args: dict[str, Any], param: str) -> Choice:
    value = args[param]
    label = value if isinstance(value, str) else getattr(value, "name", str(value))
    return Choice(label, value, _verdict(program, name, args))


def _with_choice(
    program: Program, name: str, args: dict[str, Any], param: str, values: list[Any]
) -> Action:
    """An action whose one open argument takes the first value that is allowed."""
    spec = PRIMITIVES[name]
    choices = tuple(_choice(program, name, {**args, param: v}, param) for v in values)
    best = next((c for c in choices if c.verdict), choices[0])
    ordered = {p.name: best.value if p.name == param else args.get(p.name) for p in spec.params}
    chosen = {k: v for k, v in ordered.items() if k == param or k in args}
    params = tuple(p for p in spec.params if p.name not in args)
    return Action(name, spec.title, spec.key, chosen, params, {param: choices}, best.verdict)


def _with_factors(program: Program, loop: For) -> Action:
    spec = PRIMITIVES["split"]
    factor = preferred_factor(const_int(loop.extent))
    args = {"loop": loop.var, "factors": (None, factor)}
    verdict = _verdict(program, "split", args)
    return Action("split", spec.title, spec.key, args, spec.params[1:], {}, verdict)


def preferred_factor(extent: int | None) -> int:
    """A split factor to propose: the largest of 16, 8, 4, 2 that divides, else a smaller one."""
    if extent is None:
        return 16
    for factor in (16, 14, 8, 7, 6, 5, 4, 3, 2):
        if extent % factor == 0 and factor < extent:
            return factor
    return max(1, min(4, extent))


def _scope_action(program: Program, block: Block) -> list[Action]:
    """Other memory for the intermediate that a block writes."""
    written = [b for b in touched_buffers(block)[1] if b in program.allocs]
    if len(written) != 1:
        return []
    args = {"buffer": written[0]}
    scopes = [s for s in ("shared", "local", "warp", "global") if s != written[0].scope]
    return [_with_choice(program, "set_scope", args, "scope", scopes)]


def _tile(program: Program, loop: For) -> Action | None:
    """Tiling a loop with the one directly inside it."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    factors = [preferred_factor(const_int(lp.extent)) for lp in (loop, inner)]
    args = {"x": loop.var, "y": inner.var, "fx": factors[0], "fy": factors[1]}
    return _asking(program, "tile", args, ("fx", "fy"), f"tile with {inner.var.name}")


def _moves(program: Program, index: ProgramIndex, loop: For) -> Iterator[Action]:
    """Swapping a loop with the one directly around it or directly inside it."""
    outer = index.parent[loop]
    if isinstance(outer, For):
        args = {"loops": (loop.var, outer.var)}
        verdict = _verdict(program, "reorder", args)
        yield Action(
            "reorder", f"move out of {outer.var.name}", "Shift+ArrowUp", args, (), {}, verdict
        )
    if isinstance(loop.body, For):
        args = {"loops": (loop.body.var, loop.var)}
        verdict = _verdict(program, "reorder", args)
        title = f"move into {loop.body.var.name}"
        yield Action("reorder", title, "Shift+ArrowDown", args, (), {}, verdict)


def _fuse(program: Program, loop: For) -> Action | None:
    if not isinstance(loop.body, For):
        return None
    args = {"loops": (loop.var, loop.body.var)}
    verdict = _verdict(program, "fuse", args)
    return Action("fuse", f"fuse with {loop.body.var.name}", "f", args, (), {}, verdict)
