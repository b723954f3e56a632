"""Linking objects to a shared library, by whatever linker there is."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tvmlab.support import OptionError, RuntimeFailure

_LINKERS = (
    ("cc", ["cc", "-shared", "-fPIC"]),
    ("gcc", ["gcc", "-shared", "-fPIC"]),
    ("clang", ["clang", "-shared", "-fPIC"]),
    ("ld", ["ld", "-shared"]),
    ("ld.lld", ["ld.lld", "-shared"]),
)


def link_shared(objects: Mapping[str, bytes], path: Path) -> None:
    """Write a shared library with the code of objects.

    Raises
    ------
    OptionError
        If there is no linker.
    RuntimeFailure
        If it does not link them.
    """
    command = _linker()
    with tempfile.TemporaryDirectory(prefix="tvmlab-link-") as folder:
        files: list[str] = []
        for number, data in enumerate(objects.values()):
            file = Path(folder) / f"{number}.o"
            file.write_bytes(data)
            files.append(str(file))
        made = Path(folder) / "made.so"
        # Mathematical functions that kernels call come from the C library at load time.
        libraries = ["-lm"] if command[0] in ("cc", "gcc", "clang") else []
        done = subprocess.run([*command, "-o", str(made), *files, *libraries],
                              capture_output=True, text=True, check=False)  # fmt: skip
        if done.returncode or not made.exists():
            raise RuntimeFailure(
                "the kernels could not be linked to a shared library",
                hint=f"the linker {command[0]} says: {done.stderr[:300]}",
            )
        shutil.copyfile(made, path)


def _linker() -> list[str]:
    for name, command in _LINKERS:
        if shutil.which(name):
            return command
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-shared"]
    raise OptionError("there is no linker on this machine, so no shared library can be made",
                      hint="install a C compiler, or the package ziglang")  # fmt: skip
