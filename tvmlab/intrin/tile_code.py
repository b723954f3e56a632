"""LLVM IR of a tile of dot products whose sums stay in registers.

sums = C[0:rows, 0:columns]                   rows * vectors registers
for g in depth / group:
    b[v] = B[g, v]                            `vectors` loads
    for each row: a = A[row, g] in all lanes  one load, and `vectors` instructions
C[0:rows, 0:columns] = sums
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .kinds import DotKind


@dataclass(frozen=True, slots=True)
class TileShape:
    """Rows, vectors of columns, and the length of the sum, of which a group is one step."""

    rows: int
    vectors: int
    depth: int
    lanes: int

    @property
    def columns(self) -> int:
        """Columns of the tile."""
        return self.vectors * self.lanes


def tile_code(kind: DotKind, shape: TileShape, name: str) -> str:
    """Functions NAME_body, NAME_reset and NAME_update.

    The first two set or clear the tile, the last adds to it. Each takes a pointer to the output and
    the distance of its rows; then, but for the reset, a pointer to A, the distance of its rows, and
    a pointer to B, whose groups follow each other without gaps.
    """
    writer = _Writer(kind, shape)
    lines = [
        *writer.reset(f"{name}_reset"),
        *writer.product(f"{name}_body", goes_on=False),
        *writer.product(f"{name}_update", goes_on=True),
        f"declare {kind.sums} @{kind.call}({kind.sums}, {kind.operand}, {kind.operand})",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Writer:
    kind: DotKind
    shape: TileShape

    def _cells(self) -> Iterator[tuple[int, int]]:
        return ((r, v) for r in range(self.shape.rows) for v in range(self.shape.vectors))

    def reset(self, name: str) -> list[str]:
        """A function that clears the tile."""
        return [
            f"define void @{name}(ptr %c, i64 %cs) alwaysinline {{",
            *self._places(),
            *(f"  store {self.kind.sums} zeroinitializer, ptr %c.{r}.{v}, align 4"
              for r, v in self._cells()),
            "  ret void",
            "}",
        ]  # fmt: skip

    def product(self, name: str, *, goes_on: bool) -> list[str]:
        """A function for the whole sum, which starts from the output's values or from zero."""
        steps, sums = self.shape.depth // self.kind.group, self.kind.sums
        return [
            f"define void @{name}(ptr noalias %c, i64 %cs, ptr noalias %a, i64 %as, "
            "ptr noalias %b) alwaysinline {",
            "entry:",
            *self._places(),
            *(self._starts() if goes_on else ()),
            *(self._sign_bits() if self.kind.flip else ()),
            "  br label %loop",
            "loop:",
            "  %g = phi i64 [ 0, %entry ], [ %g.next, %loop ]",
            *(f"  %s.{n} = phi {sums} [ {start}, %entry ], [ %t.{n}, %loop ]"
              for n, start in self._registers(goes_on)),
            *self._right_operands(),
            *self._rows(),
            "  %g.next = add nuw nsw i64 %g, 1",
            f"  %more = icmp ult i64 %g.next, {steps}",
            "  br i1 %more, label %loop, label %done",
            "done:",
            *self._stores(),
            "  ret void",
            "}",
        ]  # fmt: skip

    def _places(self) -> Iterator[str]:
        """Pointers to the vectors of the output."""
        for r in range(self.shape.rows):
            yield f"  %row.{r} = mul i64 %cs, {r}"
            for v in range(self.shape.vectors):
                yield f"  %at.{r}.{v} = add i64 %row.{r}, {v * self.shape.lanes}"
                yield f"  %c.{r}.{v} = getelementptr inbounds i32, ptr %c, i64 %at.{r}.{v}"

    def _starts(self) -> Iterator[str]:
        for r, v in self._cells():
            yield f"  %c0.{r}.{v} = load {self.kind.sums}, ptr %c.{r}.{v}, align 4"

    def _sign_bits(self) -> Iterator[str]:
        """128 in each byte, of which LLVM is told nothing: knowing it, its code generator hangs."""
        yield ('  %sign = call <16 x i32> asm "", "=v,0"'
               f"(<16 x i32> splat (i32 {-0x7F7F7F80}))")  # fmt: skip

    def _registers(self, goes_on: bool) -> Iterator[tuple[str, str]]:
        """What is carried through the loop, and its start values."""
        for r, v in self._cells():
            yield f"{r}.{v}", f"%c0.{r}.{v}" if goes_on else "zeroinitializer"
        if self.kind.flip:
            for v in range(self.shape.vectors):
                yield f"over.{v}", "zeroinitializer"

    def _right_operands(self) -> Iterator[str]:
        operand = self.kind.operand
        yield f"  %b.from = mul nuw nsw i64 %g, {4 * self.shape.columns}"
        for v in range(self.shape.vectors):
            yield f"  %b.at.{v} = add nuw nsw i64 %b.from, {4 * v * self.shape.lanes}"
            yield f"  %b.ptr.{v} = getelementptr inbounds i8, ptr %b, i64 %b.at.{v}"
            yield f"  %b.{v} = load {operand}, ptr %b.ptr.{v}, align 1"
            if self.kind.flip:
                yield self._dot(f"over.{v}", f"splat (i8 {-128})", f"%b.{v}")

    def _rows(self) -> Iterator[str]:
        """Of each row one group in all lanes, and its dots."""
        size, words = 4 // self.kind.group, f"<{self.shape.lanes} x i32>"
        for r in range(self.shape.rows):
            yield f"  %a.row.{r} = mul i64 %as, {r * size}"
            yield f"  %a.base.{r} = getelementptr inbounds i8, ptr %a, i64 %a.row.{r}"
            yield f"  %a.ptr.{r} = getelementptr inbounds i32, ptr %a.base.{r}, i64 %g"
            yield f"  %a.group.{r} = load i32, ptr %a.ptr.{r}, align 1"
            yield f"  %a.one.{r} = insertelement {words} poison, i32 %a.group.{r}, i64 0"
            yield (f"  %a.all.{r} = shufflevector {words} %a.one.{r}, {words} poison, "
                   f"{words} zeroinitializer")  # fmt: skip
            name = f"%a.all.{r}"
            if self.kind.flip:
                yield f"  %a.up.{r} = xor {words} {name}, %sign"
                name = f"%a.up.{r}"
            yield f"  %a.{r} = bitcast {words} {name} to {self.kind.operand}"
            for v in range(self.shape.vectors):
                yield self._dot(f"{r}.{v}", f"%a.{r}", f"%b.{v}")

    def _dot(self, register: str, left: str, right: str) -> str:
        kind = self.kind
        return (
            f"  %t.{register} = call {kind.sums} @{kind.call}({kind.sums} %s.{register}, "
            f"{kind.operand} {left}, {kind.operand} {right})"
        )

    def _stores(self) -> Iterator[str]:
        for r, v in self._cells():
            value = f"%t.{r}.{v}"
            if self.kind.flip:
                yield f"  %r.{r}.{v} = sub {self.kind.sums} {value}, %t.over.{v}"
                value = f"%r.{r}.{v}"
            yield f"  store {self.kind.sums} {value}, ptr %c.{r}.{v}, align 4"
