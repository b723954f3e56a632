"""Matrix products of narrow types, summed in wide ones by dot instructions of the processor.

The schedule packs the right operand so that the neighbors along the sum which one lane takes lie
together, and lets a tensor intrinsic compute each tile of the output with its sums in registers.
"""

from __future__ import annotations

from dataclasses import dataclass

import tvmlab.te as te
from tvmlab.intrin import KINDS, DotKind, dot_tile, interleave
from tvmlab.ir import Buffer, Expr, Var, const_int
from tvmlab.schedule import BlockRef, LoopRef, Schedule, index_of
from tvmlab.support import TypeMismatch
from tvmlab.target import Target
from tvmlab.te import ComputeOp, Tensor

from .matmul import schedule_matmul

_TILES = {4: 6, 3: 8, 2: 12, 1: 12}
"""Rows of the register tile at most, by vectors of B: 24 sums, the vectors, and one of A, of 32
registers. Wide tiles need the fewest loads: a row's group is one, whatever the width."""


_LEAST_ROWS = 64
"""Rows of A, at least, that a panel of B is used for once it is read."""

_LINE = 64
"""Bytes that memory brings at a time: so many bytes of a row of B are summed or packed at once."""


def matmul_int8(m: int, n: int, k: int, left: str = "uint8") -> tuple[Tensor, Tensor, Tensor]:
    """`C[i, j] = sum over k of A[i, k] * B[k, j]` of 8-bit integers, in int32 that wraps around.

    Parameters
    ----------
    left
        The type of A, "uint8" or "int8"; B is int8.

    Returns
    -------
    A, B, C
        The inputs (m, k) and (k, n), and the output (m, n).
    """
    return _product(m, n, k, (left, "int8", "int32"))


