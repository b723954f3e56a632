"""`tvmlab run`: run a model once, on arrays or on noise."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tvmlab.inspect import table

from .models import add_model, describe, inputs_of, module_of
from .parser import Parser, whole_number
from .terminal import print_json

SUMMARY = "run a model"
DESCRIPTION = """\
Run an ONNX model, or a module that `tvmlab compile` wrote, and show its outputs. Inputs that are
not given are random."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy",
                        help="the array of an input")  # fmt: skip
    parser.add_argument("--seed", type=whole_number(0, 1 << 31), default=0, help="of the noise")
    parser.add_argument("--output", metavar="FOLDER", help="write each output as an .npy file")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run once."""
    module = module_of(arguments)
    module.run(**inputs_of(module.plan, arguments.input, arguments.seed))
    outputs = {s.name: module.get_output(n) for n, s in enumerate(module.plan.outputs)}
    lines = describe(outputs)
    if arguments.json:
        print_json([dict(zip(("name", "type", "least", "mean", "most"), line, strict=True))
                    for line in lines])  # fmt: skip
    else:
        print(table([("output", "type", "least", "mean", "most"), *lines]))
    if arguments.output:
        folder = Path(arguments.output)
        folder.mkdir(parents=True, exist_ok=True)
        for number, array in enumerate(outputs.values()):
            np.save(folder / f"output_{number}.npy", array)
    return 0
