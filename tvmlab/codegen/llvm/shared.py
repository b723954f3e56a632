"""Objects joined to a shared library, by the C compiler of the system.

The library exports each kernel under its name, with the kernel ABI, and data under names of its
own. Any process can load it; `tvmlab.runtime.SharedLibrary` finds things in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tvmlab.support import OptionError, UserError
from tvmlab.target import Target

from .compile import compile_module

_COMPILERS = ("cc", "gcc", "clang")


def c_compiler() -> str | None:
    """The path of the system's C compiler, as `CC` or the usual names say; None if there is none.

    A `CC` with arguments is not taken: its first word alone is a program.
    """
    wanted = os.environ.get("CC", "")
    return next((p for n in (wanted, *_COMPILERS) if n and (p := shutil.which(n))), None)


def link_shared(path: Path, objects: Sequence[bytes], data: Mapping[str, bytes]) -> None:
    """Write a shared library of relocatable objects, and of bytes under given symbols.

    Raises
    ------
    OptionError
        If this system has no C compiler.
    UserError
        If the objects do not fit together.
    """
    compiler = c_compiler()
    if compiler is None:
        raise OptionError(
            f"{path.name} would be a shared library, but no C compiler is installed",
            hint="install one (cc, gcc or clang)",
        )
    parts = [*objects, compile_module(_constants(data), Target.host()).object_bytes]
    with tempfile.TemporaryDirectory(prefix="tvmlab-") as folder:
        names = [Path(folder, f"{number}.o") for number in range(len(parts))]
        for name, part in zip(names, parts, strict=True):
            name.write_bytes(part)
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Path(folder, "library.so")
        command = [compiler, "-shared", "-o", str(made), *map(str, names), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UserError(
                f"{path.name} cannot be linked", notes=tuple(done.stderr.splitlines()[:8])
            )
        # Within one folder, a rename replaces the file at once.
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        shutil.copy(made, beside)
        beside.replace(path)


def _constants(data: Mapping[str, bytes]) -> str:
    return "\n".join(
        f'@{name} = constant [{len(value) + 1} x i8] c"{_escaped(value)}\\00"'
        for name, value in data.items()
    )


def _escaped(value: bytes) -> str:
    return "".join(f"\\{byte:02X}" for byte in value)
