"""Tensor intrinsics: matching, values, code in every form, and what a refusal says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from helpers.gemv import gemv
from helpers.refusals import assert_refused
from helpers.steps import after_steps, assert_values, ramp

from tvmlab import te
from tvmlab.ir import Stmt
from tvmlab.schedule import Schedule
from tvmlab.support import ScheduleError, UserError
from tvmlab.te import Tensor, TensorIntrin, View

ADD = """
def add8(a: float32[8], b: float32[8], c: float32[8]):
    for i in vectorized(8):
        c[i] = a[i] + b[i]
"""


def product(n: int, m: int, k: int) -> Tensor:
    """A times the transpose of B, as in the tutorial that introduced tensorization."""
    a = te.placeholder((n, k), name="A")
    b = te.placeholder((m, k), name="B")
    r = te.reduce_axis(k, "k")
    return te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[j, r], axis=r), name="C")


def add8() -> TensorIntrin:
    a, b = te.placeholder((8,), name="a"), te.placeholder((8,), name="b")
    return te.tensor_intrin("add8", te.compute((8,), lambda i: a[i] + b[i], name="c"), ADD)


def sums(n: int, m: int) -> Tensor:
    a, b = te.placeholder((n, m), name="A"), te.placeholder((n, m), name="B")
    return te.compute((n, m), lambda i, j: b[i, j] + a[i, j], name="C")


def gemv_steps(sch: Schedule) -> None:
    """Rows of 16 results, sums in parts of 64."""
    i, j, k = sch.loops("C")
    jo, ji = sch.split(j, [None, 16])
    ko, ki = sch.split(k, [None, 64])
    sch.reorder(i, jo, ko, ji, ki)
    sch.tensorize(ji, gemv())


def test_matrix_product_by_a_micro_kernel() -> None:
    sch = after_steps(product(32, 48, 128), gemv_steps, [ramp(32, 128), ramp(48, 128)])
    text = str(sch)
    assert 'call("symbol:gemv_reset", write(C[vi, vj * 16:vj * 16 + 16]), 16)' in text
    assert "B.stride(0)" in text
    assert [lp.name for lp in sch.loops("C")] == ["i", "j_outer", "k_outer"]


def test_the_size_of_the_tutorial() -> None:
    sch = Schedule(product(1024, 512, 64))
    i, j, _ = sch.loops("C")
    _, ji = sch.split(j, [None, 16])
    sch.tensorize(ji, gemv())
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, (1024, 64)).astype("float32")
    y = rng.integers(-4, 5, (512, 64)).astype("float32")
    from tvmlab import build

    out = np.empty((1024, 512), np.float32)
    build(sch)(x, y, out)
    np.testing.assert_array_equal(out, x @ y.T)
    assert i.alive


def test_start_values_set_before_the_sum() -> None:
    def steps(sch: Schedule) -> None:
        gemv_steps(sch)
        sch.decompose_reduction("C", sch.loops("C")[2])

    after_steps(product(8, 32, 128), steps, [ramp(8, 128), ramp(32, 128)])


def test_a_function_for_start_values_is_handed_the_output_alone() -> None:
    """The block's init stands outside the loops over the sum, where no input is known yet."""
    a, b = te.placeholder((4,), name="a"), te.placeholder((4,), name="b")
    k = te.reduce_axis(4, "k")
    c = te.compute((), lambda: te.sum(a[k] * b[k], axis=k), name="c")
    code = """
define void @clear(ptr %c) {
  store float 0.0, ptr %c
  ret void
}
define void @dot4(ptr %c, ptr %a, ptr %b) {
  %before = load float, ptr %c
  %x = load <4 x float>, ptr %a, align 4
  %y = load <4 x float>, ptr %b, align 4
  %xy = fmul <4 x float> %x, %y
  %after = call float @llvm.vector.reduce.fadd.v4f32(float %before, <4 x float> %xy)
  store float %after, ptr %c
  ret void
}
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
"""
    dot = te.tensor_intrin("dot4", c, reset="symbol:clear", update="symbol:dot4", llvm=code)

    def steps(sch: Schedule) -> None:
        *_, k = sch.loops("C")
        _, inner = sch.split(k, [None, 4])
        sch.tensorize(inner, dot)
        assert 'call("symbol:clear", write(C[vi, vj]))' in str(sch)

    after_steps(product(3, 5, 16), steps, [ramp(3, 16), ramp(5, 16)])


