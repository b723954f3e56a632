"""`tvmlab compile`: from an ONNX model to a module that runs without the compiler."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from tvmlab.graph import BuildOptions, export
from tvmlab.graph.compiler import build_with_report
from tvmlab.graph.export import require_replaceable
from tvmlab.graph.kernels import FindSchedule
from tvmlab.graph.pins import read_pins
from tvmlab.support import OptionError
from tvmlab.tune import default_log_path, lookup

from .models import add_build_options, quantized_model, show_progress, sizes_of
from .parser import Parser
from .terminal import print_json

SUMMARY = "compile an ONNX model to a module"
DESCRIPTION = """\
Compile an ONNX model for this machine, or another, and write the module: the graph, a shared
library of kernels, the parameters, a header for C, and a manifest. It runs by `tvmlab run`, or by
tvmlab.runtime.load, without the compiler."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", metavar="MODEL.onnx", help="the model")
    parser.add_argument("-o", "--output", required=True, metavar="OUT",
                        help="the folder to write, or a file that ends in .zip")  # fmt: skip
    add_build_options(parser)
    parser.add_argument("--no-fuse", action="store_true", help="one kernel for each node")
    parser.add_argument("--tuned", nargs="?", const="", metavar="LOG",
                        help="take schedules from a tuning log (default: this user's)")  # fmt: skip
    parser.add_argument("--pinned", metavar="FILE",
                        help="take the schedules that were pinned in the graph view")  # fmt: skip
    parser.add_argument("--int8", metavar="DATA.npz",
                        help="compute convolutions and products in bytes, with ranges measured on "
                        "these samples: an array for each input, samples first")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compile and write."""
    start = time.perf_counter()
    require_replaceable(Path(arguments.output))  # before minutes of compiling
    options = BuildOptions(fuse=not arguments.no_fuse, cache=not arguments.no_cache)
    sizes = sizes_of(arguments.size)
    model: Any = Path(arguments.model)
    if arguments.int8:
        model, sizes = quantized_model(model, arguments.int8, sizes, arguments.target), {}
    built, report = build_with_report(
        model,
        arguments.target,
        sizes=sizes,
        options=options,
        progress=show_progress,
        schedules=_schedules(arguments.tuned, arguments.pinned),
    )
    written = export(built, arguments.output)
    facts = {
        "module": str(written),
        "nodes": len(report.graph.nodes),
        "steps": len(built.graph.steps),
        "kernels": len(built.graph.kernels),
        "tuned_kernels": len(report.found),
        "parameter_bytes": sum(s.nbytes for s in built.graph.params),
        "workspace_bytes": report.memory.peak,
        "workspace_lower_bound": report.memory.lower_bound,
        "seconds": round(time.perf_counter() - start, 3),
    }
    if arguments.json:
        print_json(facts)
        return 0
    print(f"{written}: {facts['nodes']} nodes in {facts['steps']} steps, "
          f"{facts['kernels']} kernels, {facts['seconds']} s")  # fmt: skip
    if arguments.tuned is not None:
        print(f"schedules from the tuning log: {facts['tuned_kernels']} of {facts['kernels']}")
    print(f"memory between steps: {facts['workspace_bytes']} bytes "
          f"(at least {facts['workspace_lower_bound']})")  # fmt: skip
    print(f"tvmlab run {written} runs it, tvmlab profile {written} measures it")
    return 0


def _schedules(log: str | None, pinned: str | None) -> FindSchedule | None:
    """What looks schedules up: None if none are asked for; pinned ones come first."""
    found = None if log is None else _logged(log)
    if pinned is None:
        return found
    pins = read_pins(pinned)
    if found is None:
        return pins.find
    return lambda program, target: pins.find(program, target) or found(program, target)


def _logged(log: str) -> FindSchedule:
    """Schedules from a tuning log; an empty text is the user's log."""
    path = Path(log) if log else default_log_path()
    if not path.is_file():
        raise OptionError(f"there is no tuning log {path}",
                          hint="tvmlab tune keeps its trials in one")  # fmt: skip
    return lookup(path)
