"""A real JupyterLab for browser tests: own folders, loopback only, a token, ended by its own id."""

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

    def url(self, path: str) -> str:
        """The page of a file, in a fresh workspace."""
        return f"http://127.0.0.1:{self.port}/lab/tree/{path}?token={self.token}&reset"

    def launcher_url(self) -> str:
        """The page with nothing open but the launcher."""
        return f"http://127.0.0.1:{self.port}/lab?token={self.token}&reset"

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
def run_lab(folder: Path) -> Generator[Lab]:
    """Start JupyterLab with everything it writes under `folder`; stop it at the end."""
    lab = Lab(_free_port(), secrets.token_hex(16), folder / "notebooks", folder / "settings")
    lab.notebooks.mkdir(parents=True)
    _write_settings(folder / "config")
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            _command(lab, folder), env=_environment(lab, folder), stdout=log, stderr=log
        )
        try:
            _wait_until_up(lab, server, folder / "server.log")
            yield lab
        finally:
            server.terminate()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _command(lab: Lab, folder: Path) -> list[str]:
    """The server's command line; the extension is the one built in this tree."""
    extensions = folder / "extensions"
    extensions.mkdir()
    (extensions / "tvmlab-lab").symlink_to(EXTENSION)
    return [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        f"--ServerApp.root_dir={lab.notebooks}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={lab.port}",
        "--ServerApp.port_retries=0",
        f"--LabApp.extra_labextensions_path={extensions}",
        "--LabApp.expose_app_in_browser=True",
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    address = f"http://127.0.0.1:{lab.port}/api?token={lab.token}"
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + log.read_text(errors="replace")[-3000:])
