"""stream: what code generation makes of it, values at any address, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.steps import after_steps, ramp
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.driver import build
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor


def doubled(n: int = 12, m: int = 64) -> Tensor:
    a = te.placeholder((n, m), name="A")
    b = te.compute((n, m), lambda i, j: a[i, j] + 1.0, name="B")
    return te.compute((n, m), lambda i, j: b[i, j] * 2.0, name="C")


def streamed(kind: str, lanes: int | None) -> Callable[[Schedule], None]:
    def steps(s: Schedule) -> None:
        s.compute_inline("B")
        i, j = s.loops("C")
        s.vectorize(j if lanes is None else s.split(j, [None, lanes])[1])
        if kind == "parallel":
            s.parallel(i)
        s.stream("C", i)

    return steps


@pytest.mark.parametrize("kind", ["serial", "parallel"])
@pytest.mark.parametrize(("m", "lanes"), [(64, 16), (37, 16), (48, 3), (64, None)])
def test_values_with_and_without_tails(kind: str, m: int, lanes: int | None) -> None:
    sch = after_steps(doubled(12, m), streamed(kind, lanes), [ramp(12, m)])
    assert 'stream=("C",)' in str(sch)


@pytest.mark.parametrize("offset", range(0, 20, 3))
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_any_address(offset: int, dtype: str) -> None:
    a = te.placeholder((5, 128), dtype, name="A")
    c = te.compute((5, 128), lambda i, j: a[i, j] * 2, name="C")
    sch = Schedule(c)
    i, j = sch.loops("C")
    sch.vectorize(j)
    sch.parallel(i)
    sch.stream("C", i)
    given = ramp(5, 128, dtype=dtype)
    out: NDArray[Any] = np.zeros(5 * 128 + 64, dtype)[offset : offset + 640].reshape(5, 128)
    build(sch, target=Target.host().with_threads(2))(given, out)
    np.testing.assert_array_equal(out, given * 2)


def test_the_code_stores_past_caches_and_waits_before_it_leaves() -> None:
    sch = Schedule(doubled())
    streamed("parallel", 16)(sch)
    text = str(build(sch, target="llvm -mcpu=znver4").source("llvm"))
    assert "!nontemporal" in text
    body = text[text.index(".i.body(") :]
    assert body.index("sfence") < body.index("ret i32")
    sch.unannotate(sch.loops("C")[0], "stream")
    assert "!nontemporal" not in str(build(sch).source("llvm"))


def _in_vectors(s: Schedule) -> None:
    s.vectorize(s.loops("C")[1])
    s.stream("C", s.loops("C")[1])


def _given(s: Schedule) -> None:
    s.stream("A", s.loops("C")[0])


def _read(s: Schedule) -> None:
    s.compute_at("B", s.loops("C")[0])
    s.stream("B", s.loops("C")[0])


@pytest.mark.parametrize(
    ("steps", "rule", "words"),
    [
        (_in_vectors, "stream.kind", "a vectorized loop is gone"),
        (_given, "stream.not-written", "no block inside"),
        (_read, "stream.read", "C reads it there"),
    ],
)
def test_refusals(steps: Callable[[Schedule], None], rule: str, words: str) -> None:
    assert_refused(lambda: steps(Schedule(doubled())), rule, words)
