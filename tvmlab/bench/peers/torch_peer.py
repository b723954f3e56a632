"""PyTorch on the CPU: eager, in the layout channels_last, and compiled."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, cast

import numpy as np

from tvmlab.bench.row import Array, Contender, Inputs, Peer, Row

Mode = Literal["eager", "channels_last"]


def torch_peer(
    function: Callable[[Any, Row], Callable[..., Any]],
    modes: Sequence[Mode] = ("eager",),
    convert: Callable[[Any, Row, list[Any]], list[Any]] | None = None,
) -> Peer:
    """PyTorch as a peer, each operation called by itself.

    Parameters
    ----------
    function
        From the module torch and a row to the function of tensors that computes the row.
    modes
        The ways to run it; "channels_last" is for images in NCHW and their filters.
    convert
        Changes the input tensors beforehand, for example to bfloat16.
    """

    def contenders(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        torch: Any = import_module("torch")
        torch.set_num_threads(threads)
        tensors = [torch.from_numpy(_plain(array)) for array in inputs]
        given = convert(torch, row, tensors) if convert else tensors
        return [_contender(torch, function(torch, row), given, mode) for mode in modes]

    return Peer("torch", contenders)


def compiled_torch(function: Callable[[Any, Row], Callable[..., Any]]) -> Peer:
    """PyTorch's compiler as a peer; a row takes it some seconds before it can be measured."""

    def contenders(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        torch: Any = import_module("torch")
        torch.set_num_threads(threads)
        tensors = [torch.from_numpy(_plain(array)) for array in inputs]
        compiled = torch.compile(function(torch, row), dynamic=False)
        return [_runner(torch, compiled, tensors, "torch.compile", "")]

    return Peer("torch.compile", contenders)


def compiled_module(module: Callable[[Row], Any]) -> Peer:
    """PyTorch's compiler as a peer on a whole module, whose weights are frozen into the code.

    The module is written out as a list of calls first: of the Python that describes a network the
    compiler would ask again at each run whether it is still the same.
    """

    def contenders(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        torch: Any = import_module("torch")
        torch.set_num_threads(threads)
        tensors = [torch.from_numpy(_plain(array)) for array in inputs]
        calls = import_module("torch.fx").symbolic_trace(module(row))
        compiled = torch.compile(calls, dynamic=False, options={"freezing": True})
        start = time.perf_counter()
        with torch.inference_mode():
            compiled(*tensors)
        facts = {"compiled in": f"{time.perf_counter() - start:.1f} s"}
        prepared = "compiled, with the weights as constants"
        return [_runner(torch, compiled, tensors, "torch.compile", prepared, facts)]

    return Peer("torch.compile", contenders, "it compiles for minutes")


def _plain(array: Array) -> Array:
    """Without extension types, which torch does not know."""
    return array if array.dtype.kind != "V" else array.astype(np.float32)


def _contender(
    torch: Any, compute: Callable[..., Any], tensors: list[Any], mode: Mode
) -> Contender:
    if mode == "eager":
        return _runner(torch, compute, tensors, "torch", "")
    if isinstance(compute, torch.nn.Module):
        compute = cast("Any", compute).to(memory_format=torch.channels_last)
    turned = [t.to(memory_format=torch.channels_last) if t.dim() == 4 else t for t in tensors]
    words = "images and filters in the layout NHWC"
    return _runner(torch, compute, turned, "torch channels_last", words)


def _runner(
    torch: Any, compute: Callable[..., Any], tensors: list[Any], name: str, prepared: str,
    facts: dict[str, str] | None = None,
) -> Contender:  # fmt: skip
    latest: list[Any] = [None]

    def run() -> None:
        with torch.inference_mode():
            latest[0] = compute(*tensors)

    def result() -> Array:
        value: Any = latest[0]
        value = value.float() if value.dtype == torch.bfloat16 else value
        return value.contiguous().numpy()

    return Contender(name, run, result, prepared=prepared, facts=facts or {})
