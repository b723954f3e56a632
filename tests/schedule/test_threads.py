"""Threads of a device: what bind and set_scope accept, and each refusal with its words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.devices import product, softmax, softmax_over_threads, tile_over_threads

from tvmlab import te
from tvmlab.ir import parse, to_text
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.support import ScheduleError
from tvmlab.te import Tensor


def shifted(n: int = 16) -> Tensor:
    """Each element needs two neighbors."""
    a = te.placeholder((n + 1,), name="A")
    b = te.compute((n + 1,), lambda i: a[i] * 2.0, name="B")
    return te.compute((n,), lambda i: b[i] + b[i + 1], name="C")


def reversing(n: int = 16) -> Tensor:
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2.0, name="B")
    return te.compute((n,), lambda i: b[n - 1 - i] + 1.0, name="C")


def symbolic() -> Tensor:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    return te.compute((n,), lambda i: a[i] + 1.0, name="C")


def in_one_group(sch: Schedule) -> None:
    """Both stages in one group of threads, each over threads of its own."""
    (i,) = sch.loops("C")
    one, t = sch.split(i, [1, None])
    sch.bind(one, "blockIdx.x")
    sch.compute_at("B", one)
    sch.bind(t, "threadIdx.x")
    sch.bind(sch.loops("B")[-1], "threadIdx.x")


def test_bind_marks_the_loop_and_serial_takes_it_back() -> None:
    sch = Schedule(product(8))
    i, j, _ = sch.loops("C")
    start = to_text(sch.program)
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "vthread")
    assert 'for i in thread(8, "blockIdx.x")' in str(sch)
    assert "for j in virtual(8)" in str(sch)
    assert (i.kind, j.kind) == ("thread", "virtual")
    sch.serial(i)
    sch.serial(j)
    assert to_text(sch.program) == start


def test_a_thread_axis_gives_tag_and_extent() -> None:
    sch = Schedule(product(8))
    i, j, _ = sch.loops("C")
    sch.bind(i, te.thread_axis("blockIdx.y"))
    sch.bind(j, te.thread_axis((0, 8), "threadIdx.x"))
    assert 'thread(8, "threadIdx.x")' in str(sch)
    sch.undo()
    with pytest.raises(ScheduleError, match="j has 8 iterations, but the thread axis has 4"):
        sch.bind(j, te.thread_axis(4, "threadIdx.x"))
    assert sch.check("bind", j, te.thread_axis("threadIdx.x"))


def test_an_unknown_tag_is_named() -> None:
    sch = Schedule(product(8))
    with pytest.raises(ScheduleError, match=r"cannot be 'threadIdx\.w'"):
        sch.bind(sch.loops("C")[0], "threadIdx.w")
    with pytest.raises(ScheduleError, match="cannot be 'nowhere'"):
        sch.cache_write("C", "nowhere")


def test_a_shared_stage_holds_what_the_whole_group_needs() -> None:
    sch = Schedule(product(16))
    tile_over_threads(sch, 8, 2, 4)
    extents = [lp.extent for lp in sch.loops("A_shared")[-3:]]
    # 8 rows and 4 columns for the group, shared out to 2 x 2 threads.
    assert extents == [2, 2, 8]


def test_a_local_stage_holds_what_one_thread_needs() -> None:
    sch = Schedule(shifted())
    (i,) = sch.loops("C")
    _, t = sch.split(i, [None, 4])
    sch.bind(t, "threadIdx.x")
    (own,) = sch.compute_at("B", t)
    assert own.extent == 2


def test_menus_offer_threads_and_memory() -> None:
    sch = Schedule(softmax(4, 8))
    softmax_over_threads(sch, 4)
    actions = {a.primitive: a for a in sch.actions("E")}
    assert [c.label for c in actions["set_scope"].choices["scope"]] == ["shared", "local", "warp"]
    loops = {a.primitive: a for a in sch.actions(sch.loops("E")[1])}
    verdicts = {c.label: bool(c.verdict) for c in loops["bind"].choices["thread"]}
    assert verdicts["threadIdx.y"]
    assert not verdicts["blockIdx.x"]


def test_memory_of_a_block_may_be_named_by_the_block() -> None:
    sch = Schedule(reversing())
    sch.set_scope(sch.block("B"), "shared")
    assert 'scope="shared"' in str(sch)
    sch.set_scope("B", "accel.input")
    assert 'scope="accel.input"' in str(sch)


# ------------------------------------------------------------------ refusals


def _twice() -> None:
    sch = Schedule(product(8))
    i, *_ = sch.loops("C")
    sch.bind(i, "blockIdx.x")
    sch.bind(i, "blockIdx.y")


def _around(kind: str) -> Callable[[], None]:
    def run() -> None:
        sch = Schedule(product(8))
        i, j, _ = sch.loops("C")
        sch.apply(kind, i)
        sch.bind(j, "threadIdx.x")

    return run


def _parallel_inside() -> None:
    sch = Schedule(product(8))
    i, j, _ = sch.loops("C")
    sch.parallel(j)
    sch.bind(i, "blockIdx.x")


def _parallel_inside_later() -> None:
    sch = Schedule(product(8))
    i, j, _ = sch.loops("C")
    sch.bind(i, "blockIdx.x")
    sch.parallel(j)


def _vectorize_around() -> None:
    sch = Schedule(product(8))
    i, j, _ = sch.loops("C")
    sch.bind(j, "threadIdx.x")
    sch.vectorize(i)


def _symbolic() -> None:
    sch = Schedule(symbolic())
    sch.bind(sch.loops("C")[0], "threadIdx.x")


def _two_of_one_tag(tag: str) -> Callable[[], None]:
    def run() -> None:
        sch = Schedule(product(8))
        i, j, _ = sch.loops("C")
        sch.bind(i, tag)
        sch.bind(j, tag)

    return run


def _grid_inside() -> None:
    sch = Schedule(product(8))
    i, j, _ = sch.loops("C")
    sch.bind(i, "threadIdx.x")
    sch.bind(j, "blockIdx.x")


def _fetch(extent: int, scope: str, threads: int = 16) -> Callable[[], None]:
    """A stage of 32 elements inside 16 threads, shared out to `extent` of them."""

    def run() -> None:
        a = te.placeholder((16, 32), name="A")
        k = te.reduce_axis(32, "k")
        s = te.compute((threads,), lambda i: te.sum(a[0, k], axis=k), name="S")
        sch = Schedule(s)
        i, _ = sch.loops("S")
        sch.bind(i, "threadIdx.x")
        sch.cache_read("S", "A", scope)
        sch.compute_at(f"A_{scope}", i)
        sch.bind(sch.split(sch.loops(f"A_{scope}")[-1], [None, extent])[1], "threadIdx.x")

    return run


def _reduction(tag: str) -> Callable[[], None]:
    def run() -> None:
        sch = Schedule(product(8))
        sch.bind(sch.loops("C")[2], tag)

    return run


def _other_thread() -> None:
    sch = Schedule(reversing())
    in_one_group(sch)
    sch.set_scope("B", "local")


def _other_group() -> None:
    sch = Schedule(reversing())
    (i,) = sch.loops("C")
    one, b = sch.split(i, [1, None])
    sch.bind(one, "blockIdx.y")
    sch.compute_at("B", one)
    sch.bind(b, "blockIdx.x")
    sch.bind(sch.loops("B")[-1], "blockIdx.x")


def _wide_warp() -> None:
    sch = Schedule(reversing(64))
    in_one_group(sch)
    sch.set_scope("B", "warp")


def _parameter() -> None:
    Schedule(reversing()).set_scope("C", "shared")


def _already() -> None:
    Schedule(reversing()).set_scope("B", "global")


def _other_kernel() -> None:
    sch = Schedule(reversing())
    sch.bind(sch.loops("C")[0], "threadIdx.x")
    sch.set_scope("B", "shared")


def _overlapping() -> None:
    sch = Schedule(shifted())
    (i,) = sch.loops("C")
    sch.compute_at("B", i)
    sch.bind(i, "threadIdx.x")
    sch.set_scope("B", "shared")


UNEVEN = """
def f(A: float32[8, 8], C: float32[8, 8]):
    S = alloc(float32[4, 8], scope="shared")
    for v in range(4):
        for k in range(v + 1):
            for t in range(8):
                with block("S", vv=spatial(4, v), vk=spatial(8, k), vt=spatial(8, t)):
                    S[vv, vt] = A[vk, vt] * 2.0
            for u in range(8):
                with block("C", wv=spatial(4, v), wk=opaque(8, k), wu=spatial(8, u)):
                    C[wv, wu] = C[wv, wu] + S[wv, 7 - wu]
