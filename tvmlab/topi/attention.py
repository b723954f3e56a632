"""Attention as one operator: each row of queries meets all keys, and takes a mean of the values.

Scores of a few rows stay in the first cache until the values are weighted with them; all of them
together, which grow with the square of the length, are never in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import tvmlab.te as te
from tvmlab.ir import Attribute, Expr, Var, const, const_int
from tvmlab.schedule import BlockRef, LoopRef, Schedule
from tvmlab.support import ShapeError
from tvmlab.target import Target
from tvmlab.te import Tensor

from .broadcast import element
from .conv_plan import even_tile
from .default import schedule
from .default.transposes import transpose_squares
from .default.vectors import shape_block

TAG = "attention"
PLAIN = ("BHTD",) * 4
"""Batch, heads, rows, elements of a row: of queries, keys, values and the result."""

_MOST_ROWS = 14
"""Rows of a register tile at most."""

_LEAST_ROWS = 4
"""With fewer, sums wait for one another."""


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float = 1.0,
    layouts: Sequence[str] = PLAIN,
    heads: int = 0,
    first: Sequence[int] = (0, 0, 0),
) -> Tensor:
    """`softmax(scale * queries @ keys.T + mask) @ values`, head by head.

    Parameters
    ----------
    mask
        Stretches over (batch, heads, rows of queries, rows of keys).
    layouts
        The order of dimensions of queries, keys, values and the result: "BHTD" and its
        permutations, or without heads those of "BTD".
    heads, first
        How many heads of the operands count, by default all of the queries', and where they begin
        in each: queries, keys and values may be parts of one tensor.

    Raises
    ------
    ShapeError
        If the sizes do not fit.
    """
    operands = (queries, keys, values)
    sizes = [dict(zip(layout, t.shape, strict=True))
             for layout, t in zip(layouts, operands, strict=False)]  # fmt: skip
    extent = {**sizes[0], "S": sizes[1]["T"]}
    if heads:
        extent["H"] = const(heads)
    _check(sizes, extent, first)
    lead = "".join(letter for letter in "BH" if letter in layouts[0])

    def read(number: int, letters: str) -> Callable[..., Expr]:
        """An element of an operand, whose place is given in the order of letters."""

        def at(*place: Any) -> Expr:
            own = dict(zip(letters, place, strict=True))
            if "H" in own:
                own["H"] = own["H"] + first[number]
            return operands[number][tuple(own[x] for x in layouts[number])]

        return at

    outer, row = tuple(extent[x] for x in lead), extent["S"]
    square, width = (*outer, extent["T"], row), sizes[2]["D"]
    turned = te.compute((*outer, extent["D"], row), read(1, f"{lead}DT"), name="keys")
    scores = _scores(read(0, f"{lead}TD"), turned, square, scale, mask)
    shares, inverse = _shares(scores)
    value, s = read(2, f"{lead}TD"), te.reduce_axis(row, "s")

    def mean(*at: Any) -> Expr:
        return te.sum(shares[(*at[:-1], s)] * value(*at[:-2], s, at[-1]), axis=s)

    mixed = te.compute((*square[:-1], width), mean, name="mixed")
    extent["D"] = width

    def result(*at: Any) -> Expr:
        own = dict(zip(layouts[3], at, strict=True))
        place = tuple(own[x] for x in f"{lead}TD")
        return mixed[place] * inverse[place[:-1]]

    shape = tuple(extent[x] for x in layouts[3])
    known = [const_int(size) or 0 for size in (*square[-2:], sizes[0]["D"], width)]
    attrs: dict[str, Attribute] = {
        "layout": layouts[3], "scores": tuple(known[:2]), "widths": tuple(known[2:]),
    }  # fmt: skip
    return te.compute(shape, result, name=TAG, tag=TAG, attrs=attrs)


def _scores(
    queries: Callable[..., Expr], keys: Tensor, shape: Sequence[Expr], scale: float,
    mask: Tensor | None,
) -> Tensor:  # fmt: skip
    d = te.reduce_axis(keys.shape[-2], "d")

    def total(*at: Any) -> Expr:
        return te.sum(queries(*at[:-1], d) * keys[(*at[:-2], d, at[-1])], axis=d)

    sums = te.compute(tuple(shape), total, name="sums")

    def score(*at: Any) -> Expr:
        scaled = sums[at] if scale == 1 else sums[at] * const(scale, sums.dtype)
        return scaled if mask is None else scaled + element(mask, at)

    return te.compute(tuple(shape), score, name="scores")


def _shares(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Exponentials of each row, and what they are to be multiplied by."""
    *outer, row = scores.shape
    m, s = te.reduce_axis(row, "s"), te.reduce_axis(row, "s")

    def largest(*at: Any) -> Expr:
        return te.max(scores[(*at, m)], axis=m)

    most = te.compute(tuple(outer), largest, name="most")

    def share(*at: Any) -> Expr:
        return te.exp(scores[at] - most[at[:-1]])

    shares = te.compute(scores.shape, share, name="shares")

    def sum_of(*at: Any) -> Expr:
        return te.sum(shares[(*at, s)], axis=s)

    total = te.compute(tuple(outer), sum_of, name="total")

    def one_over(*at: Any) -> Expr:
        return 1 / total[at]

    return shares, te.compute(tuple(outer), one_over, name="inverse")


