"""Starting JupyterLab: the one place that imports it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

from tvmlab.support import OptionError

_CONNECTION = "tvmlab.cli.websocket.NoDelayWebsocketConnection"


class _Launcher(Protocol):
    """The part of JupyterLab's application that is used here."""

    def launch_instance(self, argv: list[str]) -> None: ...


def server_options(
    folder: Path, first: str | None, *, port: int | None, browser: bool
) -> list[str]:
    """The command line of JupyterLab: for this machine only, with Jupyter's own token.

    Parameters
    ----------
    folder
        Where its files lie.
    first
        The notebook to open; None for the launcher.
    port
        A fixed port, or None for the first free one from Jupyter's default on.
    browser
        Whether to open one.
    """
    options = [
        f"--ServerApp.root_dir={folder}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.kernel_websocket_connection_class={_CONNECTION}",
        # Ctrl-C stops it without a question.
        "--ServerApp.answer_yes=True",
        # Nothing is fetched from outside, and no question about it lies over the page.
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    ]
    if first is not None:
        options.append(f"--LabApp.default_url=/lab/tree/{first}")
    if port is not None:
        options += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        options.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Root is usual in containers; this machine alone can reach the server, and only by token.
        options.append("--allow-root")
    return options


def lab_application() -> _Launcher:
    """JupyterLab's application.

    Raises
    ------
    OptionError
        If JupyterLab is not installed.
    """
    try:
        from jupyterlab.labapp import LabApp  # pyright: ignore[reportMissingTypeStubs]
    except ModuleNotFoundError as error:
        raise OptionError(
            f"tvmlab lab needs the package {error.name}, which is not installed",
            hint='pip install "tvmlab[lab]"',
        ) from error
    return cast("_Launcher", LabApp)


def serve(options: Sequence[str]) -> int:
    """Run JupyterLab until Ctrl-C; returns the exit code."""
    try:
        lab_application().launch_instance(argv=list(options))
    except SystemExit as end:
        return 0 if end.code in (None, 0) else 1
    return 0
