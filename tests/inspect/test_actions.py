"""Actions, verdicts and sentences on lines."""

from collections.abc import Callable

import pytest
from helpers.schedules import matmul_schedule, tiled_schedule

from tvmlab.inspect import (
    ActionReport,
    SymbolIds,
    action_reports,
    device_reports,
    line_report,
    machine_report,
    nest_report,
    offers,
    verdict_report,
    workload_report,
)
from tvmlab.ir import Program
from tvmlab.schedule import Fix, Schedule
from tvmlab.support import UserError
from tvmlab.target import CacheLevel, Target

CACHES = (CacheLevel(1, 32 << 10, 64, 1), CacheLevel(2, 1 << 20, 64, 1))
MACHINE = Target("cpu", "x86_64-unknown-linux-gnu", "generic", "+avx512f", 512, 32, 2, CACHES)


def actions(
    sch: Schedule,
    name: str,
    ids: SymbolIds,
    *,
    token: Callable[[Fix], str] | None = None,
    predict: Callable[[Program], float | None] | None = None,
) -> dict[str, ActionReport]:
    row = next(r for r in nest_report(sch, ids=ids).rows if r.name == name)
    symbol = ids.find(row.id)
    found = action_reports(sch, symbol, ids, target=MACHINE, token=token, predict=predict)
    return {a.id: a for a in found}


def test_ids_of_actions_are_unique_and_order_is_offered() -> None:
    sch, ids = matmul_schedule(64, 64, 64), SymbolIds()
    found = actions(sch, "j", ids)
    assert {"split", "reorder", "reorder:1", "reorder:2", "vectorize", "unroll"} <= set(found)
    order = found["reorder:2"].params[0]
    assert order.kind == "order"
    assert [ids.find(i).name for i in order.default] == ["i", "j", "k"]
    assert [c.label for c in order.choices] == ["i", "j", "k"]


def test_summaries_say_what_would_come_of_a_step() -> None:
    sch, ids = matmul_schedule(100, 64, 64), SymbolIds()
    assert actions(sch, "i", ids)["split"].summary.startswith("20 × 5, no tail")
    assert actions(sch, "j", ids)["vectorize"].summary.startswith("4 vectors of 16 lanes")
    assert actions(sch, "i", ids)["parallel"].summary == "100 rounds on 2 threads"
    assert actions(sch, "i", ids)["fuse"].summary.startswith("one loop of 6400")
    large, ids = matmul_schedule(1024, 1024, 1024), SymbolIds()
    inwards = actions(large, "j", ids)["reorder:1"]
    assert "moves 0." in inwards.summary  # j inside k reads rows of B


def test_a_refused_action_says_why_and_how_else() -> None:
    sch, ids = matmul_schedule(8, 8, 8), SymbolIds()
    parallel = actions(sch, "k", ids, token=lambda fix: fix.title)["parallel"]
    assert parallel.verdict.status == "refused"
    assert parallel.verdict.rule.startswith("parallel.")
    assert parallel.verdict.witness
    assert parallel.summary == ""
    text = str(parallel.verdict)
    assert parallel.verdict.reason in text
    assert "for example:" in text


def test_forms_name_lines_by_id_with_a_verdict_for_each() -> None:
    sch, ids = tiled_schedule(), SymbolIds()
    cache = actions(sch, "C", ids)["cache_read"]
    buffer, scope = cache.params
    assert buffer.kind == "choice"
    assert {c.label for c in buffer.choices} == {"A", "B", "C_local"}
    assert all(ids.find(c.value) for c in buffer.choices)
    assert scope.choices[0].label == "local"


def test_a_model_adds_its_guess() -> None:
    sch, ids = matmul_schedule(64, 64, 64), SymbolIds()

    def predict(program: Program) -> float:
        return 10.0 if program is sch.program else 25.0

    assert actions(sch, "i", ids, predict=predict)["parallel"].summary.endswith("predicted 2.5×")


def test_arguments_of_a_form_become_arguments_of_the_primitive() -> None:
    sch, ids = matmul_schedule(8, 8, 8), SymbolIds()
    nest = nest_report(sch, ids=ids).rows
    symbol = ids.find(nest[0].id)
    found = {o.id: o for o in offers(sch, symbol)}
    assert found["split"].arguments({"factors": [None, 2]}, ids)["factors"] == [None, 2]
    order = found["reorder:1"].arguments({"loops": [nest[2].id, nest[0].id]}, ids)
    assert [v.name for v in order["loops"]] == ["k", "i"]
    with pytest.raises(UserError, match="split does not ask for 'loop'"):
        found["split"].arguments({"loop": nest[2].id}, ids)
    with pytest.raises(UserError, match="there is no line 'L99'"):
        found["reorder:1"].arguments({"loops": ["L99"]}, ids)
    with pytest.raises(UserError, match="loops must be a list of lines"):
        found["reorder:1"].arguments({"loops": "L0"}, ids)


def test_lines_that_have_gone_are_named() -> None:
    sch, ids = matmul_schedule(8, 8, 8), SymbolIds()
    symbol = ids.find(nest_report(sch, ids=ids).rows[0].id)
    sch.split(sch.loops("C")[0], [None, 4])
    with pytest.raises(UserError, match="i is not in the current program"):
        offers(sch, symbol)
    with pytest.raises(UserError, match="i is not in the current program"):
        line_report(sch, symbol)


def test_buffers_have_facts_but_no_actions() -> None:
    sch, ids = tiled_schedule(), SymbolIds()
    row = next(r for r in nest_report(sch, ids=ids).rows if r.type == "buffer")
    assert offers(sch, ids.find(row.id)) == []
    line = line_report(sch, ids.find(row.id))
    assert line.sentence == "Holds what C_init and C write and C_write reads."


def test_sentences_on_loops_and_blocks() -> None:
    sch, ids = tiled_schedule(), SymbolIds()
    rows = {r.name: ids.find(r.id) for r in nest_report(sch, ids=ids).rows if r.type != "buffer"}
    loop = line_report(sch, rows["k"], MACHINE)
    assert loop.sentence.startswith("Runs 64 iterations that add into one result, one after")
    assert "768 B of C_local" in loop.sentence
    assert loop.sentence.endswith("which fits in L1.")
    facts = {f.label: f.value for f in loop.facts}
    assert facts["made by"] == "the formula"
    assert facts["iterations in all"] == "1,536"
    block = line_report(sch, rows["C"], MACHINE)
    assert block.sentence.startswith("Adds up C_local from A and B.")
    made = line_report(sch, rows["i_outer"], MACHINE)
    assert {f.label: f.value for f in made.facts}["made by"] == "split i"


def test_verdict_without_tokens() -> None:
    sch = matmul_schedule(8, 8, 8)
    verdict = sch.check("parallel", sch.loops("C")[2])
    report = verdict_report(verdict)
    assert all(fix.token == "" for fix in report.fixes)
    assert str(verdict_report(sch.check("unroll", sch.loops("C")[2]))) == "allowed"


def test_workload_and_machine_in_words() -> None:
    assert workload_report(matmul_schedule(8, 4, 2).program).summary == "8 × 4 × 2 · float32"
    assert machine_report(MACHINE).summary == "cpu · 2 cores · AVX-512"
    neon = Target.of("llvm -mtriple=aarch64-linux-gnu -mattr=+neon -num-threads=1")
    assert machine_report(neon).summary == "cpu · 1 core · 128-bit vectors"


def test_this_machine_is_described() -> None:
    [cpu] = device_reports()
    assert cpu.kind == "cpu"
    assert dict(cpu.facts)["cores"].isdigit()
    assert cpu.data["kind"] == "cpu"
