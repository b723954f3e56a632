"""Replies to commands: of what was done, or in words why not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tvmlab.support import TvmlabError

from .asking import Fields, fields_of
from .telling import told

_log = logging.getLogger(__name__)


def replied(command: object, act: Callable[[Fields], Any], whom: str) -> dict[str, Any]:
    """Carry out one command and reply; never raises, whatever the command is.

    Parameters
    ----------
    act
        Does what the fields ask for and returns the reply's data.
    whom
        What is commanded, for the log.
    """
    fields = fields_of(command)
    number = fields.get("id")
    data, error = None, None
    try:
        data = act(fields)
    except TvmlabError as failed:
        error = told(failed)
    except Exception as failed:  # a bug must cost one command, not the session
        _log.exception("command %s of %s failed", fields.get("type"), whom)
        error = f"this did not work, by a fault of tvmlab: {type(failed).__name__}: {failed}"
    return {
        "type": "reply",
        "re": number if isinstance(number, int) else -1,
        "ok": error is None,
        "data": data,
        "error": error,
    }
