"""The steps of a schedule that are about memory: layouts, types, padding, versions, prefetching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tvmlab.arith import IndexMapLike
from tvmlab.ir import BlockSymbol, Buffer, Var
from tvmlab.te import Tensor

from .refs import BlockRef, LoopRef, Ref

LoopLike: TypeAlias = LoopRef | Var
BlockLike: TypeAlias = BlockRef | BlockSymbol | str | Tensor


Note: TypeAlias = bool | int | float | str | Sequence[Any]


class MemorySteps:
    """Part of `Schedule`; each method takes the step of its name."""

    def apply(self, primitive: str, *args: Any, **named: Any) -> list[Ref]:
        """Take a step by the name of its primitive."""
        raise NotImplementedError

    def transform_layout(
        self,
        block: BlockLike,
        buffer: Buffer | str,
        mapping: IndexMapLike,
        pad_value: float | None = None,
        signature: bool = False,
    ) -> list[LoopRef]:
        found = self.apply("transform_layout", block, buffer, mapping, pad_value, signature)
        return [ref for ref in found if isinstance(ref, LoopRef)]

    def transform_block_layout(self, block: BlockLike, mapping: IndexMapLike) -> list[LoopRef]:
        found = self.apply("transform_block_layout", block, mapping)
        return [ref for ref in found if isinstance(ref, LoopRef)]

    def software_pipeline(
        self, loop: LoopLike, stages: Sequence[int], order: Sequence[int] | None = None
    ) -> None:
        self.apply("software_pipeline", loop, stages, order)

    def double_buffer(self, block: BlockLike) -> None:
        self.apply("double_buffer", block)

    def annotate(self, loop: LoopLike, key: str, value: Note = True) -> None:
        self.apply("annotate", loop, key, value)

    def annotate_block(self, block: BlockLike, key: str, value: Note = True) -> None:
        self.apply("annotate_block", block, key, value)

    def pragma(self, loop: LoopLike, key: str, value: Note = True) -> None:
        self.apply("pragma", loop, key, value)

    def unannotate(self, loop: LoopLike, key: str) -> None:
        self.apply("unannotate", loop, key)

    def unannotate_block(self, block: BlockLike, key: str) -> None:
        self.apply("unannotate_block", block, key)

    def storage_align(
        self, block: BlockLike, axis: int, factor: int, offset: int | None = None
    ) -> None:
        self.apply("storage_align", block, axis, factor, offset)

    def prefetch(
        self,
        buffer: Buffer | Tensor | str,
        loop: LoopLike,
        offset: int = 1,
        spread: bool = False,
    ) -> None:
        self.apply("prefetch", buffer, loop, offset, spread)

    def stream(self, buffer: Buffer | Tensor | str, loop: LoopLike) -> None:
        self.apply("stream", buffer, loop)

    def store_in(self, block: BlockLike, buffer: Buffer | Tensor | str) -> None:
        self.apply("store_in", block, buffer)

    def rolling_buffer(self, block: BlockLike) -> None:
        self.apply("rolling_buffer", block)

    def pad(self, block: BlockLike, multiples: Sequence[int]) -> list[BlockRef]:
        found = self.apply("pad", block, multiples)
        return [ref for ref in found if isinstance(ref, BlockRef)]

    def shift_factor(
        self, block: BlockLike, buffer: Buffer | Tensor | str, by: int = 128, dtype: str = "uint8"
    ) -> list[BlockRef]:
        found = self.apply("shift_factor", block, buffer, by, dtype)
        return [ref for ref in found if isinstance(ref, BlockRef)]
