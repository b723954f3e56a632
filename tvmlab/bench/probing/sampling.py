"""Where a kernel spends its time: the place of every thread, noted each so many microseconds.

The listing of a kernel's assembly is assembled again with a label at each instruction, so that the
place of a sample tells the line of the listing. The code that runs is the one of the listing.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import os
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tvmlab.runtime import LoadedCode, load_object
from tvmlab.support import RuntimeFailure, llvm_binding
from tvmlab.target import Target

from .events import Event, disable, enable, open_event

_CLOCK = Event("cpu clock", 1, 0)
PERIOD_NANOSECONDS = 100_000
_PAGES = 32
_PAGE = mmap.PAGESIZE
_SAMPLE_PLACE = 1
_RECORD_SAMPLE = 9
_HEAD = 1024  # where the ring's header says how far the system has written
_TABLE = "tvmlab_listing"
_LONGEST = 15
"""Bytes of the longest instruction there is."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A listing in memory: where each of its instructions lies."""

    code: LoadedCode
    starts: tuple[int, ...]
    lines: tuple[int, ...]

    def line_at(self, place: int) -> int | None:
        """The line of the instruction at an address; None outside of the listing."""
        at = bisect.bisect_right(self.starts, place) - 1
        if at < 0 or (at == len(self.starts) - 1 and place > self.starts[at] + _LONGEST):
            return None
        return self.lines[at]


def assemble(listing: str, target: Target) -> tuple[bytes, tuple[int, ...]]:
    """The object of a listing with a table of its instructions, and the lines of these."""
    shown: list[str] = []
    lines: list[int] = []
    for number, line in enumerate(listing.splitlines()):
        if line.startswith("\t") and not line.startswith(("\t.", "\t#")):
            shown.append(f".Ltvmlab{number}:")
            lines.append(number)
        if not line.startswith("\t.size"):  # the listing leaves out the labels that it needs
            shown.append(line)
    if not lines:
        raise RuntimeFailure("the listing has no instruction")
    first = f".Ltvmlab{lines[0]}"
    shown += ['\t.section\t.rodata.tvmlab,"a",@progbits', "\t.p2align\t3", f"\t.globl\t{_TABLE}"]
    shown += [f"{_TABLE}:", f"\t.quad\t{first}"]
    shown += [f"\t.long\t.Ltvmlab{number}-{first}" for number in lines]
    quoted = "\n".join(f'module asm "{_escaped(line)}"' for line in shown)
    llvm = llvm_binding()
    llvm.initialize_native_asmparser()
    module = llvm.parse_assembly(f'target triple = "{target.triple}"\n{quoted}\n')
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, reloc="pic", codemodel="default"
    )
    return machine.emit_object(module), tuple(lines)


def _escaped(line: str) -> str:
    return "".join(c if c.isprintable() and c not in '"\\' else f"\\{ord(c):02X}" for c in line)


def load_listing(data: bytes, lines: tuple[int, ...], symbols: list[str]) -> Labelled:
    """Put an assembled listing into memory."""
    code = load_object(data, [*symbols, _TABLE])
    base = ctypes.c_uint64.from_address(code[_TABLE]).value
    offsets = (ctypes.c_int32 * len(lines)).from_address(code[_TABLE] + 8)
    pairs = sorted((base + offset, line) for offset, line in zip(offsets, lines, strict=True))
    return Labelled(code, tuple(p for p, _ in pairs), tuple(line for _, line in pairs))


def sampled(run: Callable[[], None]) -> Counter[int] | str:
    """Addresses at which the threads of this process were while something ran, or why not."""
    rings: list[tuple[int, mmap.mmap]] = []
    try:
        for thread in _threads():
            file = open_event(
                _CLOCK, thread=thread, period=PERIOD_NANOSECONDS, sample=_SAMPLE_PLACE
            )
            if isinstance(file, str):
                return file
            rings.append((file, mmap.mmap(file, _PAGE * (_PAGES + 1))))
        for file, _ in rings:
            enable(file)
        run()
        for file, _ in rings:
            disable(file)
        found: Counter[int] = Counter()
        for _, ring in rings:
            found.update(_places(ring))
        return found
    except OSError as error:
        return f"the samples have no room in memory: {error.strerror}"
    finally:
        for file, ring in rings:
            ring.close()
            os.close(file)


def _threads() -> list[int]:
    return [int(entry.name) for entry in Path("/proc/self/task").iterdir()]


def _places(ring: mmap.mmap) -> list[int]:
    """The addresses in a ring that has not run full."""
    (head,) = struct.unpack_from("=Q", ring, _HEAD)
    end = min(head, _PAGE * _PAGES)
    found: list[int] = []
    at = 0
    while at + 8 <= end:
        kind, _, size = struct.unpack_from("=IHH", ring, _PAGE + at)
        if size == 0:
            break
        if kind == _RECORD_SAMPLE:
            found.append(struct.unpack_from("=Q", ring, _PAGE + at + 8)[0])
        at += size
    return found
