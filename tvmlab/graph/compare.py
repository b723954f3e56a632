"""Debugging a compiled graph: what each kernel wrote, beside what the references compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmlab.runtime import GraphModule, PlanStep

from .compiler import BuildReport, Built
from .evaluate import evaluate
from .ir import Array, Node


@dataclass(frozen=True, slots=True)
class Difference:
    """Where compiled code and reference first differ.

    Attributes
    ----------
    error
        The largest difference, in units of the largest element.
    """

    step: PlanStep
    value: str
    error: float
    compiled: Array
    reference: Array

    def __str__(self) -> str:
        nodes = ", ".join(self.step.nodes)
        return (
            f"the kernel {self.step.name} is the first that differs: {self.value} by "
            f"{self.error:.3g} of its largest element (it computes {nodes})"
        )


def first_difference(
    built: Built, report: BuildReport, inputs: Mapping[str, Any], tolerance: float = 1e-4
) -> Difference | None:
    """The first kernel whose result differs from the references of its nodes; None if none does.

    Parameters
    ----------
    report
        What `build_with_report` told: the graph whose nodes the kernels compute.
    tolerance
        What may differ, in units of the largest element.
    """
    wanted: dict[str, Array] = {}

    def keep(node: Node, made: list[Array]) -> None:
        wanted.update({o: a for o, a in zip(node.outputs, made, strict=False) if o})

    arrays = {name: np.asarray(a) for name, a in inputs.items()}
    evaluate(report.graph, arrays, keep)
    module = GraphModule(built.graph, built.lib)
    module.bind_params(built.params)
    found: list[Difference] = []

    def watch(step: PlanStep, written: list[Array]) -> None:
        if found:
            return
        for name, array in zip(step.args[-step.written :], written, strict=True):
            error = _error(array, wanted[name]) if name in wanted else 0.0
            if not error <= tolerance:
                found.append(Difference(step, name, error, array.copy(), wanted[name]))
                return

    module.run_observed(watch, **arrays)
    return found[0] if found else None


def _error(array: Array, wanted: Array) -> float:
    if not array.size:
        return 0.0
    if not np.issubdtype(wanted.dtype, np.floating) and wanted.dtype.name != "bfloat16":
        return float(not np.array_equal(array, wanted))
    a, b = array.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 1.0
    return float(difference.max()) / (scale or 1.0)
