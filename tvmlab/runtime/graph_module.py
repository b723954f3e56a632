"""Running a compiled graph: memory is set aside once, a run only calls kernels.

>>> module = create(graph, lib)                                    # doctest: +SKIP
>>> module.set_input(**params)
>>> module.run(data=image)
>>> module.get_output(0)
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import OptionError, RuntimeFailure, ShapeError, TypeMismatch, shown

from .array import empty
from .failure import kernel_failure
from .library import KernelLibrary
from .plan import Plan, PlanStep, TensorSpec, checked
from .pool import pool
from .quick import address_of
from .timing import Timing, measure_loop

Array = NDArray[Any]
_KERNEL_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_STEPS_TYPE = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


@dataclass(frozen=True, slots=True)
class StepTime:
    """What one step of a run cost.

    Attributes
    ----------
    seconds
        The least of several runs.
    nbytes
        What it reads and writes, each value once.
    """

    step: PlanStep
    seconds: float
    nbytes: int


class GraphModule:
    """A compiled graph with its memory, made by `create`."""

    def __init__(self, plan: Plan, library: KernelLibrary) -> None:
        self.plan = plan
        self.library = library
        self._arena = empty(max(plan.workspace, 1), "uint8")
        self._specs = {s.name: s for s in (*plan.inputs, *plan.params, *plan.outputs, *plan.values)}
        self._own: dict[str, Array] = {s.name: empty(s.shape, s.dtype) for s in plan.outputs}
        self._held: dict[str, Array] = {}
        self._places: dict[str, list[tuple[Any, int, int]]] = {}
        self._parallel_for = pool().static_for
        self._kept: list[Any] = []
        entries = [self._prepared(step) for step in plan.steps]
        self._calls = [(_KERNEL_TYPE(address), slots) for address, slots in entries]
        self._run_steps = _STEPS_TYPE(pool().run_steps)
        self._table = _written_down(entries)
        self._missing = {s.name for s in (*plan.inputs, *plan.params)}

    def _prepared(self, step: PlanStep) -> tuple[int, Any]:
        """The address of a step's function, and the slots of its arguments."""
        if step.body:
            calls = [self._prepared(inner) for inner in step.body]
            table = _written_down(calls)
            self._kept.append((calls, table))
            slots = (ctypes.c_uint64 * 3)(0, ctypes.addressof(table), len(calls))
            self._fill(slots, 0, step.args[0])
            return pool().run_while, slots
        slots = (ctypes.c_uint64 * len(step.args))()
        for number, name in enumerate(step.args):
            self._fill(slots, number, name)
        return self.library.address(step.kernel), slots

    def _fill(self, slots: Any, number: int, name: str) -> None:
        """Put a value's address into a slot, or note that it is to come."""
        offset = self.plan.offsets.get(name, 0)
        holder = self.plan.within.get(name, name)
        if holder in self._own:
            slots[number] = address_of(self._own[holder]) + offset
        elif holder in self.plan.offsets:
            slots[number] = address_of(self._arena) + offset
        else:
            self._places.setdefault(holder, []).append((slots, number, offset))

    def set_input(self, name: str | None = None, value: Any = None, **values: Any) -> None:
        """Give inputs or parameters their values, which are copied.

        Raises
        ------
        OptionError, ShapeError, TypeMismatch
            If there is no such input, or the value does not fit it.
        """
        given = values if name is None else {name: value, **values}
        for key, array in given.items():
            spec = self._input(key)
            data = self._fitting(spec, array)
            if key not in self._own:
                self._own[key] = empty(spec.shape, spec.dtype)
            self._own[key][...] = data
            self._held.pop(key, None)
            self._point(key, self._own[key])

    def bind_params(self, params: Mapping[str, Array]) -> None:
        """Give parameters their values without a copy; they must not change afterwards."""
        for key, array in params.items():
            spec = self._input(key)
            self._lend(spec, self._fitting(spec, array))

    def run(self, **inputs: Any) -> None:
        """Compute the outputs.

        Inputs given here are read where they are if their layout fits, and are otherwise copied.

        Raises
        ------
        RuntimeFailure
            If an input has no value, or a kernel fails.
        """
        self._take(inputs)
        failed = self._run_steps(self._table, self._parallel_for, len(self._calls))
        if failed:
            number, code = failed >> 32, ctypes.c_int32(failed & 0xFFFFFFFF).value
            raise self._failure(number, code)

    def get_output(self, index: int | str, out: Array | None = None) -> Array:
        """An output of the last run, by number or name: a copy, or `out` filled with it.

        Raises
        ------
        OptionError
            If there is no such output.
        """
        names = [s.name for s in self.plan.outputs]
        if isinstance(index, str):
            if index not in names:
                raise OptionError(f"there is no output {index!r}",
                                  hint=f"outputs are {', '.join(names)}")  # fmt: skip
            name = index
        else:
            if not -len(names) <= index < len(names):
                raise OptionError(f"there is no output {index}; there are {len(names)}")
            name = names[index]
        if out is None:
            return self._own[name].copy()
        out[...] = self._own[name]
        return out

    def value(self, name: str) -> Array:
        """What the memory of a value holds now; later steps may have written over it."""
        if name in self._held:
            return self._held[name]
        if name in self._own:
            return self._own[name]
        spec, offset = self._specs[name], self.plan.offsets[name]
        holder = self.plan.within.get(name)
        whole = self._arena if holder is None else self.value(holder).reshape(-1).view(np.uint8)
        raw = whole[offset : offset + spec.nbytes]
        return cast("Array", raw.view(spec.dtype.numpy).reshape(spec.shape))

    def run_observed(self, watch: Callable[[PlanStep, list[Array]], None], **inputs: Any) -> None:
        """Run step by step; `watch` sees what each has written."""
        self._take(inputs)
        for number, (step, (call, slots)) in enumerate(
            zip(self.plan.steps, self._calls, strict=True)
        ):
            code = call(slots, self._parallel_for)
            if code:
                raise self._failure(number, code)
            watch(step, [self.value(a) for a in step.args[-step.written :]])

    def time(self, *, repeats: int = 10, min_repeat_ms: float = 1.0) -> Timing:
        """Measure runs on the inputs given last."""
        self._require_values()

        def runs(count: int) -> None:
            for _ in range(count):
                self.run()

        return measure_loop(runs, repeats=repeats, min_repeat_ms=min_repeat_ms)

    def profile(self, *, repeats: int = 10) -> list[StepTime]:
        """What each step costs on the inputs given last: its least time of several runs."""
        self._require_values()
        best = [float("inf")] * len(self._calls)
        for _ in range(repeats):
            for number, (call, slots) in enumerate(self._calls):
                start = time.perf_counter()
                code = call(slots, self._parallel_for)
                best[number] = min(best[number], time.perf_counter() - start)
                if code:
                    raise self._failure(number, code)
        return [
            StepTime(step, seconds, sum(self._specs[a].nbytes for a in dict.fromkeys(step.args)))
            for step, seconds in zip(self.plan.steps, best, strict=True)
        ]

    def _take(self, inputs: Mapping[str, Any]) -> None:
        """Read inputs where they are, and require that none is missing."""
        for key, array in inputs.items():
            spec = self._input(key)
            self._lend(spec, self._fitting(spec, array))
        self._require_values()

    def _input(self, name: str) -> TensorSpec:
        for spec in (*self.plan.inputs, *self.plan.params):
            if spec.name == name:
                return spec
        raise OptionError(
            f"there is no input {name!r}",
            hint=f"inputs are {', '.join(str(s) for s in self.plan.inputs)}",
        )

    def _fitting(self, spec: TensorSpec, value: Any) -> Array:
        if not isinstance(value, np.ndarray):
            value = np.from_dlpack(value) if hasattr(value, "__dlpack__") else np.asarray(value)
        array = cast("Array", value)
        if array.dtype != spec.dtype.numpy:
            raise TypeMismatch(
                f"input {spec.name} is of {array.dtype}, the graph needs {spec.dtype}",
                hint=f"convert it, for example with .astype({spec.dtype.name!r})",
            )
        if array.shape != spec.shape:
            raise ShapeError(f"input {spec.name} has shape {array.shape}, the graph needs "
                             f"{spec.shape}")  # fmt: skip
        return array

    def _lend(self, spec: TensorSpec, array: Array) -> None:
        if not array.flags.c_contiguous or address_of(array) % spec.dtype.itemsize:
            self.set_input(spec.name, array)
            return
        self._held[spec.name] = array
        self._point(spec.name, array)

    def _point(self, name: str, array: Array) -> None:
        address = address_of(array)
        for slots, number, offset in self._places.get(name, ()):
            slots[number] = address + offset
        self._missing.discard(name)

    def _require_values(self) -> None:
        if self._missing:
            name = min(self._missing)
            what = "parameter" if any(s.name == name for s in self.plan.params) else "input"
            raise RuntimeFailure(
                f"the {what} {name} of {self.plan.name} has no value",
                hint="give parameters by set_input(**params), and inputs by run(...)",
            )

    def _failure(self, number: int, code: int) -> BaseException:
        step = self.plan.steps[number]
        fault = None if step.body else self.library.fault(step.kernel)
        error = kernel_failure(step.name, code, fault)
        if isinstance(error, RuntimeFailure):
            error.notes = (*error.notes, f"it computes {', '.join(step.nodes)}")
        return error

    def __repr__(self) -> str:
        inputs = ", ".join(str(s) for s in self.plan.inputs)
        outputs = ", ".join(str(s) for s in self.plan.outputs)
        return f"<GraphModule {self.plan.name}({inputs}) -> {outputs}>"


def _written_down(calls: Sequence[tuple[int, Any]]) -> ctypes.Array[ctypes.c_uint64]:
    """The addresses of kernels and of their slots, in turn: what one call runs through."""
    table = (ctypes.c_uint64 * (2 * len(calls)))()
    for number, (address, slots) in enumerate(calls):
        table[2 * number] = address
        table[2 * number + 1] = ctypes.addressof(slots)
    return table


def create(graph: Plan, lib: KernelLibrary, device: str = "cpu") -> GraphModule:
    """A module from the graph and the library that `build` made; parameters are set afterwards.

    Raises
    ------
    OptionError
        If there is no such device.
    """
    if device != "cpu":
        raise OptionError(f"there is no device {shown(device)}", hint='modules run on "cpu"')
    if not isinstance(graph, Plan):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionError(f"the graph is {shown(graph)}, not what build returned",
                          hint="graph, lib, params = tl.compiler.build(model)")  # fmt: skip
    return GraphModule(checked(graph), lib)
