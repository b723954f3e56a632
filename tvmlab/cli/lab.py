"""`tvmlab lab`: JupyterLab on this machine, with the notebooks in a folder to work in."""

from __future__ import annotations

import argparse
from pathlib import Path

from .notebooks import Copied, copy_notebooks
from .parser import Parser, whole_number
from .server import lab_application, serve, server_options

SUMMARY = "open JupyterLab with the notebooks"
DESCRIPTION = """\
Start JupyterLab on this machine, with the notebooks copied to a folder to work in.
Notebooks that you changed are kept. Ctrl-C stops it."""

FIRST = "01-matmul.ipynb"


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path("tvmlab-notebooks"),
        help="folder to work in (default: ./tvmlab-notebooks)",
    )
    parser.add_argument(
        "--port", type=whole_number(1, 65535), help="port (default: the first free one from 8888)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address only")


def run(arguments: argparse.Namespace) -> int:
    """Copy the notebooks, then serve until Ctrl-C."""
    lab_application()  # if it is missing, say so before anything is written
    folder: Path = arguments.dir.absolute()
    copied = copy_notebooks(folder)
    print(f"notebooks: {folder}")
    for notebook in copied:
        print(f"  {notebook.name}: {_words(notebook)}")
    print("Ctrl-C stops JupyterLab.", flush=True)
    return serve(
        server_options(folder, FIRST, port=arguments.port, browser=not arguments.no_browser)
    )


def _words(notebook: Copied) -> str:
    if notebook.status == "kept":
        return "kept, for you have changed it (rename it to get a fresh copy next time)"
    return {"copied": "copied", "updated": "updated", "unchanged": "as before"}[notebook.status]
