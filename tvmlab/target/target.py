"""What a machine can do, as plain immutable data.

A `Target` decides how code is generated: which vector registers exist, how wide they are, how many
threads run. The host is described by what LLVM detects of its features, never by its model name,
which virtual machines get wrong.

>>> Target.of("cpu").kind
'cpu'
>>> Target.of("llvm -mtriple=aarch64-linux-gnu -mattr=+neon").vector_bits
128
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, Union

from tvmlab.support import OptionError, default_num_threads, require_text

from .caches import CacheLevel, host_caches
from .known import ARM_FEATURES, require_known
from .llvm_host import host_cpu
from .peaks import MachinePeaks, read_peaks
from .registers import vector_registers

_KINDS = ("cpu", "llvm")
_OPTIONS = ("mcpu", "mtriple", "mattr", "num-threads")
TargetLike: TypeAlias = Union["Target", str]


@dataclass(frozen=True, slots=True)
class Target:
    """A machine to generate code for.

    Parameters
    ----------
    triple, cpu, features
        As LLVM understands them; `features` is a comma-separated list of `+name` and `-name`.
    vector_bits
        Width of the widest vector register that code should use; 0 if there is none.
    num_registers
        How many vector registers there are.
    caches
        Data caches from the first level outwards.
    """

    kind: str
    triple: str
    cpu: str
    features: str
    vector_bits: int
    num_registers: int
    num_threads: int
    caches: tuple[CacheLevel, ...] = field(default=())

    @staticmethod
    def host() -> Target:
        """The machine this process runs on."""
        cpu = host_cpu()
        return _described("cpu", cpu.triple, cpu.name, cpu.feature_string, host_caches())

    @staticmethod
    def of(spec: TargetLike) -> Target:
        """Understand a target description.

        `"cpu"` and `"llvm"` mean the host; options change parts of it: `-mcpu=`, `-mattr=`,
        `-mtriple=`, `-num-threads=`. With `-mcpu` or `-mtriple` the host's features do not apply.

        Raises
        ------
        OptionError
            If the kind, an option, the processor or a feature is not known.
        """
        if isinstance(spec, Target):
            return spec
        try:
            words = shlex.split(require_text(spec, "a target"))
        except ValueError as error:
            raise OptionError(f"the target {spec!r} cannot be read: {error}") from error
        if not words or words[0] not in _KINDS:
            raise _unknown("target", words[0] if words else "", _KINDS)
        host = Target.host()
        return host if len(words) == 1 else _with_options(host, _parse_options(words[1:]))

    @property
    def arch(self) -> str:
        """The architecture part of the triple, such as `x86_64`."""
        return self.triple.split("-", 1)[0]

    @property
    def feature_set(self) -> frozenset[str]:
        """The names of the features that are on."""
        return frozenset(f[1:] for f in self.features.split(",") if f.startswith("+"))

    def has(self, feature: str) -> bool:
        """Whether a feature, by LLVM's name for it, is on."""
        return f"+{feature}" in self.features.split(",")

    def lanes(self, bits: int) -> int:
        """How many elements of so many bits one vector register holds (1 without vectors)."""
        return max(1, self.vector_bits // bits)

    @property
    def peaks(self) -> MachinePeaks | None:
        """Its measured limits, if it is the host and `tvmlab devices --measure` or a benchmark
        has written them down; never measured here.
        """
        host = host_cpu()
        same = self.triple == host.triple and self.feature_set <= host.features
        return read_peaks() if same else None

    def missing_here(self) -> str:
        """Why its code cannot run in this process, as a phrase; empty if it can."""
        host = host_cpu()
        arch = host.triple.split("-", 1)[0]
        if arch != self.arch:
            return f"it is {self.arch} code, and this machine is {arch}"
        lacks = sorted(self.feature_set - host.features - {"prefer-256-bit"})
        return f"this processor has no {', '.join(lacks)}" if lacks else ""

    def with_threads(self, num_threads: int) -> Target:
        """The same machine with another number of threads."""
        return replace(self, num_threads=num_threads)

    def __str__(self) -> str:
        return (
            f"{self.kind} -mtriple={self.triple} -mcpu={self.cpu} ({self.vector_bits}-bit vectors)"
        )


def _described(
    kind: str, triple: str, cpu: str, features: str, caches: tuple[CacheLevel, ...]
) -> Target:
    """A target whose vector registers follow from its architecture and features."""
    on = {f[1:] for f in features.split(",") if f.startswith("+")}
    bits, registers = vector_registers(triple.split("-", 1)[0], on)
    return Target(kind, triple, cpu, features, bits, registers, default_num_threads(), caches)


def _parse_options(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        name, sep, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or name not in _OPTIONS:
            raise _unknown("target option", word, tuple(f"-{o}=..." for o in _OPTIONS))
        if not sep or not value:
            raise OptionError(f"target option -{name} has no value", hint=f"write -{name}=VALUE")
        options[name] = value
    return options


def _with_options(host: Target, options: Mapping[str, str]) -> Target:
    extra = options.get("mattr", "")
    triple = options.get("mtriple", host.triple)
    if "mcpu" in options or "mtriple" in options:
        cpu = options.get("mcpu", "generic")
        require_known(triple, cpu, extra)
        features = ",".join(part for part in (_cpu_features(triple, cpu), extra) if part)
        target = _described("cpu", triple, cpu, features, host.caches)
    else:
        require_known(triple, host.cpu, extra)
        features = ",".join(part for part in (host.features, extra) if part)
        target = _described("cpu", triple, host.cpu, _last_wins(features), host.caches)
    if "num-threads" in options:
        return target.with_threads(_positive("num-threads", options["num-threads"]))
    return target


def _cpu_features(triple: str, cpu: str) -> str:
    """Features that a processor's name implies, spelled out so that `Target.has` sees them."""
    if triple.startswith(("aarch64", "arm64")):
        return ",".join(ARM_FEATURES.get(cpu, ARM_FEATURES["generic"]))
    if not triple.startswith("x86_64"):
        return ""
    v2 = "+cx16,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"
    v3 = v2 + ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
    v4 = v3 + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,-prefer-256-bit"
    levels = {"x86-64-v2": v2, "x86-64-v3": v3, "x86-64-v4": v4, "nehalem": v2}
    avx2 = dict.fromkeys(("haswell", "skylake", "znver1", "znver2", "znver3"), v3)
    levels |= avx2 | {"sandybridge": v2 + ",+avx", "sapphirerapids": v4}
    avx512 = dict.fromkeys(("skylake-avx512", "icelake-server", "znver4", "znver5"), v4)
    return (levels | avx512).get(cpu, "")


def _last_wins(features: str) -> str:
    """Drop earlier mentions of a feature that is switched again later."""
    state: dict[str, str] = {}
    for item in features.split(","):
        state.pop(item[1:], None)
        state[item[1:]] = item
    return ",".join(state.values())


def _positive(name: str, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise OptionError(f"target option -{name} is {text!r}, not a positive number")
    return int(text)


def _unknown(what: str, got: str, known: tuple[str, ...]) -> OptionError:
    import difflib  # only when there is something to complain about

    close = difflib.get_close_matches(got, known, n=1)
    tip = f"did you mean {close[0]}? " if close else ""
    return OptionError(f"{what} {got!r} is not known", hint=f"{tip}known: {', '.join(known)}")
