"""Dot products as tensor intrinsics: one instruction, and a tile that keeps its sums in registers.

>>> sch.tensorize(ii, dot_tile(U8S8, rows=12, vectors=2, depth=512))           # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence

import tvmlab.te as te
from tvmlab.ir import Expr, ExprLike, Stmt, Var
from tvmlab.support import OptionError
from tvmlab.te import TensorIntrin, View

from .kinds import DotKind
from .tile_code import TileShape, tile_code


def dot(kind: DotKind) -> TensorIntrin:
    """One instruction: `c[j] = sum over q of a[q] * b[j, q]`, for as many j as it has lanes.

    `a` and `b` are compact; its updates load and store the sums, which `dot_tile` does not.
    """
    a = te.placeholder((kind.group,), kind.left, name="a")
    b = te.placeholder((kind.lanes, kind.group), kind.right, name="b")
    q = te.reduce_axis(kind.group, "q")

    def product(j: Var) -> Expr:
        return te.sum(te.cast(a[q], kind.out) * te.cast(b[j, q], kind.out), axis=q)

    c = te.compute((kind.lanes,), product, name="c")
    shape = TileShape(1, 1, kind.group, kind.lanes)

    def code(ins: Sequence[View], outs: Sequence[View]) -> tuple[Stmt, Stmt, Stmt]:
        left, right = ins
        return _calls(kind.name, left, right, outs[0], strides=(kind.lanes, kind.group))

    return te.decl_tensor_intrin(c, code, kind.name, llvm=tile_code(kind, shape, kind.name))


def dot_tile(kind: DotKind, rows: int, vectors: int, depth: int) -> TensorIntrin:
    """A tile: `c[i, j] = sum over k of a[i, k] * b[k // g, j, k % g]`, g being the kind's group.

    The rows of `a` and `c` may lie at any distance; `b` is packed: compact, with the g neighbors
    along k that one lane takes side by side.

    Parameters
    ----------
    rows, vectors
        The tile has `rows` by `kind.lanes * vectors` sums, each vector of them a register; with
        one for each vector of `b` and some to spare they should fit the 32 that there are.
    depth
        Length of the sum, a multiple of g.

    Raises
    ------
    OptionError
        If a size is not positive or `depth` is no multiple.
    """
    if rows < 1 or vectors < 1 or depth < 1 or depth % kind.group:
        raise OptionError(
            f"a tile of {rows} rows, {vectors} vectors and depth {depth} cannot be made",
            hint=f"sizes are positive, and the depth of {kind.name} is a multiple of {kind.group}",
        )
    shape = TileShape(rows, vectors, depth, kind.lanes)
    name = f"{kind.name}_{rows}x{shape.columns}x{depth}"
    a = te.placeholder((rows, depth), kind.left, name="a")
    b = te.placeholder((depth // kind.group, shape.columns, kind.group), kind.right, name="b")
    k = te.reduce_axis(depth, "k")

    def product(i: Var, j: Var) -> Expr:
        right = b[k // kind.group, j, k % kind.group]
        return te.sum(te.cast(a[i, k], kind.out) * te.cast(right, kind.out), axis=k)

    c = te.compute((rows, shape.columns), product, name="c")
    binds = {t: te.decl_buffer(t.shape, t.dtype, t.name, strides=[None, 1]) for t in (a, c)}

    def code(ins: Sequence[View], outs: Sequence[View]) -> tuple[Stmt, Stmt, Stmt]:
        left, right = ins
        (out,) = outs
        return _calls(name, left, right, out, strides=(out.strides[0], left.strides[0]))

    llvm = tile_code(kind, shape, name)
    return te.decl_tensor_intrin(c, code, name, binds=binds, llvm=llvm)


def _calls(
    name: str, left: View, right: View, out: View, strides: tuple[ExprLike, ExprLike]
) -> tuple[Stmt, Stmt, Stmt]:
    """The calls for the whole sum, for its start values, and for going on with it."""
    of_out, of_left = strides

    def product(part: str, access: str) -> Stmt:
        target, a, b = out.access_ptr(access), left.access_ptr("r"), right.access_ptr("r")
        return te.call_extern("int32", f"{name}_{part}", target, of_out, a, of_left, b)

    reset = te.call_extern("int32", f"{name}_reset", out.access_ptr("w"), of_out)
    return product("body", "w"), reset, product("update", "rw")
