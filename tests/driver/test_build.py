"""Building: from every kind of source to results, with the cache, the sources and the errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import EmitOptions
from tvmlab.codegen.llvm.options import FastMath
from tvmlab.driver import count_flops, recall
from tvmlab.ir import parse
from tvmlab.lower import LowerOptions
from tvmlab.support import OptionError, UserError
from tvmlab.te import Tensor


def matmul(n: int = 16) -> Tensor:
    a = te.placeholder((n, n), name="A")
    b = te.placeholder((n, n), name="B")
    k = te.reduce_axis(n, "k")
    return te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def square(n: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(seed).random((n, n), dtype=np.float32)


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVMLAB_CACHE_DIR", str(tmp_path))


def test_every_kind_of_source_computes_the_same() -> None:
    c = matmul()
    sch = tl.Schedule(c)
    a, b = square(16, 0), square(16, 1)
    for source in (c, [c], sch, sch.program, parse(str(sch))):
        out = np.empty_like(a)
        tl.build(source)(a, b, out)
        np.testing.assert_allclose(out, a @ b, rtol=1e-5)


def test_the_second_build_takes_the_object_from_the_cache() -> None:
    sch = tl.Schedule(matmul())
    first, second = tl.build(sch), tl.build(sch)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert not tl.build(sch, cache=False).from_cache
    a, b, out = square(16, 0), square(16, 1), square(16, 2)
    second(a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)


def test_the_second_build_does_not_lower_again() -> None:
    sch = tl.Schedule(matmul())
    first, second = tl.build(sch), tl.build(sch)
    assert set(second.stages) == {"recall"}
    assert second.signature == first.signature
    assert str(second.lowered) == str(first.lowered)  # made now that somebody asks
    assert second.ir_text == first.ir_text
    assert len(second.record) == len(first.record)


def test_other_options_and_other_compilers_build_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    sch = tl.Schedule(matmul())
    tl.build(sch)
    assert "lower" in tl.build(sch, options=LowerOptions(max_unroll=7)).stages
    assert (
        "lower"
        in tl.build(sch, emit_options=EmitOptions(fast_math=FastMath(contract=False))).stages
    )
    assert "lower" in tl.build(tl.Schedule(matmul(), name="another")).stages
    monkeypatch.setattr(recall, "_compiler_state", lambda: "another")
    again = tl.build(sch)
    assert "lower" in again.stages
    assert again.from_cache  # the object is the same


def test_code_that_a_loop_carries_is_part_of_what_is_found_again() -> None:
    code = (
        "define void @doubled_in_place(ptr %p) { %x = load i32, ptr %p\\n %y = mul i32 %x, 2\\n "
        "store i32 %y, ptr %p\\n ret void }"
    )
    program = parse(f"""\
def f(A: int32[8]):
    for i in range(8, pragma_import_llvm="{code}"):
        call("symbol:doubled_in_place", update(A[i]))
""")
    for stages in ("lower", "recall"):
        exe = tl.build(program)
        assert stages in exe.stages
        values = np.arange(8, dtype="i4")
        exe(values)
        assert values.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_an_object_that_is_gone_is_built_again(tmp_path: Path) -> None:
    sch = tl.Schedule(matmul())
    tl.build(sch)
    largest = max(tmp_path.glob("*.o"), key=lambda path: path.stat().st_size)
    largest.unlink()
    exe = tl.build(sch)
    assert not exe.from_cache
    a, b, out = square(16, 0), square(16, 1), square(16, 2)
    exe(a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)


def test_sources() -> None:
    exe = tl.build(matmul())
    assert "with block" in exe.source("loops")
    assert "with block" not in exe.source("lowered")
    assert "define" in exe.source("llvm")
    assert "ret" in exe.source("asm")
    with pytest.raises(OptionError, match="there is no source of kind 'ptx'"):
        exe.source("ptx")  # pyright: ignore[reportArgumentType]


def test_stages_are_timed_and_passes_recorded() -> None:
    exe = tl.build(matmul(), cache=False)
    assert {"lower", "emit", "parse", "optimize", "codegen", "load"} <= exe.stages.keys()
    assert all(s >= 0 for s in exe.stages.values())
    assert any(r.changed for r in exe.record)


def test_time_gives_a_distribution_with_a_rate() -> None:
    exe = tl.build(matmul(64))
    timing = exe.time(square(64, 0), square(64, 1), square(64, 2), repeats=3)
    low, high = timing.quartiles
    assert 0 < timing.min <= low <= timing.median <= high
    assert timing.gflops is not None
    assert timing.gflops == pytest.approx(2 * 64**3 / timing.median / 1e9)


def test_flops_do_not_depend_on_the_schedule() -> None:
    sch = tl.Schedule(matmul())
    before = count_flops(sch.program)
    i, _, k = sch.loops("C")
    sch.split(i, [None, 3])
    sch.cache_write("C")
    sch.decompose_reduction("C", k)
    assert count_flops(sch.program) == before == 2 * 16**3


def test_a_symbolic_size_makes_one_kernel_for_many_sizes() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    sch = tl.Schedule(te.compute((n,), lambda i: a[i] * 2.0 + 1.0, name="C"))
    _, inner = sch.split(sch.loops("C")[0], [None, 8])
    sch.vectorize(inner)
    exe = tl.build(sch)
    for size in (1, 7, 8, 9, 100):
        x = np.arange(size, dtype=np.float32)
        out = np.empty_like(x)
        exe(x, out)
        np.testing.assert_array_equal(out, x * 2 + 1)


def test_a_symbolic_size_with_a_guard_at_its_end_and_a_split() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: te.if_then_else(i + 1 < n, a[i + 1], 0.0), name="C")
    sch = tl.Schedule(c)
    sch.split(sch.loops("C")[0], [None, 4])
    exe = tl.build(sch)
    for size in (1, 3, 4, 5, 17):
        x = np.arange(size, dtype=np.float32) + 1
        out = np.empty_like(x)
        exe(x, out)
        np.testing.assert_array_equal(out, np.append(x[1:], np.float32(0)))


def test_a_literal_that_does_not_fit_is_the_users_to_mend() -> None:
    a = te.placeholder((8,), "int8", name="A")
    with pytest.raises(UserError, match="300 does not fit"):
        tl.build(te.compute((8,), lambda i: a[i] + 300, name="C"))


def test_errors() -> None:
    with pytest.raises(UserError, match="cannot build int"):
        tl.build(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(OptionError):
        tl.build(matmul(), target="toaster")
    exe = tl.build(matmul())
    with pytest.raises(UserError, match="A"):
        exe(square(15, 0), square(16, 0), square(16, 0))
