"""How a compiled graph runs: which kernel on which values, and where these lie.

Plain data, saved as JSON with a module. A value is an input, a parameter, an output, or lies at an
offset of the workspace, or of an input or output.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tvmlab.support import DType, ParseError, TvmlabError, fields_of, items_of

PLAN_VERSION = 2


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Name, element type and shape of a value."""

    name: str
    dtype: DType
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name, "dtype": self.dtype.name, "shape": list(self.shape)}


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One call of a kernel, or a loop over other steps.

    Attributes
    ----------
    args
        Names of values in the order of the kernel's parameters; what it writes comes last.
    written
        How many of them it writes.
    nodes
        The nodes of the model that it computes.
    flops
        Operations of floats, if they can be counted; 0 if not.
    body
        The steps of a loop, which run again and again as long as its first argument, a truth value,
        holds. It has no kernel.
    """

    name: str
    kernel: str
    args: tuple[str, ...]
    written: int
    nodes: tuple[str, ...]
    flops: int = 0
    body: tuple[PlanStep, ...] = ()

    @property
    def values(self) -> Iterator[str]:
        """The names of all values that it works on."""
        yield from self.args
        for step in self.body:
            yield from step.values

    @property
    def kernels(self) -> Iterator[str]:
        """The symbols of the kernels that it calls."""
        if not self.body:
            yield self.kernel
        for step in self.body:
            yield from step.kernels

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "kernel": self.kernel,
            "args": list(self.args),
            "written": self.written,
            "nodes": list(self.nodes),
            "flops": self.flops,
            "body": [step.to_json() for step in self.body],
        }


@dataclass(frozen=True)
class Plan:
    """A compiled graph.

    Attributes
    ----------
    target
        The machine that the kernels were compiled for: `triple`, `cpu`, `features`.
    values
        Types of the values in the workspace, and of those within inputs and outputs.
    offsets
        Where they lie, in bytes.
    within
        The input or output that holds a value; the others lie in the workspace.
    workspace
        Its size in bytes.
    """

    name: str
    target: Mapping[str, str]
    inputs: tuple[TensorSpec, ...]
    params: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    values: tuple[TensorSpec, ...]
    offsets: Mapping[str, int]
    workspace: int
    steps: tuple[PlanStep, ...]
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    within: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def kernels(self) -> tuple[str, ...]:
        """The symbols of all kernels, each once."""
        return tuple(dict.fromkeys(kernel for step in self.steps for kernel in step.kernels))

    def to_json(self) -> dict[str, Any]:
        """As plain data, for a saved module."""
        return {
            "format": "tvmlab-plan",
            "version": PLAN_VERSION,
            "name": self.name,
            "target": dict(self.target),
            "inputs": [s.to_json() for s in self.inputs],
            "params": [s.to_json() for s in self.params],
            "outputs": [s.to_json() for s in self.outputs],
            "values": [
                s.to_json() | {"offset": self.offsets[s.name], "within": self.within.get(s.name)}
                for s in self.values
            ],
            "workspace": self.workspace,
            "steps": [s.to_json() for s in self.steps],
            "notes": dict(self.notes),
        }

    @staticmethod
    def from_json(data: object) -> Plan:
        """The inverse of `to_json`, which checks that all references hold.

        Raises
        ------
        ParseError
            If the data is no plan, is of another version, or would touch foreign memory.
        """
        fields = fields_of(data) or {}
        if fields.get("format") != "tvmlab-plan":
            raise ParseError("this is no plan of a compiled graph")
        if fields.get("version") != PLAN_VERSION:
            raise ParseError(
                f"the plan is of version {fields.get('version')}, this tvmlab reads {PLAN_VERSION}",
                hint="compile the model again with this version",
            )
        try:
            return checked(_plan_of(cast("dict[str, Any]", fields)))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ParseError(f"the plan is damaged: {error!r}") from None
        except ParseError:
            raise
        except TvmlabError as error:
            raise ParseError(f"the plan is damaged: {error.message}") from None


def _plan_of(data: dict[str, Any]) -> Plan:
    values = [_spec_of(v) for v in data["values"]]
    offsets = {str(v["name"]): int(v["offset"]) for v in data["values"]}
    within = {str(v["name"]): str(v["within"]) for v in data["values"] if v.get("within")}
    specs = {key: tuple(_spec_of(v) for v in data[key]) for key in ("inputs", "params", "outputs")}
    return Plan(
        name=str(data["name"]),
        target={str(k): str(v) for k, v in data["target"].items()},
        values=tuple(values),
        offsets=offsets,
        within=within,
        workspace=int(data["workspace"]),
        steps=tuple(_step_of(s) for s in data["steps"]),
        notes=dict(data["notes"]),
        **specs,
    )


def _spec_of(data: Mapping[str, Any]) -> TensorSpec:
    shape = items_of(data["shape"])
    sizes = tuple(int(cast("Any", s)) for s in shape or ())
    if any(s < 0 for s in sizes):
        raise ValueError(f"a negative size of {data['name']}")
    return TensorSpec(str(data["name"]), DType.of(str(data["dtype"])), sizes)


def _step_of(data: Mapping[str, Any]) -> PlanStep:
    def names(key: str) -> tuple[str, ...]:
        return tuple(str(n) for n in cast("Sequence[object]", data[key]))

    return PlanStep(str(data["name"]), str(data["kernel"]), names("args"), int(data["written"]),
                    names("nodes"), int(data["flops"]),
                    tuple(_step_of(step) for step in data["body"]))  # fmt: skip


def checked(plan: Plan) -> Plan:
    """The plan itself, if each name is declared once and its values lie in what holds them.

    Raises
    ------
    ParseError
        If not.
    """
    known: set[str] = set()
    for spec in (*plan.inputs, *plan.params, *plan.outputs, *plan.values):
        if spec.name in known:
            raise ParseError(f"the plan declares {spec.name} twice")
        known.add(spec.name)
    rooms = {spec.name: spec.nbytes for spec in (*plan.inputs, *plan.outputs)}
    for spec in plan.values:
        offset, holder = plan.offsets[spec.name], plan.within.get(spec.name)
        room = plan.workspace if holder is None else rooms.get(holder, -1)
        if offset < 0 or offset % spec.dtype.itemsize or offset + spec.nbytes > room:
            raise ParseError(f"the value {spec.name} lies outside {holder or 'the workspace'}")
    truths = {s.name for s in plan.values if s.dtype.is_bool and not s.shape}
    for step in plan.steps:
        _check_step(step, known, truths)
    return plan


def _check_step(step: PlanStep, known: set[str], truths: set[str]) -> None:
    unknown = [a for a in step.args if a not in known]
    if unknown or not 0 < step.written <= len(step.args):
        raise ParseError(f"the step {step.name} uses {unknown or step.written}, which is wrong")
    if step.body and step.args[0] not in truths:
        raise ParseError(f"the loop {step.name} goes on as {step.args[0]} says, no truth value")
    for inner in step.body:
        _check_step(inner, known, truths)
