"""What a worker does with a request: parse, build, check, time. No failure of a program escapes it.

Only what ends the process (a crash, an endless loop) is left to the parent to notice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from tvmlab.driver import Executable, build
from tvmlab.ir import Buffer, Program, parse, verify
from tvmlab.runtime import num_threads
from tvmlab.support import RuntimeFailure, TvmlabError
from tvmlab.target import Target, machine_id

from .arrays import Array, Inputs, disagreement, make_arrays, outputs_of
from .binding import bound_to_cpus
from .quiet import QuietLock, Usage, alone_with
from .request import MeasureRequest, MeasureSettings, target_from_json
from .result import MeasureResult, MeasureStatus, Stage

_SPREAD_LIMIT = 0.1
_FAR_BEHIND = 2.0
_HOPELESS = 5.0
_COLD_SECONDS = 2e-3
"""What a first call may lose to cold caches and new pages, before it says anything."""


class _FailedError(Exception):
    """A stage ended the measurement."""

    def __init__(self, status: MeasureStatus, error: str) -> None:
        Exception.__init__(self, error)
        self.status: MeasureStatus = status


class Workbench:
    """Measures one request after another in this process; what a program reads stays in memory.

    Parameters
    ----------
    quiet
        The lock that keeps timing undisturbed.
    scratch
        A folder where right results are kept, shared by the workers of one measurer.
    on_stage
        Told of each stage as it begins, so that the parent knows how long to wait.
    """

    def __init__(
        self,
        quiet: QuietLock,
        scratch: str | os.PathLike[str],
        on_stage: Callable[[Stage], None],
    ) -> None:
        self._quiet = quiet
        self._scratch = Path(scratch)
        self._on_stage = on_stage
        self._inputs = Inputs()

    def measure(self, request: MeasureRequest) -> MeasureResult:
        """Measure a program; whatever goes wrong is in the result."""
        result = self._measure(request)
        if result.status == "wrong_result":
            # Some program before may have written into what it should only read: look again.
            reused = self._inputs.reused
            self._inputs.forget()
            if reused:
                return self._measure(request)
        return result

    def _measure(self, request: MeasureRequest) -> MeasureResult:
        job = _Job(self._quiet, self._scratch, self._on_stage, self._inputs, request)
        try:
            with _memory_limit(request.settings.memory_bytes):
                return job.run()
        except _FailedError as error:
            return job.failure(error.status, str(error))
        except MemoryError:
            return job.failure("memory", "the worker ran out of the memory it may use")


class _Job:
    """One request on its way through the stages."""

    def __init__(
        self,
        quiet: QuietLock,
        scratch: Path,
        on_stage: Callable[[Stage], None],
        inputs: Inputs,
        request: MeasureRequest,
    ) -> None:
        self.quiet = quiet
        self.scratch = scratch
        self.on_stage = on_stage
        self.inputs = inputs
        self.request = request
        self.settings = request.settings
        self.stage: Stage = ""
        self.seconds: dict[str, float] = {}

    def run(self) -> MeasureResult:
        target = target_from_json(self.request.target)
        with self._timed("parse"):
            program = _parse(self.request.program)
        self._enter("wait")
        with self.quiet.shared():
            with self._timed("build"):
                executable = _build(program, target, cache=False)
            with num_threads(target.num_threads):
                right = self._right_results(program, target)
            arrays = _arrays(self.inputs.arrays, program, self.settings.seed)
        self._enter("wait")
        with (
            num_threads(target.num_threads),
            bound_to_cpus(target.num_threads),
            self.quiet.alone() as disturbed,
        ):
            self._enter("run")
            result, outputs = self._time(program, executable, arrays, disturbed)
        self._enter("compare")
        with self.quiet.shared():
            if right:
                _compare(program, outputs, right, self.settings.tolerance)
        return result

    def failure(self, status: MeasureStatus, error: str) -> MeasureResult:
        return MeasureResult(
            status,
            error=error,
            stage=self.stage,
            program_hash=self.request.program_hash,
            machine=machine_id(),
            stage_seconds=self.seconds,
        )

    def _time(
        self,
        program: Program,
        executable: Executable,
        arrays: list[Array],
        disturbed: tuple[str, ...],
    ) -> tuple[MeasureResult, list[Array]]:
        """The times, and the outputs of the first call."""
        start = time.perf_counter()
        _call(executable, arrays)
        first = time.perf_counter() - start
        outputs = [arrays[n].copy() for n in outputs_of(program)]
        before = Usage.now()
        seconds, calls = _sample(executable, arrays, first, self.settings)
        self.seconds["run"] = time.perf_counter() - start
        result = MeasureResult(
            "ok",
            seconds=seconds,
            calls_per_repeat=calls,
            program_hash=self.request.program_hash,
            machine=machine_id(),
            stage_seconds=self.seconds,
            disturbed=(*disturbed, *Usage.now().disturbances(before)),
        )
        return _note_spread(result), outputs

    def _right_results(self, program: Program, target: Target) -> list[Array]:
        """What the reference computes, from the scratch folder; one worker runs it, once."""
        if not self.request.reference:
            return []
        key = sha256(f"{self.settings.seed}\n{self.request.reference}".encode()).hexdigest()[:24]
        count = len(outputs_of(program))
        paths = [self.scratch / f"{key}-{n}.npy" for n in range(count)]
        if not all(path.exists() for path in paths):
            with self._timed("reference"), alone_with(self.scratch / f"{key}.lock"):
                if not all(path.exists() for path in paths):
                    self._run_reference(program, target, paths)
        return [np.load(path, allow_pickle=False) for path in paths]

    def _run_reference(self, program: Program, target: Target, paths: list[Path]) -> None:
        reference = _parse(self.request.reference)
        if [_kind(p) for p in reference.params] != [_kind(p) for p in program.params]:
            raise _FailedError(
                "wrong_result", "the reference does not have the parameters of the program"
            )
        arrays = _arrays(make_arrays, reference, self.settings.seed)
        _call(_build(reference, target), arrays)
        for path, position in zip(paths, outputs_of(reference), strict=True):
            writing = path.with_suffix(f".{os.getpid()}.tmp")
            with writing.open("wb") as file:
                np.save(file, _storable(arrays[position]), allow_pickle=False)
            writing.replace(path)

    @contextmanager
    def _timed(self, stage: Stage) -> Generator[None]:
        self._enter(stage)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = time.perf_counter() - start

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        self.on_stage(stage)


def _parse(text: str) -> Program:
    try:
        program = parse(text)
        verify(program)
    except TvmlabError as error:
        raise _FailedError("parse_error", f"the program cannot be read: {error}") from error
    return program


def _build(program: Program, target: Target, *, cache: bool = True) -> Executable:
    """Build a program; candidates leave the cache to kernels that will be used again."""
    try:
        return build(program, target, cache=cache)
    except MemoryError:
        raise
    except Exception as error:  # a bug of the compiler costs this program only
        kind = "" if isinstance(error, TvmlabError) else f"{type(error).__name__}: "
        raise _FailedError(
            "compile_error", f"the program cannot be built: {kind}{error}"
        ) from error


def _arrays(
    maker: Callable[[Program, int], list[Array]], program: Program, seed: int
) -> list[Array]:
    try:
        return maker(program, seed)
    except TvmlabError as error:
        raise _FailedError("run_error", str(error)) from error


def _call(executable: Executable, arrays: list[Array]) -> None:
    try:
        executable(*arrays)
    except RuntimeFailure as error:
        status: MeasureStatus = "memory" if "memory is short" in str(error) else "run_error"
        raise _FailedError(status, str(error)) from error


def _compare(
    program: Program, outputs: list[Array], right: Sequence[Array], tolerance: float | None
) -> None:
    for position, got, expected in zip(outputs_of(program), outputs, right, strict=True):
        param = program.params[position]
        wrong = disagreement(_storable(got), expected, param.dtype, tolerance)
        if wrong is not None:
            raise _FailedError("wrong_result", f"{param.name} is wrong: {wrong}")


def _sample(
    executable: Executable, arrays: list[Array], first: float, settings: MeasureSettings
) -> tuple[tuple[float, ...], int]:
    """Times of the repeats and calls in each.

    A program slower than the budget, or far behind its rival, is looked at once: that is enough to
    know its rank. The first call counts only if it is slower by more than cold caches explain, and
    a single call only if it is long: else threads that have to wake up decide.
    """
    rival, least = settings.rival_seconds, settings.repeat_seconds
    if first > settings.budget_seconds or (rival and first > _HOPELESS * rival + _COLD_SECONDS):
        return (first,), 1
    short = first < least + _COLD_SECONDS
    glance, calls = (
        _timing(executable, arrays, 1, least) if short else _calls(executable, arrays, 1)
    )
    if rival and glance[0] > _FAR_BEHIND * rival:
        return glance, calls
    repeats = max(3, min(settings.repeats, int(settings.budget_seconds / max(glance[0], least))))
    repeats = min(repeats, settings.repeats)
    if glance[0] >= least:  # a call of Python's is nothing beside it
        return _calls(executable, arrays, repeats)
    return _timing(executable, arrays, repeats, least)


def _timing(
    executable: Executable, arrays: list[Array], repeats: int, least: float
) -> tuple[tuple[float, ...], int]:
    """Repeats of so many calls in a row as last at least so long."""
    timing = executable.time(*arrays, repeats=repeats, min_repeat_ms=least * 1e3)
    return timing.seconds, timing.inner


def _calls(
    executable: Executable, arrays: list[Array], repeats: int
) -> tuple[tuple[float, ...], int]:
    """Repeats of one call."""
    return tuple(_timed_call(executable, arrays) for _ in range(repeats)), 1


def _timed_call(executable: Executable, arrays: list[Array]) -> float:
    start = time.perf_counter()
    executable(*arrays)
    return time.perf_counter() - start


def _note_spread(result: MeasureResult) -> MeasureResult:
    if len(result.seconds) == 1:
        note = "one repeat only: it is slower than the time budget, or far slower than the best"
    elif result.spread is not None and result.spread > _SPREAD_LIMIT:
        note = f"the middle half of the repeats spreads by {result.spread:.0%}"
    else:
        return result
    return replace(result, disturbed=(*result.disturbed, note))


def _storable(array: Array) -> Array:
    """A type that `.npy` files know: bfloat16 becomes float32, which holds it exactly."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _kind(param: Any) -> tuple[str, object]:
    return str(param.dtype), param.const_shape if isinstance(param, Buffer) else None


@contextmanager
def _memory_limit(limit: int) -> Generator[None]:
    """Let this process use at most so much address space for a while, where the system can."""
    try:
        import resource
    except ImportError:  # pragma: no cover
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if limit and (hard == resource.RLIM_INFINITY or limit <= hard):
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
