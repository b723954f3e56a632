"""Modules: compiled functions that can be called, timed, read and saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmlab.codegen import interpret
from tvmlab.compat.tvm.missing import refused
from tvmlab.compat.tvm.nd import NDArray
from tvmlab.driver import Executable
from tvmlab.ir import Program, to_text
from tvmlab.runtime import Kernel
from tvmlab.support import RuntimeFailure, UserError

from .files import read_functions, write_library, write_objects


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """Seconds per call, one for each repeat."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.results))

    @property
    def median(self) -> float:
        return float(np.median(self.results))

    @property
    def min(self) -> float:
        return float(np.min(self.results))

    @property
    def max(self) -> float:
        return float(np.max(self.results))

    @property
    def std(self) -> float:
        return float(np.std(self.results))


class Module:
    """Functions for this machine's CPU; calling the module calls the first one."""

    type_key = "llvm"

    def __init__(self, functions: Mapping[str, Executable | Kernel]) -> None:
        self.functions = dict(functions)
        self.imported_modules: list[Any] = []

    @property
    def entry_name(self) -> str:
        """The name of the function that the module itself stands for."""
        return next(iter(self.functions), "main")

    @property
    def entry_func(self) -> Callable[..., None]:
        """The function that the module itself stands for."""
        return self.get_function(self.entry_name)

    def get_function(self, name: str, query_imports: bool = False) -> Callable[..., None]:
        """The function of a name, called on arrays and numbers."""
        del query_imports
        function = self._function(name)
        return lambda *args: function(*(_plain(a) for a in args))

    def __getitem__(self, name: str) -> Callable[..., None]:
        return self.get_function(name)

    def __call__(self, *args: Any) -> None:
        self.get_function(self.entry_name)(*args)

    def time_evaluator(
        self,
        func_name: str,
        dev: Any = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: int = 0,
        **options: Any,
    ) -> Callable[..., BenchmarkResult]:
        """A function that measures calls: `repeat` results, each the mean of `number` calls."""
        del dev, options
        function = self._function(func_name)
        kernel = function.kernel if isinstance(function, Executable) else function

        def evaluate(*args: Any) -> BenchmarkResult:
            plain = [_plain(a) for a in args]
            least = max(float(min_repeat_ms), 1e-6)
            results: list[float] = []
            for _ in range(max(1, repeat)):
                timing = kernel.time(*plain, repeats=max(1, number), min_repeat_ms=least)
                results.append(float(np.mean(timing.seconds)))
            return BenchmarkResult(tuple(results))

        return evaluate

    def get_source(self, fmt: str = "") -> str:
        """LLVM IR ("" or "ll") or assembly ("asm", "s") of the first function."""
        function = self._function(self.entry_name)
        if not isinstance(function, Executable):
            raise UserError("a module that was loaded from a file has no source")
        return function.source("asm" if fmt in ("asm", "s") else "llvm")

    def import_module(self, module: Any) -> None:
        """Keep another module with this one."""
        self.imported_modules.append(module)

    def save(self, file_name: str, fmt: str = "") -> None:
        """Write LLVM IR (.ll), assembly (.s, .asm), or machine code that `load_module` reads."""
        kind = fmt or Path(file_name).suffix.removeprefix(".")
        if kind in ("ll", "s", "asm"):
            Path(file_name).write_text(self.get_source(kind))
            return
        write_objects(Path(file_name), self.functions)

    def export_library(self, file_name: str, *args: Any, **options: Any) -> None:
        """Write a shared library, with all that `load_module` needs, in any process.

        Where no C compiler is installed the file holds the machine code alone; `load_module` reads
        it as well.
        """
        del args, options
        write_library(Path(file_name), self.functions)

    def implements_function(self, name: str, query_imports: bool = False) -> bool:
        """Whether there is a function of a name."""
        del query_imports
        return name in self.functions

    def _function(self, name: str) -> Executable | Kernel:
        if name == "__tvm_main__":
            name = self.entry_name
        if name not in self.functions:
            raise UserError(
                f"the module has no function {name!r}",
                hint=f"its functions are {', '.join(self.functions)}",
            )
        return self.functions[name]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(self.functions)}>"


class DeviceModule(Module):
    """Functions for a device that is not here: their programs are interpreted, slowly.

    `imported_modules[0]` holds the part that the device would run.
    """

    def __init__(self, programs: Mapping[str, tuple[Program, str]], target: Any) -> None:
        super().__init__({})
        self.programs = {name: program for name, (program, _) in programs.items()}
        self.target = target
        self.type_key = target.kind.name
        self.imported_modules = [DeviceCode(self.programs, self.type_key)]

    @property
    def entry_name(self) -> str:
        return next(iter(self.programs))

    def get_function(self, name: str, query_imports: bool = False) -> Callable[..., None]:
        del query_imports
        program = self.programs[self.entry_name if name == "__tvm_main__" else name]
        return lambda *args: interpret(program, [_plain(a) for a in args])

    def get_source(self, fmt: str = "") -> str:
        del fmt
        return "\n".join(to_text(program) for program in self.programs.values())

    def time_evaluator(self, func_name: str, *args: Any, **options: Any) -> Any:
        del func_name, args, options
        raise refused(
            f"measuring code for {self.type_key}",
            "it is interpreted here; build for llvm to measure",
        )

    def save(self, file_name: str, fmt: str = "") -> None:
        del fmt
        Path(file_name).write_text(self.get_source())


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """The part of a module that a device would run, as loops over its threads."""

    programs: Mapping[str, Program]
    type_key: str

    def get_source(self, fmt: str = "") -> str:
        """The loops of the threads."""
        del fmt
        return "\n".join(to_text(program) for program in self.programs.values())


def load_module(path: str, fmt: str = "") -> Module:
    """The module that `Module.save`, `export_library` or `cc.create_shared` wrote.

    Raises
    ------
    ParseError
        If the file is no such module.
    """
    del fmt
    return Module(read_functions(Path(path)))


def _plain(value: Any) -> Any:
    """The array or number that a kernel takes."""
    if isinstance(value, NDArray):
        return value.data
    known: Any = (np.ndarray, int, float, np.number)
    if isinstance(value, known) or hasattr(value, "__dlpack__"):
        return value
    raise RuntimeFailure(f"{value!r} is neither an array nor a number")
