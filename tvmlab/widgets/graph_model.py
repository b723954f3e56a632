"""What a graph session looks at: a model that is built now, or one that was built before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tvmlab.graph import Built, Graph
from tvmlab.graph.compiler import build_with_report
from tvmlab.graph.passes import PassRecord
from tvmlab.graph.pins import Pins
from tvmlab.runtime import GraphModule, ObjectLibrary, Plan, create, load
from tvmlab.runtime.library import KernelLibrary
from tvmlab.support import OptionError
from tvmlab.target import Target, TargetLike


@dataclass
class Model:
    """A plan with its kernels and parameters, and what is known of how it came about."""

    plan: Plan
    library: KernelLibrary
    params: dict[str, Any]
    passes: tuple[PassRecord, ...] = ()
    tuned: frozenset[str] = frozenset()
    pins: Pins = field(default_factory=Pins)
    note: str = ""

    @staticmethod
    def of(
        model: Graph | Built | GraphModule | str | PathLike[str],
        *,
        target: TargetLike = "cpu",
        sizes: Mapping[str, int] | None = None,
        pins: Pins | None = None,
    ) -> Model:
        """A graph or an ONNX file is compiled, a module is taken as it is."""
        if isinstance(model, Built):
            return Model(
                model.graph, model.lib, dict(model.params), pins=pins or Pins(), note=_BUILT
            )
        if isinstance(model, (str, PathLike)):
            path = Path(model)
            if path.suffix != ".onnx":
                return Model.of(load(path), pins=pins)
            source: Any = path
        elif isinstance(model, GraphModule):
            params = {s.name: model.value(s.name) for s in model.plan.params}
            return Model(model.plan, model.library, params, pins=pins or Pins(), note=_BUILT)
        else:
            source = model
        chosen = pins or Pins()
        find = chosen.find if len(chosen) else None
        built, report = build_with_report(source, Target.of(target), sizes=sizes, schedules=find)
        found = report.found if find is not None else frozenset[str]()
        return Model(built.graph, built.lib, dict(built.params), report.passes, found, chosen)

    def module(self) -> GraphModule:
        """The model ready to run."""
        made = create(self.plan, self.library)
        made.bind_params(self.params)
        return made

    @property
    def built(self) -> Built:
        """The model with its pinned schedules, for `export`.

        Raises
        ------
        OptionError
            If its kernels are in a library on disk, so that their objects are gone.
        """
        if not isinstance(self.library, ObjectLibrary):
            raise OptionError(
                "the kernels of a loaded module cannot be written again",
                hint="build the model with the pins: tl.compiler.build(model, schedules=pins.find)",
            )
        return Built(self.plan, self.library, self.params)


_BUILT = "The passes are not shown: this module was compiled before. Explore the model to see them."


class PatchedLibrary:
    """The kernels of a library, but for one that was compiled anew."""

    def __init__(self, rest: KernelLibrary, own: ObjectLibrary) -> None:
        self._rest, self._own = rest, own

    def address(self, kernel: str) -> int:
        return self._of(kernel).address(kernel)

    def fault(self, kernel: str) -> int | None:
        return self._of(kernel).fault(kernel)

    def _of(self, kernel: str) -> KernelLibrary:
        return self._own if kernel in self._own.objects else self._rest


def patched(library: KernelLibrary, kernel: str, data: bytes) -> KernelLibrary:
    """The library with other code for one kernel."""
    if isinstance(library, ObjectLibrary):
        return ObjectLibrary({**library.objects, kernel: data})
    return PatchedLibrary(library, ObjectLibrary({kernel: data}))


def noise(plan: Plan) -> dict[str, Any]:
    """Inputs to measure on: the same noise each time."""
    rng = np.random.default_rng(0)

    def values(shape: tuple[int, ...], dtype: Any) -> Any:
        if dtype.is_float:
            return rng.standard_normal(shape).astype(dtype.numpy)
        return rng.integers(0, 2, shape).astype(dtype.numpy)

    return {s.name: values(s.shape, s.dtype) for s in plan.inputs}


def difference(old: GraphModule, new: GraphModule, inputs: Mapping[str, Any]) -> float:
    """The largest difference of the outputs of two modules, in units of the largest element."""
    worst = 0.0
    old.run(**inputs)
    new.run(**inputs)
    for number in range(len(old.plan.outputs)):
        a, b = (m.get_output(number).astype(np.float64) for m in (old, new))
        if a.size:
            scale = float(np.nanmax(np.abs(a))) or 1.0
            worst = max(worst, float(np.nanmax(np.abs(a - b))) / scale)
    return worst
