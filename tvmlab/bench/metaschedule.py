"""MetaSchedule of apache-tvm beside the searches: the same computations, as many trials, one log.

TVM lives in an environment of its own, whose Python runs `peer_search.py`; nothing of it is
imported here. Its trials have a target of their own, so that no lookup takes them for schedules.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from tvmlab.ir import Buffer, Program
from tvmlab.support import OptionError, RuntimeFailure
from tvmlab.tune import Space, Trial, TuningLog, workload_of

from .search_run import SearchRun, curve_of, own_name

METASCHEDULE = "metaschedule"
_SCRIPT = Path(__file__).with_name("peer_search.py")
_TARGET = "apache-tvm"
_HINT = "its Python needs apache-tvm 0.27, apache-tvm-ffi 0.1.14, psutil, cloudpickle and xgboost"


def run_metaschedule(
    name: str,
    space: Space,
    python: str,
    *,
    trials: int,
    log: str | os.PathLike[str],
    until: float | None = None,
) -> SearchRun:
    """One run of MetaSchedule, unless the log has one with so many trials.

    It cannot go on where it was cut, so a cut run counts as far as it came, and the next one has a
    seed of its own.

    Parameters
    ----------
    python
        The interpreter that has apache-tvm.
    until
        When to end, by `time.monotonic()`.

    Raises
    ------
    OptionError
        If the workload is neither a product nor a convolution.
    RuntimeFailure
        If TVM does not start.
    """
    shape = shape_of(space.program)
    workload = workload_of(space.program)
    with TuningLog(log) as opened:
        seed = 0
        while found := opened.trials(
            workload=workload.key, tuner=own_name(name, METASCHEDULE, seed, starts=False)
        ):
            if len(found) >= trials:
                return SearchRun(name, METASCHEDULE, seed, curve_of(found[:trials]))
            seed += 1
        own = own_name(name, METASCHEDULE, seed, starts=False)
        opened.add_workload(workload)
        asked = {
            "shape": shape, "trials": trials, "cpu": space.target.cpu, "seed": seed,
            "threads": space.target.num_threads,
        }  # fmt: skip
        done: list[Trial] = []
        for seconds in _told(python, asked, until):
            trial = Trial(
                workload.key, _TARGET, tuner=own, seconds=seconds,
                status="run_error" if seconds is None else "ok",
                gflops=workload.flops / seconds / 1e9 if seconds else None,
            )  # fmt: skip
            opened.add(trial)
            done.append(trial)
    return SearchRun(name, METASCHEDULE, seed, curve_of(done))


def shape_of(program: Program) -> dict[str, int]:
    """A product or a convolution by its sizes, as `peer_search.py` takes them.

    Raises
    ------
    OptionError
        If it is neither.
    """
    sizes = [p.const_shape for p in program.params if isinstance(p, Buffer)]
    match sizes:
        case [(m, k), (_, n), (_, _)]:
            return {"m": m, "n": n, "k": k}
        case [(1, *data), (first, _, kernel, _, *inside), (1, *out)] if len(out) == 4 and inside:
            wide = data[1] + 2 * (kernel // 2) - kernel
            shape = {"size": data[1], "kernel": kernel, "stride": wide // (out[1] - 1)}
            inner = data[3] if len(data) == 4 else data[0]
            channels = data[0] * inner if len(data) == 4 else inner
            depth = len(data) == 4 and len(inside) == 1
            return {
                **shape, "channels": channels, "inner": inner, "block": inside[-1],
                "outputs": first * inside[-1], "depth": int(depth),
            }  # fmt: skip
        case _:
            raise OptionError(
                f"MetaSchedule is not asked about {program.name}: it is no product of matrices and "
                f"no convolution in blocks of channels"
            )


def _told(python: str, asked: dict[str, Any], until: float | None) -> Iterator[float | None]:
    """The seconds of each trial as TVM tells them; None for one that failed."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    told = 0
    with TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [python, str(_SCRIPT), json.dumps(asked)],
                stdout=subprocess.PIPE, stderr=errors, env=clean, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise RuntimeFailure(f"{python} cannot be started: {error}", hint=_HINT) from error
        try:
            assert process.stdout is not None
            for line in _lines(process.stdout, until):
                if line.startswith(b'{"seconds"'):
                    told += 1
                    yield json.loads(line)["seconds"]
                if told == asked["trials"]:  # what TVM does afterwards takes a while
                    return
            late = until is not None and time.monotonic() >= until
            if not told and not late and process.wait() != 0:
                errors.seek(0)
                last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
                raise RuntimeFailure(f"MetaSchedule ended: {' '.join(last)}", hint=_HINT)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the workers that it started
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _lines(pipe: IO[bytes], until: float | None) -> Iterator[bytes]:
    """Lines until the end of a pipe, or of the time."""
    buffer = b""
    while True:
        left = None if until is None else until - time.monotonic()
        if left is not None and (left <= 0 or not select.select([pipe], [], [], left)[0]):
            return
        data = os.read(pipe.fileno(), 1 << 16)
        if not data:
            return
        *whole, buffer = (buffer + data).split(b"\n")
        yield from whole