def matmul_bf16(m: int, n: int, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """`C[i, j] = sum over k of A[i, k] * B[k, j]` of bfloat16, in float32.

    Returns
    -------
    A, B, C
        The inputs (m, k) and (k, n), and the output (m, n).
    """
    return _product(m, n, k, ("bfloat16", "bfloat16", "float32"))


def _product(m: int, n: int, k: int, types: tuple[str, str, str]) -> tuple[Tensor, Tensor, Tensor]:
    left, right, out = types
    a = te.placeholder((m, k), left, name="A")
    b = te.placeholder((k, n), right, name="B")
    r = te.reduce_axis(k, "k")

    def element(i: Var, j: Var) -> Expr:
        return te.sum(te.cast(a[i, r], out) * te.cast(b[r, j], out), axis=r)

    return a, b, te.compute((m, n), element, name="C")


@dataclass(frozen=True, slots=True)
class DotMatmulPlan:
    """Sizes of a product by dot instructions, in elements.

    Attributes
    ----------
    rows, columns, depth
        The tile that the intrinsic computes; sizes that it does not divide are padded.
    row_part
        Rows of the output that one thread works on at a time.
    """

    rows: int
    columns: int
    depth: int
    row_part: int


def plan_dot_matmul(m: int, n: int, k: int, kind: DotKind, machine: Target) -> DotMatmulPlan:
    """The sizes for a product of (m, k) by (k, n) matrices on a machine."""
    size = 4 // kind.group
    second = _second_cache(machine)
    columns = kind.lanes * min(_TILES, key=lambda vectors: _up(n, vectors * kind.lanes))
    most = _TILES[columns // kind.lanes]
    rows = min(m, min(range(most, most // 2, -1), key=lambda r: -m % r))
    # The panel of B streams from the second-level cache: writing sums back less often counts more
    # than finding it in the first.
    parts = -(-k * size * (rows + columns) // (second // 4))
    depth = _up(-(-k // parts), kind.group)
    row_part = max(second // 4 // (k * size), _LEAST_ROWS) // rows * rows
    wanted = -(-2 * machine.num_threads * columns // n) if machine.num_threads > 1 else 1
    return DotMatmulPlan(rows, columns, depth, min(row_part, _up(-(-m // wanted), rows)))


def _up(size: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-size // step) * step


def schedule_dot_matmul(c: Tensor, target: Target | str = "cpu") -> Schedule:
    """A schedule of `matmul_int8` or `matmul_bf16` by dot instructions.

    Parameters
    ----------
    c
        The output of one of these.
    target
        Its registers, caches and threads decide the sizes. Where it lacks the instruction, the
        schedule is that of any matrix product.

    Raises
    ------
    TypeMismatch
        If no dot instruction has the types of `c` and its inputs.
    """
    machine = Target.of(target)
    kind = _kind_of(c, machine)
    if not kind.runs_on(machine):
        return schedule_matmul(c, machine)
    assert isinstance(c.op, ComputeOp)
    m, n, k = (const_int(axis.extent) or 1 for axis in (*c.op.axis, *c.op.reduce_axis))
    plan = plan_dot_matmul(m, n, k, kind, machine)
    sch = Schedule(c, name="matmul")
    left, right = _pad(sch, (m, n, k), plan)
    large = m * n * 4 >= _second_cache(machine)
    result = _drop_sign(sch, left) if kind.flip else None
    if result is None and large and right == "B":
        result = sch.cache_write("C", "global")
    kind = kind.unsigned
    _pack(sch, right, kind, plan)
    i, j, k_loop = sch.loops("C")
    ic, io, ii = sch.split(i, [None, plan.row_part // plan.rows, plan.rows])
    jo, ji = sch.split(j, [None, plan.columns])
    ko, ki = sch.split(k_loop, [None, plan.depth])
    sch.reorder(ic, jo, ko, io, ii, ji, ki)
    if result is not None:
        sch.vectorize(sch.reverse_compute_at(result, io if plan.depth >= k else jo)[-1])
    vectors = plan.columns // kind.lanes
    sch.tensorize(ii, dot_tile(kind, plan.rows, vectors, plan.depth))
    shared = sch.fuse(ic, jo)
    sch.parallel(shared)
    if result is not None and large:
        sch.stream(_written(sch, result), shared)
    return sch


def _second_cache(machine: Target) -> int:
    """Bytes of the second-level cache, or a usual size: a larger result is stored past it."""
    return next((c.size for c in machine.caches if c.level == 2), 512 << 10)


def _written(sch: Schedule, block: BlockRef) -> Buffer:
    """The buffer that a block writes."""
    return index_of(sch.program).blocks[block.symbol].writes[0].buffer


def _drop_sign(sch: Schedule, left: str) -> BlockRef:
    """Make the left factor unsigned, as the instruction wants it; the block of the result.

    What 128 more in each element adds to a sum is known from the columns of B alone.
    """
    copy, sums, result = sch.shift_factor("C", left, 128, "uint8")
    _vectorize(sch, sch.loops(copy))
    k, j = sch.loops(sums)
    jo, ji = sch.split(j, [None, _LINE])
    sch.reorder(jo, k, ji)
    sch.vectorize(ji)
    sch.parallel(jo)
    return result


def _kind_of(c: Tensor, machine: Target) -> DotKind:
    """The kind with the types of a product, if there are several the one that the machine has."""
    assert isinstance(c.op, ComputeOp)
    types = (*(str(t.dtype) for t in c.op.input_tensors), str(c.dtype))
    fitting = [k for k in KINDS if (k.left, k.right, k.out) == types]
    if not fitting:
        known = ", ".join(dict.fromkeys(f"{k.left} * {k.right} -> {k.out}" for k in KINDS))
        raise TypeMismatch(
            f"no dot instruction computes {' * '.join(types[:-1])} -> {types[-1]}",
            hint=f"known: {known}",
        )
    return next((k for k in fitting if k.runs_on(machine)), fitting[0])


def _pad(sch: Schedule, sizes: tuple[int, int, int], plan: DotMatmulPlan) -> tuple[str, str]:
    """Pad to whole tiles where needed; the names of the buffers to take A and B from."""
    tile = (plan.rows, plan.columns, plan.depth)
    if not any(size % part for size, part in zip(sizes, tile, strict=True)):
        return "A", "B"
    copies = sch.pad("C", list(tile))
    for copy in copies:
        _vectorize(sch, sch.loops(copy))
    first, second = (
        next((c.name for c in copies if c.name.startswith(name)), name) for name in ("A", "B")
    )
    return first, second


def _pack(sch: Schedule, source: str, kind: DotKind, plan: DotMatmulPlan) -> BlockRef:
    """Copy B to panels as wide as a tile, groups of neighbors along the sum together."""
    group, columns = kind.group, plan.columns
    packed = sch.cache_read("C", source, "global")

    def place(k: Var, j: Var) -> tuple[Expr, ...]:
        return j // columns, k // group, j % columns, k % group

    sch.transform_layout("C", packed.name, place)
    k, j = sch.loops(packed)
    ko, ki = sch.split(k, [None, group])
    # As many panels at once as have their columns in one line of B.
    panels = max(1, _LINE * group // 4 // columns)
    lines, jo, ji = sch.split(j, [None, panels, columns])
    sch.reorder(lines, ko, jo, ki, ji)
    copied = sch.tensorize(ki, interleave(kind, columns))
    sch.parallel(lines)
    return copied


def _vectorize(sch: Schedule, loops: list[LoopRef]) -> None:
    """Vectorize 64 elements of the last loop, and share the first among the threads."""
    *outer, last = loops
    _, lanes = sch.split(last, [None, 64])
    sch.vectorize(lanes)
    if outer:
        sch.parallel(outer[0])
