"""`tvmlab demo`: one kernel in the terminal, from formula to measured speed-up."""

from __future__ import annotations

import argparse

from tvmlab.inspect import Gain, table

from .matmul_demo import MatmulDemo, run_matmul
from .parser import Parser, whole_number
from .terminal import heading, indented, print_json, quiet

SUMMARY = "show one kernel, from formula to measured speed-up"
DESCRIPTION = "Schedule a kernel step by step, measure it beside NumPy, and check the result."

_WORKLOADS = ("matmul",)


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("workload", choices=_WORKLOADS, help="matmul: C = A @ B")
    parser.add_argument(
        "--size",
        type=whole_number(2, 2048),
        default=512,
        help="rows and columns of the matrices, 2 to 2048 (default: 512)",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the demonstration; the exit code is 1 if the result is wrong."""
    demo = run_matmul(arguments.size)
    if arguments.json:
        print_json(demo)
    else:
        print("\n\n".join(_parts(demo)))
    return 0 if demo.check.agrees else 1


def _parts(demo: MatmulDemo) -> list[str]:
    return [
        f"{heading(f'C = A @ B  ({demo.workload})')}\n{quiet(demo.machine)}",
        _part("As written", "One loop for each index; every element of C is a sum over k.")
        + f"\n\n{indented(demo.before)}",
        _part("A step that is refused", "Schedules change the order of work, never the result.")
        + f"\n\n{indented(f'sch.{demo.refused_step}')}\n{indented(str(demo.refused), 4)}",
        _part("The steps", "Each is checked as it is taken.") + f"\n\n{indented(demo.python)}",
        _part("After the steps", "P parallel, V vectorized, U unrolled, R adds up.")
        + f"\n\n{indented(demo.after)}",
        _part("Measured", f"{demo.operations:,} floating-point operations each time.")
        + f"\n\n{indented(_timings(demo))}\n\n{indented(str(demo.check))}",
    ]


def _part(title: str, sentence: str) -> str:
    return f"{heading(title)}\n{quiet(sentence)}"


def _timings(demo: MatmulDemo) -> str:
    return table(
        [
            ("as written", str(demo.unscheduled), ""),
            ("scheduled", str(demo.scheduled), _gain_words(demo.gain)),
            ("NumPy", str(demo.numpy), ""),
        ]
    )


def _gain_words(gain: Gain | None) -> str:
    if gain is None:
        return ""
    return "not told apart" if gain.kind == "noise" else f"{gain} as fast as written"