def test_a_decomposed_sum_takes_the_update() -> None:
    def steps(sch: Schedule) -> None:
        i, j, k = sch.loops("C")
        jo, ji = sch.split(j, [None, 16])
        sch.reorder(i, jo, ji, k)
        sch.decompose_reduction("C", ji)
        sch.tensorize(ji, gemv())

    sch = after_steps(product(8, 32, 64), steps, [ramp(8, 64), ramp(32, 64)])
    assert 'call("symbol:gemv_reset"' not in str(sch)


@pytest.mark.parametrize("order", ["split", "reordered", "fused", "split inside"])
def test_code_as_a_program_in_vectors(order: str) -> None:
    """Loops inside the tile may be in any order, fused or split: it is the same box."""

    def steps(sch: Schedule) -> None:
        i, j = sch.loops("C")
        intrin = add8()
        if order == "fused":
            _, inner = sch.split(sch.fuse(i, j), [None, 8])
            sch.tensorize(inner, intrin)
            return
        _, inner = sch.split(j, [None, 8])
        if order == "reordered":
            sch.reorder(inner, i)
            sch.reorder(i, inner)
        if order == "split inside":
            inner, _ = sch.split(inner, [None, 2])
        sch.tensorize(inner, intrin)
        assert "vectorized(8)" in str(sch)

    after_steps(sums(6, 32), steps, [ramp(6, 32), ramp(6, 32)])


def test_a_block_of_tiles_can_be_tensorized_too() -> None:
    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[1], [None, 8])
        sch.tensorize(sch.blockize(inner), add8())

    after_steps(sums(3, 16), steps, [ramp(3, 16), ramp(3, 16)])


def test_unit_dimensions_on_either_side_are_passed_over() -> None:
    a = te.placeholder((1, 8), name="a")
    two = te.compute((1, 8), lambda i, j: a[i, j] * 2.0, name="c")
    code = "def twice(a: float32[1, 8], c: float32[1, 8]):\n    for j in range(8):\n" \
           "        c[0, j] = a[0, j] * 2.0\n"  # fmt: skip
    intrin = te.tensor_intrin("twice", two, code)
    x = te.placeholder((4, 1, 24, 1), name="A")
    c = te.compute((4, 1, 24, 1), lambda n, p, i, q: x[n, p, i, q] * 2.0, name="C")

    def steps(sch: Schedule) -> None:
        *_, i, _ = sch.loops("C")
        _, inner = sch.split(i, [None, 8])
        sch.tensorize(inner, intrin)

    after_steps(c, steps, [ramp(4, 1, 24, 1)])


