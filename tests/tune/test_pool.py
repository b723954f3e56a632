"""A pool behind Dask: results come back, a dead worker is replaced and its task runs again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from helpers.tune_programs import COPY, WILD, program, tiled_matmul
from helpers.tune_templates import blocked_space

from tvmlab.tune import DaskRunner, MeasureRequest, MeasureSettings, Tuner, worker_command

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of Dask itself, when workers are killed
]
QUICK = MeasureSettings(repeats=3, repeat_seconds=1e-4, run_timeout=5.0)


@pytest.fixture(scope="module")
def pool() -> Iterator[DaskRunner]:
    with DaskRunner(workers=1) as runner:
        yield runner


def request(text: str) -> MeasureRequest:
    return MeasureRequest.of(program(text), settings=QUICK)


def test_results_come_back(pool: DaskRunner) -> None:
    result = pool.submit(MeasureRequest.of(tiled_matmul().program, settings=QUICK)).result(60)
    assert (result.status, result.error) == ("ok", "")
    assert pool.submit(request(WILD)).result(60).status == "crash"
    assert pool.submit(request(COPY)).result(60).status == "ok"


def test_a_killed_worker_is_replaced_and_its_task_runs_again(pool: DaskRunner) -> None:
    [pid] = pool.client.run(os.getpid).values()
    futures = [pool.submit(request(COPY)) for _ in range(4)]
    os.kill(pid, signal.SIGKILL)
    assert [f.result(90).status for f in futures] == ["ok"] * 4
    [new] = pool.client.run(os.getpid).values()
    assert new != pid


def test_a_tuner_runs_on_a_pool(pool: DaskRunner) -> None:
    tuner = Tuner(blocked_space(16), runner=pool, search="random", settings=QUICK)
    list(tuner.run(4))
    assert sum(t.ok for t in tuner.trials) == 4


def test_cancelling_gives_a_result(pool: DaskRunner) -> None:
    futures = [pool.submit(request(COPY)) for _ in range(3)]
    pool.cancel()
    assert {f.result(60).status for f in futures} <= {"cancelled", "ok"}


def test_a_machine_joins_by_one_command() -> None:
    assert worker_command("tcp://h:1") == (
        'dask worker tcp://h:1 --nthreads 1 --resources "device=1"'
    )
