"""Compiled functions in files: saved here, loaded and run in a process of its own."""

# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmlab.compat.tvm as tvm
from tvmlab.codegen import llvm
from tvmlab.codegen.llvm import c_compiler, link_shared
from tvmlab.compat.tvm import te
from tvmlab.compat.tvm.contrib import cc
from tvmlab.runtime import SharedLibrary
from tvmlab.support import OptionError, ParseError, UserError

needs_compiler = pytest.mark.skipif(c_compiler() is None, reason="no C compiler is installed")

_RUN = """
import sys
import numpy as np
import tvmlab.compat.tvm as tvm
f = tvm.runtime.load_module(sys.argv[1])
a, b = tvm.nd.array(np.arange(37, dtype="float32")), tvm.nd.array(np.ones(37, "float32"))
c = tvm.nd.array(np.zeros(37, "float32"))
f["add"](a, b, c)
np.testing.assert_array_equal(c.numpy(), np.arange(37) + 1)
print(f.entry_name, f.time_evaluator("add", tvm.cpu(), number=2)(a, b, c).mean > 0)
"""


def built(name: str = "add") -> Any:
    n = te.var("n")
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    c = te.compute(a.shape, lambda i: a[i] + b[i], name="C")
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=4)
    s[c].parallel(outer)
    s[c].vectorize(inner)
    return tvm.build(s, [a, b, c], "llvm", name=name)


def run_elsewhere(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", _RUN, str(path)], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


@needs_compiler
def test_a_shared_library_runs_in_a_fresh_process(tmp_path: Path) -> None:
    path = tmp_path / "add.so"
    built().export_library(str(path))
    assert path.read_bytes().startswith(b"\x7fELF")
    assert run_elsewhere(path) == "add True\n"
    assert list(tmp_path.iterdir()) == [path]


@needs_compiler
def test_saved_objects_are_joined_to_a_library(tmp_path: Path) -> None:
    names = [tmp_path / "add.o", tmp_path / "twice.o"]
    for path in names:
        built(path.stem).save(str(path))
    cc.create_shared(str(tmp_path / "both.so"), [str(path) for path in names])
    assert run_elsewhere(tmp_path / "both.so") == "add True\n"
    assert list(tvm.runtime.load_module(str(tmp_path / "both.so")).functions) == ["add", "twice"]


def test_without_a_compiler_the_file_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", "")
    assert cc.get_cc() is None
    path = tmp_path / "add.so"
    built().export_library(str(path))
    assert path.read_bytes().startswith(b"tvmlab module 1")
    monkeypatch.undo()
    assert run_elsewhere(path) == "add True\n"
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CC", "")
    with pytest.raises(OptionError, match="no C compiler is installed"):
        link_shared(path, [], {})


@needs_compiler
def test_a_function_that_calls_python_is_kept_as_an_object(tmp_path: Path) -> None:
    tvm.register_func("test.libraries.noop", lambda *args: None, override=True)
    a = te.placeholder((4,), name="A")
    c = te.extern((4,), [a], lambda ins, outs: tvm.tir.call_packed(
        "test.libraries.noop", ins[0], outs[0]), name="C", dtype="float32")  # fmt: skip
    path = tmp_path / "call.so"
    tvm.build(te.create_schedule(c.op), [a, c], "llvm", name="call").export_library(str(path))
    assert path.read_bytes().startswith(b"tvmlab module 1")


@needs_compiler
def test_a_function_of_a_library_is_not_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "add.so"
    built().export_library(str(path))
    with pytest.raises(UserError, match="was loaded from a shared library"):
        tvm.runtime.load_module(str(path)).save(str(tmp_path / "again.o"))


@needs_compiler
def test_other_libraries_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "other.so"
    link_shared(path, [], {"greeting": b"hello"})
    address = SharedLibrary(path).find("greeting")
    assert address is not None
    assert ctypes.string_at(address) == b"hello"
    with pytest.raises(ParseError, match="is no module that tvmlab wrote"):
        tvm.runtime.load_module(str(path))


@needs_compiler
def test_objects_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    code = built().functions["add"].kernel.object_bytes
    with pytest.raises(UserError, match="cannot be linked"):
        llvm.link_shared(tmp_path / "twice.so", [code, code], {})
    assert not list(tmp_path.iterdir())


def test_the_compiler_is_the_one_that_cc_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", sys.executable)
    assert c_compiler() == sys.executable
    np.testing.assert_equal(cc.get_cc(), sys.executable)
