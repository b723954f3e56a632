"""Code from outside that becomes part of a kernel: LLVM IR text, bitcode, or C through clang.

A program names it in the annotation `import_llvm`. Emitted text carries it along in comments, so
that text is all there is to compile, to cache and to send to another process; when the text is
compiled, the code is linked in and can be inlined.

>>> program = with_code(program, "define void @scale(ptr %x) { ... }")
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tvmlab.ir import IMPORT_LLVM, Invoke, Program
from tvmlab.runtime import LoadedCode, find_symbol, load_ir
from tvmlab.support import OptionError, UserError, llvm_binding

from .signature import nodes_of

CARRIED = "; tvmlab.link "
"""How a line begins that carries code to be linked in."""
_BITCODE = "base64:"


def with_code(program: Program, code: str | bytes | Path) -> Program:
    """The program with code that its kernel is linked with.

    Parameters
    ----------
    code
        LLVM IR as text, bitcode as bytes, or the path of a file with either (`.ll`, `.bc`) or with
        C (`.c`), which clang compiles.

    Raises
    ------
    UserError
        If the code cannot be read.
    """
    text = _as_text(code)
    _module(text)
    others = tuple(pair for pair in program.annotations if pair[0] != IMPORT_LLVM)
    codes = tuple(dict.fromkeys((*program.imported_code, text)))
    return replace(program, annotations=(*others, (IMPORT_LLVM, codes)))


def compile_c(source: str) -> str:
    """C as LLVM IR text, by clang.

    Raises
    ------
    OptionError
        If clang is not installed.
    UserError
        If clang does not accept the source.
    """
    clang = shutil.which("clang")
    if clang is None:
        raise OptionError(
            "C code is to become part of a kernel, but clang is not installed",
            hint="install clang, write the function in LLVM IR, or compile it to a shared library "
            "and load that by tvmlab.load_library",
        )
    command = [clang, "-O2", "-fPIC", "-S", "-emit-llvm", "-x", "c", "-", "-o", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError("clang does not accept the C code", notes=done.stderr.splitlines()[:12])
    return done.stdout


def imported_symbol(codes: Sequence[str], name: str) -> int | None:
    """The address of a function that some code defines, loaded into this process; else None."""
    return next((_loaded(code, name)[name] for code in codes if name in _defined(code)), None)


@cache
def _defined(code: str) -> frozenset[str]:
    """The names of the functions that some code defines."""
    return frozenset(f.name for f in _module(code).functions if not f.is_declaration)


def outside_symbols(program: Program) -> tuple[str, ...]:
    """The C functions that a lowered program calls and that no code linked with it defines."""
    found: dict[str, None] = {}
    for node in nodes_of(program):
        callee = node.callee if isinstance(node, Invoke) else getattr(node, "op", "")
        kind, _, name = callee.partition(":")
        if kind == "symbol" and not any(name in _defined(code) for code in program.imported_code):
            found.setdefault(name)
    return tuple(found)


def require_symbols(program: str, names: Iterable[str]) -> None:
    """Refuse a program that calls C functions which are nowhere to be found.

    Raises
    ------
    UserError
        It names the first of them.
    """
    for name in names:
        if not find_symbol(name):
            raise UserError(
                f"{program} calls the C function {name}, which is neither in this process nor in "
                "code that is linked in",
                hint="pass its code as build(..., link=[...]), or load its library first by "
                "tvmlab.load_library",
            )


@cache
def _loaded(code: str, name: str) -> LoadedCode:
    return load_ir(str(_module(code)), [name])


def carried(codes: Sequence[str]) -> str:
    """Comments that carry code along with emitted text."""
    lines = [base64.b64encode(zlib.compress(code.encode())).decode() for code in codes]
    return "".join(f"{CARRIED}{line}\n" for line in lines)


def link_carried(module: Any, ir_text: str) -> None:
    """Link the code that a text carries into the module made from it."""
    before = {f.name for f in module.functions if not f.is_declaration}
    for code in carried_codes(ir_text):
        other = _module(code)
        other.triple, other.data_layout = module.triple, module.data_layout
        module.link_in(other)
    for function in module.functions:
        if not function.is_declaration and function.name not in before:
            # Nobody outside needs it, so what is inlined everywhere can go.
            function.linkage = "internal"


def carried_codes(ir_text: str) -> Iterator[str]:
    """The codes that a text carries."""
    start = ir_text.find(CARRIED)
    while start >= 0:
        end = ir_text.index("\n", start)
        packed = base64.b64decode(ir_text[start + len(CARRIED) : end])
        yield zlib.decompress(packed).decode()
        start = ir_text.find(CARRIED, end)


def _as_text(code: str | bytes | Path) -> str:
    if isinstance(code, Path):
        try:
            data = code.read_bytes()
        except OSError as error:
            raise UserError(f"the code in {code} cannot be read: {error}") from None
        if code.suffix == ".c":
            return compile_c(data.decode())
        code = data if code.suffix == ".bc" else data.decode()
    return _BITCODE + base64.b64encode(code).decode() if isinstance(code, bytes) else code


def _module(code: str) -> Any:
    llvm = llvm_binding()
    try:
        if code.startswith(_BITCODE):
            module = llvm.parse_bitcode(base64.b64decode(code.removeprefix(_BITCODE)))
        else:
            module = llvm.parse_assembly(code)
        module.verify()
    except (RuntimeError, ValueError) as error:
        raise UserError(
            f"the code to be linked in is not LLVM's: {str(error).strip()}",
            hint="give LLVM IR text or bitcode; C must be in a file that ends in .c",
        ) from None
    return module
