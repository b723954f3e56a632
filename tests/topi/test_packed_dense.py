"""Products with packed weights, of all numbers of rows, with what follows them."""

from __future__ import annotations

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.runtime import num_threads
from tvmlab.support import ShapeError
from tvmlab.topi import pack_columns, packed_dense, panel_width, schedule_packed_dense

CASES = [
    ((1,), 40, 100, 64), ((3, 5), 17, 33, 32), ((16, 1), 64, 6, 16), ((1, 30), 9, 64, 32),
    ((6,), 1100, 1000, 32),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "depth", "columns", "width"), CASES)
@pytest.mark.parametrize("followed", [False, True])
def test_products(
    rows: tuple[int, ...], depth: int, columns: int, width: int, followed: bool
) -> None:
    rng = np.random.default_rng(depth)
    x, w = rng.standard_normal((*rows, depth), "f4"), rng.standard_normal((depth, columns), "f4")
    b, r = rng.standard_normal(columns, "f4"), rng.standard_normal((*rows, columns), "f4")
    packed = pack_columns(w, width)
    arrays = {"x": x, "w": packed, "b": b, "r": r}
    tensors = [te.placeholder(a.shape, name=n) for n, a in arrays.items()]
    y = packed_dense(tensors[0], tensors[1], columns)
    if followed:
        # Two operators of one name.
        y = topi.relu(topi.add(topi.add(topi.bias_add(y, tensors[2]), tensors[3]), tensors[3]))
    given = tensors if followed else tensors[:2]
    exe = tl.build(schedule_packed_dense(y, args=[*given, y]))
    wanted = x.astype("f8") @ w
    if followed:
        wanted = np.maximum(wanted + b + 2 * r.astype("f8"), 0)
    for threads in (1, 2):
        out = np.full((*rows, columns), np.nan, "f4")
        with num_threads(threads):
            exe(*(x, packed, b, r)[: len(given)], out)
        np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4 * depth**0.5)


def test_panels_are_filled_up() -> None:
    packed = pack_columns(np.ones((2, 5), "f4"), 4)
    assert packed.shape == (2, 2, 4)
    assert packed[1].tolist() == [[1, 0, 0, 0]] * 2
    assert panel_width(100, 5) <= panel_width(100, 1000) <= panel_width(1, 1000)


def test_sizes_must_fit() -> None:
    x, w = te.placeholder((3, 7), name="x"), te.placeholder((2, 8, 16), name="w")
    with pytest.raises(ShapeError, match="weights of 2 panels, 8 by 16, do not take rows of 7"):
        packed_dense(x, w, 32)
    with pytest.raises(ShapeError, match="rows of 7 elements to 16"):
        packed_dense(x, w, 16)
    with pytest.raises(ShapeError, match="relu is computed from no packed_dense"):
        schedule_packed_dense(topi.relu(x))