def test_quotients_in_regions_are_simplified_away() -> None:
    """apache/tvm#7879: an index (j_outer * 8 + j) // 8 of the tile is j_outer."""
    a, s = te.placeholder((8,), name="a"), te.placeholder((1,), name="s")
    scaled = te.compute((8,), lambda i: a[i] * s[0], name="c")
    code = "def scale(a: float32[8], s: float32[1], c: float32[8]):\n" \
           "    for i in range(8):\n        c[i] = a[i] * s[0]\n"  # fmt: skip
    intrin = te.tensor_intrin("scale", scaled, code)
    x, y = te.placeholder((32,), name="A"), te.placeholder((4,), name="S")
    c = te.compute((32,), lambda j: x[j] * y[j // 8], name="C")

    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[0], [None, 8])
        sch.tensorize(inner, intrin)
        assert "S[vj]" in str(sch)

    after_steps(c, steps, [ramp(32), ramp(4)])


def test_a_formula_with_a_condition_and_a_number_of_the_program() -> None:
    """apache/tvm#3598: the condition is matched, and `factor` found."""
    a = te.placeholder((8,), name="a")
    factor = te.var("factor", "float32")
    leaky = te.compute((8,), lambda i: te.if_then_else(a[i] > 0.0, a[i], a[i] * factor), name="c")

    def code(ins: Sequence[View], outs: Sequence[View]) -> Stmt:
        (aa,), (cc,) = ins, outs
        ib = te.ir_builder.create()
        source, target = ib.buffer_ptr(aa), ib.buffer_ptr(cc)
        with ib.for_range(0, 8, "i") as i:
            with ib.if_scope(source[i] > 0.0):
                target[i] = source[i]
            with ib.else_scope():
                target[i] = source[i] * factor
        return ib.get()

    intrin = te.decl_tensor_intrin(leaky.op, code, name="leaky")
    x = te.placeholder((3, 16), name="A")
    c = te.compute(
        (3, 16), lambda i, j: te.if_then_else(x[i, j] > 0.0, x[i, j], x[i, j] * 0.25), name="C"
    )

    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[1], [None, 8])
        sch.tensorize(inner, intrin)
        assert "* 0.25" in str(sch)

    after_steps(c, steps, [ramp(3, 16)])


def test_the_described_tensor_itself_can_be_scheduled() -> None:
    """apache/tvm#1625: one compute is both the description and the program."""
    a, b = te.placeholder((8,), name="a"), te.placeholder((8,), name="b")
    c = te.compute((8,), lambda i: a[i] + b[i], name="c")
    intrin = te.tensor_intrin("whole", c, ADD)
    after_steps(c, lambda s: s.tensorize(s.loops("c")[0], intrin), [ramp(8), ramp(8)])


def test_vectors_by_vload_and_vstore() -> None:
    a, b = te.placeholder((8,), name="a"), te.placeholder((8,), name="b")
    c = te.compute((8,), lambda i: a[i] + b[i], name="c")
    intrin = te.decl_tensor_intrin(
        c,
        lambda ins, outs: outs[0].vstore(
            0, ins[0].vload(0, "float32x8") + ins[1].vload([0], "float32x8")
        ),
        name="vadd",
    )

    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[1], [None, 8])
        sch.tensorize(inner, intrin)

    after_steps(sums(3, 16), steps, [ramp(3, 16), ramp(3, 16)])


def test_tiles_are_scheduled_further() -> None:
    sch = Schedule(product(8, 32, 128))
    x, y = ramp(8, 128), ramp(32, 128)
    gemv_steps(sch)
    sch.cache_write("C", "global")
    assert_values(sch, [x, y], [x @ y.T])


def _tensorized(c: Tensor, factor: int, intrin: TensorIntrin, axis: int = -1) -> Callable[[], None]:
    def run() -> None:
        sch = Schedule(c)
        _, inner = sch.split(sch.loops("C")[axis], [None, factor])
        sch.tensorize(inner, intrin)

    return run


def _differences(n: int, m: int) -> Tensor:
    a, b = te.placeholder((n, m), name="A"), te.placeholder((n, m), name="B")
    return te.compute((n, m), lambda i, j: a[i, j] - b[i, j], name="C")


def _columns() -> Tensor:
    a, b = te.placeholder((16, 16), name="A"), te.placeholder((16, 16), name="B")
    return te.compute((16, 16), lambda i, j: a[i, j] + b[j, i], name="C")


def test_code_without_pointers_takes_columns() -> None:
    after_steps(_columns(), tensorized(8), [ramp(16, 16), ramp(16, 16)])


def tensorized(factor: int) -> Callable[[Schedule], None]:
    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[-1], [None, factor])
        sch.tensorize(inner, add8())

    return steps


def _reversed() -> Tensor:
    a, b = te.placeholder((16, 16), name="A"), te.placeholder((16, 16), name="B")
    return te.compute((16, 16), lambda i, j: a[i, j] + b[i, 15 - j], name="C")


