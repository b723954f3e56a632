"""A pool behind Dask: results come back, a dead worker is replaced and its task runs again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.tune_programs import COPY, WILD, program, tiled_matmul
from helpers.tune_templates import blocked_space

from tvmlab.support import RuntimeFailure
from tvmlab.tune import (
    DaskRunner,
    MeasureRequest,
    MeasureSettings,
    Tuner,
    TuningLog,
    worker_command,
)

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


def start(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_killed_scheduler_ends_the_search_and_loses_no_trial(tmp_path: Path) -> None:
    told = tmp_path / "scheduler.json"
    scheduler = start(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
        "--scheduler-file", str(told),
    )  # fmt: skip
    until = time.monotonic() + 60
    while not told.exists() and time.monotonic() < until:
        time.sleep(0.1)
    address = json.loads(told.read_text())["address"]
    worker = start(
        "distributed.cli.dask_worker", address, "--nthreads", "1", "--resources", "device=1",
        "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path),
    )  # fmt: skip
    try:
        with DaskRunner(address) as runner, TuningLog(tmp_path / "log") as log:
            tuner = Tuner(
                blocked_space(16), log=log, runner=runner, search="random", settings=QUICK
            )
            trials = tuner.run(100)
            next(trials)
            scheduler.kill()
            start_time = time.monotonic()
            with pytest.raises(RuntimeFailure, match=r"the scheduler .* is gone"):
                list(trials)
            with pytest.raises(RuntimeFailure, match="is gone"):
                runner.submit(request(COPY))
            assert time.monotonic() - start_time < 30
            assert len(log) == len(tuner.trials) >= 1
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait(20)


def test_a_machine_joins_by_one_command() -> None:
    assert worker_command("tcp://h:1") == (
        'dask worker tcp://h:1 --nthreads 1 --resources "device=1"'
    )
