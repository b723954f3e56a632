"""What a process needs that loads a compiled network and runs it, without the compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tvmlab.graph import Built, export
from tvmlab.support import TvmlabError

_CHILD = Path(__file__).with_name("footprint_child.py")


def module_footprint(built: Built) -> str:
    """The peak of such a process in words, and what of it is there before a module is loaded."""
    with tempfile.TemporaryDirectory(prefix="tvmlab-") as folder:
        try:
            path = export(built, Path(folder, "module"))
        except TvmlabError as error:
            return f"unknown: {error.message}"
        # -P: what lies beside the script must not stand for modules of the same names.
        command = [sys.executable, "-P", str(_CHILD), str(path)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return "unknown: its process failed"
    before, peak = json.loads(done.stdout)
    return "unknown" if peak is None else f"{peak / 1e6:.0f} MB ({before / 1e6:.0f} of it Python)"
