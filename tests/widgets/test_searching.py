"""A search from the explorer: begun with the schedule at hand, its finds come into the history."""

from __future__ import annotations

from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule
from helpers.sessions import FakeRunner, ok

from tvmlab.tune import MeasureRequest, MeasureResult
from tvmlab.widgets.searching import start_search


def shorter_is_faster(request: MeasureRequest) -> MeasureResult:
    return ok(1e-9 * len(request.program))


def test_a_search_from_here_comes_back_as_a_branch() -> None:
    bench = Bench(matmul_schedule(16, 16, 16), FakeRunner(shorter_is_faster))
    schedule = bench.schedule
    schedule.parallel(schedule.loops("C")[0])
    assert "no search was begun" in bench.failed("search_take", trial=None)
    search = start_search(bench.session, 6)
    assert search.wait(60)
    bench.session.refresh()
    state = bench.view.state["search"]
    assert (state["status"], state["measured"]) == ("done", 6)
    reply = bench.done("search", message={"type": "open", "id": 3, "trial": 99})
    assert reply["search"]["re"] == 3
    assert "no trial 100" in reply["search"]["error"]
    before = len(schedule.history.nodes)
    taken = bench.done("search_take", trial=None)["taken"]
    assert taken.startswith("search, trial ")
    assert schedule.history.node.label == taken
    assert len(schedule.history.nodes) > before
    assert schedule.loops("C")[0].kind == "parallel", "what was done before the search stays"
    best = min(t.seconds for t in search.tuner.trials if t.seconds)
    number = int(taken.rpartition(" ")[2]) - 1
    assert [t for t in search.tuner.trials if t.status != "refused"][number].seconds == best
    assert "whole number" in bench.failed("search_take", trial="first")
    bench.session.close()


def test_with_nothing_left_to_search_the_way_on_is_told() -> None:
    bench = Bench(matmul_schedule(4, 4, 4))
    bench.schedule.vectorize(bench.schedule.loops("C")[2])
    assert "nothing to search" in bench.failed("search", message=None)
