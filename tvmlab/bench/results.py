"""Benchmark results as plain data, and the function that runs benchmarks."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvmlab.runtime import get_num_threads
from tvmlab.support import OptionError, RuntimeFailure

from .workloads import CONTESTS

_BLAS_OVERRIDES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Settings that make a BLAS use a kernel of another machine: a peer must run at its best."""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """A kernel against its peer, measured in one run by turns.

    Attributes
    ----------
    ours, peer
        Seconds a call, one for each turn.
    flops
        Floating-point operations of a call.
    agree
        Whether both computed the same, within rounding.
    """

    name: str
    threads: int
    ours: tuple[float, ...]
    peer: tuple[float, ...]
    peer_name: str
    flops: int
    agree: bool

    @property
    def ours_gflops(self) -> float:
        return self.flops / statistics.median(self.ours) / 1e9

    @property
    def peer_gflops(self) -> float:
        return self.flops / statistics.median(self.peer) / 1e9

    @property
    def ratio(self) -> float:
        """Our rate in units of the peer's: above 1 is faster."""
        return self.ours_gflops / self.peer_gflops

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "threads": self.threads,
            "ours_gflops": self.ours_gflops,
            "peer_gflops": self.peer_gflops,
            "peer": self.peer_name,
            "ratio": self.ratio,
            "agree": self.agree,
            "ours_seconds": list(self.ours),
            "peer_seconds": list(self.peer),
        }


def run_benchmarks(
    names: Sequence[str] | None = None, threads: int | None = None
) -> list[BenchResult]:
    """Run benchmarks one after another, each in a process of its own.

    Parameters
    ----------
    names
        Which ones; all by default.
    threads
        Threads for ours and the peer; by default as many as kernels use.

    Raises
    ------
    OptionError
        If a name is unknown.
    RuntimeFailure
        If a benchmark fails, for example because its peer is not installed.
    """
    chosen = list(names) if names else list(CONTESTS)
    unknown = [n for n in chosen if n not in CONTESTS]
    if unknown:
        raise OptionError(
            f"there is no benchmark named {unknown[0]!r}",
            hint=f"benchmarks are: {', '.join(CONTESTS)}",
        )
    return [_run(name, threads or get_num_threads()) for name in chosen]


def _run(name: str, threads: int) -> BenchResult:
    environment = {k: v for k, v in os.environ.items() if k not in _BLAS_OVERRIDES}
    environment |= {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-m", "tvmlab.bench.contest", name, str(threads)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-3:] or [f"exit status {done.returncode}"]
        raise RuntimeFailure(f"benchmark {name} failed", notes=last)
    data = json.loads(done.stdout.splitlines()[-1])
    return BenchResult(
        name=data["name"],
        threads=data["threads"],
        ours=tuple(data["ours"]),
        peer=tuple(data["peer"]),
        peer_name=data["peer_name"],
        flops=data["flops"],
        agree=data["agree"],
    )
