"""Debug mode names the first kernel that differs; kernels compile the same in other processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tvmlab.graph import BuildOptions, Graph, GraphBuilder, TensorType, first_difference
from tvmlab.graph.compile_pool import compile_in_processes
from tvmlab.graph.compiler import build_with_report
from tvmlab.runtime import ObjectLibrary
from tvmlab.support import TvmlabError
from tvmlab.target import Target


def chain() -> Graph:
    g = GraphBuilder("chain")
    x = g.input("x", TensorType.of("float32", (4, 8)))
    a = g.add("exp", x, name="first")
    b = g.add("sum", a, axes=(1,), name="second")
    g.output(g.add("tanh", b, name="third"))
    return g.graph()


X = np.random.default_rng(0).standard_normal((4, 8)).astype("f4")


def test_first_difference_is_named() -> None:
    options = BuildOptions(fuse=False, optimize=False)
    built, report = build_with_report(chain(), options=options)
    assert first_difference(built, report, {"x": X}) is None
    other = GraphBuilder("other")
    y = other.input("x", TensorType.of("float32", (4, 8)))
    other.output(other.add("prod", y, axes=(1,), name="second"))
    wrong, _ = build_with_report(other.graph(), options=options)
    objects = dict(built.lib.objects)
    of_sum = built.graph.steps[1].kernel
    of_product = wrong.graph.steps[0].kernel
    objects[of_sum] = wrong.lib.objects[of_product]
    library = _Renamed(objects, of_sum, of_product)
    found = first_difference(built._replace(lib=library), report, {"x": X})
    assert found is not None
    assert found.value == "second"
    assert "the kernel second is the first that differs" in str(found)


class _Renamed(ObjectLibrary):
    """A library in which one kernel stands under the name of another."""

    def __init__(self, objects: dict[str, bytes], name: str, real: str) -> None:
        ObjectLibrary.__init__(self, {**objects, real: objects[name]})
        self._name, self._real = name, real

    def address(self, kernel: str) -> int:
        return ObjectLibrary.address(self, self._real if kernel == self._name else kernel)


def test_other_processes_compile_the_same(tmp_path: Path) -> None:
    built, report = build_with_report(chain(), options=BuildOptions(fuse=False, cache=False))
    requests = [(g.kernel, g.text, "") for g in report.groups]
    made = {s: d for s, d, *_ in compile_in_processes(requests, Target.host(), tmp_path)}
    assert made == dict(built.lib.objects)
    assert len(list(tmp_path.glob("*.o"))) == len(requests)


def test_what_a_process_raises_is_told() -> None:
    def compiled() -> Iterator[object]:
        yield from compile_in_processes([("k", "graph g() -> (y):\n", "")], Target.host(), None)

    with pytest.raises(TvmlabError, match="the output y of graph g is made by no node"):
        list(compiled())
