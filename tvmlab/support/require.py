"""Checks of what callers pass, for places where Python itself would fail with a riddle."""

from __future__ import annotations

from typing import Any, TypeVar

from .errors import OptionError, TypeMismatch

_T = TypeVar("_T")
_LONGEST = 60


def require_text(value: object, what: str) -> str:
    """The value, if it is a text.

    Raises
    ------
    TypeMismatch
        If not; `what` says what the text is for, as in "a checkpoint's name".
    """
    if not isinstance(value, str):
        raise TypeMismatch(f"{what} must be text, not {shown(value)}")
    return value


def require_option(value: object, kind: type[_T], what: str) -> _T:
    """The value, if it is of the kind that an option takes.

    Raises
    ------
    OptionError
        If not.
    """
    if not isinstance(value, kind):
        raise OptionError(
            f"{what} must be a {kind.__name__}, not {shown(value)}",
            hint=f"for example {what}={kind.__name__}()",
        )
    return value


def is_among(value: Any, table: Any) -> bool:
    """Whether a value is a key of a table; what cannot be a key is not."""
    try:
        return value in table
    except (TypeError, ValueError):
        return False


def shown(value: object) -> str:
    """A value as an error message shows it: its text if that is short and plain, else its kind."""
    try:
        text = repr(value)
    except Exception:  # a stranger's __repr__ may do anything
        return f"a {type(value).__name__}"
    if isinstance(value, (str, bytes)) and len(text) > _LONGEST:
        return f"{text[: _LONGEST - 3]}..."
    plain = len(text) <= _LONGEST and "\n" not in text and " at 0x" not in text
    return text if plain else f"a {type(value).__name__}"
