"""Tables of 16 floats that stay in a register: an entry for each lane, in one instruction.

Only for machines with AVX-512; a smaller vector, or a scalar, takes a part of the register.
"""

from __future__ import annotations

from collections.abc import Sequence

from .math_text import MathText
from .types import literal

_LANES = 16
_NAME = "llvm.x86.avx512.permvar.sf.512"
_FLOATS, _INTS = f"<{_LANES} x float>", f"<{_LANES} x i32>"


def lookup(m: MathText, index: str, table: Sequence[float]) -> str:
    """The entries of a table that the low bits of integers name; only where `m.tables` is set."""
    m.declared[_NAME] = f"declare {_FLOATS} @{_NAME}({_FLOATS}, {_INTS})"
    entries = ", ".join(f"float {literal(entry, m.dtype.scalar)}" for entry in table)
    lanes = m.dtype.lanes
    if lanes == _LANES:
        return _permuted(m, index, entries)
    if lanes == 1:
        wide = m.value(f"insertelement {_INTS} poison, i32 {index}, i64 0")
        return m.value(f"extractelement {_FLOATS} {_permuted(m, wide, entries)}, i64 0")
    whole = -(-lanes // _LANES) * _LANES
    index = _resized(m, m.int_kind, index, lanes, whole)
    result = "poison"
    for start in range(0, whole, _LANES):
        part = index
        if whole > _LANES:
            name = f"llvm.vector.extract.v{_LANES}i32.v{whole}i32"
            m.declared[name] = f"declare {_INTS} @{name}(<{whole} x i32>, i64 immarg)"
            part = m.value(f"call {_INTS} @{name}(<{whole} x i32> {index}, i64 {start})")
        found = _permuted(m, part, entries)
        if whole == _LANES:
            result = found
            continue
        kind, name = f"<{whole} x float>", f"llvm.vector.insert.v{whole}f32.v{_LANES}f32"
        m.declared[name] = f"declare {kind} @{name}({kind}, {_FLOATS}, i64 immarg)"
        result = m.value(f"call {kind} @{name}({kind} {result}, {_FLOATS} {found}, i64 {start})")
    return _resized(m, f"<{whole} x float>", result, whole, lanes)


def _permuted(m: MathText, index: str, entries: str) -> str:
    return m.value(f"call {_FLOATS} @{_NAME}({_FLOATS} <{entries}>, {_INTS} {index})")


def _resized(m: MathText, kind: str, vector: str, lanes: int, wanted: int) -> str:
    """The first lanes of a vector, and behind them anything."""
    mask = ", ".join(f"i32 {lane}" if lane < lanes else "i32 poison" for lane in range(wanted))
    return m.value(f"shufflevector {kind} {vector}, {kind} poison, <{wanted} x i32> <{mask}>")
