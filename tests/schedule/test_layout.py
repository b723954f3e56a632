"""transform_layout and transform_block_layout: programs, values, traces, refusals."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.driver import build
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.support import ScheduleError
from tvmlab.te import Tensor

TILES = "lambda k, j: [j // 16, k, j % 16]"


def product(m: int = 6, n: int = 20, k: int = 10) -> Tensor:
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "k")
    return te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def chain(n: int = 20) -> Tensor:
    a = te.placeholder((4, n), name="A")
    b = te.compute((4, n), lambda i, j: a[i, j] * 2.0, name="B")
    return te.compute((4, n), lambda i, j: b[i, n - 1 - j] + 1.0, name="C")


ARRAYS = [ramp(6, 10), ramp(10, 20)]


def test_packing_is_a_copy_in_another_layout() -> None:
    def steps(s: Schedule) -> None:
        copy = s.cache_read("C", "B", "global")
        s.transform_layout("C", copy.name, lambda k, j: [j // 16, k, j % 16])
        loops = s.transform_block_layout(copy, lambda k, j: [j // 16, k, j % 16])
        assert [(lp.name, lp.extent) for lp in loops] == [
            ("j_outer", 2), ("k", 10), ("j_inner", 16),
        ]  # fmt: skip

    sch = after_steps(product(), steps, ARRAYS)
    assert "B_global = alloc(float32[2, 10, 16])" in str(sch)
    assert "B_global[vj_outer, vk, vj_inner] = B[vk, vj_outer * 16 + vj_inner]" in str(sch)
    assert "where(j_outer * 16 + j_inner < 20)" in str(sch)


def test_interleaving_four_of_k_with_padding_that_is_filled() -> None:
    def steps(s: Schedule) -> None:
        copy = s.cache_read("C", "B", "global")
        s.transform_layout(
            "C", copy.name, lambda k, j: [j // 16, ..., k // 4, j % 16, k % 4], pad_value=0
        )
        s.transform_block_layout("C", lambda i, j, k: [i, j // 16, k // 4, j % 16, k % 4])

    sch = after_steps(product(), steps, ARRAYS)
    assert "B_global = alloc(float32[2, 3, 16, 4])" in str(sch)
    assert "select(vk_outer * 4 + vk_inner < 10" in str(sch)
    assert "..., k // 4" in sch.trace.to_python()


def test_an_intermediate_in_the_layout_of_its_consumer() -> None:
    after_steps(
        chain(), lambda s: s.transform_layout("B", "B", "lambda i, j: [j, i]"), [ramp(4, 20)]
    )


def test_a_parameter_only_where_asked() -> None:
    sch = Schedule(product())
    with pytest.raises(RefusedError, match="signature=True") as refused:
        sch.transform_layout("C", "B", TILES)
    assert refused.value.verdict.rule == "transform_layout.signature"
    sch.transform_layout("C", "B", TILES, signature=True)
    a, b = (array.astype("float32") for array in ARRAYS)
    packed = np.zeros((2, 10, 16), "float32")
    packed.transpose(1, 0, 2).reshape(10, 32)[:, :20] = 0
    for j in range(20):
        packed[j // 16, :, j % 16] = b[:, j]
    c = np.empty((6, 20), "float32")
    build(sch)(a, packed, c)
    np.testing.assert_allclose(c, a @ b)


def _on_chain(*args: object) -> Callable[[Schedule], object]:
    return lambda s: s.apply("transform_layout", *args)


def _sum_filled(s: Schedule) -> None:
    s.cache_write("C")
    s.transform_layout("C", s.program.allocs[-1], "lambda i, j: [i, j // 3, j % 3]", 0)


def _move_partial(s: Schedule) -> None:
    s.transform_block_layout("B", "lambda i, j: [i, j // 3, j % 3]")
    s.compute_at("B", s.loops("C")[0])


def _split_first(s: Schedule) -> None:
    s.split(s.loops("B")[0], [None, 2])
    s.transform_block_layout("B", "lambda i, j: [j, i]")


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        (_on_chain("B", "C", "lambda i, j: [j, i]"), "transform_layout.not-touched"),
        (_on_chain("B", "B", "lambda i, j: [i + j]"), "transform_layout.not-one-to-one"),
        (_on_chain("B", "B", "lambda i, j: [i - j, j]"), "transform_layout.range"),
        (_on_chain("C", "A", "lambda i, j: [j, i]"), "transform_layout.not-touched"),
        (_move_partial, "compute_at.partial-domain"),
        (_split_first, "transform_block_layout.loops"),
        (
            lambda s: s.transform_block_layout("B", "lambda i, j: [i]"),
            "transform_block_layout.not-one-to-one",
        ),
    ],
)
def test_refusals(steps: Callable[[Schedule], object], rule: str) -> None:
    sch = Schedule(chain())
    with pytest.raises(RefusedError) as refused:
        steps(sch)
    assert refused.value.verdict.rule == rule


def test_a_sum_cannot_fill_padding_and_its_variables_cannot_be_mixed() -> None:
    with pytest.raises(RefusedError) as refused:
        _sum_filled(Schedule(product()))
    assert refused.value.verdict.rule == "transform_layout.fill"
    with pytest.raises(RefusedError) as refused:
        Schedule(product()).transform_block_layout("C", "lambda i, j, k: [i, j * 10 + k]")
    assert refused.value.verdict.rule == "transform_block_layout.mixed"


def test_wrong_arguments() -> None:
    sch = Schedule(chain())
    with pytest.raises(ScheduleError, match="takes 1 indices, but there are 2"):
        sch.transform_layout("B", "B", lambda i: [i])
    with pytest.raises(ScheduleError, match="must be True or False"):
        sch.apply("transform_layout", "B", "B", "lambda i, j: [j, i]", None, 3)


def test_padding_without_a_value_cannot_be_copied() -> None:
    sch = Schedule(chain())
    sch.transform_layout("B", "B", "lambda i, j: [i, j // 3, j % 3]")
    for step in (lambda: sch.cache_write("B"), lambda: sch.cache_read("C", "B")):
        with pytest.raises(RefusedError, match=r"leaves parts of B unwritten, and B\[0, 6, 2\]"):
            step()


def test_a_copy_inside_a_loop_takes_only_what_its_iteration_wrote() -> None:
    """Iteration i writes B[i // 4, i % 4] to B[(i + 2) // 4, (i + 2) % 4]: no box of B."""
    a = te.placeholder((10,), name="A")
    b = te.compute((8,), lambda i: a[i] + a[i + 2], name="B")
    sch = Schedule(te.compute((6,), lambda i: b[i] - b[i + 2], name="C"))
    sch.compute_at("B", sch.loops("C")[0])
    sch.transform_layout("C", "B", lambda i: [i // 4, i % 4])
    with pytest.raises(RefusedError) as refused:
        sch.cache_read("C", "B", "local")
    assert refused.value.verdict.rule == "cache_read.uncovered"


def test_menu_offers_tiles_of_intermediates() -> None:
    offers = [a for a in Schedule(chain()).actions("B") if a.primitive == "transform_layout"]
    assert [str(a.args["mapping"]) for a in offers] == ["lambda i0, i1: [i0, i1 // 4, i1 % 4]"]
    assert offers[0].verdict