def _doubles() -> Tensor:
    a, b = te.placeholder((16,), "float64", name="A"), te.placeholder((16,), "float64", name="B")
    return te.compute((16,), lambda i: a[i] + b[i], name="C")


def _weighted() -> Tensor:
    a, b = te.placeholder((16, 16), name="A"), te.placeholder((16, 16), name="B")
    return te.compute((16, 16), lambda i, j: a[i, j] * 0.25 + b[i, j], name="C")


def _no_update() -> None:
    a = te.placeholder((8,), name="a")
    k = te.reduce_axis(8, "k")
    s = te.compute((), lambda: te.sum(a[k], axis=k), name="s")
    code = "def total(a: float32[8], s: float32[()]):\n    s[()] = a[0]\n"
    intrin = te.tensor_intrin("total", s, code)
    x = te.placeholder((4, 16), name="A")
    r = te.reduce_axis(16, "k")
    sch = Schedule(te.compute((4,), lambda i: te.sum(x[i, r], axis=r), name="C"))
    _, inner = sch.split(sch.loops("C")[1], [None, 8])
    sch.tensorize(inner, intrin)


def _strided() -> None:
    """Rows of b must follow each other without a gap for this code."""
    compact = "symbol:gemv_compact"
    a, b = te.placeholder((8,), name="a"), te.placeholder((4, 8), name="b")
    k = te.reduce_axis(8, "k")
    c = te.compute((4,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    intrin = te.tensor_intrin("compact", c, compact, reset=compact, update=compact)
    sch = Schedule(product(8, 8, 16))
    i, j, kk = sch.loops("C")
    jo, ji = sch.split(j, [None, 4])
    ko, ki = sch.split(kk, [None, 8])
    sch.reorder(i, jo, ko, ji, ki)
    sch.tensorize(ji, intrin)


REFUSALS: list[tuple[Callable[[], None], str, str]] = [
    (_tensorized(sums(4, 20), 8, add8()), "tensorize.guard", "some iterations of the last tile"),
    (_tensorized(sums(4, 16), 4, add8()), "tensorize.mismatch",
     "add8 describes i of 8, C has j of 4"),
    (_tensorized(_differences(4, 16), 8, add8()), "tensorize.mismatch",
     "the operations differ"),
    (_tensorized(_reversed(), 8, add8()), "tensorize.mismatch", "index 0 of b and index 1 of B"),
    (_tensorized(_weighted(), 8, add8()), "tensorize.mismatch",
     "C has A[vi, vj * 8 + j] * 0.25"),
    (_tensorized(_doubles(), 8, add8()), "tensorize.mismatch", "c holds float32, C holds float64"),
    (_tensorized(product(4, 8, 8), 8, add8()), "tensorize.mismatch", "k of 8 (reduced)"),
    (_no_update, "tensorize.no-update", "goes on with a sum that has begun"),
    (_strided, "tensorize.stride", "must be 8 element(s) apart, but in B they are 16"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[2][:24] for r in REFUSALS])
def test_refusals_say_what_differs(run: Callable[[], None], rule: str, text: str) -> None:
    assert_refused(run, rule, text)


def test_menu_offers_the_declared_intrinsics() -> None:
    sch = Schedule(sums(4, 16))
    add8()
    _, inner = sch.split(sch.loops("C")[1], [None, 8])
    action = next(a for a in sch.actions(inner) if a.primitive == "tensorize")
    choices = {c.value: c.verdict for c in action.choices["intrin"]}
    assert choices["add8"]
    assert action.verdict


def test_unknown_names_and_wrong_arguments() -> None:
    sch = Schedule(sums(4, 16))
    with pytest.raises(UserError, match="no tensor intrinsic is declared as 'nothing'"):
        sch.tensorize(sch.loops("C")[1], "nothing")
    with pytest.raises(ScheduleError, match="intrin must be a name, not 3"):
        sch.apply("tensorize", sch.loops("C")[1], 3)
