"""LLVM IR from C code, by the clang of this machine."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tvmlab.compat.tvm.missing import missing
from tvmlab.support import RuntimeFailure

__getattr__ = missing("tvm.contrib.clang")


def find_clang(required: bool = True) -> list[str]:
    """The clangs on the path.

    Raises
    ------
    RuntimeFailure
        If there is none and one is required.
    """
    names = ["clang", *(f"clang-{n}" for n in range(22, 10, -1))]
    found = [path for name in names if (path := shutil.which(name))]
    if required and not found:
        raise RuntimeFailure(
            "there is no clang on this machine to compile C code with",
            hint="install it, or pass the function to te.decl_tensor_intrin as a Python function",
        )
    return found


def create_llvm(
    inputs: str | Sequence[str],
    output: str | None = None,
    options: Sequence[str] | None = None,
    cc: str | None = None,
) -> str:
    """The LLVM IR of C++ code; written to a file too, if one is named."""
    sources = [inputs] if isinstance(inputs, str) else list(inputs)
    clang = cc or find_clang()[0]
    with tempfile.TemporaryDirectory() as folder:
        target = output or str(Path(folder) / "out.ll")
        files: list[str] = []
        for number, source in enumerate(sources):
            if Path(source[:255].split("\n")[0]).is_file():
                files.append(source)
                continue
            file = Path(folder) / f"input{number}.cc"
            file.write_text(source)
            files.append(str(file))
        command = [clang, "-O3", "-emit-llvm", "-S", *(options or []), "-o", target, *files]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeFailure(f"clang refused the code:\n{done.stderr}")
        return Path(target).read_text()
