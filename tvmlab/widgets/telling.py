"""Errors as one line for a view."""

from __future__ import annotations

from tvmlab.support import TvmlabError


def told(error: TvmlabError) -> str:
    """What went wrong, and in brackets what would work."""
    return f"{error.message} ({error.hint})" if error.hint else error.message
