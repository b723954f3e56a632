"""Matrix products of every form and shape, by their default schedule, against NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.random_exprs import quick
from hypothesis import given
from hypothesis import strategies as st

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.runtime import BufferParam
from tvmlab.support import ShapeError, UserError
from tvmlab.target import CacheLevel, Target
from tvmlab.topi.matmul_form import product_form
from tvmlab.topi.matmul_plan import plan_matmul

SIZES = st.one_of(
    st.sampled_from([1, 2, 3, 8, 12, 13, 16, 17, 31, 32, 33, 64, 100]), st.integers(1, 140)
)
BATCHES = st.sampled_from([(), (), (3,), (2, 2)])


def check(
    shape: tuple[int, int, int],
    *,
    batch: tuple[int, ...] = (),
    transposed: tuple[bool, bool] = (False, False),
    finish: bool = False,
    threads: int = 1,
    dtype: str = "float32",
) -> None:
    m, n, k = shape
    a = te.placeholder((*batch, *((k, m) if transposed[0] else (m, k))), dtype, name="A")
    b = te.placeholder((*batch, *((n, k) if transposed[1] else (k, n))), dtype, name="B")
    out = topi.batch_matmul(a, b, transpose_a=transposed[0], transpose_b=transposed[1])
    if finish:
        out = topi.relu(topi.add(out, te.placeholder((n,), dtype, name="bias")))
    target = Target.host().with_threads(threads)
    exe = tl.build(topi.schedule_matmul(out, target), target=target)
    rng = np.random.default_rng(0)
    *inputs, result = (p for p in exe.signature.params if isinstance(p, BufferParam))
    given: dict[str, Any] = {
        p.name: rng.standard_normal([int(s) for s in p.shape]).astype(dtype) for p in inputs
    }
    found = np.full([int(s) for s in result.shape], np.nan, dtype)
    exe(*given.values(), found)
    left, right = given["A"].astype("float64"), given["B"].astype("float64")
    left = left.swapaxes(-1, -2) if transposed[0] else left
    right = right.swapaxes(-1, -2) if transposed[1] else right
    expected = left @ right
    if finish:
        expected = np.maximum(expected + given["bias"], 0)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * k**0.5 + 1e-6)


@given(
    st.tuples(SIZES, SIZES, SIZES),
    BATCHES,
    st.tuples(st.booleans(), st.booleans()),
    st.booleans(),
    st.integers(1, 3),
    st.sampled_from(["float32", "float64"]),
)
@quick(25)
def test_random_products(
    shape: tuple[int, int, int],
    batch: tuple[int, ...],
    transposed: tuple[bool, bool],
    finish: bool,
    threads: int,
    dtype: str,
) -> None:
    check(shape, batch=batch, transposed=transposed, finish=finish, threads=threads, dtype=dtype)


@pytest.mark.slow
@given(
    st.tuples(SIZES, SIZES, st.one_of(SIZES, st.integers(200, 900))),
    BATCHES,
    st.tuples(st.booleans(), st.booleans()),
    st.booleans(),
    st.integers(1, 3),
    st.sampled_from(["float32", "float64"]),
)
@quick(300)
def test_many_random_products(
    shape: tuple[int, int, int],
    batch: tuple[int, ...],
    transposed: tuple[bool, bool],
    finish: bool,
    threads: int,
    dtype: str,
) -> None:
    check(shape, batch=batch, transposed=transposed, finish=finish, threads=threads, dtype=dtype)


@pytest.mark.parametrize("transposed", [(x, y) for x in (False, True) for y in (False, True)])
@pytest.mark.parametrize("threads", [1, 2])
def test_large_products_with_copied_panels(transposed: tuple[bool, bool], threads: int) -> None:
    check((50, 1030, 1024), transposed=transposed, threads=threads)


def test_a_long_sum_of_as_few_columns_as_one_tile_has() -> None:
    check((82, 2, 439), transposed=(False, True))


def test_a_product_whose_sum_is_finished_in_parts() -> None:
    check((64, 96, 900), finish=True, threads=2)


def test_a_product_of_two_vectors() -> None:
    check((1, 1, 9))


def test_sizes_known_only_at_run_time() -> None:
    a, b = te.placeholder((te.var("n"), 8), name="A"), te.placeholder((8, 8), name="B")
    with pytest.raises(UserError, match="its sizes are not numbers"):
        topi.schedule_matmul(topi.batch_matmul(a, b))


@pytest.mark.parametrize("shape", [(1, 50, 70), (9, 40, 300), (60, 70, 40), (20, 33, 17)])
def test_layers_with_bias_and_activation(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    x, w = te.placeholder((m, k), name="X"), te.placeholder((n, k), name="W")
    out = topi.relu(topi.dense(x, w, te.placeholder((n,), name="b")))
    exe = tl.build(topi.schedule_matmul(out))
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s).astype("float32") for s in ((m, k), (n, k), (n,)))
    found = np.zeros((m, n), "float32")
    exe(a, b, c, found)
    np.testing.assert_allclose(found, np.maximum(a @ b.T + c, 0), rtol=1e-4, atol=1e-4)


def test_a_matrix_with_its_own_transpose() -> None:
    a = te.placeholder((40, 70), name="A")
    exe = tl.build(topi.schedule_matmul(topi.batch_matmul(a, a, transpose_b=True)))
    x = np.random.default_rng(0).standard_normal((40, 70)).astype("float32")
    out = np.zeros((40, 40), "float32")
    exe(x, out)
    np.testing.assert_allclose(out, x @ x.T, rtol=1e-4, atol=1e-4)


def test_one_matrix_for_a_batch_of_others() -> None:
    a, b = te.placeholder((3, 20, 30), name="A"), te.placeholder((30, 40), name="B")
    exe = tl.build(topi.schedule_matmul(topi.batch_matmul(a, b)))
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype("float32") for s in ((3, 20, 30), (30, 40)))
    out = np.zeros((3, 20, 40), "float32")
    exe(x, w, out)
    np.testing.assert_allclose(out, x @ w, rtol=1e-4, atol=1e-4)


def test_matrices_that_do_not_fit() -> None:
    a, b = te.placeholder((4, 5), name="A"), te.placeholder((4, 5), name="B")
    with pytest.raises(ShapeError, match=r"sums of 5 and of 4 elements\n.*transpose_a"):
        topi.batch_matmul(a, b)
    with pytest.raises(ShapeError, match="two dimensions of each"):
        topi.batch_matmul(a, te.placeholder((5,), name="v"))


def _squares(a: te.Tensor) -> te.Tensor:
    return topi.max(topi.multiply(a, a), axis=1)


def _softened(a: te.Tensor) -> te.Tensor:
    k = te.reduce_axis(a.shape[1], "k")
    return te.compute((a.shape[0],), lambda i: te.sum(te.exp(a[i, k]), axis=k), name="S")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (topi.relu, "not element-wise"),
        (_softened, "not a product of elements of two tensors"),
        (_squares, "not a product"),
        (topi.softmax, "not element-wise"),
    ],
)
def test_what_is_no_product(make: Any, reason: str) -> None:
    with pytest.raises(UserError, match=f"cannot be scheduled as a matrix product: .*{reason}"):
        topi.schedule_matmul(make(te.placeholder((8, 8), name="A")))


MACHINE = replace(
    Target.of("llvm -mcpu=znver4").with_threads(1),
    caches=tuple(CacheLevel(n, size << 10, 64, 1) for n, size in ((1, 32), (2, 1024), (3, 32768))),
)


@pytest.mark.parametrize(
    ("k", "depth", "chain"),
    [(384, 384, None), (768, 768, 384), (1000, 1000, 500), (1021, 511, None), (2048, 512, None)],
)
def test_long_sums_are_made_of_chains(k: int, depth: int, chain: int | None) -> None:
    form = product_form(topi.matmul(512, 2048, k)[2])
    plan = plan_matmul(form, MACHINE)
    assert (plan.copy_right, plan.depth, plan.chain) == (True, depth, chain)


@pytest.mark.parametrize(("m", "copied"), [(32, False), (256, False), (512, True)])
def test_the_right_factor_is_copied_for_many_rows(m: int, copied: bool) -> None:
    plan = plan_matmul(product_form(topi.matmul(m, 1024, 1024)[2]), MACHINE)
    assert plan.copy_right == copied
    assert plan.depth * plan.column_part * 4 <= 512 << 10  # half the second cache


def test_large_products_ask_ahead_for_rows_and_results() -> None:
    text = str(topi.schedule_matmul(topi.matmul(512, 2048, 2048)[2], MACHINE))
    assert 'prefetch=(("A", 1),)' in text
    assert 'prefetch=(("C", 1),)' in text


def test_rounding_errors_do_not_grow_with_the_whole_sum() -> None:
    m, n, k = 64, 1024, 1024
    rng = np.random.default_rng(0)
    x, y = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    out = np.empty((m, n), np.float32)
    tl.build(topi.schedule_matmul(topi.matmul(m, n, k)[2], Target.host()))(x, y, out)
    exact = x.astype(np.float64) @ y
    assert np.max(np.abs(out / exact - 1)) < 1.5e-6  # one chain gives 2.2e-6
