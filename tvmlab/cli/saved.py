"""Saved sessions on the command line: what `inspect`, `apply` and `compare` share."""

from __future__ import annotations

import argparse
import json
from typing import Any

from tvmlab.inspect import plain
from tvmlab.schedule import HistoryNode
from tvmlab.support import UserError
from tvmlab.widgets import Session, load_session


def fill_common(parser: argparse.ArgumentParser) -> None:
    """The file, and how to print."""
    parser.add_argument("file", help="a session saved as .tvmlab.json")
    parser.add_argument("--json", action="store_true", help="print data for a program to read")


def opened(arguments: argparse.Namespace) -> Session:
    """The session of the file."""
    session = load_session(arguments.file)
    for note in session.notes:
        if not arguments.json:
            print(f"note: {note}")
    return session


def state_named(session: Session, name: str) -> HistoryNode:
    """A state by number or by the name of its checkpoint."""
    history = session.schedule.history
    if name.isdigit() and int(name) in history.nodes:
        return history.nodes[int(name)]
    if name.isdigit():
        raise UserError(f"there is no state {name}; states are 0 to {len(history.nodes) - 1}")
    return history.find(name)


def print_json(value: Any) -> None:
    """A report as JSON."""
    print(json.dumps(plain(value), indent=2))
