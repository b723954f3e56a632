"""`tvmlab devices`: what this machine has, and what it lacks, so that tests for it are skipped."""

from __future__ import annotations

import argparse

from tvmlab.bench import machine_peaks
from tvmlab.inspect import device_reports, table

from .parser import Parser
from .terminal import heading, indented, print_json

SUMMARY = "what this machine has and lacks"
DESCRIPTION = """\
Show the devices of this machine: cores, vectors, caches, which are missing, and its measured
limits: arithmetic, and bandwidth from each level of the memory."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--measure", action="store_true", help="measure the limits again: the machine was busy"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print one part for each device; its limits are measured if they never were."""
    machine_peaks(again=arguments.measure)
    reports = device_reports()
    if arguments.json:
        print_json([report.data for report in reports])
        return 0
    for report in reports:
        print(heading(report.summary))
        print(indented(table(report.facts)))
    return 0
