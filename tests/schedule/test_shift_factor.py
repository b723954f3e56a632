"""shift_factor: another type for a factor of a sum of products; values at the ends, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.steps import after_steps
from helpers.te_values import assert_same, scheduled_values, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.ir import Expr, Var
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor
from tvmlab.topi import matmul_int8

WIDE = "int32"


def whole_range(dtype: str, *shape: int) -> NDArray[np.integer]:
    """Values over the whole range of a type, its ends among them."""
    limits = np.iinfo(dtype)
    values = np.random.default_rng(0).integers(
        limits.min, limits.max, shape, dtype=dtype, endpoint=True
    )
    values.flat[:2] = limits.min, limits.max
    return values


def product(left: str = "int8", right: str = "int8", out: str = WIDE, k: int = 7) -> Tensor:
    a = te.placeholder((5, k), left, name="A")
    b = te.placeholder((k, 6), right, name="B")
    r = te.reduce_axis(k, "k")

    def element(i: Var, j: Var) -> Expr:
        return te.sum(te.cast(a[i, r], out) * te.cast(b[r, j], out), axis=r)

    return te.compute((5, 6), element, name="C")


def test_bytes_without_sign() -> None:
    def steps(sch: Schedule) -> None:
        copy, sums, result = sch.shift_factor("C", "A", 128, "uint8")
        assert [ref.name for ref in (copy, sums, result)] == ["A_shifted", "B_sum", "C_write"]

    sch = after_steps(product(), steps, [whole_range("int8", 5, 7), whole_range("int8", 7, 6)])
    text = str(sch)
    assert "A_shifted[vax0, vax1] = uint8(A[vax0, vax1]) + uint8(128)" in text
    assert "C[vax0, vax1] = C_global[vax0, vax1] - B_sum[vax1] * int32(128)" in text


def test_the_steps_of_a_product_by_dot_instructions() -> None:
    """Rows and columns in tiles, the result corrected tile by tile."""

    def steps(sch: Schedule) -> None:
        copy, sums, result = sch.shift_factor("C", "A")
        i, j, k = sch.loops("C")
        io, ii = sch.split(i, [None, 4])
        jo, ji = sch.split(j, [None, 8])
        sch.reorder(io, jo, k, ii, ji)
        sch.reverse_compute_at(result, jo)
        sch.vectorize(ji)
        sch.parallel(sch.loops(copy)[0])
        step, column = sch.loops(sums)
        sch.reorder(column, step)
        sch.parallel(io)

    c = matmul_int8(12, 16, 20, "int8")[2]
    after_steps(c, steps, [whole_range("int8", 12, 20), whole_range("int8", 20, 16)])


@settings(max_examples=8, deadline=None)
@given(
    types=st.sampled_from(
        [("int8", "uint8", 128), ("uint8", "int8", -128), ("int8", "int16", -77),
         ("uint8", "uint16", 300), ("int8", "int32", 1 << 20), ("int16", "int16", 0)]
    ),
    right=st.sampled_from(["int8", "uint8", "int16"]),
    out=st.sampled_from(["int32", "int64", "uint32", "int16"]),
    first=st.booleans(),
)  # fmt: skip
def test_sums_wrap_around_as_before(
    types: tuple[str, str, int], right: str, out: str, first: bool
) -> None:
    left, shifted, by = types
    pair = (left, right) if first else (right, left)
    c = product(*pair, out, k=9)
    sch = Schedule(c)
    sch.shift_factor("C", "A" if first else "B", by, shifted)
    arrays = [whole_range(pair[0], 5, 9), whole_range(pair[1], 9, 6)]
    assert_same(scheduled_values(sch, [c], arrays), values_of(c, arrays))


def test_windows_and_what_does_not_move() -> None:
    """A convolution, and a factor that is the same for all results."""
    x, w = te.placeholder((12,), "int8", name="X"), te.placeholder((3,), "int8", name="W")
    k = te.reduce_axis(3, "k")
    c = te.compute(
        (10,),
        lambda i: te.sum(te.cast(x[i + k], WIDE) * te.cast(w[k], WIDE), axis=k),
        name="C",
    )
    arrays = [whole_range("int8", 12), whole_range("int8", 3)]
    after_steps(c, lambda sch: sch.shift_factor("C", "X"), arrays)
    after_steps(c, lambda sch: sch.shift_factor("C", "W"), arrays)
    row = matmul_int8(1, 6, 7, "int8")[2]
    arrays = [whole_range("int8", 1, 7), whole_range("int8", 7, 6)]
    after_steps(row, lambda sch: sch.shift_factor("C", "A"), arrays)
    after_steps(row, lambda sch: sch.shift_factor("C", "B"), arrays)


def test_menus_offer_it_where_bytes_have_a_sign() -> None:
    def offered(c: Tensor) -> list[str]:
        return [
            action.args["buffer"].name
            for action in Schedule(c).actions("C")
            if action.primitive == "shift_factor" and action.verdict
        ]

    assert offered(product("int8", "uint8")) == ["A"]
    assert offered(product("uint8", "uint8")) == []


def _squares() -> Tensor:
    a = te.placeholder((5, 7), "int8", name="A")
    r = te.reduce_axis(7, "k")
    return te.compute(
        (5,), lambda i: te.sum(te.cast(a[i, r], WIDE) * te.cast(a[i, r], WIDE), axis=r), name="C"
    )


def _split(sch: Schedule) -> None:
    sch.split(sch.loops("C")[0], [None, 2])


def _nothing(sch: Schedule) -> None:
    del sch


@pytest.mark.parametrize(
    ("output", "steps", "step", "rule", "words"),
    [
        (product(out="float32"), _nothing, ("A", 128, "uint8"), "kind", "no sum of products"),
        (product(), _nothing, ("A", 127, "uint8"), "range", "-128 to 127, which become -1 to 254"),
        (product(), _nothing, ("A", 0, "uint8"), "range", "more than uint8 holds"),
        (_squares(), _nothing, ("A", 128, "uint8"), "no-factor", "not one of its two factors"),
        (product(), _nothing, ("C", 128, "uint8"), "no-factor", "not one of its two factors"),
        (product(), _split, ("A", 128, "uint8"), "loops", "loops have been changed already"),
    ],
)
def test_refusals(
    output: Tensor,
    steps: Callable[[Schedule], None],
    step: tuple[str, int, str],
    rule: str,
    words: str,
) -> None:
    sch = Schedule(output)
    steps(sch)
    assert_refused(lambda: sch.shift_factor("C", *step), f"shift_factor.{rule}", words)
