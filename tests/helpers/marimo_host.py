"""A marimo editor for browser tests: own folder and settings, loopback only, ended by its id."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from helpers.lab import REPOSITORY, free_port, stop, wait_until_up

_NOTEBOOK = """import marimo

app = marimo.App(width="full")


@app.cell
def _():
{setup}
    return sch, tl


@app.cell
def _(sch, tl):
    tl.explore(sch)
    return
"""

_SETTINGS = """[tool.marimo.display]
theme = "{theme}"

[tool.marimo.runtime]
auto_instantiate = true
"""


@contextmanager
def run_marimo(folder: Path, setup: str, theme: str) -> Generator[str]:
    """Open a notebook whose first cell makes `sch`, in light or dark; gives its address."""
    notebook = folder / "explore.py"
    notebook.write_text(_NOTEBOOK.format(setup=textwrap.indent(setup.strip(), " " * 4)))
    (folder / "pyproject.toml").write_text(_SETTINGS.format(theme=theme))
    port = free_port()
    command = [
        *(sys.executable, "-m", "marimo", "-q", "edit", notebook.name, "--headless"),
        *("--no-token", "--skip-update-check", "--host", "127.0.0.1", "--port", str(port)),
    ]
    own = {"HOME": "home", "XDG_CONFIG_HOME": "config", "TVMLAB_CACHE_DIR": "cache"}
    environment = {
        **os.environ,
        **{name: str(folder / place) for name, place in own.items()},
        "PYTHONPATH": str(REPOSITORY),
    }
    address = f"http://127.0.0.1:{port}/"
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            wait_until_up(server, address, folder / "server.log")
            yield address
        finally:
            stop(server)
