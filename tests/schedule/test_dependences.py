"""Programs in which iterations depend on each other: what is allowed, refused, shown and mended."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import Program, parse, to_text
from tvmlab.lower import lower
from tvmlab.schedule import Iteration, RefusedError, Schedule, Witness
from tvmlab.support import RuntimeFailure, TvmlabError, UserError
from tvmlab.target import Target

STENCIL = """
def f(A: float32[16, 16]):
    for i in range(15):
        for j in range(15):
            A[i + 1, j + 1] = A[i, j + 1] + A[i + 1, j]
"""
SCAN = """
def f(A: float32[17], B: float32[17]):
    for i in range(16):
        B[i + 1] = B[i] + A[i + 1]
"""
DISTANT = """
def f(A: float32[64]):
    for i in range(60):
        A[i + 4] = A[i] * 2.0
"""
TRIANGLE = """
def f(A: float32[n, n], C: float32[n], n: int64):
    for i in range(n):
        for j in range(i + 1):
            C[i] = C[i] * 0.5 + A[i, j]
"""
SCATTER = """
def f(A: float32[8], X: int64[8], C: float32[8]):
    for i in range(8):
        C[X[i]] = A[i]
"""
JACOBI = """
def f(A: float32[10], B: float32[10]):
    for t in range(4):
        for i in range(8):
            B[i + 1] = A[i] + A[i + 2]
        for i in range(8):
            A[i + 1] = B[i + 1] * 0.5
