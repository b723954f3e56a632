"""Where a kernel's time goes, line by line, as samples of a running kernel tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmlab.bench.probing import ProbeResult

from .code_links import LinkedCode
from .wording import count

_ENOUGH = 200


@dataclass(frozen=True, slots=True)
class LineShare:
    """A line of the nest: its share of the samples, without and with what is inside it."""

    row: str
    own: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class CounterFact:
    """A counter: what it says of one call, or why it says nothing."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """Shares of lines and counters.

    Attributes
    ----------
    samples
        How many samples lay in the kernel.
    unknown, elsewhere
        Shares of all samples: in the kernel at code of no known line, and outside of the kernel.
    overhead
        How much slower a call was while samples were taken, as a share.
    seconds
        Of a call without samples.
    """

    lines: tuple[LineShare, ...]
    counters: tuple[CounterFact, ...]
    samples: int
    unknown: float
    elsewhere: float
    overhead: float
    seconds: float
    message: str


def profile_report(code: LinkedCode, found: ProbeResult) -> ProfileReport:
    """Give the samples of a listing's lines to the lines of the nest that these come from."""
    own: Counter[str] = Counter()
    inclusive: Counter[str] = Counter()
    unknown = 0
    for line, times in found.samples:
        group = code.lines[line]
        rows = code.groups[group] if group >= 0 else ()
        if not rows:
            unknown += times
            continue
        own[rows[0]] += times
        for row in set(rows):
            inclusive[row] += times
    inside = sum(times for _, times in found.samples)
    total = max(inside + found.elsewhere, 1)
    lines = [LineShare(row, own[row] / total, n / total) for row, n in inclusive.most_common()]
    return ProfileReport(
        tuple(lines),
        (*_counted(found), *(CounterFact(m.name, "", m.reason) for m in found.missing)),
        inside,
        unknown / total,
        found.elsewhere / total,
        max(found.watched / found.plain - 1, 0.0) if found.plain else 0.0,
        found.plain,
        _message(found, inside),
    )


def _counted(found: ProbeResult) -> Sequence[CounterFact]:
    facts: list[CounterFact] = []
    values: Mapping[str, float] = {c.name: c.value for c in found.counted}
    for counted in found.counted:
        each = counted.value / max(found.calls, 1)
        text = f"{each / 1e3:.1f} µs" if counted.unit == "ns" else count(round(each))
        if 0 < each < 1 and counted.unit != "ns":
            text = f"{each:.2g}"
        facts.append(
            CounterFact(counted.name, text + (" (in turns)" if counted.scaled else ""), "")
        )
    if values.get("cycles") and "instructions" in values:
        rate = values["instructions"] / values["cycles"]
        facts.append(CounterFact("instructions a cycle", f"{rate:.2f}", ""))
    return facts


def _message(found: ProbeResult, inside: int) -> str:
    if found.reason:
        return f"Lines are not measured: {found.reason}."
    if inside < _ENOUGH:
        return f"Only {inside} samples: take the shares as hints."
    return ""
