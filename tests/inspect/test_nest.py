"""The loop nest as lines: ids, remarks, windows, and its text and HTML."""

from html.parser import HTMLParser

from helpers.schedules import matmul_schedule, tiled_schedule

from tvmlab import te
from tvmlab.inspect import (
    NestReport,
    Row,
    SymbolIds,
    line_report,
    nest_html,
    nest_report,
    nest_text,
)
from tvmlab.ir import parse
from tvmlab.schedule import Schedule
from tvmlab.target import Target

MACHINE = Target("cpu", "x86_64-unknown-linux-gnu", "generic", "+avx512f", 512, 32, 2)


def report(sch: Schedule, ids: SymbolIds | None = None) -> NestReport:
    return nest_report(sch, ids=ids, target=MACHINE)


def by_name(nest: NestReport) -> dict[str, Row]:
    return {row.name if row.type != "buffer" else f"{row.name}!": row for row in nest.rows}


def test_rows_of_a_matrix_product() -> None:
    nest = report(matmul_schedule(8, 4, 2))
    assert [(r.type, r.name, r.depth, r.extent) for r in nest.rows] == [
        ("loop", "i", 0, 8),
        ("loop", "j", 1, 4),
        ("loop", "k", 2, 2),
        ("block", "C", 3, None),
    ]
    assert [r.reduction for r in nest.rows] == [False, False, True, False]
    assert nest.rows[3].text == "[vi, vj] += A[vi, vk] * B[vk, vj]"
    assert [r.parent for r in nest.rows] == [None, *(r.id for r in nest.rows[:3])]


def test_remarks_of_tails_lanes_and_local_buffers() -> None:
    rows = by_name(report(tiled_schedule(64, 64, 64)))
    assert rows["i_outer"].note == "64 / 12, last one 4"
    assert rows["i_outer"].kind == "parallel"
    assert rows["j_inner"].note == "1 × 16 lanes"
    assert rows["j_outer"].note is None  # 16 divides 64
    local = rows["C_local!"]
    assert (local.text, local.bytes, local.scope) == ("float32[12, 16]", 12 * 16 * 4, "local")
    assert local.parent == rows["j_outer"].id


def test_ids_stay_with_their_loops_across_steps_and_undo() -> None:
    sch, ids = matmul_schedule(8, 4, 2), SymbolIds()
    before = {r.name: r.id for r in report(sch, ids).rows}
    i, j, k = sch.loops("C")
    sch.split(i, [None, 4])
    sch.reorder(k, j)
    after = {r.name: r.id for r in report(sch, ids).rows}
    assert after["j"] == before["j"]
    assert after["C"] == before["C"]
    assert not {after["i_outer"], after["i_inner"]} & set(before.values())
    sch.undo()
    sch.undo()
    assert {r.name: r.id for r in report(sch, ids).rows} == before


def test_a_program_alone_can_be_reported() -> None:
    program = parse(
        """
def f(A: float32[8], B: float32[8]):
    for i in range(8):
        with block("copy", vi=spatial(8, i)):
            B[vi] = A[vi]
"""
    )
    nest = nest_report(program, target=MACHINE)
    assert nest.name == "f"
    assert nest.rows[1].text == ": B[vi] = A[vi]"
    assert nest.rows[1].cost is not None


def test_symbolic_sizes_are_shown_without_cost() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    sch = Schedule(te.compute((n,), lambda i: a[i] * 2.0, name="B"))
    [loop, _] = report(sch).rows
    assert (loop.extent, loop.text, loop.cost) == (None, "n", None)
    assert "for i in range(n)" in nest_text(report(sch))
    assert "range(n)" in nest_html(sch)


def test_text_has_a_letter_for_each_kind_of_line() -> None:
    text = nest_text(report(tiled_schedule()))
    signs = {line.split()[0] for line in text.splitlines()[1:]}
    assert signs == {"P", "S", "R", "U", "V", "▫", "·"}
    assert "P for i_outer in parallel(6)  # 64 / 12, last one 4" in text
    assert text.splitlines()[1].endswith("100%")


class _Collector(HTMLParser):
    def __init__(self) -> None:
        HTMLParser.__init__(self)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_well_formed_and_needs_nothing_from_outside() -> None:
    html = nest_html(tiled_schedule())
    page = _Collector()
    page.feed(html)
    page.close()
    assert page.open == []
    assert "script" not in page.tags
    assert "http" not in html
    assert "for i_outer in parallel(6)" in page.text


def test_html_escapes_names() -> None:
    html = nest_html(NestReport("<script>alert(1)</script>", ()))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_schedule_shows_itself_in_a_notebook() -> None:
    import tvmlab

    sch = tvmlab.Schedule(matmul_schedule(8, 8, 8).program)
    assert sch._repr_html_() == nest_html(sch)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]


def test_loops_over_threads_say_which() -> None:
    sch = matmul_schedule(8, 8, 8)
    i, j, _ = sch.loops("C")
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "vthread")
    rows = [r for r in nest_report(sch).rows if r.type == "loop"]
    assert [(r.kind, r.note) for r in rows[:2]] == [
        ("grid", "blockIdx.x"),
        ("virtual", "interleaved"),
    ]
    assert "by threads blockIdx.x" in line_report(sch, i.var).sentence
