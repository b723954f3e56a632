"""The parent's end of one worker process: start it, send a request, wait no longer than allowed."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from .request import MeasureRequest, MeasureSettings
from .result import MeasureResult, MeasureStatus, Stage

_START_TIMEOUT = 60.0
_WAIT_TIMEOUT = 600.0
_KILLED_GRACE = 5.0
_TAIL_BYTES = 2000


class WorkerProcess:
    """A worker and the pipes to it. Start and use it in one thread that outlives it.

    The thread matters: the kernel ends a worker with the thread that started it.
    """

    def __init__(self, lock: Path, scratch: Path, number: int) -> None:
        self._errors = scratch / f"worker-{number}.err"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "tvmlab.tune.measure.worker"),
                    *("--parent", str(os.getpid())),
                    *("--lock", str(lock)),
                    *("--scratch", str(scratch)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env=environment(),
                start_new_session=True,  # Ctrl-C in the terminal does not reach it
            )
        self._lines = _Lines(cast(Any, self._process.stdout).fileno())
        self._stage: Stage = "start"
        self._ready = False
        self._condemned = False

    @property
    def alive(self) -> bool:
        """Whether it may be sent a request: it runs, and nobody has ended it."""
        return not self._condemned and self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def measure(self, request: MeasureRequest) -> MeasureResult:
        """Send a request and wait for its result; a dead or late worker is a result too."""
        try:
            if not self._ready:
                self._wait_for("ready", lambda _stage: _START_TIMEOUT)
                self._ready = True
            self._send(request)
            event = self._wait_for("result", _allowance(request.settings))
        except TimeoutError:
            self.kill()
            return self._failure(request, "timeout", _late(self._stage, request.settings))
        except (EOFError, BrokenPipeError):
            return self._obituary(request)
        return MeasureResult.from_json(event["result"])

    def warm(self) -> None:
        """Wait until the worker can take requests; a worker that cannot start says so later."""
        with contextlib.suppress(TimeoutError, EOFError):
            self._wait_for("ready", lambda _stage: _START_TIMEOUT)
            self._ready = True

    def kill(self) -> None:
        """End the process now."""
        self._condemned = True
        if self._process.poll() is None:
            self._process.kill()

    def close(self) -> None:
        """End the process and free the pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, request: MeasureRequest) -> None:
        data = json.dumps(request.to_json(), separators=(",", ":")).encode() + b"\n"
        pipe = cast(Any, self._process.stdin)
        self._stage = "parse"
        view = memoryview(data)
        while view:
            view = view[pipe.write(view) :]

    def _wait_for(self, wanted: str, allowance: Callable[[Stage], float]) -> dict[str, Any]:
        deadline = time.monotonic() + allowance(self._stage)
        while True:
            event = json.loads(self._lines.next(deadline))
            if event["event"] == wanted:
                return event
            if event["event"] == "stage":
                self._stage = event["stage"]
                deadline = time.monotonic() + allowance(self._stage)

    def _obituary(self, request: MeasureRequest) -> MeasureResult:
        """The result for a worker that ended by itself, from how it ended."""
        try:
            code = self._process.wait(_KILLED_GRACE)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        doing = _DOING[self._stage]
        if code == -signal.SIGKILL:
            text = f"the worker was killed by the system {doing}, most likely for lack of memory"
            return self._failure(request, "memory", text, "SIGKILL")
        if code < 0:
            name = _signal_name(-code)
            text = f"the worker crashed with {name} {doing}{_explain(name)}"
            return self._failure(request, "crash", text, name)
        text = f"the worker ended with code {code} {doing}{self._last_words()}"
        return self._failure(request, "crash", text)

    def _failure(
        self, request: MeasureRequest, status: MeasureStatus, error: str, name: str = ""
    ) -> MeasureResult:
        return MeasureResult(
            status, error=error, stage=self._stage, signal=name, program_hash=request.program_hash
        )

    def _last_words(self) -> str:
        data = self._errors.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()
        return f"; it wrote:\n{data}" if data else ""


class _Lines:
    """Whole lines from a pipe, each awaited until a deadline."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""

    def next(self, deadline: float) -> bytes:
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                raise TimeoutError
            data = os.read(self._descriptor, 1 << 16)
            if not data:
                raise EOFError
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


_DOING: dict[Stage, str] = {
    "": "",
    "start": "while it started",
    "parse": "while it read the program",
    "build": "while it built the program",
    "reference": "while it ran the reference",
    "wait": "while it waited for a quiet machine",
    "run": "while the program ran",
    "compare": "while it compared the result",
}


def _allowance(settings: MeasureSettings) -> Callable[[Stage], float]:
    """How long each stage may take."""
    seconds: dict[Stage, float] = {
        "parse": settings.build_timeout,
        "build": settings.build_timeout,
        "reference": settings.build_timeout + 10 * settings.run_timeout,
        "run": settings.run_timeout,
        "compare": settings.build_timeout,
    }
    return lambda stage: seconds.get(stage, _WAIT_TIMEOUT)


def _late(stage: Stage, settings: MeasureSettings) -> str:
    if stage == "start":
        return f"the worker did not start within {_START_TIMEOUT:.0f} s"
    limit = _allowance(settings)(stage)
    return f"stopped {_DOING[stage]}: it took longer than {limit:g} s"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _explain(name: str) -> str:
    reasons = {
        "SIGSEGV": ": it touched memory that is not its own, or its stack was too small",
        "SIGBUS": ": it touched memory that does not exist",
        "SIGILL": ": an instruction that this CPU does not have",
        "SIGFPE": ": an integer division by zero or an overflow",
    }
    return reasons.get(name, "")


def environment() -> dict[str, str]:
    """The parent's environment, with threads turned off in libraries that a worker does not use.

    A tvmlab that is not installed, but found in a source tree, is found there by the child too.
    """
    changes = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    root = Path(__file__).resolve().parents[3]
    if "site-packages" not in root.parts:
        inherited = os.environ.get("PYTHONPATH")
        changes["PYTHONPATH"] = f"{root}{os.pathsep}{inherited}" if inherited else str(root)
    return {**os.environ, **changes}
