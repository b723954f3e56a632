"""`tvmlab lab`: a real JupyterLab on this machine, and what is said where it is missing."""

from __future__ import annotations

import json
import os
import signal
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

import pytest

from tvmlab.cli import lab, main, server

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "token-of-this-test"
START_SECONDS, STOP_SECONDS = 60, 20


@dataclass
class Running:
    """A started `tvmlab lab`."""

    process: subprocess.Popen[str]
    port: int

    def get(self, path: str, token: str | None = TOKEN) -> Any:
        headers = {} if token is None else {"Authorization": f"token {token}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())

    def wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.get("api/status")
                return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.1)
        self.process.kill()
        raise AssertionError(f"JupyterLab did not start: {self.process.communicate()}")

    def interrupt(self) -> tuple[int, str, str]:
        """Ctrl-C; gives exit code and output."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=STOP_SECONDS)
        return self.process.returncode, out, err


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(folder: Path, *words: str) -> Generator[Running]:
    """Start it with all that Jupyter writes under `folder`; it never outlives the test."""
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    own = {name: str(folder / name) for name in names}
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tvmlab.cli", "lab", "--no-browser", "--port", str(port), *words],
        cwd=folder,
        env={**os.environ, **own, "JUPYTER_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    running = Running(process, port)
    try:
        running.wait()
        yield running
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_serves_the_notebooks_to_this_machine_only_and_stops(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        listing = running.get("api/contents")
        assert {"01-matmul.ipynb", "02-conv2d.ipynb"} <= {e["name"] for e in listing["content"]}
        with pytest.raises(urllib.error.HTTPError) as refused:
            running.get("api/contents", token=None)
        assert refused.value.code == 403
        refused.value.close()
        with pytest.raises(urllib.error.HTTPError) as wrong:
            running.get("api/contents", token="guess")
        assert wrong.value.code == 403
        wrong.value.close()

        code, out, err = running.interrupt()
    assert code == 0, err
    assert f"notebooks: {tmp_path / 'tvmlab-notebooks'}" in out
    assert "01-matmul.ipynb: copied" in out
    assert f"http://127.0.0.1:{running.port}/lab/tree/01-matmul.ipynb?token=" in err
    assert "Traceback" not in err
    assert "kernel_websocket_connection_class" not in err  # the option was understood


def test_keeps_a_changed_notebook_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[list[str]] = []

    def serve(options: list[str]) -> int:
        served.append(options)
        return 0

    monkeypatch.setattr(lab, "serve", serve)
    work = tmp_path / "work"
    assert main(["lab", "--dir", str(work)]) == 0
    (work / "01-matmul.ipynb").write_text("mine")
    capsys.readouterr()

    assert main(["lab", "--dir", str(work)]) == 0
    text = capsys.readouterr().out
    assert "01-matmul.ipynb: kept, for you have changed it" in text
    assert "02-conv2d.ipynb: as before" in text
    assert (work / "01-matmul.ipynb").read_text() == "mine"
    assert f"--ServerApp.root_dir={work}" in served[1]


def test_options() -> None:
    plain = server.server_options(Path("/w"), "a.ipynb", port=None, browser=True)
    assert "--ServerApp.ip=127.0.0.1" in plain
    assert "--LabApp.default_url=/lab/tree/a.ipynb" in plain
    assert not [o for o in plain if "port" in o or "token" in o or "no-browser" in o]
    fixed = server.server_options(Path("/w"), None, port=9000, browser=False)
    assert {"--ServerApp.port=9000", "--ServerApp.port_retries=0", "--no-browser"} <= {*fixed}
    assert not [o for o in fixed if "default_url" in o]


def test_no_delay_connection() -> None:
    from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

    from tvmlab.cli.websocket import NoDelayWebsocketConnection

    calls: list[Any] = []

    class Handler:
        def set_nodelay(self, value: bool) -> None:
            calls.append(value)

    def connect(_: object) -> None:
        calls.append("connect")

    class Connection(NoDelayWebsocketConnection):
        websocket_handler = Handler()

        def __init__(self) -> None:
            pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ZMQChannelsWebsocketConnection, "connect", connect)
        Connection().connect()
    assert calls == [True, "connect"]


def test_without_jupyterlab_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    assert main(["lab", "--dir", str(tmp_path / "work")]) == 1
    assert 'pip install "tvmlab[lab]"' in capsys.readouterr().err
    assert not (tmp_path / "work").exists()