"""


def _uneven_waits() -> None:
    sch = Schedule(parse(UNEVEN))
    sch.bind(sch.loops("S")[0], "threadIdx.y")


UNEQUAL = """
def f(n: int64, m: int64, A: float32[n, m], C: float32[4, n], D: float32[4, m]):
    for z in range(4):
        for x in range(n):
            with block("C", vz=spatial(4, z), vx=spatial(n, x)):
                C[vz, vx] = A[vx, 0]
        for y in range(m):
            with block("D", vz=spatial(4, z), vy=spatial(m, y)):
                D[vz, vy] = A[0, vy]
"""


def _unequal_groups() -> None:
    sch = Schedule(parse(UNEQUAL))
    z, x = sch.loops("C")
    sch.bind(z, "blockIdx.y")
    sch.bind(x, "blockIdx.x")
    sch.bind(sch.loops("D")[1], "blockIdx.x")


FEW = """
def f(A: float32[4, 2], C: float32[4, 2]):
    B = alloc(float32[4, 2], scope="local")
    for b in thread(4, "blockIdx.x"):
        for one in thread(1, "threadIdx.x"):
            for y in range(2):
                with block("B", vb=spatial(4, b), vy=spatial(2, y)):
                    B[vb, vy] = A[vb, vy] * 2.0
        for x in range(2):
            with block("C", vb=spatial(4, b), vx=spatial(2, x)):
                C[vb, vx] = B[vb, vx] + 1.0
