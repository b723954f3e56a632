"""Files of compiled functions: shared libraries, or where no C compiler is, objects one by one."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvmlab.codegen.llvm import c_compiler, link_shared
from tvmlab.driver import Executable
from tvmlab.runtime import Kernel, SharedLibrary, Signature
from tvmlab.support import ParseError, UserError, write_whole

_MAGIC = b"tvmlab module 1\n"
_CONTENT = "tvmlab_module_functions"
"""The symbol of a library under which the signatures of its functions stand, as JSON."""
_PROVIDED = b"tvmlab_call_packed"
"""What only the process of the runtime has: calls of Python functions."""
_LIBRARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe")

Functions = Mapping[str, Executable | Kernel]


def write_objects(path: Path, functions: Functions) -> None:
    """Machine code with the signatures of its functions."""
    parts = [_MAGIC]
    for name, kernel in _with_code(functions).items():
        header = {
            "name": name,
            "signature": kernel.signature.to_json(),
            "size": len(kernel.object_bytes),
        }
        parts += [json.dumps(header).encode() + b"\n", kernel.object_bytes]
    write_whole(path, b"".join(parts))


def write_library(path: Path, functions: Functions) -> None:
    """A shared library, or machine code as `write_objects` writes it.

    The latter if there is no C compiler, or a function calls Python functions by name. Both are
    read by `read_functions`, in any process on a machine like this one.
    """
    kernels = _with_code(functions)
    asks_runtime = any(_PROVIDED in kernel.object_bytes for kernel in kernels.values())
    if c_compiler() is None or asks_runtime:
        write_objects(path, functions)
        return
    content = {name: kernel.signature.to_json() for name, kernel in kernels.items()}
    objects = [kernel.object_bytes for kernel in kernels.values()]
    link_shared(path, objects, {_CONTENT: json.dumps(content).encode()})


def read_functions(path: Path) -> dict[str, Executable | Kernel]:
    """The functions in a file that one of the functions above wrote.

    Raises
    ------
    ParseError
        If the file is no such module.
    """
    data = path.read_bytes()
    if data.startswith(_LIBRARIES):
        return _from_library(path)
    if not data.startswith(_MAGIC):
        raise _foreign(path)
    functions: dict[str, Executable | Kernel] = {}
    rest = data[len(_MAGIC) :]
    while rest:
        line, _, rest = rest.partition(b"\n")
        header = json.loads(line)
        size = int(header["size"])
        signature = Signature.from_json(header["signature"])
        functions[str(header["name"])] = Kernel(rest[:size], signature)
        rest = rest[size:]
    return functions


def join_files(output: Path, inputs: list[Path]) -> None:
    """One library with the functions of several files."""
    functions: dict[str, Executable | Kernel] = {}
    for path in inputs:
        if not path.read_bytes().startswith(_MAGIC):
            raise ParseError(f"{path} is no machine code that tvmlab wrote")
        functions |= read_functions(path)
    write_library(output, functions)


def _from_library(path: Path) -> dict[str, Executable | Kernel]:
    """Functions of a shared library. Nothing of a library that has no such table is called."""
    if _CONTENT.encode() not in path.read_bytes():
        raise _foreign(path)
    library = SharedLibrary(path)
    address = library.find(_CONTENT)
    if address is None:
        raise _foreign(path)
    content: Any = json.loads(ctypes.string_at(address))
    return {
        str(name): Kernel.of_library(library, Signature.from_json(signature))
        for name, signature in content.items()
    }


def _foreign(path: Path) -> ParseError:
    return ParseError(
        f"{path} is no module that tvmlab wrote",
        hint="a library that TVM itself compiled needs TVM's runtime; build it again here",
    )


def _with_code(functions: Functions) -> dict[str, Kernel]:
    kernels = {
        name: function.kernel if isinstance(function, Executable) else function
        for name, function in functions.items()
    }
    for name, kernel in kernels.items():
        if not kernel.object_bytes:
            raise UserError(
                f"{name} was loaded from a shared library, from which it cannot be taken out",
                hint="copy the library, or build the function again",
            )
    return kernels
