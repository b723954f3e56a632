"""NumPy, and its BLAS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tvmlab.bench.row import Array, Contender, Inputs, Peer, Row


def numpy_peer(make: Callable[[Row, Inputs], Callable[[], Any]]) -> Peer:
    """NumPy as a peer; `make` returns the function that computes a row once.

    It should write into memory that it made before, where NumPy can.
    """

    def contenders(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        del threads  # taken from the environment when the BLAS is loaded
        compute = make(row, inputs)
        latest: list[Array] = [inputs[0]]

        def run() -> None:
            latest[0] = compute()

        return [Contender("NumPy", run, lambda: latest[0])]

    return Peer("numpy", contenders)
