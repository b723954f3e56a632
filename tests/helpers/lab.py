"""A real JupyterLab for browser tests: own folders, loopback only, a token, ended by its own id.

Jupyter Notebook 7, which is made of the same parts, starts in the same way.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
EXTENSION = REPOSITORY / "tvmlab" / "labextension"
START_SECONDS = 60
STOP_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Lab:
    """A running server, and the folders that its notebooks and what users chose lie in."""

    port: int
    token: str
    notebooks: Path
    settings: Path

    def address(self, path: str) -> str:
        """Where something of the server is, with the token that opens it."""
        return f"http://127.0.0.1:{self.port}/{path}?token={self.token}"

    def url(self, path: str) -> str:
        """The page of a file, in a fresh workspace."""
        return self.address(f"lab/tree/{path}") + "&reset"

    def launcher_url(self) -> str:
        """The page with nothing open but the launcher."""
        return self.address("lab") + "&reset"

    def stop_kernels(self) -> None:
        """End every kernel, so that the next test begins afresh."""
        for session in self._request("GET", "api/sessions"):
            self._request("DELETE", f"api/sessions/{session['id']}")

    def forget_settings(self) -> None:
        """Drop what was chosen, such as a theme, or that letters are no keys."""
        shutil.rmtree(self.settings, ignore_errors=True)

    def _request(self, method: str, path: str) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def write_notebook(self, name: str, *cells: str) -> str:
        """Write a notebook of code cells and give its name."""
        notebook: dict[str, Any] = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"cell-{number}",
                    "execution_count": None,
                    "metadata": {},
                    "outputs": [],
                    "source": source,
                }
                for number, source in enumerate(cells)
            ],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.notebooks / name).write_text(json.dumps(notebook), encoding="utf-8")
        return name


@contextmanager
def run_lab(folder: Path, app: str = "jupyterlab") -> Generator[Lab]:
    """Start JupyterLab or `notebook` with all that it writes under `folder`; stop it at the end."""
    lab = Lab(free_port(), secrets.token_hex(16), folder / "notebooks", folder / "settings")
    lab.notebooks.mkdir(parents=True)
    _write_settings(folder / "config")
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            _command(lab, folder, app), env=_environment(lab, folder), stdout=log, stderr=log
        )
        try:
            wait_until_up(server, lab.address("api"), folder / "server.log")
            yield lab
        finally:
            stop(server)


def _command(lab: Lab, folder: Path, app: str) -> list[str]:
    """The server's command line; the extension is the one built in this tree."""
    extensions = folder / "extensions"
    extensions.mkdir()
    (extensions / "tvmlab-lab").symlink_to(EXTENSION)
    name = "LabApp" if app == "jupyterlab" else "JupyterNotebookApp"
    return [
        *(sys.executable, "-m", app, "--no-browser", "--allow-root"),
        f"--ServerApp.root_dir={lab.notebooks}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={lab.port}",
        "--ServerApp.port_retries=0",
        f"--{name}.extra_labextensions_path={extensions}",
        f"--{name}.expose_app_in_browser=True",
    ]


def _write_settings(config: Path) -> None:
    """No question about news, which would lie over the page."""
    page_config = config / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    disabled = {"@jupyterlab/apputils-extension:announcements": True}
    page_config.write_text(json.dumps({"disabledExtensions": disabled}), encoding="utf-8")


def _environment(lab: Lab, folder: Path) -> dict[str, str]:
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": lab.settings.name,
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "TVMLAB_CACHE_DIR": "cache",
    }
    python_path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    return {
        **os.environ,
        **{name: str(folder / place) for name, place in own.items()},
        "JUPYTER_TOKEN": lab.token,
        "PYTHONPATH": python_path.rstrip(os.pathsep),
    }


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Wait for the first answer of a server that was just started."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError("the server did not start:\n" + log.read_text(errors="replace")[-3000:])


def stop(server: subprocess.Popen[bytes]) -> None:
    """End a server by its own id."""
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
