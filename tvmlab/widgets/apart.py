"""Work in a process of its own that can be ended at any time: a request and an answer as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Any, cast

from tvmlab.support import UserError
from tvmlab.tune.measure.process import environment

_POLL_SECONDS = 0.1
_TAIL = 400


class CancelledError(UserError):
    """The work was ended before its end."""


def run_apart(
    module: str, request: dict[str, Any], cancelled: threading.Event, seconds: float
) -> dict[str, Any]:
    """Run a module of tvmlab as a process, and wait for its answer.

    Raises
    ------
    CancelledError
        If the event was set meanwhile.
    UserError
        If it took too long, crashed, or answers with an error.
    """
    with subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,  # Ctrl-C in the terminal does not reach it
    ) as process:
        out, err = _waited(process, json.dumps(request), cancelled, seconds)
    if process.returncode != 0:
        raise UserError(f"its process ended with {process.returncode}: {err.strip()[-_TAIL:]}")
    answer = cast("dict[str, Any]", json.loads(out))
    if "error" in answer:
        raise UserError(str(answer["error"]))
    return answer


def _waited(
    process: subprocess.Popen[str], text: str, cancelled: threading.Event, seconds: float
) -> tuple[str, str]:
    """What a process has written when it ends, or an error when it is ended."""
    end = time.monotonic() + seconds
    given: str | None = text
    while True:
        try:
            return process.communicate(given, timeout=_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            given = None  # it is being written already
            if cancelled.is_set():
                process.kill()
                raise CancelledError("it was cancelled") from None
            if time.monotonic() > end:
                process.kill()
                raise UserError(f"it was not done after {seconds:.0f} seconds") from None
