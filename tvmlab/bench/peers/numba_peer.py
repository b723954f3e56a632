"""numba: loops in Python, compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tvmlab.bench.row import Array, Contender, Inputs, Peer, Row


def numba_peer(
    function: Callable[[Any], Callable[..., None]], output: Callable[[Row, Inputs], Array]
) -> Peer:
    """Numba as a peer.

    Parameters
    ----------
    function
        From the module numba to a Python function of the inputs and the output that it fills. Its
        outermost loop runs over `numba.prange`.
    output
        An array for the result.
    """

    def contenders(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        numba: Any = import_module("numba")
        numba.set_num_threads(threads)
        compiled = numba.njit(parallel=threads > 1, fastmath=True)(function(numba))
        out = output(row, inputs)
        return [Contender("numba", lambda: compiled(*inputs, out), lambda: out)]

    return Peer("numba", contenders)
