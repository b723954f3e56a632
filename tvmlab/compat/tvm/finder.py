"""Imports of what tvmlab does not have of TVM: an error that says so and what to do.

`from tvm.te import hybrid` asks for a module where there is no such name; Python would say only
that it cannot be imported.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from types import ModuleType

from tvmlab.support import UserError, user_span

from .missing import SUPPORTED, MissingError

_HOME = __name__.rpartition(".")[0]


class MissingModuleError(UserError, ImportError):
    """A module, or a name in an `import`, that tvmlab does not have; also an `ImportError`."""


class _Finder(importlib.abc.MetaPathFinder):
    """Comes last: a part of TVM that no other finder knew is missing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        del path, target
        package, _, name = fullname.rpartition(".")
        if not fullname.startswith(f"{_HOME}.") or name.startswith("_"):
            return
        raise MissingModuleError(
            f"{fullname.replace(_HOME, 'tvm', 1)} is not part of what tvmlab has of TVM",
            hint=_hint(package, name),
            span=user_span(),
        )


def _hint(package: str, name: str) -> str:
    """What the package says of an attribute of this name."""
    try:
        getattr(sys.modules.get(package), name)
    except MissingError as error:
        return error.hint or SUPPORTED
    except AttributeError:
        return SUPPORTED
    return f"it is no module: from {package.replace(_HOME, 'tvm', 1)} import {name}"


def install() -> None:
    """Let imports of missing parts say so, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
