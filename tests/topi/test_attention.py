"""Attention in any order of dimensions, against NumPy and the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.support import ShapeError
from tvmlab.target import Target

_RANDOM = np.random.default_rng(0)


def _wanted(parts: list[np.ndarray], scale: float, mask: np.ndarray | None) -> np.ndarray:
    queries, keys, values = (p.astype(np.float64) for p in parts)
    scores = queries @ np.swapaxes(keys, -1, -2) * scale
    scores = scores if mask is None else scores + mask
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True) @ values


def _check(
    sizes: tuple[int, int, int, int, int], layouts: tuple[str, ...], masked: bool, threads: int
) -> None:
    batch, heads, rows, row, depth = sizes
    plain = "BHTD" if "H" in layouts[0] else "BTD"
    lead = (batch, heads) if "H" in plain else (batch,)
    shapes = [(*lead, n, depth) for n in (rows, row, row)]
    parts = [_RANDOM.standard_normal(shape).astype("f4") for shape in shapes]
    mask = _RANDOM.standard_normal((rows, row)).astype("f4") if masked else None
    orders = [[plain.index(x) for x in layout] for layout in layouts]
    data = [np.ascontiguousarray(p.transpose(o)) for p, o in zip(parts, orders, strict=False)]
    inputs = [te.placeholder(d.shape, name=n) for d, n in zip(data, "QKV", strict=True)]
    if mask is not None:
        data.append(mask)
        inputs.append(te.placeholder(mask.shape, name="M"))
    made = topi.attention(*inputs, scale=0.3, layouts=layouts)
    target = Target.host().with_threads(threads)
    run = tl.build(topi.schedule_attention(made, target, args=[*inputs, made]), target)
    wanted = _wanted(parts, 0.3, mask).transpose(orders[3])
    found = np.zeros(wanted.shape, "f4")
    run(*data, found)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_heads_of_one_tensor_are_shared_by_threads() -> None:
    batch, rows, heads, depth = 1, 20, 2, 16
    x = te.placeholder((batch, rows, 3 * heads, depth), name="X")
    made = topi.attention(x, x, x, layouts=("BTHD",) * 4, heads=heads, first=(0, heads, 2 * heads))
    data = _RANDOM.standard_normal((batch, rows, 3 * heads, depth)).astype("f4")
    parts = [data[:, :, n * heads : (n + 1) * heads].swapaxes(1, 2) for n in range(3)]
    found = np.zeros((batch, rows, heads, depth), "f4")
    tl.build(topi.schedule_attention(made, args=[x, made]))(data, found)
    wanted = _wanted(parts, 1.0, None).swapaxes(1, 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layouts", [("BHTD",) * 4, ("BTHD", "BHTD", "BTHD", "BTHD"),
                                     ("BHTD", "BHDT", "BHTD", "BTHD"), ("BTD",) * 4])  # fmt: skip
def test_orders_of_dimensions(layouts: tuple[str, ...]) -> None:
    _check((1, 3, 17, 33, 16), layouts, masked=False, threads=2)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    sizes=st.tuples(*(st.integers(1, n) for n in (2, 3, 30, 70, 40))),
    orders=st.tuples(*(st.permutations("BHTD").map("".join) for _ in range(4))),
    masked=st.booleans(),
    threads=st.integers(1, 3),
)
def test_random_sizes_and_orders(
    sizes: tuple[int, int, int, int, int], orders: tuple[str, ...], masked: bool, threads: int
) -> None:
    _check(sizes, orders, masked, threads)


def test_operands_that_do_not_fit_are_refused() -> None:
    q, k = te.placeholder((1, 2, 8, 16)), te.placeholder((1, 2, 9, 15))
    with pytest.raises(ShapeError, match=r"D 16, keys of .*D 15.* do not fit"):
        topi.attention(q, k, k)
    with pytest.raises(ShapeError, match="do not fit"):
        topi.attention(q, q, q, heads=2, first=(0, 0, 1))


def test_what_suits_the_schedule() -> None:
    assert topi.attention_fits((128, 128), (64, 64), "cpu")
    assert not topi.attention_fits((1, 128), (64, 64), "cpu")
    assert not topi.attention_fits((128, 1 << 20), (64, 64), "cpu")