"""


def arrays_of(source: str, n: int = 7) -> list[Any]:
    rng = np.random.default_rng(5)
    made: list[Any] = []
    for param in parse(source).params:
        shape = [int(text) if text.isdigit() else n for text in _sizes(param)]
        if param.name == "n":
            made.append(n)
        elif param.name == "X":
            made.append(np.arange(8)[::-1].copy())
        else:
            made.append(rng.integers(-3, 4, shape).astype("float32"))
    return made


def _sizes(param: Any) -> list[str]:
    return [to_text(size) for size in getattr(param, "shape", ())]


def values(source: str, program: Program) -> list[NDArray[Any]]:
    arguments = arrays_of(source)
    interpret(program, arguments)
    return arrays_among(arguments)


def arrays_among(arguments: list[Any]) -> list[NDArray[Any]]:
    return [a for a in arguments if isinstance(a, np.ndarray)]


def assert_keeps_values(source: str, schedule: Schedule) -> None:
    want = values(source, parse(source))
    lowered = lower(schedule.program, Target.host()).program
    for program in (schedule.program, lowered):
        for got, expected in zip(values(source, program), want, strict=True):
            np.testing.assert_array_equal(got, expected)
    arguments = arrays_of(source)
    build(schedule)(*arguments)
    for got, expected in zip(arrays_among(arguments), want, strict=True):
        np.testing.assert_array_equal(got, expected)


def scheduled(source: str) -> Schedule:
    return Schedule(parse(source))


def test_statements_become_blocks() -> None:
    sch = scheduled(JACOBI)
    assert [b.name for b in sch.blocks()] == ["B", "A"]
    assert "vt=opaque(4, t)" not in str(sch)
    assert 'block("B", vi=spatial(8, i))' in str(sch)


def test_a_wavefront_is_offered_and_works() -> None:
    sch = scheduled(STENCIL)
    i, j = sch.loops("A")
    verdict = sch.check("parallel", j)
    assert (verdict.status, verdict.rule) == ("refused", "parallel.dependence")
    assert verdict.witness == Witness(
        Iteration("A", {"i": 0, "j": 0}), Iteration("A", {"i": 0, "j": 1}), "A", (1, 1), "flow"
    )
    assert str(verdict.witness) == "j=0 writes A[1, 1], which j=1 reads"
    (fix,) = verdict.fixes
    assert fix.title.startswith("skew j by 1 along i")
    sch.apply_fix(fix)
    assert i.kind == "parallel"
    assert_keeps_values(STENCIL, sch)


def test_a_stencil_in_place_can_be_reordered_and_tiled() -> None:
    sch = scheduled(STENCIL)
    i, j = sch.loops("A")
    io, ii = sch.split(i, [None, 4])
    jo, ji = sch.split(j, [None, 4])
    sch.reorder(io, jo, ii, ji)
    sch.unroll(ji)
    assert_keeps_values(STENCIL, sch)


def test_a_running_sum_keeps_its_order() -> None:
    sch = scheduled(SCAN)
    (i,) = sch.loops("B")
    assert str(sch.check("parallel", i).witness) == "i=0 writes B[1], which i=1 reads"
    assert not sch.check("vectorize", i)
    outer, inner = sch.split(i, [None, 4])
    verdict = sch.check("reorder", inner, outer)
    assert verdict.rule == "reorder.dependence"
    assert "would change places" in verdict.reason
    sch.unroll(inner)
    assert_keeps_values(SCAN, sch)


def test_a_distance_leaves_room_for_vectors() -> None:
    sch = scheduled(DISTANT)
    (i,) = sch.loops("A")
    (fix,) = sch.check("vectorize", i).fixes
    assert fix.title == "split i by 4 and vectorize the inner loop"
    sch.apply_fix(fix)
    assert [lp.kind for lp in sch.loops("A")] == ["serial", "vectorized"]
    assert_keeps_values(DISTANT, sch)


def test_a_triangle_is_turned_around() -> None:
    sch = scheduled(TRIANGLE)
    i, j = sch.loops("C")
    sch.reorder(j, i)
    assert "for i in range(n - j):" in str(sch)
    assert not sch.check("parallel", j)
    sch.parallel(i)
    assert_keeps_values(TRIANGLE, sch)


def test_a_triangle_can_be_split_and_fused() -> None:
    source = TRIANGLE.replace("n: int64", "n: int64").replace("range(n)", "range(7)")
    sch = scheduled(source)
    i, j = sch.loops("C")
    outer, inner = sch.split(j, [None, 2])
    sch.fuse(i, outer)
    sch.unroll(inner)
    assert_keeps_values(source, sch)


def test_loops_over_several_nests() -> None:
    sch = scheduled(JACOBI)
    t, i = sch.loops("B")
    _, i2 = sch.loops("A")
    assert sch.check("parallel", t).rule == "parallel.dependence"
    sch.parallel(i)
    sch.vectorize(i2)
    assert_keeps_values(JACOBI, sch)


def test_a_scan_of_te() -> None:
    x = te.placeholder((6, 5), name="X")
    state = te.placeholder((6, 5), name="S")
    init = te.compute((1, 5), lambda _, i: x[0, i], name="init")
    update = te.compute((6, 5), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    sch = Schedule(te.scan(init, update, state, inputs=[x]))
    t, i = sch.loops("update")
    assert sch.check("parallel", t).rule == "parallel.dependence"
    sch.reorder(i, t)
    sch.parallel(i)
    data, result = np.ones((6, 5), "float32"), np.zeros((6, 5), "float32")
    build(sch)(data, result)
    np.testing.assert_array_equal(result, np.cumsum(data, 0))


# ------------------------------------------------------------------------------------- assume


def test_an_assumed_size_drops_the_guard_and_is_checked_at_each_call() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    sch = Schedule(te.compute((n,), lambda i: a[i] + 1.0, name="C"))
    sch.assume("n % 16 == 0")
    sch.split(sch.loops("C")[0], [None, 16])
    assert "where" not in str(sch)
    assert "for i_outer in range(n // 16):" in str(sch)
    kernel = build(sch)
    data, result = np.ones(32, "float32"), np.zeros(32, "float32")
    kernel(32, data, result)
    np.testing.assert_array_equal(result, data + 1)
    with pytest.raises(RuntimeFailure, match="assumes n % 16 == 0, which does not hold"):
        kernel(17, data[:17].copy(), result[:17].copy())


def test_assumed_independence_is_recorded_and_replayed() -> None:
    sch = scheduled(SCATTER)
    (i,) = sch.loops("C")
    verdict = sch.check("parallel", i)
    assert (verdict.status, verdict.rule) == ("unknown", "parallel.overlap")
    assert 'sch.assume("independent", i)' in verdict.reason
    sch.assume("independent", i)
    sch.parallel(i)
    assert 'sch.assume("independent", i)' in sch.trace.to_python()
    again = Schedule.replay(parse(SCATTER), sch.trace.to_json())
    assert to_text(again.program) == to_text(sch.program)
    assert to_text(parse(to_text(sch.program))) == to_text(sch.program)
    assert_keeps_values(SCATTER, sch)


def test_the_interpreter_finds_a_race_that_was_denied() -> None:
    sch = scheduled(SCATTER)
    (i,) = sch.loops("C")
    sch.assume("independent", i)
    sch.parallel(i)
    ones = np.ones(8, "float32")
    with pytest.raises(TvmlabError, match="their order is not defined"):
        interpret(sch.program, [ones, np.zeros(8, "int64"), ones.copy()])


def test_an_assumed_operation_frees_the_order() -> None:
    sch = scheduled(TRIANGLE.replace("range(i + 1)", "range(n)"))
    i, j = sch.loops("C")
    outer, inner = sch.split(j, [None, 2])
    assert not sch.check("reorder", inner, outer)
    sch.assume("associative", "C")
    assert sch.check("reorder", inner, outer)
    assert i.alive
    assert 'annotate(assume=("associative",))' in str(sch)
    assert sch.trace.to_python().splitlines()[-1] == 'sch.assume("associative", "C")'


# ----------------------------------------------------------------------------------- refusals


def _assume(source: str, *args: str) -> Callable[[], object]:
    return lambda: scheduled(source).assume(*args)


def _skew(outer: int, inner: int, factor: int = 1, source: str = STENCIL) -> Callable[[], object]:
    def run() -> None:
        sch = scheduled(source)
        loops = sch.loops(sch.blocks()[0])
        sch.skew(loops[outer], loops[inner], factor)

    return run


def _fuse_open_triangle() -> None:
    sch = scheduled(TRIANGLE)
    sch.fuse(*sch.loops("C"))


def _reorder_steep_triangle() -> None:
    sch = scheduled(TRIANGLE.replace("i + 1", "i * 2 + 1"))
    i, j = sch.loops("C")
    sch.reorder(j, i)


def _move_what_changes() -> None:
    sch = Schedule(
        parse(
            """
