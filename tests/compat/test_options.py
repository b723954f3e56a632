"""Targets, options and arguments that an old program gives: refused where they mean nothing."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import pytest

import tvmlab.compat.tvm as tvm
from tvmlab.compat.tvm import te
from tvmlab.support import DType, OptionError, ScheduleError, UserError


def chain() -> tuple[Any, Any, Any]:
    a = te.placeholder((32,), name="A")
    b = te.compute((32,), lambda i: a[i] + 1.0, name="B")
    return a, b, te.compute((32,), lambda i: b[i] * 2.0, name="C")


def test_kinds_of_targets() -> None:
    for known in ("llvm -mcpu=core-avx2", "cuda", "opencl -device=mali", "nvidia/a100"):
        assert str(tvm.target.Target(known)) == known
    assert str(tvm.target.Target('{"kind": "llvm", "mcpu": "core-avx2"}')) == "llvm -mcpu=core-avx2"
    with pytest.raises(OptionError, match="there is no target of kind 'lvm'") as refusal:
        tvm.target.Target("lvm")
    assert "kinds are llvm, cpu, c," in (refusal.value.hint or "")
    with pytest.raises(OptionError, match="is no JSON text"):
        tvm.target.Target("{kind}")


def test_options_of_passes() -> None:
    with tvm.transform.PassContext(config={"tir.disable_vectorize": True, "relay.any": 1}) as made:
        assert made.config["tir.disable_vectorize"] is True
    with pytest.raises(UserError, match=r"tir\.add_lower_pass is not part") as refusal:
        tvm.transform.PassContext(config={"tir.add_lower_pass": [(1, print)]})
    assert "tvmlab's passes are fixed" in (refusal.value.hint or "")
    with pytest.raises(OptionError, match=r"no option 'tir\.disable_vectorise'") as refusal:
        tvm.transform.PassContext(config={"tir.disable_vectorise": True})
    assert "nearest are tir.disable_vectorize" in (refusal.value.hint or "")
    with pytest.raises(OptionError) as refusal:
        tvm.transform.PassContext(config={"what": True})
    assert refusal.value.hint == "tvmlab's passes need no options"


def test_arguments_without_brackets() -> None:
    a, _, c = chain()
    s = te.create_schedule(c.op)
    for call in (tvm.build, tvm.lower):
        with pytest.raises(UserError, match="but A stands in its place") as refusal:
            call(s, a, c)
        assert refusal.value.hint == "put all arguments in brackets: [A, ...]"


def test_an_argument_that_is_inlined_is_warned_of() -> None:
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[b].compute_inline()
    with pytest.warns(UserWarning, match="the kernel does not write B") as said:
        tvm.build(s, [a, b, c])
    assert "call s[B].compute_root()" in str(said[0].message)
    assert said[0].filename == __file__
    tvm.build(s, [a, c])


def test_more_iterations_than_threads() -> None:
    a, _, c = chain()
    s = te.create_schedule(c.op)
    s[c].bind(c.op.axis[0], te.thread_axis((0, 16), "threadIdx.x"))
    with pytest.raises(ScheduleError, match="C: it has 32 iterations, but the thread axis has 16"):
        tvm.lower(s, [a, c])
    s = te.create_schedule(c.op)
    s[c].bind(c.op.axis[0], te.thread_axis((0, 64), "threadIdx.x"))
    assert "threadIdx.x" in str(tvm.lower(s, [a, c]))


def test_types_answer_like_their_names() -> None:
    dtype = te.placeholder((3,), "uint8", "A").dtype
    assert isinstance(dtype, DType)
    assert "int" in dtype
    assert "float" not in dtype
    assert dtype.startswith("uint")
    assert dtype.startswith(("float", "u"))
    assert dtype.endswith("8")
    assert f"{dtype:>7}|{dtype}" == "  uint8|uint8"
