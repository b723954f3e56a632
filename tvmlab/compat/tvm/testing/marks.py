"""Marks of tests: which need what is not here, and parameters of tests."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from typing import Any

from tvmlab.compat.tvm.missing import refused


def _pytest() -> Any:
    """The test runner, which only programs that are tests need."""
    if importlib.util.find_spec("pytest") is None:
        raise refused("marking tests without pytest", "install pytest")
    return importlib.import_module("pytest")


def _skipped(what: str) -> Callable[..., Any]:
    def mark(*args: Any) -> Any:
        skip = _pytest().mark.skip(reason=f"needs {what}")
        return skip(args[0]) if args and callable(args[0]) else skip

    return mark


def _kept(*args: Any) -> Any:
    """Nothing to ask for: the test runs."""
    return args[0] if args and callable(args[0]) else lambda function: function  # pyright: ignore


requires_cuda, requires_gpu = _skipped("an NVIDIA device"), _skipped("a GPU")
requires_opencl, requires_rocm = _skipped("an OpenCL device"), _skipped("an AMD device")
requires_metal, requires_vulkan = _skipped("an Apple device"), _skipped("a Vulkan device")
requires_tensorcore = _skipped("tensor cores")
uses_gpu = requires_llvm = _kept


def requires_package(*names: str) -> Callable[..., Any]:
    """Skip the test unless packages are installed."""
    absent = [n for n in names if importlib.util.find_spec(n) is None]
    return _skipped(", ".join(absent)) if absent else _kept


def slow(function: Any) -> Any:
    """A test that takes long; it runs."""
    return function


def parametrize_targets(*targets: Any) -> Any:
    """Run a test for each target; those of this machine, without a list."""
    from tvmlab.compat.tvm.device import device

    def mark(function: Any) -> Any:
        names = [t for t in targets if isinstance(t, str)] or ["llvm"]
        cases = [(n, device(n)) for n in names if n.split()[0] == "llvm"]
        return _pytest().mark.parametrize(("target", "dev"), cases)(function)

    return mark(targets[0]) if targets and callable(targets[0]) else mark


def parameter(*values: Any, ids: Any = None, by_dict: Any = None) -> Any:
    """A test argument that takes each of the values."""
    del by_dict
    pytest = _pytest()
    name = f"parameter_{next(_numbers)}"

    def given(request: Any) -> Any:
        return request.param

    given.__name__ = name
    return pytest.fixture(params=values, ids=ids)(given)


def parameters(*values: Any, ids: Any = None) -> Any:
    """Several test arguments that take their values together."""
    return [parameter(*column, ids=ids) for column in zip(*values, strict=True)]


def fixture(function: Any = None, *, cache_return_value: bool = False) -> Any:
    """A test argument that a function makes."""
    del cache_return_value
    pytest = _pytest()
    return pytest.fixture(function) if function is not None else pytest.fixture


def main() -> None:
    """Run the tests of the file that calls it."""
    sys.exit(_pytest().main([sys._getframe(1).f_globals["__file__"], *sys.argv[1:]]))  # pyright: ignore


_numbers = itertools.count()
