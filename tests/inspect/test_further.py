"""What menus offer besides the schedule's own actions, and how steps are grouped and marked."""

from helpers.schedules import matmul_schedule

from tvmlab import te
from tvmlab.inspect import (
    SymbolIds,
    action_reports,
    nest_report,
    offers,
    step_label,
    verdict_report,
)
from tvmlab.inspect.families import FAMILIES, OTHER, family_of, place_of
from tvmlab.inspect.marks import marks_of
from tvmlab.ir import parse
from tvmlab.schedule import PRIMITIVES, Schedule
from tvmlab.target import Target


def test_every_primitive_is_in_one_family() -> None:
    members = [name for names in FAMILIES.values() for name in names]
    assert sorted(members) == sorted(PRIMITIVES)
    assert family_of("split") == "shape of the loops"
    assert (family_of("from outside"), place_of("from outside")) == (OTHER, len(FAMILIES))


def test_families_follow_each_other() -> None:
    sch = matmul_schedule(8, 8, 8)
    for symbol in (*[loop.var for loop in sch.loops("C")], sch.block("C").symbol):
        places = [place_of(offer.action.primitive) for offer in offers(sch, symbol)]
        assert places == sorted(places)


def test_skewing_notes_and_assumptions_are_offered() -> None:
    sch, ids = matmul_schedule(8, 8, 8), SymbolIds()
    i, _, k = sch.loops("C")
    found = {o.id: o for o in offers(sch, i.var)}
    assert found["skew"].action.title == "skew j"
    assert found["assume"].action.title == "assume independent"
    assert found["assume"].action.verdict
    assert [p.name for p in found["annotate"].action.params] == ["key", "value"]
    assert "skew" not in {o.id for o in offers(sch, k.var)}
    block = {o.id: o for o in offers(sch, sch.block("C").symbol)}
    assert block["assume"].action.args["fact"] == "associative"
    arguments = found["annotate"].arguments({"key": "mine", "value": "[1, 2]"}, ids)
    sch.apply("annotate", **arguments)
    assert step_label(sch.trace.steps[-1]) == "note i, mine"
    row = nest_report(sch, ids=ids).rows[0]
    assert row.marks == ("mine 1, 2",)


def test_sizes_can_be_assumed_where_they_are_known_only_at_run_time() -> None:
    n = te.size_var("n")
    a = te.placeholder((n,), name="A")
    sch = Schedule(te.compute((n,), lambda i: a[i] * 2.0, name="B"))
    found = [o for o in offers(sch, sch.loops("B")[0].var) if o.action.title == "assume of sizes"]
    assert found[0].action.args == {"fact": "n % 16 == 0", "subject": None}
    assert found[0].action.verdict


def test_labels_name_what_a_step_acts_on() -> None:
    sch = matmul_schedule(32, 32, 32)
    i, j, k = sch.loops("C")
    sch.tile(i, j, 8, 8)
    sch.rfactor("C", k)
    loop = sch.loops("C")[0]
    sch.bind(loop, "blockIdx.x")
    sch.assume("independent", sch.loops("C")[1])
    labels = [step_label(step) for step in sch.trace.steps]
    assert labels[0] == "tile i, j"
    assert labels[1].endswith("C, k")
    assert labels[2] == f"bind to threads {loop.name}, blockIdx.x"
    assert labels[3].startswith("assume independent, ")


def test_marks_say_what_stands_on_a_line() -> None:
    notes = (
        ("auto_unroll_max_step", 16),
        ("tail", "mask"),
        ("assume", ("independent",)),
        ("hoist_conditions", False),
        ("mine", True),
        ("software_pipeline", (("A_shared", 0, 0), ("C", 1, 1))),
        ("long", "x" * 60),
    )
    *short, long = marks_of(notes)
    assert short == [
        "auto_unroll_max_step 16",
        "tail mask",
        "assumed independent",
        "no hoist_conditions",
        "mine",
        "pipelined in 2 stages",
    ]
    assert long.endswith("…")
    assert len(long) == 28


def test_named_values_calls_and_barriers_have_lines() -> None:
    program = parse(
        """
def f(A: float32[8], B: float32[8]):
    for i in range(8):
        x: float32 = A[i] * 2.0
        B[i] = x + x
    call("packed:finish", write(B[0:8]))
"""
    )
    ids = SymbolIds()
    rows = nest_report(Schedule(program), ids=ids).rows
    kinds = [(r.kind, r.name) for r in rows if r.type == "statement"]
    assert kinds == [("let", "x"), ("call", "finish")]
    value = next(r for r in rows if r.kind == "let")
    assert value.text == " = A[vi] * 2.0"
    assert value.parent is not None
    assert ids.find(value.id) is ids.find(value.parent)


def test_a_witness_comes_by_its_parts() -> None:
    sch = matmul_schedule(8, 8, 8)
    report = verdict_report(sch.check("parallel", sch.loops("C")[2]))
    clash = report.clash
    assert clash is not None
    assert clash.element == "C[0, 0]"
    assert [loop.name for loop in clash.first.loops if loop.differs] == ["k"]
    assert clash.first.does == clash.second.does == "updates"
    assert report.witness == "k=0 and k=1 both update C[0, 0]"


def test_summaries_of_steps_on_buffers() -> None:
    sch, ids = matmul_schedule(32, 32, 32), SymbolIds()
    loop = sch.loops("C")[2].var
    machine = Target.of("cpu")
    found = {a.id: a for a in action_reports(sch, loop, ids, target=machine)}
    assert found["prefetch"].summary.startswith("A 1 iteration ahead")
    copied = sch.cache_read("C", "A", "local")
    block = {a.id: a for a in action_reports(sch, copied.symbol, ids, target=machine)}
    assert block["set_scope"].summary.startswith("A_local in shared memory")
    of_c = action_reports(sch, sch.block("C").symbol, ids, target=machine)
    assert next(a for a in of_c if a.id == "cache_read").summary.startswith("stage ")


def test_forms_know_what_may_be_left_out_and_what_is_divided() -> None:
    sch, ids = matmul_schedule(32, 32, 32), SymbolIds()
    symbol = sch.loops("C")[0].var
    found = {a.id: a for a in action_reports(sch, symbol, ids, target=Target.of("cpu"))}
    assert {p.name: p.optional for p in found["split"].params}["tail"]
    assert [(p.kind, p.extent) for p in found["tile"].params] == [("int", 32), ("int", 32)]
    assert [p.kind for p in found["partition"].params] == ["ints"]
    assert found["tile"].family == "shape of the loops"
