"""Nothing recorded is lost: tuners killed, a full disk, two tuners on one log, workers killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from helpers.tune_templates import Oracle, blocked_space

from tvmlab.support import ParseError, RuntimeFailure
from tvmlab.tune import Measurer, MeasureSettings, Trial, Tuner, TuningLog
from tvmlab.tune.log.trial import LOG_VERSION

QUICK = MeasureSettings(repeats=3, repeat_seconds=1e-4, run_timeout=5.0)
ROOT = Path(__file__).parents[2]

TUNE_FOR_EVER = """
    import sys, time
    sys.path.insert(0, sys.argv[2])
    from helpers.tune_templates import Oracle, blocked_space
    from tvmlab.tune import Tuner, TuningLog

    def seconds(text):
        time.sleep(0.005)
        return 1e-6 * len(text)

    with TuningLog(sys.argv[1]) as log:
        tuner = Tuner(blocked_space(), log=log, runner=Oracle(seconds), search="random",
                      seed=int(sys.argv[3]))
        print("ready", flush=True)
        for trial in tuner.run(100_000):
            print(len(tuner.trials), flush=True)
"""


def start_tuner(log: Path, seed: int = 0) -> subprocess.Popen[str]:
    code = textwrap.dedent(TUNE_FOR_EVER)
    words = [sys.executable, "-c", code, str(log), str(ROOT / "tests"), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)


def end(process: subprocess.Popen[str]) -> None:
    """SIGKILL: the process has no say in it."""
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    assert process.stdout is not None
    process.stdout.close()


def said(process: subprocess.Popen[str], lines: int) -> str:
    """The last of so many lines that a process prints."""
    assert process.stdout is not None
    line = ""
    for _ in range(lines):
        line = process.stdout.readline()
    return line.strip()


def test_a_killed_tuner_loses_nothing_that_it_told(tmp_path: Path) -> None:
    process = start_tuner(tmp_path / "log")
    told = int(said(process, 12))
    end(process)
    with TuningLog(tmp_path / "log") as log:
        kept = len(log)
        assert kept >= told
        tuner = Tuner(blocked_space(), log=log, runner=Oracle(lambda _: 1.0), search="random")
        assert len(tuner.trials) == kept
        list(tuner.run(3))
        assert len(log) >= kept + 3


def test_two_tuners_share_a_log(tmp_path: Path) -> None:
    both = [start_tuner(tmp_path / "log", seed) for seed in (1, 2)]
    told = sum(int(said(process, 10)) for process in both)
    for process in both:
        end(process)
    with TuningLog(tmp_path / "log") as log:
        trials = log.trials()
        assert len(trials) >= told
        assert all(t.status in ("ok", "refused") for t in trials)
        assert len(log.workloads()) == 1


def test_threads_share_a_log(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "log") as log:

        def add(number: int) -> None:
            for n in range(20):
                log.add(Trial("w", "t", values={"n": n}, tuner=str(number)))

        threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(log) == 80


def add_many(log: TuningLog) -> None:
    for _ in range(200):
        log.add(Trial("w", "t", error="x" * 500))


def test_a_full_disk_is_told_and_keeps_what_is_there(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "log") as log:
        log.add(Trial("w", "t"))
        pages = log._connection.execute("PRAGMA page_count").fetchone()[0]  # pyright: ignore[reportPrivateUsage]
        log._connection.execute(f"PRAGMA max_page_count={pages}")  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(RuntimeFailure, match="cannot be written: database or disk is full"):
            add_many(log)
    with TuningLog(tmp_path / "log") as log:
        assert len(log) >= 1


TUNE_ON_A_FULL_DISK = """
    import resource, sys
    sys.path.insert(0, sys.argv[2])
    from helpers.tune_templates import Oracle, blocked_space
    from tvmlab.support import RuntimeFailure
    from tvmlab.tune import Tuner, TuningLog

    with TuningLog(sys.argv[1]) as log:
        tuner = Tuner(blocked_space(), log=log, runner=Oracle(lambda t: 1e-6 * len(t)),
                      search="random")
        next(tuner.run(1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            list(tuner.run(10_000))
        except RuntimeFailure as error:
            print(len(tuner.trials), error.hint)
"""


def test_a_search_ends_when_files_may_not_grow_and_goes_on_later(tmp_path: Path) -> None:
    code = textwrap.dedent(TUNE_ON_A_FULL_DISK)
    words = [sys.executable, "-c", code, str(tmp_path / "log"), str(ROOT / "tests")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120)
    told, _, hint = done.stdout.strip().partition(" ")
    assert hint.startswith("make room on the disk"), done.stderr
    with TuningLog(tmp_path / "log") as log:
        kept = len(log)
        assert kept >= int(told) >= 1
        tuner = Tuner(blocked_space(), log=log, runner=Oracle(lambda _: 1.0), search="random")
        assert len(tuner.trials) == kept
        list(tuner.run(2))
        assert len(log) > kept


def test_a_file_that_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("not a database at all, but long enough to look at" * 10)
    with pytest.raises(ParseError, match="is no tuning log"):
        TuningLog(tmp_path / "log")


@pytest.mark.parametrize("version", [0, LOG_VERSION])
def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "accounts.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute(f"PRAGMA user_version={version}")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(ParseError, match=r"is no tuning log but a database .* table people"):
        TuningLog(path)
    assert path.read_bytes() == before


def test_a_newer_log_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "log") as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(ParseError, match="version 99"):
        TuningLog(tmp_path / "log")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeFailure, match="cannot be opened"):
        TuningLog(tmp_path / "file" / "log")


def test_a_killed_worker_costs_one_trial(tmp_path: Path) -> None:
    with Measurer(1, lock=tmp_path / "lock") as runner:
        tuner = Tuner(blocked_space(), runner=runner, search="random", settings=QUICK)
        trials = tuner.run(6)
        next(trials)
        for pid in runner.worker_pids:
            os.kill(pid, signal.SIGKILL)
        found = list(trials)
    assert sum(t.ok for t in found) >= 3
    assert sum(t.status in ("memory", "crash") for t in found) <= 1


def test_lines_go_out_and_come_in(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "one") as log:
        tuner = Tuner(blocked_space(), log=log, runner=Oracle(lambda t: 1e-6 * len(t)))
        list(tuner.run(5))
        count = log.export_lines(tmp_path / "lines.jsonl")
        before = log.trials()
    with TuningLog(tmp_path / "two") as log:
        assert log.import_lines(tmp_path / "lines.jsonl") == count
        assert log.import_lines(tmp_path / "lines.jsonl") == 0
        assert log.trials() == before
        assert len(log.workloads()) == 1


def test_foreign_and_stale_trials_are_told_apart() -> None:
    own = Trial("w", "t")
    assert not own.foreign
    assert not own.stale
    assert Trial("w", "t", machine="another").foreign
    assert Trial("w", "t", versions={"log": 0}).stale
    wrong: list[object] = [[], {"workload": 1, "target": "t"}, {"target": "t"}]
    for data in wrong:
        with pytest.raises(ParseError):
            Trial.from_json(data)


def test_a_locked_log_is_waited_for(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "log") as log:
        other = sqlite3.connect(tmp_path / "log", check_same_thread=False, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
        start = time.monotonic()
        log.add(Trial("w", "t"))
        assert time.monotonic() - start > 0.2
        other.close()
