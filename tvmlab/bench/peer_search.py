"""A search by apache-tvm's MetaSchedule. Not part of tvmlab: run as a script by TVM's own Python.

`python peer_search.py '{"shape": {...}, "trials": 64, "cpu": "znver4", "threads": 2, "seed": 0}'`
prints one JSON line for each trial as it is measured: its seconds, or null if it failed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib import import_module
from typing import Any


def product(te: Any, shape: dict[str, int]) -> list[Any]:
    """A product of matrices."""
    m, n, k = shape["m"], shape["n"], shape["k"]
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), "k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(a[i, r] * b[r, j], axis=r)

    return [a, b, te.compute((m, n), element, name="C")]


def convolution(te: Any, tir: Any, shape: dict[str, int]) -> list[Any]:
    """A convolution of one image in blocks of channels, with its margin; by channels if `depth`."""
    size, kernel, stride, block = (shape[n] for n in ("size", "kernel", "stride", "block"))
    inner = shape["inner"]  # channels in a block of the input
    groups, pad = shape["channels"] // inner, kernel // 2
    out = (size + 2 * pad - kernel) // stride + 1
    a = te.placeholder((1, groups, size, size, inner), name="A")
    wide = size + 2 * pad

    def margin(n: Any, c: Any, y: Any, x: Any, b: Any) -> Any:
        inside = tir.all(y >= pad, y < size + pad, x >= pad, x < size + pad)
        value = a[n, c, y - pad, x - pad, b]
        return tir.if_then_else(inside, value, tir.const(0.0, "float32"))

    padded = te.compute((1, groups, wide, wide, inner), margin, name="pad") if pad else a
    y, x = te.reduce_axis((0, kernel), "ky"), te.reduce_axis((0, kernel), "kx")
    if shape["depth"]:
        w = te.placeholder((groups, 1, kernel, kernel, block), name="W")

        def each(n: Any, c: Any, i: Any, j: Any, b: Any) -> Any:
            value = padded[n, c, i * stride + y, j * stride + x, b] * w[c, 0, y, x, b]
            return te.sum(value, axis=[y, x])

        return [a, w, te.compute((1, groups, out, out, block), each, name="conv")]
    blocks = shape["outputs"] // block
    w = te.placeholder((blocks, groups, kernel, kernel, inner, block), name="W")
    c, d = te.reduce_axis((0, groups), "rc"), te.reduce_axis((0, inner), "rci")

    def dense(n: Any, o: Any, i: Any, j: Any, b: Any) -> Any:
        value = padded[n, c, i * stride + y, j * stride + x, d] * w[o, c, y, x, d, b]
        return te.sum(value, axis=[c, d, y, x])

    return [a, w, te.compute((1, blocks, out, out, block), dense, name="conv")]


def main() -> None:
    """Search, and tell of each trial."""
    asked = json.loads(sys.argv[1])
    tvm, te = import_module("tvm"), import_module("tvm.te")
    search = import_module("tvm.s_tir.meta_schedule")
    shape = asked["shape"]
    args = product(te, shape) if "m" in shape else convolution(te, tvm.tirx, shape)

    def tell(*seconds: float | None) -> None:
        for value in seconds:
            print(json.dumps({"seconds": value}), flush=True)

    class Teller(search.measure_callback.PyMeasureCallback):
        """Told of each batch that was measured."""

        def apply(self, *told: Any) -> None:
            results = told[-1]
            tell(*(_mean(result.run_secs) for result in results))

    own = import_module("tvm.ir.utils").derived_object(Teller)()
    usual = search.measure_callback.MeasureCallback.create("default")
    with tempfile.TemporaryDirectory() as folder:
        search.tune_tir(
            mod=te.create_prim_func(args),
            target=tvm.target.Target(
                {"kind": "llvm", "mcpu": asked["cpu"], "num-cores": asked["threads"]}
            ),
            work_dir=folder, max_trials_global=asked["trials"], num_trials_per_iter=16,
            measure_callbacks=[*usual, own], seed=asked["seed"] + 1,
        )  # fmt: skip


def _mean(seconds: Any) -> float | None:
    values = [float(s) for s in seconds or ()]
    return sum(values) / len(values) if values else None


if __name__ == "__main__":
    main()
