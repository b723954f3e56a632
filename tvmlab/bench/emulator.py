"""Kernels for other processors, run under qemu: a static program without a C library.

The arrays lie in the program's data; it calls the kernel once, on one thread, and writes all arrays
to its standard output. What a kernel may call of the C library is written in LLVM IR below.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.codegen import EmitOptions, compile_module, emit_module, kernel_name
from tvmlab.ir import Program, Var
from tvmlab.lower import lower
from tvmlab.support import RuntimeFailure, llvm_binding
from tvmlab.target import Target

Array = NDArray[Any]
MOST_BYTES = 1 << 16
"""One call writes what a pipe holds."""


@dataclass(frozen=True)
class Emulated:
    """A processor as tvmlab calls it, and as qemu does."""

    name: str
    spec: str
    qemu: tuple[str, ...]
    # `call(a, b, c, number)` of the operating system in machine words: move the number to its
    # register, enter the system, return.
    system_call: tuple[int, ...]
    write: int = 64
    leave: int = 94

    @property
    def target(self) -> Target:
        return Target.of(self.spec)


_ARM = (0xAA0303E8, 0xD4000001, 0xD65F03C0)
_RISCV = (0x00068893, 0x00000073, 0x00008067)
_PC = "llvm -mtriple=x86_64-linux-gnu"
_X86 = (0x0FC88948, 0x9090C305)

MACHINES = (
    Emulated("neon", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76", ("aarch64", "max"), _ARM),
    Emulated(
        "neon-bf16", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", ("aarch64", "max"), _ARM
    ),
    Emulated("arm-plain", "llvm -mtriple=aarch64-linux-gnu", ("aarch64", "cortex-a53"), _ARM),
    Emulated(
        "rvv",
        "llvm -mtriple=riscv64-linux-gnu -mcpu=generic-rv64 -mattr=+m,+a,+f,+d,+c,+v",
        ("riscv64", "rv64,v=true,vlen=128,elen=64,vext_spec=v1.0"),
        _RISCV,
    ),
    Emulated(
        "riscv-plain",
        "llvm -mtriple=riscv64-linux-gnu -mcpu=generic-rv64 -mattr=+m,+a,+f,+d,+c",
        ("riscv64", "rv64"),
        _RISCV,
    ),
    Emulated("x86-plain", f"{_PC} -mcpu=x86-64", ("x86_64", "qemu64"), _X86, 1, 231),
    Emulated("sse4", f"{_PC} -mcpu=x86-64-v2", ("x86_64", "Nehalem"), _X86, 1, 231),
)


def missing(machine: Emulated) -> str:
    """Why programs for this processor cannot be linked or run here; empty if they can."""
    emulator = f"qemu-{machine.qemu[0]}"
    for tool, package in ((emulator, "qemu-user"), ("ld.lld", "lld")):
        if shutil.which(tool) is None:
            return f"{tool} is not installed (Debian package {package})"
    return ""


def run(
    program: Program,
    machine: Emulated,
    arrays: Sequence[Array],
    options: EmitOptions | None = None,
) -> None:
    """Compile a program for a processor and run it there; the arrays are filled in place.

    Raises
    ------
    RuntimeFailure
        If the kernel or the emulator fails, or the arrays are too large.
    """
    if sum(array.nbytes for array in arrays) >= MOST_BYTES:
        raise RuntimeFailure(f"the arrays have more than {MOST_BYTES} bytes together")
    target = machine.target
    lowered = lower(program, target).program
    kernel = compile_module(emit_module(lowered, target, options), target).object_bytes
    if any(isinstance(p, Var) for p in lowered.params):
        raise RuntimeFailure("a program of sizes known only at run time is not emulated")
    harness = _compiled(_main(kernel_name(lowered), arrays, machine), target)
    with tempfile.TemporaryDirectory(prefix="tvmlab-") as folder:
        files = [Path(folder, "kernel.o"), Path(folder, "main.o")]
        for file, data in zip(files, (kernel, harness), strict=True):
            file.write_bytes(data)
        binary = Path(folder, "program")
        subprocess.run(["ld.lld", "-static", "-o", binary, *files], check=True)
        emulator, cpu = f"qemu-{machine.qemu[0]}", machine.qemu[1]
        done = subprocess.run(
            [emulator, "-cpu", cpu, binary], capture_output=True, check=False, timeout=60
        )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeFailure(f"{machine.name}: the program ended with {done.returncode} {said}")
    at = 0
    for array in arrays:
        size = array.nbytes
        array[...] = np.frombuffer(done.stdout[at : at + size], array.dtype).reshape(array.shape)
        at += size


def _compiled(text: str, target: Target) -> bytes:
    """The harness as an object; its loops must not become calls of what they define."""
    module = llvm_binding().parse_assembly(text)
    machine = (
        llvm_binding()
        .Target.from_triple(target.triple)
        .create_target_machine(
            cpu=target.cpu,
            features=target.features,
            opt=1,
            reloc="pic",
            codemodel="small",
            abiname="lp64d" if target.arch == "riscv64" else "",
        )
    )
    return machine.emit_object(module)


def _main(kernel: str, arrays: Sequence[Array], machine: Emulated) -> str:
    lines = [f'target triple = "{machine.target.triple}"']
    words = ", ".join(f"i32 {word}" for word in machine.system_call)
    count = len(machine.system_call)
    lines.append(f'@system = constant [{count} x i32] [{words}], section ".text", align 16')
    for number, array in enumerate(arrays):
        data = "".join(f"\\{byte:02X}" for byte in array.tobytes())
        lines.append(f'@array{number} = global [{array.nbytes} x i8] c"{data}", align 64')
    slots = ", ".join(f"ptr @array{n}" for n in range(len(arrays)))
    lines.append(f"@slots = global [{len(arrays)} x ptr] [{slots}], align 64")
    lines.append(f"declare i32 @{kernel}(ptr, ptr)")
    body = [f"  %code = call i32 @{kernel}(ptr @slots, ptr @parallel_for)"]
    body.append("  %fine = icmp eq i32 %code, 0\n  br i1 %fine, label %show, label %end\nshow:")
    for n, array in enumerate(arrays):
        arguments = f"i64 1, ptr @array{n}, i64 {array.nbytes}, i64 {machine.write}"
        body.append(f"  call void @system({arguments})")
    body.append("  br label %end\nend:\n  %status = zext i32 %code to i64")
    body.append(f"  call void @system(i64 %status, ptr null, i64 0, i64 {machine.leave})")
    body.append("  unreachable")
    lines += ["define void @_start() #0 {", *body, "}", _LIBRARY]
    return "\n".join(lines)


_LIBRARY = """
attributes #0 = { nounwind "no-builtins" "stackrealign" }
attributes #1 = { nounwind "no-builtins" }
@heap = global [1048576 x i8] zeroinitializer, align 64
@top = global i64 0
define i32 @parallel_for(ptr %body, ptr %context, i64 %extent) #1 {
  %code = call i32 %body(ptr %context, i64 0, i64 %extent)
  ret i32 %code
}
define ptr @aligned_alloc(i64 %align, i64 %size) #1 {
  %at = load i64, ptr @top
  %more = add i64 %size, 63
  %whole = and i64 %more, -64
  %next = add i64 %at, %whole
  store i64 %next, ptr @top
  %place = getelementptr i8, ptr @heap, i64 %at
  ret ptr %place
}
define void @free(ptr %p) #1 {
  ret void
}
define ptr @memset(ptr %to, i32 %value, i64 %size) #1 {
entry:
  %byte = trunc i32 %value to i8
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %step ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %step, label %done
step:
  %p = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %p
  %next = add i64 %i, 1
  br label %test
done:
  ret ptr %to
}
define ptr @memcpy(ptr %to, ptr %from, i64 %size) #1 {
entry:
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %step ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %step, label %done
step:
  %p = getelementptr i8, ptr %from, i64 %i
  %q = getelementptr i8, ptr %to, i64 %i
  %byte = load i8, ptr %p
  store i8 %byte, ptr %q
  %next = add i64 %i, 1
  br label %test
done:
  ret ptr %to
}
define ptr @memmove(ptr %to, ptr %from, i64 %size) #1 {
entry:
  %forward = icmp ult ptr %to, %from
  br i1 %forward, label %copy, label %test
copy:
  %same = call ptr @memcpy(ptr %to, ptr %from, i64 %size)
  ret ptr %same
test:
  %i = phi i64 [ %size, %entry ], [ %next, %step ]
  %more = icmp ne i64 %i, 0
  br i1 %more, label %step, label %done
step:
  %next = add i64 %i, -1
  %p = getelementptr i8, ptr %from, i64 %next
  %q = getelementptr i8, ptr %to, i64 %next
  %byte = load i8, ptr %p
  store i8 %byte, ptr %q
  br label %test
done:
  ret ptr %to
}
"""
