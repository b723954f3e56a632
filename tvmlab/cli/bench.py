"""`tvmlab bench`: kernels of tvmlab beside those of other libraries, in one run by turns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tvmlab.bench import (
    GROUPS,
    ROWS,
    TURNS,
    BenchResult,
    Circumstances,
    Watch,
    find_rows,
    machine_peaks,
    plot_html,
    result_tables,
    run_benchmarks,
)
from tvmlab.inspect import table
from tvmlab.support import OptionError, write_whole

from .parser import Parser, UsageError, whole_number
from .terminal import heading, indented, print_json

SUMMARY = "compare kernels with other libraries"
DESCRIPTION = """\
Measure kernels beside those of NumPy, PyTorch, ONNX Runtime, OpenVINO, numba and apache-tvm,
whichever are installed, in the same run and by turns. A ratio above 1 means that tvmlab is faster
than the best of them. The error is the largest difference from the result in float64, in units of
the largest element."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"groups ({', '.join(GROUPS)}), rows, or patterns such as 'sgemm-*' (default: all)",
    )
    parser.add_argument("--list", action="store_true", help="show the rows and stop")
    parser.add_argument(
        "--threads",
        type=whole_number(1, 1024),
        action="append",
        help="threads of everyone (default: all cores); may be given more than once",
    )
    parser.add_argument(
        "--turns",
        type=whole_number(1, 1000),
        default=TURNS,
        help=f"how often everyone is measured (default: {TURNS})",
    )
    parser.add_argument(
        "--peer",
        action="append",
        metavar="LIBRARY",
        help="only this library takes part; may be given more than once",
    )
    parser.add_argument("--plot", metavar="FILE.html", help="write a page with bars")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmarks; the exit code is 1 if a result is wrong."""
    names: list[str] = arguments.names
    try:
        rows = find_rows(names)
    except OptionError as error:
        raise UsageError(str(error)) from error
    if arguments.list:
        listed = [(row.group, row.name, _sizes(row.shapes), row.dtype) for row in ROWS]
        print(table([line for line, row in zip(listed, ROWS, strict=True) if row in rows]))
        return 0
    machine_peaks()
    watch = Watch()
    results: list[BenchResult] = []

    def measured(result: BenchResult) -> None:
        results.append(result)
        _progress(result)

    try:
        run_benchmarks(
            names, arguments.threads, turns=arguments.turns, libraries=arguments.peer, seen=measured
        )
    finally:
        # An hour's rows are not lost because one fails, or somebody needs the machine.
        if results:
            _report(results, watch.stop(), arguments)
    return 0 if all(result.agrees for result in results) else 1


def _report(
    results: Sequence[BenchResult], seen_around: Circumstances, arguments: argparse.Namespace
) -> None:
    if arguments.plot:
        write_whole(Path(arguments.plot), plot_html(results, seen_around.lines()))
    _show(results, seen_around, as_json=arguments.json)


def _sizes(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join("x".join(map(str, shape)) for shape in shapes)


def _progress(result: BenchResult) -> None:
    """A sign of life on the way; nothing if nobody watches."""
    if sys.stderr.isatty():
        ratio = "" if result.ratio is None else f" {result.ratio:.2f}"
        print(f"{result.name}{ratio}", file=sys.stderr)


def _show(results: Sequence[BenchResult], seen: Circumstances, *, as_json: bool) -> None:
    if as_json:
        rows = [result.to_json() for result in results]
        limits = machine_peaks().to_json()
        print_json({"machine": seen.to_json(), "limits": limits, "results": rows})
        return
    for title, lines, remarks in result_tables(results):
        print(heading(title))
        print(indented(table(lines)))
        print(indented("\n".join(remarks)))
    print(heading("measured on"))
    print(indented("\n".join(seen.lines())))
