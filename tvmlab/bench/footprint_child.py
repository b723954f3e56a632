"""Loads a module, runs it twice, and prints the bytes of the process's peak before and behind.

It is run as a script, so that it loads no more than who deploys a module does.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from tvmlab.runtime import load, peak_process_bytes


def main(folder: str) -> None:
    """Measure the module of a folder, on zeros."""
    before = peak_process_bytes()
    module = load(folder)
    given = {s.name: np.zeros(s.shape, s.dtype.numpy) for s in module.plan.inputs}
    for _ in range(2):
        module.run(**given)
    print(json.dumps([before, peak_process_bytes()]))


if __name__ == "__main__":
    main(sys.argv[1])
