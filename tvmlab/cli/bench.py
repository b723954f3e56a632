"""`tvmlab bench`: kernels of tvmlab beside those of other libraries, in one run by turns."""

from __future__ import annotations

import argparse

from tvmlab.bench import CONTESTS, BenchResult, run_benchmarks
from tvmlab.inspect import table

from .parser import Parser, UsageError, close_match, whole_number
from .terminal import print_json

SUMMARY = "compare kernels with other libraries"
DESCRIPTION = """\
Measure kernels beside those of NumPy's BLAS and PyTorch, in the same run and by turns.
A ratio above 1 means that tvmlab is faster."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which (default: all): {', '.join(CONTESTS)}"
    )
    parser.add_argument(
        "--threads", type=whole_number(1, 1024), help="threads of both (default: all cores)"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmarks; the exit code is 1 if two results do not agree."""
    names: list[str] = arguments.names
    for name in names:
        if name not in CONTESTS:
            raise UsageError(
                f"there is no benchmark {name!r}{close_match(name, CONTESTS)}\n"
                f"hint: benchmarks are {', '.join(CONTESTS)}"
            )
    results = run_benchmarks(names, arguments.threads)
    if arguments.json:
        print_json([result.to_json() for result in results])
    else:
        print(table([("", "threads", "tvmlab", "peer", "ratio", ""), *map(_row, results)]))
    return 0 if all(result.agree for result in results) else 1


def _row(result: BenchResult) -> tuple[str, ...]:
    return (
        result.name,
        str(result.threads),
        f"{result.ours_gflops:.1f} GFLOP/s",
        f"{result.peer_gflops:.1f} GFLOP/s ({result.peer_name})",
        f"{result.ratio:.2f}",
        "same result" if result.agree else "DIFFERENT RESULT",
    )