def f(A: float32[10], C: float32[10]):
    B = alloc(float32[10])
    for i in range(10):
        B[i] = A[i] * 2.0
    for i in range(10):
        A[i] = 0.0
    for i in range(10):
        C[i] = B[i] + 1.0
"""
        )
    )
    sch.compute_inline("B")


def _unlawful(step: str) -> Callable[[], object]:
    def run() -> None:
        a = te.placeholder((4, 4), name="A")
        k, r = te.reduce_axis(4, "k"), te.reduce_axis(4, "r")
        minus = te.comm_reducer(lambda x, y: x - y, lambda t: te.const(0, t), name="minus")
        sch = Schedule(te.compute((2,), lambda i: minus(a[k, r], axis=[k, r]), name="C"))
        _, outer, inner = sch.loops("C")
        if step == "reorder":
            sch.reorder(inner, outer)
        elif step == "parallel":
            sch.parallel(outer)
        else:
            sch.rfactor("C", outer)

    return run


def _vector_gets_a_dependent_extent() -> None:
    sch = scheduled(TRIANGLE.replace("range(n)", "range(7)"))
    i, j = sch.loops("C")
    sch.unroll(i)
    sch.reorder(j, i)


REFUSALS: list[tuple[Callable[[], object], str, str]] = [
    (_skew(1, 0), "skew.not-inside", "i must be inside it"),
    (_skew(0, 1, 0), "skew.factor", "the factor must be 1 or more"),
    (_skew(0, 1, 1, TRIANGLE), "skew.dependent-extent", "depends on a loop around it"),
    (_assume(STENCIL, "independent"), "assume.subject", "is said of a loop"),
    (_assume(STENCIL, "associative"), "assume.subject", "is said of a block"),
    (_assume(STENCIL, "associative", "A"), "assume.no-update", "block A is no update of elements"),
    (_assume(TRIANGLE, "m > 1"), "assume.not-a-fact", "sizes are: n"),
    (_assume(TRIANGLE, "n + 1"), "assume.not-a-fact", "is no condition on sizes"),
    (_assume(STENCIL, "n > 1"), "assume.not-a-fact", "all sizes of this program are fixed"),
    (_assume(TRIANGLE, "n > 1", "C"), "assume.subject", "is a fact about sizes"),
    (_fuse_open_triangle, "fuse.dependent-extent", "has no constant bound"),
    (_reorder_steep_triangle, "reorder.dependent-extent", "cannot be written down exactly"),
    (_vector_gets_a_dependent_extent, "reorder.dependent-extent",
     "the unrolled loop i would get an extent that depends on other loops"),
    (_move_what_changes, "compute_inline.changing-values",
     "B reads A before A has written it for the last time"),
    (_unlawful("reorder"), "reorder.dependence", "is not associative and commutative"),
    (_unlawful("parallel"), "parallel.dependence", "is not associative and commutative"),
    (_unlawful("rfactor"), "rfactor.unlawful", "it is not commutative"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[1] for r in REFUSALS])
def test_refusal(run: Callable[[], object], rule: str, text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        run()
    assert caught.value.verdict.rule == rule
    assert caught.value.verdict.status == "refused"
    assert text in str(caught.value)


def test_a_sum_that_nobody_reads_is_no_reason_to_race() -> None:
    program = parse("""
