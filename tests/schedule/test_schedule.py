"""References, history, traces and actions of a schedule."""

from __future__ import annotations

import json

import pytest

from tvmlab import te
from tvmlab.ir import structural_equal, structural_hash
from tvmlab.schedule import PRIMITIVES, Schedule
from tvmlab.schedule.trace import RETURN_ONE
from tvmlab.support import ParseError, ScheduleError
from tvmlab.te import Tensor


def matmul(n: int = 32) -> Tensor:
    a = te.placeholder((n, n), name="A")
    b = te.placeholder((n, n), name="B")
    k = te.reduce_axis(n, "k")
    return te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def tiled(c: Tensor) -> Schedule:
    sch = Schedule(c, name="matmul")
    local = sch.cache_write("C", "local")
    i, j, k = sch.loops("C")
    io, ii = sch.split(i, [None, 6])
    jo, ji = sch.split(j, [None, 16])
    sch.reorder(io, jo, k, ii, ji)
    sch.reverse_compute_at(local, jo)
    sch.decompose_reduction("C", k)
    sch.vectorize(ji)
    sch.unroll(ii)
    sch.parallel(io)
    return sch


def test_references_survive_steps_on_other_loops() -> None:
    sch = Schedule(matmul())
    i, j, k = sch.loops("C")
    sch.split(i, [None, 4])
    sch.reorder(k, j)
    assert [k.alive, j.alive, i.alive] == [True, True, False]
    sch.undo()
    sch.undo()
    assert i.alive


def test_split_names_and_extents() -> None:
    sch = Schedule(matmul())
    refs = sch.split(sch.loops("C")[0], [None, 3, 4])
    assert [(r.name, r.extent) for r in refs] == [("i_0", 3), ("i_1", 3), ("i_2", 4)]


def test_factor_larger_than_the_extent_is_cut_down() -> None:
    a = te.placeholder((2,), name="A")
    sch = Schedule(te.compute((2,), lambda i: a[i] + 1.0, name="C"))
    outer, inner = sch.split(sch.loops("C")[0], [None, 4])
    assert (outer.extent, inner.extent) == (1, 2)
    assert "where" not in str(sch)


def test_undo_redo_and_branches() -> None:
    sch = Schedule(matmul())
    i, j, _ = sch.loops("C")
    sch.parallel(i)
    first = sch.program
    sch.checkpoint("parallel")
    sch.undo()
    sch.vectorize(j)
    sch.goto("parallel")
    assert sch.program is first
    assert len(sch.history) == 3
    sch.undo()
    sch.redo()
    assert sch.program is first


def test_trace_python_repeats_the_schedule() -> None:
    c = matmul()
    sch = tiled(c)
    again = Schedule(c, name="matmul")
    exec(sch.trace.to_python(), {"sch": again})
    assert structural_hash(again.program) == structural_hash(sch.program)


def test_traces_unpack_lists_only() -> None:
    """`x = sch.fuse(...)` returns one loop, `x, = sch.loops(...)` a list of one."""
    for name in PRIMITIVES:
        returned = getattr(getattr(Schedule, name, None), "__annotations__", {}).get("return")
        assert (returned == "LoopRef") == (name in RETURN_ONE)


def test_trace_json_repeats_the_schedule() -> None:
    c = matmul()
    sch = tiled(c)
    again = Schedule.replay(c, sch.trace.to_json())
    assert structural_equal(again.program, sch.program)
    assert again.trace.to_json() == sch.trace.to_json()


def test_trace_text() -> None:
    sch = Schedule(matmul())
    i, j, _ = sch.loops("C")
    io, ii = sch.split(i, [None, 8])
    sch.reorder(j, io, ii)
    sch.parallel(j)
    assert sch.trace.to_python().splitlines() == [
        'i, j, k = sch.loops("C")',
        "i_outer, i_inner = sch.split(i, [None, 8])",
        "sch.reorder(j, i_outer, i_inner)",
        "sch.parallel(j)",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        (
            '{"format": "tvmlab-trace", "version": 1, '
            '"steps": [{"op": "loops", "args": {}, "out": []}]}',
            "asks for loops without naming a block",
        ),
        ("[]", "not a tvmlab trace"),
        ('{"format": "tvmlab-trace", "version": 99, "steps": []}', "version 99"),
        ('{"format": "tvmlab-trace", "version": 1, "steps": [1]}', "step 0"),
        (
            '{"format": "tvmlab-trace", "version": 1, "steps": '
            '[{"op": "x", "args": {}, "out": []}]}',
            "names 'x', which is no schedule primitive",
        ),
    ],
)
def test_bad_trace(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        Schedule.replay(matmul(), text)


@pytest.mark.parametrize("loop", ["i_outer", ["i"]])
def test_trace_that_uses_a_loop_before_it_is_made(loop: object) -> None:
    steps: list[object] = [{"op": "parallel", "args": {"loop": {"loop": loop}}, "out": []}]
    text = json.dumps({"format": "tvmlab-trace", "version": 1, "steps": steps})
    with pytest.raises(ScheduleError, match="before any step makes it"):
        Schedule.replay(matmul(), text)


def test_trace_of_another_program() -> None:
    data = json.loads(tiled(matmul()).trace.to_json())
    data["steps"][0]["args"]["block"] = "Z"
    with pytest.raises(ScheduleError, match="there is no block 'Z'"):
        Schedule.replay(matmul(), json.dumps(data))


def test_actions_name_every_loop_primitive_with_a_verdict() -> None:
    sch = Schedule(matmul())
    actions = sch.actions(sch.loops("C")[2])
    by_name = {a.primitive: a for a in actions}
    assert {"split", "reorder", "vectorize", "unroll", "parallel"} <= by_name.keys()
    assert by_name["parallel"].verdict.rule == "parallel.reduction"
    assert by_name["split"].verdict


def test_listeners_hear_changes_until_they_leave() -> None:
    sch = Schedule(matmul())
    heard: list[int] = []
    leave = sch.on_change(lambda: heard.append(len(sch.trace)))
    sch.parallel(sch.loops("C")[0])
    sch.undo()
    leave()
    sch.redo()
    assert heard == [1, 0]


def test_methods_carry_the_primitives_documentation() -> None:
    for name in PRIMITIVES:
        text = getattr(Schedule, name).__doc__
        assert "Before::" in text
        assert "After" in text


def test_tensors_of_one_name_are_told_apart() -> None:
    a = te.placeholder((8,), name="A")
    first = te.compute((8,), lambda i: a[i] + 1.0, name="add")
    second = te.compute((8,), lambda i: first[i] * 2.0, name="add")
    third = te.compute((8,), lambda i: second[i] - 3.0, name="add")
    sch = Schedule(third)
    assert [sch.block(t).name for t in (first, second, third)] == ["add", "add_1", "add_2"]
    sch.compute_inline(second)
    assert [b.name for b in sch.blocks()] == ["add", "add_2"]
