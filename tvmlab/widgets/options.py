"""How one view shows things, given in Python; the settings of JupyterLab hold for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from tvmlab.support import OptionError

# The name in Python, the name that views know, and what may be chosen, as in preferences.ts.
_OPTIONS: dict[str, tuple[str, tuple[object, ...]]] = {
    "code_theme": ("codeTheme", ("host", "plain", "light", "dark", "contrast")),
    "letter_keys": ("letterKeys", (True, False)),
    "auto_measure": ("autoMeasure", (False, True)),
    "time": ("time", ("auto", "s", "ms", "us", "ns")),
    "rate": ("rate", ("GFLOP/s", "MFLOP/s", "TFLOP/s")),
    "bytes": ("bytes", ("binary", "decimal")),
}


def view_options(options: Mapping[str, object] | None) -> dict[str, Any]:
    """The options of a view as it knows them.

    >>> view_options({"time": "us", "letter_keys": False})
    {'time': 'µs', 'letterKeys': False}

    Raises
    ------
    OptionError
        If there is no such option, or no such choice.
    """
    return {_OPTIONS[_known(name)][0]: _chosen(name, c) for name, c in (options or {}).items()}


def _known(name: str) -> str:
    if name in _OPTIONS:
        return name
    near = get_close_matches(name, _OPTIONS, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise OptionError(
        f"a view has no option {name!r}", hint=f"{hint}there are: {', '.join(_OPTIONS)}"
    )


def _chosen(name: str, choice: object) -> object:
    choices = _OPTIONS[_known(name)][1]
    if not any(choice == known and type(choice) is type(known) for known in choices):
        raise OptionError(
            f"the option {name!r} of a view cannot be {choice!r}",
            hint=f"choose one of: {', '.join(map(repr, choices))}",
        )
    return "µs" if choice == "us" else choice
