"""What is compared: a kernel of ours and the same computation by a peer, on the same arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.driver import Executable, build
from tvmlab.runtime import empty
from tvmlab.support import OptionError
from tvmlab.topi import conv2d_nchw, matmul, schedule_conv2d_nchw, schedule_matmul

Array = NDArray[Any]


@dataclass(frozen=True)
class Contest:
    """One kernel and its peer, ready to run.

    Attributes
    ----------
    ours, peer
        Run the computation once; both write to arrays of their own.
    results
        Their results, for the check that both computed the same.
    peer_name
        Library that the peer belongs to.
    """

    name: str
    executable: Executable
    ours: Callable[[], None]
    peer: Callable[[], object]
    results: Callable[[], tuple[Array, Array]]
    peer_name: str


def _random(shape: tuple[int, ...], seed: int) -> Array:
    array = empty(shape, "float32")
    array[...] = np.random.default_rng(seed).random(shape, dtype=np.float32)
    return array


def _matmul(n: int, threads: int) -> Contest:
    del threads  # NumPy's BLAS takes its threads from the environment of the process
    _, _, c = matmul(n, n, n)
    exe = build(schedule_matmul(c))
    a, b, ours, theirs = (_random((n, n), seed) for seed in range(4))
    return Contest(
        f"matmul-{n}",
        exe,
        lambda: exe(a, b, ours),
        lambda: np.matmul(a, b, out=theirs),
        lambda: (ours, theirs),
        f"NumPy {np.__version__}",
    )


def _conv2d_c2(threads: int) -> Contest:
    """ResNet-18's second convolution (Table 2 of the TVM paper, C2), batch 1."""
    try:
        torch: Any = import_module("torch")  # optional, and without types where it is absent
    except ImportError as error:
        raise OptionError(
            "conv2d-c2 is compared with PyTorch, which is not installed",
            hint="pip install torch, or run the matmul benchmarks",
        ) from error
    torch.set_num_threads(threads)
    _, _, c = conv2d_nchw(1, 64, 56, 56, 64, 3, padding=1)
    exe = build(schedule_conv2d_nchw(c))
    image, filters = _random((1, 64, 56, 56), 0), _random((64, 64, 3, 3), 1)
    ours = empty((1, 64, 56, 56), "float32")
    x, w = torch.from_numpy(image), torch.from_numpy(filters)
    latest: list[Any] = [None]

    def peer() -> None:
        latest[0] = torch.nn.functional.conv2d(x, w, padding=1)

    return Contest(
        "conv2d-c2",
        exe,
        lambda: exe(image, filters, ours),
        peer,
        lambda: (ours, latest[0].numpy()),
        f"PyTorch {torch.__version__}",
    )


CONTESTS: dict[str, Callable[[int], Contest]] = {
    "matmul-256": lambda threads: _matmul(256, threads),
    "matmul-512": lambda threads: _matmul(512, threads),
    "matmul-1024": lambda threads: _matmul(1024, threads),
    "conv2d-c2": _conv2d_c2,
}
"""Benchmarks by name; each is made for a number of threads."""
