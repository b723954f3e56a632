"""The process with apache-tvm: prepares a task and runs turns of it, asked by lines of JSON.

It runs in another Python, without tvmlab: only apache-tvm and the standard library, and for whole
models the package onnx.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol


class Task(Protocol):
    """What is measured: a run, and what it computed, written to the last of some files."""

    def run(self) -> None: ...

    def result(self, files: list[str]) -> None: ...


class BuildMatmul:
    """From formula to machine code: a tiled, vectorized, parallel matrix product."""

    def __init__(self, tvm: Any, question: dict[str, Any]) -> None:
        self._tvm, self._built = tvm, None
        self._shapes = question["shapes"]
        self._target = tvm.target.Target({"kind": "llvm", "mcpu": question["cpu"]})

    def run(self) -> None:
        te: Any = import_module("tvm.te")
        (m, depth), (_, n) = self._shapes
        a = te.placeholder((m, depth), "float32", name="A")
        b = te.placeholder((depth, n), "float32", name="B")
        k = te.reduce_axis((0, depth), "k")

        def element(i: Any, j: Any) -> Any:
            return te.sum(a[i, k] * b[k, j], axis=k)

        c = te.compute((m, n), element, name="C")
        sch = self._tvm.s_tir.Schedule(te.create_prim_func([a, b, c]))
        block = sch.get_sblock("C") if hasattr(sch, "get_sblock") else sch.get_block("C")
        i, j, r = sch.get_loops(block)
        io, ii = sch.split(i, [None, 8])
        jo, ji = sch.split(j, [None, 32])
        ko, ki = sch.split(r, [None, 64])
        sch.reorder(io, jo, ko, ki, ii, ji)
        sch.vectorize(ji)
        sch.unroll(ii)
        sch.parallel(io)
        sch.decompose_reduction(block, ko)
        self._built = self._tvm.compile(sch.mod, target=self._target)

    def result(self, files: list[str]) -> None:
        numpy: Any = import_module("numpy")
        arrays = [self._tvm.runtime.tensor(numpy.load(file)) for file in files]
        assert self._built is not None
        self._built(*arrays)
        numpy.save(files[-1], arrays[-1].numpy())


class RunModel:
    """A run of an ONNX model, compiled by the default pipeline."""

    def __init__(self, tvm: Any, question: dict[str, Any]) -> None:
        numpy, onnx, relax = (import_module(name) for name in ("numpy", "onnx", "tvm.relax"))
        frontend: Any = import_module("tvm.relax.frontend.onnx")
        module = frontend.from_onnx(onnx.load(question["model"]), keep_params_in_input=False)
        target = {"kind": "llvm", "mcpu": question["cpu"], "num-cores": question["threads"]}
        with tvm.transform.PassContext(opt_level=3):
            built = tvm.compile(module, target=tvm.target.Target(target))
        self._function: Any = relax.VirtualMachine(built, tvm.cpu())["main"]
        self._inputs = [tvm.runtime.tensor(numpy.load(file)) for file in question["inputs"]]
        self._latest: Any = None

    def run(self) -> None:
        self._latest = self._function(*self._inputs)

    def result(self, files: list[str]) -> None:
        made = self._latest if hasattr(self._latest, "numpy") else self._latest[0]
        import_module("numpy").save(files[-1], made.numpy())


TASKS: dict[str, Callable[[Any, dict[str, Any]], Task]] = {
    "build_matmul": BuildMatmul,
    "run_model": RunModel,
}


def main() -> None:
    """Answer questions until the input ends."""
    tvm: Any = import_module("tvm")
    task: Task | None = None
    for line in sys.stdin:
        question, answer = json.loads(line), dict[str, Any]()
        try:
            start = time.perf_counter()
            if "task" in question:
                task = TASKS[question["task"]](tvm, question)
                answer["version"] = str(tvm.__version__)
                answer["prepared"] = time.perf_counter() - start
            elif task is None:
                answer["error"] = "no task was given"
            elif "turn" in question:
                for _ in range(question["turn"]):
                    task.run()
                answer["seconds"] = (time.perf_counter() - start) / question["turn"]
            else:
                task.result(question["inputs"])
                answer["result"] = question["inputs"][-1]
        except Exception as error:  # told to who asked; the process goes on
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
