"""`tvmlab profile`: how long each step of a model takes."""

from __future__ import annotations

import argparse

from tvmlab.inspect import table
from tvmlab.runtime import Plan, StepTime, peak_process_bytes

from .models import add_model, inputs_of, module_of
from .parser import Parser, whole_number
from .terminal import print_json

SUMMARY = "measure each step of a model"
DESCRIPTION = """\
Measure each step of an ONNX model or of a module that `tvmlab compile` wrote: its least time of
several runs, what it computes and what it moves."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("--repeats", type=whole_number(1, 10_000), default=20,
                        help="runs (default: 20)")  # fmt: skip
    parser.add_argument("--top", type=whole_number(1, 10_000), default=30,
                        help="show the slowest so many (default: 30)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure and show."""
    module = module_of(arguments)
    module.run(**inputs_of(module.plan, [], 0))
    times = module.profile(repeats=arguments.repeats)
    total = sum(t.seconds for t in times)
    if arguments.json:
        print_json([_facts(t) for t in times])
        return 0
    slowest = sorted(times, key=lambda t: -t.seconds)[: arguments.top]
    print(table([("step", "µs", "share", "GFLOP/s", "GB/s", "kernel"),
                 *(_line(t, total) for t in slowest)]))  # fmt: skip
    print(f"{len(times)} steps, {total * 1e3:.3f} ms in all")
    print(_memory(module.plan))
    return 0


def _memory(plan: Plan) -> str:
    """What memory the model takes, and this process took at its peak."""
    weights = sum(spec.nbytes for spec in plan.params)
    said = f"weights {weights / 1e6:.1f} MB, workspace {plan.workspace / 1e6:.2f} MB"
    peak = peak_process_bytes()
    return said if peak is None else f"{said}, this process at its peak {peak / 1e6:.0f} MB"


def _facts(time: StepTime) -> dict[str, object]:
    step = time.step
    return {"step": step.name, "kernel": step.kernel, "nodes": list(step.nodes),
            "seconds": time.seconds, "flops": step.flops, "bytes": time.nbytes}  # fmt: skip


def _line(time: StepTime, total: float) -> tuple[str, ...]:
    seconds = max(time.seconds, 1e-9)
    return (
        time.step.name,
        f"{time.seconds * 1e6:.1f}",
        f"{100 * time.seconds / max(total, 1e-12):.1f} %",
        f"{time.step.flops / seconds / 1e9:.2f}",
        f"{time.nbytes / seconds / 1e9:.2f}",
        time.step.kernel or f"a loop over {len(time.step.body)} steps",
    )