def _check(
    sizes: Sequence[Mapping[str, Expr]], extent: Mapping[str, Expr], first: Sequence[int]
) -> None:
    """Refuse operands that do not fit one another."""
    queries, keys, values = ({x: const_int(s) for x, s in own.items()} for own in sizes)
    fits = keys["D"] == queries["D"] and values["T"] == keys["T"]
    fits &= queries.get("B") == keys.get("B") == values.get("B")
    heads = const_int(extent["H"]) if "H" in extent else None
    for own, start in zip((queries, keys, values), first, strict=True):
        if heads is not None:
            fits &= start >= 0 and start + heads <= (own.get("H") or 0)
    if not fits:
        texts = [", ".join(f"{x} {s}" for x, s in own.items()) for own in (queries, keys, values)]
        raise ShapeError(
            f"queries of {texts[0]}, keys of {texts[1]} and values of {texts[2]} do not fit",
            hint="keys are as long as queries, and there are as many of them as values",
        )


def schedule_attention(
    made: Tensor,
    target: Target | str = "cpu",
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Schedule:
    """A schedule of `attention`: heads for the threads, or parts of the rows if heads are few.

    Where tiles do not suit it (see `attention_fits`), it is that of any formula.
    """
    machine, layout = Target.of(target), str(made.op.attrs["layout"])
    scores, widths = (cast("tuple[int, int]", made.op.attrs[n]) for n in ("scores", "widths"))
    if not attention_fits(scores, widths, machine):
        return schedule(made, machine, args=args, name=name)
    sch = Schedule(made, args=args, name=name or TAG)
    blocks = {block.name: block for block in sch.blocks()}
    loops = dict(zip(layout, sch.loops(made), strict=True))
    lanes = machine.lanes(made.dtype.bits)
    room = (max(machine.num_registers, 8) - 3) // 2
    rows = even_tile(loops["T"].extent or 1, min(room, _MOST_ROWS))
    lead = [loops[x] for x in "BH" if x in loops]
    part, row = sch.split(loops["T"], [None, rows])
    panel, column = sch.split(loops["D"], [None, 2 * lanes])
    sch.reorder(*lead, part, panel, row, column)
    outer = sch.fuse(*lead) if len(lead) > 1 else lead[0]
    _sum_up(sch, blocks["mixed"], panel)
    for which in ("inverse", "total", "shares", "most"):
        shape_block(sch, blocks[which], sch.compute_at(blocks[which], part), machine)
    *_, tall, wide = sch.compute_at(blocks["scores"], part)
    step, inner = sch.split(wide, [None, 2 * lanes])
    sch.reorder(step, tall, inner)
    _sum_up(sch, blocks["sums"], step)
    for written in ((tall, inner), (row, column)):
        _write_out(sch, written)
    _place_keys(sch, blocks["keys"], outer, part, machine)
    return sch


def _sum_up(sch: Schedule, block: BlockRef, loop: LoopRef) -> None:
    """Sums of a tile in registers."""
    tall, wide, along = sch.compute_at(block, loop)
    sch.reorder(along, tall, wide)
    init = sch.decompose_reduction(block, along)
    _write_out(sch, (tall, wide))
    _write_out(sch, sch.loops(init)[-2:])


def _write_out(sch: Schedule, loops: Sequence[LoopRef]) -> None:
    sch.unroll(loops[0])
    sch.vectorize(loops[1])


def _place_keys(
    sch: Schedule, keys: BlockRef, outer: LoopRef, part: LoopRef, machine: Target
) -> None:
    """Turn the keys of a head where it begins; before all heads, if threads share parts of one."""
    threads, count = machine.num_threads, outer.extent or 1
    if threads > 1 and (count >= 4 * threads or count % threads == 0):
        transpose_squares(sch, keys, sch.compute_at(keys, outer), machine)
        sch.parallel(outer)
        return
    lead = sch.loops(keys)[:-2]
    turned = sch.fuse(*lead) if len(lead) > 1 else lead[0]
    transpose_squares(sch, keys, sch.loops(keys)[-2:], machine)
    if threads > 1:
        sch.parallel(turned)
        sch.parallel(sch.fuse(outer, part))


def attention_fits(scores: Sequence[int], widths: Sequence[int], target: Target | str) -> bool:
    """Whether `schedule_attention` suits a size.

    Parameters
    ----------
    scores
        Rows of queries, and of keys.
    widths
        Elements of a row of queries or keys, and of values.
    """
    machine = Target.of(target)
    lanes, (rows, row) = machine.lanes(32), scores
    second = next((c.size for c in machine.caches if c.level == 2), 512 << 10)
    stays = 2 * _MOST_ROWS * row * 4 <= second // 2
    return rows >= _LEAST_ROWS and row >= lanes and min(widths) >= lanes and stays
