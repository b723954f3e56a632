"""Packages whose parts load when they are first asked for.

Formulas and schedules are ready before the passes and the code generator that `build` will want:

>>> __getattr__ = on_demand(__name__, {"pipeline": ["lower"]})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def on_demand(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A package's `__getattr__` that takes names from its modules at their first use.

    Parameters
    ----------
    package
        The package's `__name__`.
    names
        The public names of each module. The package imports them `if TYPE_CHECKING` too, where
        type checkers and the contract of the floors see them.
    """
    module_of = {name: module for module, listed in names.items() for name in listed}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{module_of[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
