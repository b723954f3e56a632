"""The built front end, which is part of an installed tvmlab."""

from __future__ import annotations

from importlib import resources

from tvmlab.support import OptionError


def bundle_text(name: str) -> str:
    """A built script.

    Raises
    ------
    OptionError
        If it has not been built in this source checkout.
    """
    path = resources.files("tvmlab") / "static" / name
    if not path.is_file():
        raise OptionError(
            "the explorer's front end has not been built in this checkout",
            hint="run: pip install -e . (or: npm run build in extensions/)",
        )
    return path.read_text(encoding="utf-8")
