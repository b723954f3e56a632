"""Matrix products: formulas, and a schedule for CPUs from public primitives.

The schedule is the classical one (Goto and van de Geijn, "Anatomy of High-Performance Matrix
Multiplication", ACM TOMS 2008): a tile of the output in registers, panels of the operands that the
caches hold, copied where their rows lie badly in memory, threads over parts of the output.
"""

from __future__ import annotations

import tvmlab.te as te
from tvmlab.ir import Expr, const_int
from tvmlab.schedule import BlockRef, LoopRef, Schedule
from tvmlab.support import ShapeError
from tvmlab.target import Target
from tvmlab.te import Tensor

from .broadcast import broadcast_shape, element
from .matmul_form import ProductForm, product_form
from .matmul_plan import MatmulPlan, plan_matmul

_NEIGHBOURS = 64
"""Elements of a row that are copied by one statement."""


def matmul(m: int, n: int, k: int, dtype: str = "float32") -> tuple[Tensor, Tensor, Tensor]:
    """`C[i, j] = sum over k of A[i, k] * B[k, j]`.

    Returns
    -------
    A, B, C
        The inputs (m, k) and (k, n), and the output (m, n).
    """
    a = te.placeholder((m, k), dtype, name="A")
    b = te.placeholder((k, n), dtype, name="B")
    r = te.reduce_axis(k, "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return a, b, c


def batch_matmul(
    a: Tensor, b: Tensor, *, transpose_a: bool = False, transpose_b: bool = False
) -> Tensor:
    """Products of the matrices in the last two dimensions, the others stretched to one another.

    Raises
    ------
    ShapeError
        If the matrices do not fit.
    """
    if min(len(a.shape), len(b.shape)) < 2:
        raise ShapeError("a matrix product needs two dimensions of each operand")
    m, k = reversed(a.shape[-2:]) if transpose_a else a.shape[-2:]
    other, n = reversed(b.shape[-2:]) if transpose_b else b.shape[-2:]
    if const_int(k) != const_int(other):
        raise ShapeError(
            f"the matrices do not fit: sums of {const_int(k)} and of {const_int(other)} elements",
            hint="transpose_a and transpose_b say that a matrix is stored by columns",
        )
    r = te.reduce_axis(k, "k")

    def value(*indices: Expr) -> Expr:
        *batch, i, j = indices
        left = element(a, [*batch, *((r, i) if transpose_a else (i, r))])
        right = element(b, [*batch, *((j, r) if transpose_b else (r, j))])
        return te.sum(left * right, axis=r)

    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    return te.compute((*batch, m, n), value, name="matmul", tag="batch_matmul")


def schedule_matmul(c: Tensor, target: Target | str = "cpu") -> Schedule:
    """A schedule of a matrix product for CPUs with wide vectors.

    Parameters
    ----------
    c
        The output: a product of matrices (any operand transposed, with any dimensions before), of
        matrix and vector, and element-wise operators behind it.
    target
        Its registers, caches and threads decide the sizes: see `plan_matmul`.

    Raises
    ------
    UserError
        If `c` is no such product.
    """
    form = product_form(c)
    sch = Schedule(c, name="matmul")
    for tensor in form.between:
        sch.compute_inline(tensor.op.name)
    if form.m == form.n == 1:
        return sch
    plan = plan_matmul(form, Target.of(target))
    shared = _dots(sch, form, plan) if plan.dots else _tiles(sch, form, plan)
    if plan.parallel:
        sch.parallel(sch.fuse(*shared) if len(shared) > 1 else shared[0])
    return sch


def _tiles(sch: Schedule, form: ProductForm, plan: MatmulPlan) -> list[LoopRef]:
    """Vectors along the columns of the output; returns the loops that threads may share."""
    tile, finish, ko, far = _partial_sums(sch, form, plan)
    *outer, j = (loop for loop in _moving(sch, finish) if loop != ko)
    i = [outer.pop()] if form.m > 1 else []
    ic, io, ii = _split(sch, i, plan.row_part, plan.rows)
    jc, jo, ji = _split(sch, [j], plan.column_part, plan.columns)
    steps = [] if ko is None else [ko]
    wide, near = (steps, []) if far else ([], steps)
    sch.reorder(*outer, *ic, *jc, *wide, *io, *jo, *near, *ii, *ji)
    sums = sch.compute_at(tile, [*jo, *near][-1])
    if plan.copy_right:
        _copy_right(sch, form, plan, tile, [*jc, *wide][-1])
    if plan.copy_left:
        _vectorize_last(sch, sch.compute_at(sch.cache_read(tile, form.left.tensor.name), io[0]))
    elif far and plan.copy_right and io:
        _prefetch_next(sch, form.left.tensor.name, io[0])
        if form.output is form.product:
            _prefetch_next(sch, form.output.name, jo[0])
    _run_tile(sch, sums, form.k > 1)
    _run_tile(sch, [*ii, *ji], False)
    if form.output is not form.product and finish == form.block:
        _finish_later(sch, form.output.op.name, jc[0], parallel=plan.parallel)
    return [*outer, *ic, *jc]


def _partial_sums(
    sch: Schedule, form: ProductForm, plan: MatmulPlan
) -> tuple[BlockRef | str, BlockRef | str, LoopRef | None, bool]:
    """Sums of as many terms as the plan says, to be kept in registers.

    Returns the block that sums, the one that takes the results, and the loop over partial sums, if
    there is one, with whether it goes around all tiles or, in each tile, over chains of terms.
    """
    name, last = form.block, form.output.op.name
    far = plan.depth < form.k
    terms = plan.depth if far or name != last else plan.chain or plan.depth
    if terms >= form.k:
        return name, (sch.cache_write(name, "local") if name == last else last), None, False
    *spatial, k = sch.loops(name)
    ko, ki = sch.split(k, [None, terms])
    sch.reorder(ko, *spatial, ki)
    tile = sch.rfactor(name, ko)
    if far:
        sch.annotate_block(name, "init_inside", True)
    return tile, name, sch.loops(name)[-1], far


def _copy_right(
    sch: Schedule, form: ProductForm, plan: MatmulPlan, tile: BlockRef | str, loop: LoopRef
) -> None:
    """Copy a part of the right factor to panels as wide as a tile, row after row."""
    copy, width = sch.cache_read(tile, form.right.tensor.name, "global"), plan.columns
    *_, first, second = sch.compute_at(copy, loop)
    if form.right_transposed:
        sch.transform_layout(
            tile, copy.name, lambda *at: (*at[:-2], at[-2] // width, at[-1], at[-2] % width)
        )
        panel, column = sch.split(first, [None, width])
        step, k = sch.split(second, [None, _NEIGHBOURS])
        sch.reorder(panel, step, column, k)
        sch.unroll(k)
    else:
        sch.transform_layout(
            tile, copy.name, lambda *at: (*at[:-2], at[-1] // width, at[-2], at[-1] % width)
        )
        # Whole rows of the part are read, as memory likes it, and written to all panels.
        sch.vectorize(sch.split(second, [None, width])[1])


def _prefetch_next(sch: Schedule, buffer: str, loop: LoopRef) -> None:
    """Ask for what the next tile reads, if there is a next one."""
    if const_int(sch.loop_of(loop).extent) != 1:
        sch.prefetch(buffer, loop)


def _finish_later(sch: Schedule, block: str, loop: LoopRef, *, parallel: bool) -> None:
    """Apply the operators behind the product when a part of it is complete, else at the end."""
    if sch.check("reverse_compute_at", block, loop):
        _vectorize_last(sch, sch.reverse_compute_at(block, loop))
        return
    loops = sch.loops(block)
    _vectorize_last(sch, loops)
    if parallel and len(loops) > 1:
        sch.parallel(loops[0])


def _dots(sch: Schedule, form: ProductForm, plan: MatmulPlan) -> list[LoopRef]:
    """Vectors along the sum, whose lanes are added at the end; returns the loops to share."""
    name, last = form.block, form.output.op.name
    *spatial, k = sch.loops(name)
    steps, lane = sch.split(k, [None, plan.depth])
    sch.reorder(lane, *spatial, steps)
    partial = sch.rfactor(name, lane, factor_axis=-1)
    lane = sch.loops(name)[-1]
    *outer, j = (loop for loop in _moving(sch, last) if loop != lane)
    i = [outer.pop()] if form.m > 1 else []
    ic, io, ii = _split(sch, i, plan.row_part, plan.rows)
    jc, jo, ji = _split(sch, [j], plan.column_part, plan.columns)
    sch.reorder(*outer, *ic, *jc, *io, *jo, *ii, *ji, *([lane] if last == name else []))
    join = [*ii, *ji, lane]
    if last != name:
        join = sch.compute_at(name, jo[0])
        _unroll(sch, [*ii, *ji])
    lanes, *tile = sch.compute_at(partial, jo[0])
    terms = [tile.pop()] if form.k > plan.depth else []
    sch.reorder(*terms, *tile, lanes)
    sch.vectorize(lanes)
    _unroll(sch, [*tile, *join])
    if plan.copy_right:
        copy = sch.cache_read(partial, form.right.tensor.name, "global")
        sch.transform_layout(partial, copy.name, lambda *at: (*at[:-2], at[-1], at[-2]))
    return [*outer, *ic, *jc]


def _moving(sch: Schedule, block: BlockRef | str) -> list[LoopRef]:
    """The loops around a block that have more than one iteration."""
    return [loop for loop in sch.loops(block) if const_int(sch.loop_of(loop).extent) != 1]


def _split(
    sch: Schedule, loops: list[LoopRef], part: int, tile: int
) -> tuple[list[LoopRef], list[LoopRef], list[LoopRef]]:
    """Split a loop, if there is one, into parts of whole tiles, and tiles."""
    if not loops:
        return [], [], []
    outer, middle, inner = sch.split(loops[0], [None, -(-part // tile), tile])
    return [outer], [middle], [inner]


def _run_tile(sch: Schedule, loops: list[LoopRef], summed: bool) -> None:
    """Rows of a tile unrolled, its columns in vectors, the sum (the last loop) around them."""
    if summed:
        *loops, k = loops
        sch.reorder(k, *loops)
    _unroll(sch, loops[:-1])
    sch.vectorize(loops[-1])


def _unroll(sch: Schedule, loops: list[LoopRef]) -> None:
    for loop in loops:
        sch.unroll(loop)


def _vectorize_last(sch: Schedule, loops: list[LoopRef]) -> None:
    """Vectorize the last of the loops of a copy, in pieces; a copy of one element has none."""
    if loops:
        sch.vectorize(sch.split(loops[-1], [None, _NEIGHBOURS])[1])
