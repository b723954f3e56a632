"""Is the computation on a tile the one that an intrinsic describes? And if not, what differs?

The description's axes are matched with the tile's, then the two formulas are compared node by node.
Each operand of the description is placed in a buffer of the program: where its tile begins, and
which dimension of the buffer each of its own is. Dimensions of one element are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from tvmlab.arith import Bounds, LinearForm, form_to_expr, linear_form, prove, simplify
from tvmlab.ir import (
    Binary,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Node,
    Not,
    Select,
    Var,
    children,
    const,
    const_int,
    is_const,
    structural_equal,
    substitute,
    to_text,
    walk,
)

from .tile_form import TileAxis, TileForm

_COMMUTATIVE = {"add", "mul", "min", "max", "bitand", "bitor", "bitxor", "eq", "ne", "and", "or"}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an operand lies: first element in a buffer, and the buffer's axis for each of its own.

    An axis of None is of one element, which no axis of the buffer stands for.
    """

    buffer: Buffer
    mins: tuple[Expr, ...]
    axes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """How a description fits a tile."""

    placements: Mapping[Buffer, Placement]
    scalars: Mapping[Var, Expr]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What differs, in a sentence, and the two sides of it."""

    reason: str
    described: str
    found: str


class _DiffersError(Exception):
    def __init__(self, reason: str, described: object, found: object) -> None:
        Exception.__init__(self, reason)
        self.mismatch = Mismatch(reason, _shown(described), _shown(found))


def match_tile(wanted: TileForm, tile: TileForm, env: Bounds) -> Match | Mismatch:
    """Compare a description with a tile.

    Parameters
    ----------
    wanted
        The description.
    tile
        The tile; its axes run, all other variables stand still.
    env
        The ranges of the variables that stand still.
    """
    first: Mismatch | None = None
    for axes in _pairings(wanted, tile):
        try:
            return _Comparison(wanted, tile, axes, env).match()
        except _DiffersError as error:
            first = first or error.mismatch
    return first or Mismatch(
        "the tile has other axes than the description", _axes(wanted), _axes(tile)
    )


def _pairings(wanted: TileForm, tile: TileForm) -> Iterator[dict[Var, Expr]]:
    """The ways to let a tile's axes stand for the description's, those in order first."""
    choices: list[list[Sequence[TileAxis]]] = []
    for kind in ("spatial", "reduce"):
        needed, have = wanted.of_kind(kind), tile.of_kind(kind)
        fitting = [
            p for p in permutations(have) if [a.extent for a in p] == [a.extent for a in needed]
        ]
        choices.append(list(fitting))
    units: dict[Var, Expr] = {a.var: const(0) for a in wanted.axes if a.extent == 1}
    for spatial, reduced in product(*choices):
        needed = [*wanted.of_kind("spatial"), *wanted.of_kind("reduce")]
        pairs = zip(needed, (*spatial, *reduced), strict=True)
        yield {**units, **{a.var: b.var for a, b in pairs}}


@dataclass
class _Comparison:
    """One attempt, with a given pairing of axes; finds placements on its way."""

    wanted: TileForm
    tile: TileForm
    axes: dict[Var, Expr]
    env: Bounds
    placements: dict[Buffer, Placement] = field(default_factory=lambda: dict[Buffer, Placement]())
    scalars: dict[Var, Expr] = field(default_factory=lambda: dict[Var, Expr]())

    def __post_init__(self) -> None:
        self.running = {a.var for a in self.tile.axes}
        self.inside = self.env
        for axis in self.tile.axes:
            self.inside = self.inside.bind_loop(axis.var, axis.extent)

    def match(self) -> Match:
        mine, theirs = self.wanted.store, self.tile.store
        self._place(Load(mine.buffer, mine.indices), Load(theirs.buffer, theirs.indices))
        if (self.wanted.start is None) != (self.tile.start is None) and self.wanted.start is None:
            raise _DiffersError(
                "the program computes a reduction there, the description does not",
                self.wanted, self.tile,
            )  # fmt: skip
        self.same(mine.value, theirs.value)
        if self.wanted.start is not None and self.tile.start is not None:
            self.same(self.wanted.start, self.tile.start)
        for placement in self.placements.values():
            self._require_inside(placement)
        return Match(self.placements, self.scalars)

    def same(self, a: Expr, b: Expr) -> None:
        """Raise unless a description's expression and a program's say the same."""
        if a.dtype != b.dtype and not isinstance(a, Var):
            raise _DiffersError(f"the types differ: {a.dtype} and {b.dtype}", a, b)
        if isinstance(a, Load):
            if not isinstance(b, Load):
                raise _DiffersError("the description reads an operand there", a, b)
            self._place(a, b)
            return
        if isinstance(a, Var) and a not in self.axes:
            self._scalar(a, b)
            return
        if not _reads(a) and not _reads(b):
            self._same_numbers(a, b)
            return
        if type(a) is not type(b) or _operation(a) != _operation(b):
            raise _DiffersError("the operations differ", a, b)
        self._same_operands(a, b)

    def _same_operands(self, a: Expr, b: Expr) -> None:
        mine, theirs = list(children(a)), list(children(b))
        try:
            self._all_same(mine, theirs)
        except _DiffersError:
            if _operation(a) not in _COMMUTATIVE:
                raise
            if not self._would_be_same(mine, theirs[::-1]):
                raise

    def _would_be_same(self, mine: Sequence[Node], theirs: Sequence[Node]) -> bool:
        try:
            self._all_same(mine, theirs)
        except _DiffersError:
            return False
        return True

    def _all_same(self, mine: Sequence[Node], theirs: Sequence[Node]) -> None:
        before = dict(self.placements), dict(self.scalars)
        try:
            for x, y in zip(mine, theirs, strict=True):
                assert isinstance(x, Expr)
                assert isinstance(y, Expr)
                self.same(x, y)
        except _DiffersError:
            self.placements, self.scalars = before
            raise

    def _same_numbers(self, a: Expr, b: Expr) -> None:
        """Compare formulas of axes and literals by simplification."""
        mine, theirs = simplify(substitute(a, self.axes), self.inside), simplify(b, self.inside)
        if structural_equal(mine, theirs):
            return
        if mine.dtype.is_int and is_const(simplify(mine - theirs, self.inside), 0):
            return
        raise _DiffersError("the formulas differ", mine, theirs)

    def _scalar(self, var: Var, value: Expr) -> None:
        known = self.scalars.get(var)
        moves = any(isinstance(n, Load) or n in self.running for n in walk(value))
        if var.dtype != value.dtype or moves:
            raise _DiffersError(f"{var.name} is one number for the whole tile", var, value)
        if known is not None and not structural_equal(known, value):
            raise _DiffersError(f"{var.name} stands for two numbers", known, value)
        self.scalars[var] = value

    def _place(self, a: Load, b: Load) -> None:
        """Place an operand so that its access is the program's."""
        if a.buffer.dtype != b.buffer.dtype:
            raise _DiffersError(
                f"the types differ: {a.buffer.name} holds {a.buffer.dtype}, {b.buffer.name} holds "
                f"{b.buffer.dtype}", a, b,
            )  # fmt: skip
        mins, offsets = self._parted(b)
        axes = self._aligned(a, b, offsets)
        found = Placement(b.buffer, mins, axes)
        known = self.placements.get(a.buffer)
        if known is None:
            self.placements[a.buffer] = found
        elif not _same_placement(known, found):
            raise _DiffersError(
                f"{a.buffer.name} is one tile in the description, but two in the program",
                _tile_text(known), _tile_text(found),
            )  # fmt: skip

    def _parted(self, load: Load) -> tuple[tuple[Expr, ...], list[Expr]]:
        """Each index as where the tile begins, and what its axes add to that."""
        mins: list[Expr] = []
        offsets: list[Expr] = []
        for number, index in enumerate(load.indices):
            form = linear_form(simplify(index, self.inside))
            moving = {a: k for a, k in form.terms.items() if self.running & set(walk(a))}
            if any(isinstance(n, Var) and n not in self.running for a in moving for n in walk(a)):
                raise _DiffersError(
                    f"index {number} of {load.buffer.name} is no tile: where it begins and what "
                    f"is added cannot be told apart", "a first index plus axes of the tile", index,
                )  # fmt: skip
            fixed = {a: k for a, k in form.terms.items() if a not in moving}
            mins.append(simplify(form_to_expr(LinearForm(fixed, form.const)), self.env))
            offsets.append(form_to_expr(LinearForm(moving, 0)))
        return tuple(mins), offsets

    def _aligned(self, a: Load, b: Load, offsets: Sequence[Expr]) -> tuple[int | None, ...]:
        """The buffer's axis for each of the operand's, from the last to the first."""
        axes: list[int | None] = [None] * len(a.indices)
        mine, theirs = len(a.indices) - 1, len(offsets) - 1
        while mine >= 0 or theirs >= 0:
            wanted = substitute(a.indices[mine], self.axes) if mine >= 0 else const(0)
            have = offsets[theirs] if theirs >= 0 else const(0)
            unit = mine >= 0 and const_int(a.buffer.shape[mine]) == 1
            if mine >= 0 and theirs >= 0 and self._equal(wanted, have):
                axes[mine] = theirs
                mine, theirs = mine - 1, theirs - 1
            elif theirs >= 0 and is_const(have, 0):
                theirs -= 1
            elif unit and self._equal(wanted, const(0)):
                mine -= 1
            else:
                described = f"index {mine} of {a.buffer.name}" if mine >= 0 else a.buffer.name
                found = f"index {theirs} of {b.buffer.name}" if theirs >= 0 else b.buffer.name
                raise _DiffersError(f"{described} and {found} differ", a, b)
        return tuple(axes)

    def _equal(self, a: Expr, b: Expr) -> bool:
        return a.dtype == b.dtype and is_const(simplify(a - b, self.inside), 0)

    def _require_inside(self, placement: Placement) -> None:
        operand = next(p for p, q in self.placements.items() if q is placement)
        for number, (low, size) in enumerate(
            zip(placement.mins, placement.buffer.shape, strict=True)
        ):
            extent = operand.shape[placement.axes.index(number)] if number in placement.axes else 1
            if not (prove(low >= 0, self.env) and prove(low + extent <= size, self.env)):
                raise _DiffersError(
                    f"the tile of {operand.name} may leave {placement.buffer.name} in dimension "
                    f"{number}", operand.name, _tile_text(placement),
                )  # fmt: skip


def _operation(e: Expr) -> object:
    match e:
        case Binary() | Logic() | Compare() | Call():
            return e.op
        case Cast():
            return e.dtype
        case Const():
            return e.value
        case Not() | Select():
            return type(e)
        case _:
            return e


def _reads(e: Expr) -> bool:
    return any(isinstance(n, Load) for n in walk(e))


def _same_placement(a: Placement, b: Placement) -> bool:
    return (
        a.buffer is b.buffer
        and a.axes == b.axes
        and all(structural_equal(x, y) for x, y in zip(a.mins, b.mins, strict=True))
    )


def _axes(form: TileForm) -> str:
    shown = [str(a) for kind in ("spatial", "reduce") for a in form.of_kind(kind)]
    return ", ".join(shown) or "one element"


def _tile_text(placement: Placement) -> str:
    return f"{placement.buffer.name}[{', '.join(to_text(m) for m in placement.mins)}] and on"


def _shown(value: object) -> str:
    return to_text(simplify(value)) if isinstance(value, Expr) else str(value)
