"""Replacing a computation by a tensor intrinsic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from tvmlab.arith import Bounds
from tvmlab.ir import Block, BlockSymbol, Program, Stmt, Var, const_int, loads_of, to_text
from tvmlab.schedule.division import Division, divide
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.matching import Match, Mismatch, match_tile
from tvmlab.schedule.placing import Part, placed_code, require_layout
from tvmlab.schedule.regions import block_with_regions
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.tile_form import TileForm, form_of_description, form_of_nest
from tvmlab.schedule.verdict import RefusedError, refuse
from tvmlab.te import TensorIntrin, intrinsic_named


@primitive(
    "tensorize", "tensorize", "",
    ParamSpec("target", "subject", "the outermost of the loops that the intrinsic replaces, or a "
              "block that works on tiles"),
    ParamSpec("intrin", "name", "the declared intrinsic"),
    moves_blocks=True,
)  # fmt: skip
def tensorize(program: Program, target: Var | BlockSymbol, intrin: str) -> Applied:
    """Let an intrinsic do what a loop and all inside it compute, or what a block of tiles does.

    The computation is compared with what the intrinsic describes; a refusal says what differs. A
    reduction whose loops stay outside has its start values set by the intrinsic's reset, and is
    continued by its update. Returns the block, which works on tiles.

    Before::

        for io in range(4):
            for ii in range(8):
                with block("C", vi=spatial(32, io * 8 + ii)):
                    C[vi] = A[vi] + B[vi]

    After `tensorize(ii, add8)`, with the code of add8 in the block::

        for io in range(4):
            with block("C", vi=spatial(4, io)):
                call("symbol:add8", write(C[vi * 8:vi * 8 + 8]), read(A[vi * 8:vi * 8 + 8]), ...)
    """
    chosen = intrinsic_named(intrin)
    found = _tile_at(index_of(program), target)
    made = _tensorized(found.block, found.form, chosen, target)
    return Applied(replace_stmts(program, {found.old: made}), (made.symbol,))


@dataclass(frozen=True, slots=True)
class _Tile:
    """What an intrinsic may stand for: the statement that goes, its block of tiles, one tile."""

    old: Stmt
    block: Block
    form: TileForm


_TILES: WeakKeyDictionary[ProgramIndex, dict[Var | BlockSymbol, _Tile]] = WeakKeyDictionary()
"""Tiles that were looked at: menus ask for each of the intrinsics."""


def _tile_at(index: ProgramIndex, target: Var | BlockSymbol) -> _Tile:
    known = _TILES.setdefault(index, {})
    if target not in known:
        known[target] = _find_tile(index, target)
    return known[target]


def _find_tile(index: ProgramIndex, target: Var | BlockSymbol) -> _Tile:
    if isinstance(target, Var):
        loop = index.loops[target]
        division = divide(index, loop, "tensorize")
        return _Tile(loop, division.block(), _form_of(division, target))
    block = index.blocks[target]
    tile = form_of_nest(block.body, block.init)
    if tile is None:
        raise refuse(
            "tensorize.body",
            f"cannot tensorize {block.name}: its body is not one nest of loops around one formula",
            subject=target,
        )
    return _Tile(block, block, tile)


def _form_of(division: Division, loop: Var) -> TileForm:
    if division.inside:
        where = " and ".join(to_text(c) for c in division.inside)
        raise refuse(
            "tensorize.guard",
            f"cannot tensorize {loop.name}: some iterations of the last tile do not exist; split "
            f"by a factor that divides the extent, pad, or partition the loop outside",
            witness=f"the tile counts only where {where}",
            subject=loop,
        )
    form = division.form()
    if form is None:
        raise refuse(
            "tensorize.body",
            f"cannot tensorize {loop.name}: it does not compute one formula for each point of a "
            f"box",
            subject=loop,
        )
    return form


def _tensorized(block: Block, tile: TileForm, intrin: TensorIntrin, subject: object) -> Block:
    env = Bounds.of({it.var: it.extent for it in block.iters})
    wanted = form_of_description(intrin.description)
    match = match_tile(wanted, tile, env)
    if isinstance(match, Mismatch):
        raise _difference(block, intrin, match, subject)
    _require_apart(intrin, wanted, match, block, subject)
    require_layout(intrin, match, block.name, subject)
    code = _choose_code(block, intrin, subject)
    init: Stmt | None = None
    if code.keeps_start:
        init = block.init
        if intrin.reset is not None:
            init = placed_code(intrin, "reset", match)
    body = placed_code(intrin, code.part, match)
    notes = (*block.annotations, ("tensorize", intrin.name))
    if intrin.llvm:
        notes = (*notes, ("import_llvm", intrin.llvm))
    made = replace(block, body=body, init=init, annotations=notes, combiner=None)
    return block_with_regions(made)


def _require_apart(
    intrin: TensorIntrin, wanted: TileForm, match: Match, block: Block, subject: object
) -> None:
    """The code may store results before it has read all of its operands."""
    result = match.placements[wanted.store.buffer]
    places = [
        match.placements[load.buffer]
        for load in loads_of(wanted.store.value)
        if load.buffer is not wanted.store.buffer and load.buffer in match.placements
    ]
    if any(place.buffer is result.buffer for place in places):
        raise refuse(
            "tensorize.in-place",
            f"cannot tensorize {block.name} by {intrin.name}: {block.name} reads "
            f"{result.buffer.name} and writes it, and the code of {intrin.name} may store before "
            f"it has read all",
            subject=subject,
        )


@dataclass(frozen=True, slots=True)
class _Code:
    """Which part of an intrinsic does the work, and whether the block sets start values apart."""

    part: Part
    keeps_start: bool


def _choose_code(block: Block, intrin: TensorIntrin, subject: object) -> _Code:
    outer = [it for it in block.iters if it.kind == "reduce" and const_int(it.extent) != 1]
    is_sum = form_of_description(intrin.description).start is not None
    if not is_sum or (block.init is not None and not outer and intrin.body is not None):
        if intrin.body is None:
            raise _missing(block, intrin, "body", "computes the whole of it", subject)
        return _Code("body", keeps_start=False)
    if intrin.update is None:
        why = "goes on with a sum that has begun"
        raise _missing(block, intrin, "update", why, subject)
    return _Code("update", keeps_start=block.init is not None)


def _missing(
    block: Block, intrin: TensorIntrin, part: Part, why: str, subject: object
) -> RefusedError:
    return refuse(
        f"tensorize.no-{part}",
        f"cannot tensorize {block.name} by {intrin.name}: the block {why}, but the intrinsic "
        f"declares no {part}; let its function return (body, reset, update)",
        subject=subject,
    )


def _difference(
    block: Block, intrin: TensorIntrin, found: Mismatch, subject: object
) -> RefusedError:
    return refuse(
        "tensorize.mismatch",
        f"cannot tensorize {block.name} by {intrin.name}: {found.reason}; {intrin.name} describes "
        f"{found.described}, {block.name} has {found.found}",
        subject=subject,
    )
