"""apache-tvm, in a Python of its own: its packages do not go together with those of this one.

`TVMLAB_TVM_PYTHON` names that Python. The worker is the script `tvm_worker.py`; it takes lines of
JSON and answers each with one.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tvmlab.bench.row import Array, Contender, Inputs, Peer, Row
from tvmlab.support import RuntimeFailure
from tvmlab.target import host_cpu

PYTHON_VARIABLE = "TVMLAB_TVM_PYTHON"
_WORKER = Path(__file__).with_name("tvm_worker.py")


def tvm_peer(task: str, output: Callable[[Row], tuple[int, ...]]) -> Peer:
    """apache-tvm as a peer in a task that its worker knows, with a result of a shape."""

    def contenders(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        worker = _Worker(threads)
        started = worker.ask({"task": task, "shapes": row.shapes, "cpu": host_cpu().name})
        name = f"apache-tvm {started['version']}"

        def turn(count: int) -> float:
            return float(worker.ask({"turn": count})["seconds"])

        def result() -> Array:
            with tempfile.TemporaryDirectory(prefix="tvmlab-") as folder:
                files = _saved((*inputs, np.zeros(output(row), np.float32)), folder)
                return np.load(worker.ask({"result": True, "inputs": files})["result"])

        return [Contender(name, lambda: turn(1), result, turn)]

    return Peer("apache-tvm", contenders)


def tvm_model_peer(model: Callable[[Row], bytes]) -> Peer:
    """apache-tvm as a peer on a whole model: its default pipeline, which tunes nothing."""

    def contenders(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        worker = _Worker(threads)
        with tempfile.TemporaryDirectory(prefix="tvmlab-") as folder:
            path, files = Path(folder, "model.onnx"), _saved(inputs, folder)
            path.write_bytes(model(row))
            question = {"task": "run_model", "model": str(path), "inputs": files}
            started = worker.ask({**question, "cpu": host_cpu().name, "threads": threads})

        def turn(count: int) -> float:
            return float(worker.ask({"turn": count})["seconds"])

        def result() -> Array:
            with tempfile.TemporaryDirectory(prefix="tvmlab-") as folder:
                into = str(Path(folder, "result.npy"))
                return np.load(worker.ask({"result": True, "inputs": [into]})["result"])

        name = f"apache-tvm {started['version']}"
        prepared = "compiled by the default pipeline, which is not tuned"
        facts = {"compiled in": f"{started['prepared']:.1f} s"}
        return [Contender(name, lambda: turn(1), result, turn, prepared, facts)]

    return Peer("apache-tvm", contenders, "it takes seconds for a run, not being tuned")


def _saved(arrays: Sequence[Array], folder: str) -> list[str]:
    """The files in which arrays go to the other process."""
    files = [str(Path(folder, f"{number}.npy")) for number in range(len(arrays))]
    for file, array in zip(files, arrays, strict=True):
        np.save(file, array)
    return files


class _Worker:
    """The other process. It ends when its input does, so with this one at the latest."""

    def __init__(self, threads: int) -> None:
        python = os.environ.get(PYTHON_VARIABLE)
        if not python:
            raise ImportError(f"{PYTHON_VARIABLE} names no Python that has apache-tvm")
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, "-I", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**kept, "TVM_NUM_THREADS": str(threads)},
        )
        weakref.finalize(self, _close, self._process)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            _close(self._process)
            raise ImportError("the process of apache-tvm ended: it may not be installed there")
        found = json.loads(answer)
        if "error" in found:
            raise RuntimeFailure(found["error"])
        return found


def _close(process: subprocess.Popen[str]) -> None:
    """End the process with its input; what was not sent yet cannot be sent any more."""
    with suppress(OSError, ValueError):
        process.communicate()
