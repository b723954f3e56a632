"""Putting machine code that was saved into one shared library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tvmlab.codegen.llvm import c_compiler
from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.runtime.files import join_files

__getattr__ = missing("tvm.contrib.cc")


def create_shared(
    output: str, objects: str | Sequence[str], options: Any = None, cc: Any = None
) -> None:
    """Join files that `Module.save` wrote; `tvm.runtime.load_module` reads the result.

    It is a shared library if the system has a C compiler.
    """
    del options, cc
    names = [objects] if isinstance(objects, str) else objects
    join_files(Path(output), [Path(name) for name in names])


def get_cc() -> str | None:
    """The C compiler that links; None if the system has none."""
    return c_compiler()
