"""`import tvm` as a name for the compatibility package: on request, in this process only."""

# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

import tvmlab.compat.tvm as tvm
from tvmlab.support import UserError

_PROGRAM = """
from tvmlab.compat import install_alias
install_alias()
import tvm, tvm.testing
from tvm import te
from tvm.contrib import utils
import topi
assert tvm.__name__ == "tvmlab.compat.tvm" and topi is tvm.topi
print(te.compute((4,), lambda i: i, name="C").dtype)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_an_unmodified_program_runs() -> None:
    done = run(_PROGRAM)
    assert done.stdout == "int32\n", done.stderr


def test_the_alias_is_refused_where_another_tvm_is_loaded() -> None:
    done = run(
        "import sys, types; sys.modules['tvm'] = types.ModuleType('tvm')\n"
        "from tvmlab.compat import install_alias\n"
        "try: install_alias()\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    assert "UserError cannot install the alias: another module named tvm" in done.stdout


def test_without_the_alias_there_is_no_tvm() -> None:
    assert run("import tvmlab.compat.tvm, tvm").returncode != 0


@pytest.mark.parametrize(
    ("get", "text"),
    [
        (lambda: tvm.relay, "tvm.relay is not part of what tvmlab has of TVM"),
        (lambda: tvm.tir.Schedule, "use tvmlab.Schedule"),
        (lambda: tvm.te.hybrid, "tvmlab.kernel"),
        (lambda: tvm.contrib.cblas, "use te.compute"),
        (lambda: tvm.tir.call_intrin("float32", "tir.odd", 1.0), "the intrinsic tir.odd"),
        (lambda: tvm.get_global_func("nothing.here"), "no function is registered"),
    ],
)
def test_what_is_missing_says_so_and_what_to_do(get: Callable[[], object], text: str) -> None:
    with pytest.raises(UserError) as error:
        get()
    assert text in str(error.value)


_IMPORTS = [
    ("from tvm.te import create_prim_func", "tvm.te.create_prim_func", "the te language"),
    ("from tvm.target import tag", "tvm.target.tag", "the te language"),
    ("from tvm.tir.expr import IterVar", "tvm.tir.expr", "the te language"),
    ("from tvm.contrib import cblas", "tvm.contrib.cblas", "use te.compute"),
    ("import tvm.te.placeholder", "tvm.te.placeholder", "from tvm.te import placeholder"),
]


@pytest.mark.parametrize(("line", "name", "hint"), _IMPORTS)
def test_imports_of_what_is_missing_say_what_to_do(line: str, name: str, hint: str) -> None:
    with pytest.raises(UserError) as error:
        exec(line.replace("tvm.", "tvmlab.compat.tvm.", 1))
    assert f"{name} is not part of what tvmlab has of TVM" in error.value.message
    assert hint in (error.value.hint or "")
    assert isinstance(error.value, ImportError)


def test_imports_through_the_alias_say_the_same() -> None:
    named = [(line, name) for line, name, _ in _IMPORTS]
    named.append(("from tvm.relay import var", "tvm.relay.var"))
    named.append(("from tvm.autotvm.tuner import XGBTuner", "tvm.autotvm.tuner"))
    lines = [f"try:\n {line}\nexcept ImportError as e: print(e)" for line, _ in named]
    done = run("\n".join(["from tvmlab.compat import install_alias", "install_alias()", *lines]))
    for _, name in named:
        assert f"{name} is not part of what tvmlab has" in done.stdout, done.stderr


def test_missing_names_are_attribute_errors_too() -> None:
    assert not hasattr(tvm, "relay")
    assert getattr(tvm.te, "hybrid", None) is None


_MISSING = """
from tvmlab.compat import install_alias
install_alias()
from tvm import autotvm, auto_scheduler, relay, rpc
from tvm.te import hybrid
asked = [
    lambda: autotvm.template, lambda: autotvm.LocalRunner, lambda: autotvm.odd, lambda: relay.var,
    lambda: auto_scheduler.register_workload, lambda: rpc.connect, lambda: hybrid.script,
]
for ask in asked:
    try:
        ask()
    except AttributeError as error:
        print(error.message, "|", error.hint)
"""


def test_other_parts_of_tvm_name_themselves_and_the_nearest_way() -> None:
    lines = run(_MISSING).stdout.splitlines()
    told = [line.split(" is not part of what tvmlab has of TVM | ") for line in lines]
    assert [name for name, _ in told] == [
        "tvm.autotvm.template", "tvm.autotvm.LocalRunner", "tvm.autotvm.odd", "tvm.relay.var",
        "tvm.auto_scheduler.register_workload", "tvm.rpc.connect", "tvm.te.hybrid.script",
    ]  # fmt: skip
    ways = ["knobs", "worker processes", "tune searches", "graph compiler", "returns tensors",
            "worker processes", "tvmlab.kernel"]  # fmt: skip
    assert all(way in hint for way, (_, hint) in zip(ways, told, strict=True)), told


def test_unmodified_programs_mix_types_everywhere() -> None:
    done = run(
        "from tvmlab.compat import install_alias, remove_alias\n"
        "install_alias()\n"
        "from tvm import te\n"
        "print((te.var('n') + te.placeholder((4,), name='A')[0]).dtype)\n"
        "remove_alias()\n"
        "try: te.var('n') + te.placeholder((4,), name='A')[0]\n"
        "except Exception as e: print(type(e).__name__)"
    )
    assert done.stdout == "float32\nTypeMismatch\n", done.stderr


def test_statements_one_after_another_have_numbers() -> None:
    a = tvm.te.placeholder((4,), name="A")
    b = tvm.te.compute((4,), lambda i: a[i] + 1.0, name="B")
    c = tvm.te.compute((4,), lambda i: b[i] * 2.0, name="C")
    body = tvm.lower(tvm.te.create_schedule(c.op), [a, c])["main"].body.body
    assert [str(body[n].var) for n in range(2)] == ["i", "i"]
