"""Putting machine code that was saved into one file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.runtime.module import join_files

__getattr__ = missing("tvm.contrib.cc")


def create_shared(
    output: str, objects: str | Sequence[str], options: Any = None, cc: Any = None
) -> None:
    """Join files that `Module.save` wrote; `tvm.runtime.load_module` reads the result.

    No compiler runs, so the file is one for `load_module`, not for the system's linker.
    """
    del options, cc
    join_files(output, [objects] if isinstance(objects, str) else list(objects))


def get_cc() -> str | None:
    """The C compiler that is used: none."""
    return None
