"""The tuning log: one SQLite file, appended to by any number of tuners at once.

A trial is on its way to the disk before `add` returns: a tuner that is killed loses at most what it
was measuring. Readers do not block writers.

>>> log = TuningLog("tuning.sqlite")
>>> log.add(trial)
>>> len(log.trials(workload=trial.workload))
1
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import Program
from tvmlab.runtime import default_cache_dir
from tvmlab.support import OptionError, ParseError, RuntimeFailure

from .lines import RecordLog
from .trial import LOG_VERSION, Trial, Workload, compact, throughput, versions

_PATIENCE_SECONDS = 30.0
_TABLES = """
CREATE TABLE IF NOT EXISTS workloads (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, flops REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trials (
    id INTEGER PRIMARY KEY,
    workload TEXT NOT NULL, target TEXT NOT NULL, machine TEXT NOT NULL,
    trace TEXT NOT NULL, "values" TEXT NOT NULL, program_hash TEXT NOT NULL,
    status TEXT NOT NULL, error TEXT NOT NULL,
    seconds REAL, gflops REAL, predicted REAL,
    kind TEXT NOT NULL, result TEXT NOT NULL, versions TEXT NOT NULL,
    tuner TEXT NOT NULL, "when" REAL NOT NULL, features BLOB
);
CREATE INDEX IF NOT EXISTS by_workload ON trials (workload, target, machine, seconds);
"""
_OWN_TABLES = {"workloads", "trials"}
_COLUMNS = (
    "workload", "target", "machine", "trace", "values", "program_hash", "status", "error",
    "seconds", "gflops", "predicted", "kind", "result", "versions", "tuner", "when",
)  # fmt: skip
_PLAIN = {"values", "result", "versions"}
_NAMED = ", ".join(f'"{name}"' for name in _COLUMNS)


def default_log_path() -> Path:
    """Where tuners keep their log unless told otherwise: `TVMLAB_TUNING_LOG`, or beside caches."""
    given = os.environ.get("TVMLAB_TUNING_LOG")
    return Path(given) if given else default_cache_dir() / "tuning.sqlite"


class TuningLog:
    """An append-only log of trials. Safe to use from several threads and processes.

    Parameters
    ----------
    path
        The SQLite file, made if there is none; by default that of this user.

    Raises
    ------
    ParseError
        If the file is no log, or one of a newer version.
    RuntimeFailure
        If it cannot be opened or written.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path) if path is not None else default_log_path()
        self._guard = threading.RLock()
        with self._told("opened"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE_SECONDS, check_same_thread=False, isolation_level=None
            )
            self._prepare()

    def _prepare(self) -> None:
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > LOG_VERSION:
            raise ParseError(
                f"the tuning log {self.path} has version {version}; this tvmlab reads up to "
                f"{LOG_VERSION}",
                hint="use a newer tvmlab, or another file",
            )
        self._require_own(version)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        if version < LOG_VERSION:
            self._connection.executescript(_TABLES)
            self._connection.execute(f"PRAGMA user_version={LOG_VERSION}")

    def _require_own(self, version: int) -> None:
        """Refuse a database of something else before a table is put into it."""
        found = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = {str(name) for (name,) in found if not name.startswith("sqlite_")}
        strangers = names - _OWN_TABLES if version == 0 else _OWN_TABLES - names and names
        if strangers:
            raise ParseError(
                f"{self.path} is no tuning log but a database of something else, with the "
                f"table {min(strangers)}",
                hint="name another file; a log is made where there is none",
            )

    def close(self) -> None:
        """Close the file; the log cannot be used any more."""
        with self._guard:
            self._connection.close()

    def __enter__(self) -> TuningLog:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    # --------------------------------------------------------------- writing

    def add_workload(self, workload: Workload) -> None:
        """Note what a workload's key stands for."""
        row = (workload.key, workload.name, workload.text, workload.flops)
        self._write("INSERT OR IGNORE INTO workloads VALUES (?, ?, ?, ?)", row)

    def add(self, trial: Trial, features: NDArray[np.float32] | None = None) -> None:
        """Append one trial, with its row of features, so that models need not make it again.

        Raises
        ------
        RuntimeFailure
            If it cannot be written, for example to a full disk. What is in the log stays.
        """
        values = [
            compact(dict(getattr(trial, name))) if name in _PLAIN else getattr(trial, name)
            for name in _COLUMNS
        ]
        blob = None if features is None else np.ascontiguousarray(features, "<f4").tobytes()
        marks = ", ".join("?" * (len(values) + 1))
        self._write(f"INSERT INTO trials ({_NAMED}, features) VALUES ({marks})", (*values, blob))

    # --------------------------------------------------------------- reading

    def trials(
        self,
        *,
        workload: str | None = None,
        target: str | None = None,
        machine: str | None = None,
        kind: str | None = "trial",
        tuner: str | None = None,
    ) -> list[Trial]:
        """The trials that fit, in the order in which they were added."""
        rows = self._select(_NAMED, workload, target, machine, kind, tuner)
        return [_trial(row) for row in rows]

    def rows(
        self, *, target: str | None = None, machine: str | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], list[str]]:
        """Everything for a model to learn from: features, GFLOP/s (0 for a failure), workloads.

        Of a computation without arithmetic it is runs in a nanosecond. Trials whose features
        another version of tvmlab made are left out.
        """
        known = compact(versions())
        found = [
            (np.frombuffer(blob, "<f4"), throughput(status, gflops, seconds), workload)
            for blob, status, gflops, seconds, workload, written in self._select(
                "features, status, gflops, seconds, workload, versions",
                None,
                target,
                machine,
                "trial",
            )
            if blob is not None and written == known
        ]
        if not found:
            return np.zeros((0, 0), np.float32), np.zeros(0), []
        features, gflops, workloads = zip(*found, strict=True)
        return np.stack(features), np.array(gflops, np.float64), list(workloads)

    def workloads(self) -> dict[str, Workload]:
        """All workloads by key."""
        with self._told("read"):
            rows = self._connection.execute("SELECT key, name, text, flops FROM workloads")
            return {row[0]: Workload(*row) for row in rows.fetchall()}

    def program(self, workload: str) -> Program:
        """The unscheduled program of a workload, with the names that it had first.

        Raises
        ------
        OptionError
            If the log does not know the workload.
        """
        with self._told("read"), self._guard:
            row = self._connection.execute(
                "SELECT key, name, text, flops FROM workloads WHERE key = ?", (workload,)
            ).fetchone()
        if row is None:
            raise OptionError(f"the log has no workload {workload}")
        return Workload(*row).program

    def best_trials(self, workload: str, target: str, machine: str, most: int = 8) -> list[Trial]:
        """The fastest trials, fastest first."""
        with self._told("read"), self._guard:
            rows = self._connection.execute(
                f"SELECT {_NAMED} FROM trials WHERE workload = ? AND target = ? AND machine = ? "
                "AND status = 'ok' AND kind = 'trial' AND seconds IS NOT NULL "
                "ORDER BY seconds LIMIT ?",
                (workload, target, machine, most),
            ).fetchall()
        return [_trial(row) for row in rows]

    def __len__(self) -> int:
        with self._told("read"), self._guard:
            return int(self._connection.execute("SELECT count(*) FROM trials").fetchone()[0])

    # --------------------------------------------------------------- exchange

    def export_lines(self, path: str | os.PathLike[str]) -> int:
        """Write all workloads and trials to a file of JSON lines; returns the number of trials."""
        lines = RecordLog(path)
        for workload in self.workloads().values():
            row = {"key": workload.key, "name": workload.name, "text": workload.text}
            lines.append({"workload": {**row, "flops": workload.flops}})
        trials = self.trials(kind=None)
        for trial in trials:
            lines.append({"trial": trial.to_json()})
        return len(trials)

    def import_lines(self, path: str | os.PathLike[str]) -> int:
        """Add what `export_lines` wrote; returns the number of trials that were new.

        A trial that is in the log already, by place, steps and time, is left out.
        """
        known = {_identity(t) for t in self.trials(kind=None)}
        added = 0
        for record in RecordLog(path).read():
            if "workload" in record:
                self.add_workload(_workload(record["workload"]))
                continue
            trial = Trial.from_json(record.get("trial"))
            if _identity(trial) not in known:
                known.add(_identity(trial))
                self.add(trial)
                added += 1
        return added

    # ---------------------------------------------------------------- engine

    def _select(
        self,
        what: str,
        workload: str | None,
        target: str | None,
        machine: str | None,
        kind: str | None,
        tuner: str | None = None,
    ) -> Iterator[tuple[Any, ...]]:
        given = {
            "workload": workload, "target": target, "machine": machine, "kind": kind,
            "tuner": tuner,
        }  # fmt: skip
        wanted = {name: value for name, value in given.items() if value is not None}
        where = " AND ".join(f"{name} = ?" for name in wanted) or "1"
        with self._told("read"), self._guard:
            rows = self._connection.execute(
                f"SELECT {what} FROM trials WHERE {where} ORDER BY id", tuple(wanted.values())
            ).fetchall()
        yield from rows

    def _write(self, statement: str, values: Iterable[Any]) -> None:
        with self._told("written"), self._guard:
            self._connection.execute(statement, tuple(values))

    @contextmanager
    def _told(self, doing: str) -> Generator[None]:
        """Errors of the file in words."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise ParseError(f"{self.path} is no tuning log: {error}") from error
            hint = None
            if "full" in str(error) or "disk I/O" in str(error):
                hint = "make room on the disk and start again: the search goes on from the log"
            raise RuntimeFailure(
                f"the tuning log {self.path} cannot be {doing}: {error}", hint=hint
            ) from error
        except (OSError, sqlite3.ProgrammingError) as error:
            raise RuntimeFailure(
                f"the tuning log {self.path} cannot be {doing}: {error}"
            ) from error


def _trial(row: tuple[Any, ...]) -> Trial:
    fields = dict(zip(_COLUMNS, row, strict=True))
    return Trial(**{k: json.loads(v) if k in _PLAIN else v for k, v in fields.items()})


def _identity(trial: Trial) -> tuple[object, ...]:
    return trial.workload, trial.machine, trial.trace, trial.when, trial.kind


def _workload(data: Any) -> Workload:
    try:
        return Workload(
            str(data["key"]), str(data["name"]), str(data["text"]), float(data["flops"])
        )
    except (TypeError, KeyError, ValueError) as error:
        raise ParseError(f"this is no workload: {error}") from error
