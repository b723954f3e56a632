"""Numbers in words, the same in every view.

>>> duration(0.00275), size(49152), count(1056768)
('2.75 ms', '48 KB', '1,056,768')
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from tvmlab.support import DType


def duration(seconds: float) -> str:
    """A time with three digits and a fitting unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns"


_DECIMAL: ContextVar[bool] = ContextVar("decimal bytes", default=False)


@contextmanager
def decimal_bytes(on: bool) -> Generator[None]:
    """Count bytes by 1000 instead of 1024, until the end of the block."""
    token = _DECIMAL.set(on)
    try:
        yield
    finally:
        _DECIMAL.reset(token)


def size(nbytes: float) -> str:
    """A number of bytes, in units of 1024; inside `decimal_bytes`, of 1000."""
    base, kilo = (1000, "kB") if _DECIMAL.get() else (1024, "KB")
    value, unit = float(nbytes), "B"
    for larger in (kilo, "MB", "GB"):
        if value < base:
            break
        value, unit = value / base, larger
    return f"{_trimmed(value)} {unit}"


def count(number: int) -> str:
    """A whole number with its thousands apart."""
    return f"{number:,}"


def times(ratio: float) -> str:
    """A speed-up, such as 6.3× or 226×."""
    return f"{ratio:.0f}×" if ratio >= 100 else f"{ratio:.2g}×" if ratio < 10 else f"{ratio:.1f}×"


def percent(share: float) -> str:
    """A share of the whole; what is there but small does not become 0 %."""
    if 0 < share < 0.005:
        return "<1%"
    return f"{share:.0%}"


def plural(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def shape(sizes: Sequence[int | str], dtype: DType | str | None = None) -> str:
    """A shape in brackets after its element type."""
    return f"{dtype or ''}[{', '.join(str(n) for n in sizes)}]"


def listing(names: Sequence[str]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _three_digits(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _trimmed(value: float) -> str:
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