"""


def _more_readers() -> None:
    sch = Schedule(parse(FEW))
    sch.bind(sch.loops("C")[1], "threadIdx.x")


def _in_block() -> None:
    sch = Schedule(product(8))
    i, j, _ = sch.loops("C")
    sch.bind(j, "threadIdx.x")
    sch.blockize(j)
    del i


@pytest.mark.parametrize(
    ("steps", "rule", "words"),
    [
        (_twice, "bind.annotated", r"already thread \(blockIdx\.x\)"),
        (_around("vectorize"), "bind.in-vectorized", "j is inside the vectorized loop i"),
        (_around("unroll"), "bind.in-unrolled", "j is inside the unrolled loop i"),
        (_around("parallel"), "bind.in-parallel", "j is inside the parallel loop i"),
        (_parallel_inside, "bind.parallel-inside", "cannot start threads of the CPU"),
        (_parallel_inside_later, "parallel.breaks-threads", "cannot start threads of the CPU"),
        (_vectorize_around, "vectorize.breaks-threads", "inside the vectorized loop i"),
        (_symbolic, "bind.symbolic-extent", "size of a group of threads is fixed"),
        (_two_of_one_tag("blockIdx.x"), "bind.nested-tag", r"bound to blockIdx\.x already"),
        (_two_of_one_tag("threadIdx.x"), "bind.nested-tag", "would do only one iteration of j"),
        (_grid_inside, "bind.grid-inside", "groups of threads start only at the top"),
        (_fetch(32, "shared"), "bind.too-many-threads", "only 16 threads"),
        (_fetch(32, "shared", 1), "bind.too-many-threads", "only 1 thread of .*in place of it"),
        (_fetch(16, "local"), "bind.nested-tag", "not in memory that these threads share"),
        (_reduction("blockIdx.x"), "bind.reduction", "groups of threads cannot wait"),
        (_reduction("vthread"), "bind.reduction", "virtual threads cannot wait"),
        (_other_thread, "set_scope.other-thread", "another thread computes in B"),
        (_more_readers, "bind.other-thread", "more threads run C than B: one lets only the first"),
        (_other_group, "bind.other-group", "groups do not wait for each other"),
        (_wide_warp, "set_scope.wide-warp", "which 32 threads share"),
        (_parameter, "set_scope.parameter", "C is|it is a parameter"),
        (_already, "set_scope.already", "B is in global memory already"),
        (_other_kernel, "set_scope.other-kernel", "lasts for one kernel"),
        (_overlapping, "set_scope.clash", "touch each other's elements"),
        (_uneven_waits, "bind.uneven-waits", "not all of them run it equally often"),
        (_unequal_groups, "bind.unequal-groups", "known only at run time"),
        (_in_block, "blockize.breaks-threads", "one thread runs as a whole"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_refusals(steps: Callable[[], None], rule: str, words: str) -> None:
    with pytest.raises(RefusedError, match=words) as caught:
        steps()
    assert caught.value.verdict.rule == rule


def test_the_witness_of_a_foreign_read_names_threads_and_element() -> None:
    with pytest.raises(RefusedError) as caught:
        _other_thread()
    assert "thread threadIdx.x=" in str(caught.value.verdict.witness)
    assert "reads B[" in str(caught.value.verdict.witness)
    with pytest.raises(RefusedError) as caught:
        _reduction("blockIdx.x")()
    assert "k=0 and k=1 both update C" in str(caught.value.verdict.witness)


def test_uneven_waits_are_told_with_two_threads() -> None:
    with pytest.raises(RefusedError) as caught:
        _uneven_waits()
    assert caught.value.verdict.witness == "v=0 runs k 1 times, v=1 2 times"
    sch = Schedule(parse(UNEVEN))
    assert sch.check("bind", sch.loops("S")[2], "threadIdx.x")
    assert sch.check("bind", sch.loops("S")[0], "vthread")


def test_the_fix_of_a_bound_loop_works() -> None:
    sch = Schedule(product(8))
    i, *_ = sch.loops("C")
    sch.bind(i, "blockIdx.x")
    (fix,) = sch.check("bind", i, "threadIdx.y").fixes
    sch.apply_fix(fix)
    assert 'thread(8, "threadIdx.y")' in str(sch)


def test_an_unlawful_reduction_is_not_joined() -> None:
    minus = te.comm_reducer(lambda x, y: x - y, lambda t: te.const(0, t), name="minus")
    a = te.placeholder((4, 8), name="A")
    k = te.reduce_axis(8, "k")
    s = te.compute((4,), lambda i: minus(a[i, k], axis=k), name="S")
    sch = Schedule(s)
    with pytest.raises(RefusedError) as caught:
        sch.bind(sch.loops("S")[1], "threadIdx.x")
    assert caught.value.verdict.rule == "bind.unlawful-reduction"


@pytest.mark.parametrize("tag", ["vthread", "threadIdx.x", "blockIdx.x"])
def test_steps_of_a_scan_stay_in_order_whatever_memory_lies_between(tag: str) -> None:
    """Each step has its own `half`; the step before wrote the `total` that it is made of."""
    a = te.placeholder((4, 7), name="A")
    state = te.placeholder((4, 7), name="S")
    first = te.compute((1, 7), lambda t, i: a[t, i], name="first")
    half = te.compute((4, 7), lambda t, i: state[t - 1, 6 - i] * 0.5, name="half")
    step = te.compute((4, 7), lambda t, i: half[t, i] + a[t, i], name="step")
    total = te.scan(first, step, state, inputs=[a])
    sch = Schedule(te.compute((7, 4), lambda i, t: total[t, i] * 2.0, name="C"))
    with pytest.raises(RefusedError) as refused:
        sch.bind(sch.loops("half")[0], tag)
    assert refused.value.verdict.rule == "bind.dependence"


def test_virtual_threads_around_a_loop_do_without_each_other() -> None:
    """D in the first one would read what the others compute of C."""
    a = te.placeholder((4,), name="A")
    c = te.compute((4,), lambda i: a[i] + 1.0, name="C")
    sch = Schedule(te.compute((1, 4), lambda i, j: c[j] * 2.0, name="D"))
    outer = sch.loops("D")[0]
    (inner,) = sch.compute_at("C", outer)
    sch.bind(inner, "vthread")
    with pytest.raises(RefusedError) as refused:
        sch.env_threads(outer, "vthread")
    assert refused.value.verdict.rule == "env_threads.dependence"
    assert "start virtual threads outside with i_1: its iterations need" in refused.value.message


def test_threads_around_a_loop_do_not_lose_what_others_compute() -> None:
    """With every use of B inside the threads, each has a B of its own; D needs all of B."""
    a = te.placeholder((4,), name="A")
    b = te.compute((4,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.compute((2, 4), lambda _t, j: b[3 - j] * 2.0, name="D"))
    t = sch.loops("D")[0]
    (inner,) = sch.compute_at("B", t)
    sch.bind(inner, "threadIdx.y")
    with pytest.raises(RefusedError) as refused:
        sch.env_threads(t, "threadIdx.y")
    assert refused.value.verdict.rule == "env_threads.uncovered"


def test_what_threads_share_may_not_hang_on_a_condition_of_one_of_them() -> None:
    a = te.placeholder((8, 14), "int32", name="A")
    k = te.reduce_axis(14, "k")
    total = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="T")
    c = te.compute((8, 14), lambda i, j: a[i, j] * total[i], name="C")
    s = Schedule(c)
    i, j = s.loops("C")
    outer, inner = s.split(j, [None, 3])
    s.compute_at("T", inner)
    s.bind(outer, "vthread")
    # Two nests that use T would share it, and each virtual thread would add to it.
    verdict = s.check("partition", i, [5])
    assert (verdict.status, verdict.rule) == ("unknown", "partition.breaks-threads")
    assert "as they share T, but a condition on j_outer decides where the block runs" in str(
        verdict
    )


def test_groups_do_not_share_what_each_computes_for_itself() -> None:
    """A sum that another nest uses too cannot be private to the groups that compute it again."""
    a = te.placeholder((7, 13), name="A")
    k = te.reduce_axis(13, "k")
    t = te.compute((7,), lambda i: te.sum(a[i, k], axis=k), name="T")
    c = te.compute((7, 13), lambda i, j: a[i, j] * t[i], name="C")
    sch = Schedule(c)
    i, j = sch.loops("C")
    sch.compute_at("T", j)
    sch.partition(i, [6])
    verdict = sch.check("bind", sch.loops("C_1")[1], "blockIdx.y")
    assert (verdict.status, verdict.rule) == ("refused", "bind.groups-share")
    assert verdict.reason == (
        "cannot bind j_1 to blockIdx.y: T_1 does not depend on j_1, so that every group of threads "
        "would write the same elements of T and read them, and groups do not wait for each other"
    )


def test_groups_do_not_set_start_values_of_each_other() -> None:
    """Start values beside a loop over groups are set by every group, also after others' sums."""
    a = te.placeholder((4, 5, 7), name="A")
    k = te.reduce_axis(7, "k")
    sch = Schedule(te.compute((4, 5), lambda i, j: te.sum(a[i, j, k], axis=k), name="C"))
    i, j, _ = sch.loops("C")
    sch.decompose_reduction("C", j)
    sch.bind(j, "blockIdx.y")
    verdict = sch.check("bind", i, "blockIdx.x")
    assert (verdict.status, verdict.rule) == ("refused", "bind.groups-share")
    assert verdict.reason == (
        "cannot bind i to blockIdx.x: C_init does not depend on j, so that every group of threads "
        "would write the same elements of C, which C uses too, and groups do not wait for each "
        "other"
    )
