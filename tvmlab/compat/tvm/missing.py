"""What an old program asks for and tvmlab does not have: an error that says so and what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tvmlab.support import UserError, user_span


class MissingError(UserError, AttributeError):
    """A part of TVM's interface that tvmlab does not have; also an `AttributeError`."""


SUPPORTED = "the te language, te schedules and tir expressions are supported"


def missing(module: str, *, otherwise: str = SUPPORTED, **ways: str) -> Callable[[str], Any]:
    """A module's `__getattr__`: raises an error that names what is missing.

    Parameters
    ----------
    otherwise
        What would work instead of any name.
    ways
        The same for some names.
    """
    found = sys.modules.get(f"{__package__}.{module.partition('.')[2]}")
    if found is not None and not hasattr(found, "__path__"):
        found.__path__ = []  # Python asks only packages for what `from x import y` does not find.

    def getattr_of_module(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise MissingError(
            f"{module}.{name} is not part of what tvmlab has of TVM",
            hint=ways.get(name, otherwise),
            span=user_span(),
        )

    return getattr_of_module


def refused(what: str, instead: str) -> MissingError:
    """The error for a call that tvmlab does not carry out."""
    return MissingError(f"{what} is not part of what tvmlab has of TVM", hint=instead)
