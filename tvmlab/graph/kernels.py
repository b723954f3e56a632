"""From a fused group to machine code: formulas, a schedule, LLVM, an object.

Objects are found again by the text of the group, the machine, and the state of the compiler's own
sources, so that a model that was built before needs no compiling at all.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import tvmlab.codegen as codegen
import tvmlab.te as te
from tvmlab.driver import count_flops, lower
from tvmlab.ir import Program
from tvmlab.runtime import ObjectCache
from tvmlab.schedule import Schedule
from tvmlab.support import UserError, available_cpus, llvm_version
from tvmlab.target import Target
from tvmlab.te import Tensor

from .compile_pool import compile_in_processes
from .groups import body_of
from .in_place import overwriting
from .ir import Graph
from .lowering import lower_node
from .scheduling import schedule_group
from .types import GraphError

FindSchedule: TypeAlias = Callable[[Program, Target], Schedule | None]
"""From an unscheduled program to its schedule, or None: `tvmlab.tune.lookup` makes one of a log."""

WORTH_PROCESSES = 6
"""Kernels to compile: below, starting a process takes longer than they do."""

_HEADER = struct.Struct("<8sqd?")
_MAGIC = b"tvmgrp3\n"


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """The machine code of a group.

    Attributes
    ----------
    flops
        Operations of floats of one call.
    seconds
        What compiling it took of a processor, when it was compiled.
    in_place
        Whether its result replaces the input that it may replace, which is no parameter then.
    """

    data: bytes
    flops: int
    seconds: float
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """What is to be compiled: the symbol and the text of a group.

    Attributes
    ----------
    trace
        The steps of a schedule that was found for it, as JSON; empty for the default schedule.
    over
        The number of the input that the result may replace in memory; -1 for none.
    """

    symbol: str
    text: str
    trace: str = ""
    over: int = -1


def compile_kernel(
    request: KernelRequest, target: Target, cache: ObjectCache | None
) -> CompiledKernel:
    """The machine code of a group, from the cache if it is there."""
    key = _key(request, target)
    packed = None if cache is None else cache.get(key)
    if packed is None:
        made = _compile(request, target)
        packed = _HEADER.pack(_MAGIC, made.flops, made.seconds, made.in_place) + made.data
        if cache is not None:
            cache.put(key, packed)
    return _unpacked(packed)


def cached_kernel(
    request: KernelRequest, target: Target, cache: ObjectCache
) -> CompiledKernel | None:
    """The machine code of a group if the cache has it."""
    packed = cache.get(_key(request, target))
    return None if packed is None else _unpacked(packed)


def _key(request: KernelRequest, target: Target) -> str:
    return ObjectCache.key(
        (request.symbol, request.text, request.trace, str(request.over), str(target),
         target.features, str(target.num_threads), llvm_version(), sources_digest())
    )  # fmt: skip


def _unpacked(packed: bytes) -> CompiledKernel:
    _, flops, seconds, in_place = _HEADER.unpack_from(packed)
    return CompiledKernel(packed[_HEADER.size :], flops, seconds, in_place)


def _compile(request: KernelRequest, target: Target) -> CompiledKernel:
    body, start = body_of(request.text), time.process_time()
    if request.trace:
        schedule = Schedule.replay(unscheduled(body, request.symbol), request.trace)
    else:
        schedule = schedule_of(body, request.symbol, target)
    program = schedule.program
    joined = None if request.over < 0 else overwriting(program, request.over)
    lowered = lower(joined or program, target)
    text = codegen.emit_module(lowered.program, target)
    compiled = codegen.compile_module(text, target)
    return CompiledKernel(compiled.object_bytes, count_flops(program) or 0,
                          time.process_time() - start, joined is not None)  # fmt: skip


def schedule_of(body: Graph, symbol: str, target: Target) -> Schedule:
    """The schedule with which a group is compiled: what the explorer shows of it."""
    inputs, outputs = tensors_of(body)
    return schedule_group(outputs, [*inputs, *outputs], symbol, target)


def unscheduled(body: Graph, symbol: str) -> Program:
    """What a group computes, before any schedule: what a tuner tunes and its log knows."""
    inputs, outputs = tensors_of(body)
    return Schedule(outputs, args=[*inputs, *outputs], name=symbol).program


def with_found(
    requests: Sequence[KernelRequest], target: Target, find: FindSchedule
) -> list[KernelRequest]:
    """The requests, with the steps of the schedules that `find` knows.

    Only steps are taken over: they are checked again where the kernel is compiled.
    """
    result: list[KernelRequest] = []
    for request in requests:
        found = find(unscheduled(body_of(request.text), request.symbol), target)
        trace = "" if found is None else found.trace.to_json()
        result.append(replace(request, trace=trace))
    return result


def tensors_of(body: Graph) -> tuple[list[Tensor], list[Tensor]]:
    """A group as formulas: tensors of its inputs and of its outputs."""
    values: dict[str, Tensor] = {}
    for name in body.inputs:
        type_ = body.types[name]
        values[name] = te.placeholder(type_.sizes, type_.dtype, name=name)
    for node in body.nodes:
        types = tuple(body.types[i] if i else None for i in node.inputs)
        made = tuple(body.types[o] for o in node.made)
        try:
            tensors = lower_node(node, types, made, [values[i] if i else None for i in node.inputs])
        except UserError as error:
            raise GraphError(f"node {node.name} ({node.op}): {error.message}",
                             hint=error.hint) from error  # fmt: skip
        values.update(zip((o for o in node.outputs), tensors, strict=False))
    return [values[i] for i in body.inputs], [values[o] for o in body.outputs]


@cache
def sources_digest() -> str:
    """A digest of sizes and times of tvmlab's own sources: objects of other states do not count."""
    root = Path(__file__).parents[1]
    parts: list[str] = []
    for path in sorted(root.rglob("*.py")):
        status = path.stat()
        parts.append(f"{path.relative_to(root)}:{status.st_size}:{status.st_mtime_ns}")
    return ObjectCache.key(parts)


Progress = Callable[[int, int, str], None]


def compile_all(
    requests: Sequence[KernelRequest],
    target: Target,
    cache: ObjectCache | None,
    progress: Progress | None = None,
) -> dict[str, CompiledKernel]:
    """The machine code of several groups, by several processes where there is much to do."""
    done: dict[str, CompiledKernel] = {}

    def finished(symbol: str, kernel: CompiledKernel) -> None:
        done[symbol] = kernel
        if progress is not None:
            progress(len(done), len(requests), symbol)

    left: list[KernelRequest] = []
    for request in requests:
        found = None if cache is None else cached_kernel(request, target, cache)
        if found is None:
            left.append(request)
        else:
            finished(request.symbol, found)
    if len(left) < WORTH_PROCESSES or available_cpus() < 2:
        for request in left:
            finished(request.symbol, compile_kernel(request, target, cache))
    else:
        folder = None if cache is None else cache.directory
        asked = [(r.symbol, r.text, r.trace, r.over) for r in left]
        for symbol, data, flops, seconds, over in compile_in_processes(asked, target, folder):
            finished(symbol, CompiledKernel(data, flops, seconds, over))
    return done
