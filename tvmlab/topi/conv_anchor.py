"""What a schedule must know of a convolution or pooling: its window, and what comes around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.ir import const_int
from tvmlab.support import ScheduleError
from tvmlab.te import ComputeOp, Operation, Tensor

from .layout import Layout
from .tag import is_broadcast


@dataclass(frozen=True, slots=True)
class Anchor:
    """The computation over a window that a schedule is made around.

    Attributes
    ----------
    window
        The tensor of the sums or extremes.
    kind
        "full" convolutions sum over channels too, "depthwise" ones and "pool" do not.
    layout
        Of `window`.
    padded
        The input with a margin, if it has one.
    epilogue
        What follows element by element, in order, up to the last; all but the last are used once.
    before, after
        All other operations that compute, in order of need: those that the window is computed
        from, or that have nothing to do with it, and those that are computed from it.
    """

    window: Tensor
    kind: str
    layout: Layout
    padded: Tensor | None
    epilogue: tuple[Tensor, ...]
    before: tuple[Operation, ...]
    after: tuple[Operation, ...]

    @property
    def op(self) -> ComputeOp:
        """The operation of the window."""
        assert isinstance(self.window.op, ComputeOp)
        return self.window.op

    def extent(self, letter: str) -> int:
        """The size of the output along a letter of its layout; 1 if it is known only later."""
        return const_int(self.window.shape[self.layout.letters.index(letter)]) or 1

    @property
    def taps(self) -> int:
        """How many elements one output is computed from."""
        count = 1
        for axis in self.op.reduce_axis:
            count *= const_int(axis.extent) or 1
        return count


def find_anchor(outputs: Sequence[Tensor]) -> Anchor:
    """The last convolution or pooling that outputs are computed from.

    Raises
    ------
    ScheduleError
        If there is none.
    """
    order = _needed(outputs)
    found = [op for op in order if "conv" in op.attrs]
    if not found:
        names = ", ".join(t.op.name for t in outputs)
        raise ScheduleError(
            f"{names}: there is no convolution or pooling to schedule",
            hint="make one with topi.conv2d, topi.pool2d or their like, and pass what follows it",
        )
    op = found[-1]
    stages = [op]
    if op.attrs["conv"] == "winograd":
        for _ in range(4):
            stages.append(stages[-1].input_tensors[0].op)
    data = stages[-1].input_tensors[0].op
    padded = data.outputs[0] if data.tag.endswith("pad") else None
    epilogue = _epilogue(op.outputs[0], order, outputs)
    inside = {*stages, data if padded is not None else op, *(t.op for t in epilogue)}
    others = [o for o in order if o not in inside and isinstance(o, ComputeOp)]
    following = _following(op, order)
    before = tuple(o for o in others if o not in following)
    after = tuple(o for o in others if o in following)
    layout = Layout.of(str(op.attrs["out_layout"]))
    return Anchor(op.outputs[0], str(op.attrs["conv"]), layout, padded, epilogue, before, after)


def _following(start: Operation, order: Sequence[Operation]) -> set[Operation]:
    """All operations that are computed from another, and itself."""
    found = {start}
    for op in order:
        if any(t.op in found for t in op.input_tensors):
            found.add(op)
    return found


def _needed(outputs: Sequence[Tensor]) -> list[Operation]:
    """All operations, each behind those that it reads."""
    done: dict[Operation, None] = {}
    stack = [(t.op, False) for t in reversed(outputs)]
    while stack:
        op, seen = stack.pop()
        if seen:
            done.setdefault(op)
        elif op not in done:
            stack.append((op, True))
            stack += [(t.op, False) for t in reversed(op.input_tensors)]
    return list(done)


def _epilogue(
    window: Tensor, order: Sequence[Operation], outputs: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """What follows a tensor element by element, as long as it is all that reads it."""
    chain: list[Tensor] = []
    current = window
    shape = [const_int(s) for s in window.shape]
    while current not in outputs:
        readers = [op for op in order if current in op.input_tensors]
        if len(readers) != 1 or not is_broadcast(readers[0].tag) or None in shape:
            break
        following = readers[0].outputs[0]
        if [const_int(s) for s in following.shape] != shape:
            break
        chain.append(following)
        current = following
    return tuple(chain)
