"""The process with apache-tvm: prepares a task and runs turns of it, asked by lines of JSON.

It runs in another Python, without tvmlab: only apache-tvm and the standard library.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any


def build_matmul(tvm: Any, shapes: list[list[int]], cpu: str) -> Callable[[], Any]:
    """From formula to machine code: a tiled, vectorized, parallel matrix product."""
    te: Any = import_module("tvm.te")
    (m, depth), (_, n) = shapes
    target = tvm.target.Target({"kind": "llvm", "mcpu": cpu})

    def compile_now() -> Any:
        a = te.placeholder((m, depth), "float32", name="A")
        b = te.placeholder((depth, n), "float32", name="B")
        k = te.reduce_axis((0, depth), "k")

        def element(i: Any, j: Any) -> Any:
            return te.sum(a[i, k] * b[k, j], axis=k)

        c = te.compute((m, n), element, name="C")
        sch = tvm.s_tir.Schedule(te.create_prim_func([a, b, c]))
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
        return tvm.compile(sch.mod, target=target)

    return compile_now


TASKS: dict[str, Callable[[Any, Any, str], Callable[[], Any]]] = {"build_matmul": build_matmul}


def _filled(tvm: Any, built: Any, files: list[str]) -> str:
    """Run what was built on arrays in files, the last of which it fills."""
    numpy: Any = import_module("numpy")
    arrays = [tvm.runtime.tensor(numpy.load(file)) for file in files]
    built(*arrays)
    numpy.save(files[-1], arrays[-1].numpy())
    return files[-1]


def main() -> None:
    """Answer questions until the input ends."""
    tvm: Any = import_module("tvm")
    run: Callable[[], Any] | None = None
    latest: Any = None
    for line in sys.stdin:
        question = json.loads(line)
        answer: dict[str, Any] = {}
        if "task" in question:
            run = TASKS[question["task"]](tvm, question["shapes"], question["cpu"])
            answer["version"] = str(tvm.__version__)
        elif "turn" in question and run is not None:
            start = time.perf_counter()
            for _ in range(question["turn"]):
                latest = run()
            answer["seconds"] = (time.perf_counter() - start) / question["turn"]
        else:
            answer["result"] = _filled(tvm, latest, question["inputs"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