def f(A: int64[4], C: int64[1]):
    T = alloc(int64[3])
    for r in range(4):
        for i in range(3):
            with block("T", vi=spatial(3, i), vr=reduce(4, r)):
                with init():
                    T[vi] = 0
                T[vi] = T[vi] + A[vr]
    with block("C"):
        C[0] = A[0]
""")
    assert isinstance(program, Program)
    sch = Schedule(program)
    assert sch.check("parallel", sch.loops("T")[0]).rule == "parallel.reduction"


OLD_VALUES = [
    """
def f(A: int64[4, 5], C: int64[4]):
    for i in range(4):
        for j in range(5):
            C[i] = C[i] + A[i, j]
""",
    # The element that the second statement goes on from is written one iteration later.
    """
def f(A: int64[4, 5], C: int64[4]):
    for i in range(4):
        C[i] = A[i, 0]
        C[3] = C[3] + A[i, 1]
""",
]


@pytest.mark.parametrize("text", OLD_VALUES)
def test_a_result_that_goes_on_from_old_values_is_not_staged(text: str) -> None:
    program = parse(text)
    assert isinstance(program, Program)
    sch = Schedule(program)
    with pytest.raises(RefusedError, match="goes on from values that C holds before") as refused:
        sch.cache_write(sch.blocks()[-1])
    assert refused.value.verdict.rule == "cache_write.old-values"


def test_assume_needs_a_text() -> None:
    with pytest.raises(UserError, match="fact must be a name"):
        scheduled(STENCIL).apply("assume", 3)


def test_a_refusal_reads_well_in_a_notebook() -> None:
    sch = scheduled(STENCIL)
    i, _ = sch.loops("A")
    verdict: Any = sch.check("parallel", i)
    html = verdict._repr_html_()
    assert "i=0 writes A[1, 1], which i=1 reads" in html
    assert "would work: skew j by 1 along i" in html
    with pytest.raises(RefusedError) as caught:
        sch.parallel(i)
    error: Any = caught.value
    lines = "\n".join(error._render_traceback_())
    assert "sch.parallel(i)" in lines
    assert "->     for i in range(15):" in lines
    assert "parallel.dependence" in lines
    assert "for i in range(15):" in error._repr_html_()


def test_ordinary_nests_ask_no_integer_sets() -> None:
    script = """
import sys
from helpers.schedules import tiled_schedule
from helpers.random_schedules import references
sch = tiled_schedule()
for ref in references(sch):
    sch.actions(ref)
print("islpy" in sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
    )  # fmt: skip
    assert result.stdout.strip() == "False"


UNREAD_SUM = """
def f(A: float32[4, 8], C: float32[4]):
    T = alloc(float32[4])
    for k in range(8):
        for i in range(3):
            for j in range(4):
                with block("T", vj=spatial(4, j), vk=reduce(8, k)):
                    with init():
                        T[vj] = 0.0
                    T[vj] = T[vj] + A[vj, vk]
    for j in range(4):
        with block("C", vj=spatial(4, j)):
            C[vj] = A[vj, 0]
"""


def test_copies_of_a_sum_that_goes_on_outside_would_start_again() -> None:
    sch = Schedule(parse(UNREAD_SUM))
    assert sch.check("parallel", sch.loops("T")[1]).rule == "parallel.same-element"
    whole = UNREAD_SUM.replace("for k in range(8)", "for o in range(3)")
    sch = Schedule(parse(whole.replace("for i in range(3)", "for k in range(8)")))
    sch.parallel(sch.loops("T")[0])
    lowered = lower(sch.program, Target.host()).program
    interpret(lowered, [np.ones((4, 8), "float32"), np.zeros(4, "float32")])
