"""The version that is installed."""

from __future__ import annotations


def version() -> str:
    """Of the installed package; a source tree that was never installed has none."""
    from importlib import metadata  # here, because it costs as much as a large module

    try:
        return metadata.version("tvmlab")
    except metadata.PackageNotFoundError:
        return "0+unknown"
