"""The worker process: measures programs it is sent, and may crash or hang without harm to others.

Started as `python -m tvmlab.tune.measure.worker` by `Measurer`. It reads one JSON request a line on
its input and writes one JSON event a line on its output: `ready` once, then for each request a
`stage` event as each stage begins and a `result` event. Requests hold program texts and numbers;
nothing is unpickled or evaluated. It ends when its input ends or its parent dies.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, TextIO

from tvmlab.support import ParseError
from tvmlab.target import machine_id

from .execute import Workbench
from .quiet import QuietLock
from .request import MeasureRequest
from .result import MeasureResult

PROTOCOL_VERSION = 1
_PR_SET_PDEATHSIG = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Serve requests until the input ends."""
    parser = argparse.ArgumentParser(
        prog="python -m tvmlab.tune.measure.worker", description=__doc__
    )
    parser.add_argument("--parent", type=int, required=True, help="process to die with")
    parser.add_argument("--lock", required=True, help="file of the lock that keeps timing quiet")
    parser.add_argument("--scratch", required=True, help="folder for reference results")
    options = parser.parse_args(argv)
    _die_with(options.parent)
    _forbid_core_files()
    faulthandler.enable()
    events = _private_output()

    def send(event: dict[str, Any]) -> None:
        events.write(json.dumps(event, separators=(",", ":")) + "\n")
        events.flush()

    bench = Workbench(
        QuietLock(options.lock),
        options.scratch,
        lambda stage: send({"event": "stage", "stage": stage}),
    )
    send({"event": "ready", "version": PROTOCOL_VERSION, "machine": machine_id()})
    for line in sys.stdin:
        send({"event": "result", "result": _answer(bench, line).to_json()})
    return 0


def _answer(bench: Workbench, line: str) -> MeasureResult:
    try:
        request = MeasureRequest.from_json(json.loads(line))
    except (ValueError, ParseError) as error:
        return MeasureResult("parse_error", error=f"the request cannot be read: {error}")
    return bench.measure(request)


def _private_output() -> TextIO:
    """The pipe to the parent; whatever else prints to standard output goes to the error stream."""
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return private


def _die_with(parent: int) -> None:
    """Have the system end this process with its parent; where it cannot, watch the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which stops workers
    asked = False
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            asked = ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) == 0
    if os.getppid() != parent:  # it died before we asked
        sys.exit(0)
    if not asked:  # pragma: no cover - not on Linux
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:  # pragma: no cover - not on Linux
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def _forbid_core_files() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
