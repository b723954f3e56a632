"""`import tvm` as a name for `tvmlab.compat.tvm`, in this process and on request only."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

from tvmlab.ir.mixed import RULE
from tvmlab.support import UserError

_HOME = "tvmlab.compat.tvm"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tvm` and `tvm.x.y` as the modules of the same names under `tvmlab.compat`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        home = _home(fullname)
        if home is None or importlib.util.find_spec(home) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        home = _home(spec.name)
        assert home is not None
        return importlib.import_module(home)

    def exec_module(self, module: ModuleType) -> None:
        """The module has run already, under its own name."""
        del module


def _home(name: str) -> str | None:
    """Where a module of TVM is here; `topi` alone is what it was called before 0.7."""
    for top, place in (("tvm", _HOME), ("topi", f"{_HOME}.topi")):
        if name == top or name.startswith(f"{top}."):
            return place + name.removeprefix(top)
    return None


_finder = _Finder()


def install_alias() -> None:
    """Let `import tvm` in this process mean `tvmlab.compat.tvm`.

    Raises
    ------
    UserError
        If the real TVM is loaded, or installed, so that the alias would hide it.
    """
    if _finder in sys.meta_path:
        return
    if "tvm" in sys.modules:
        raise UserError(
            "cannot install the alias: another module named tvm is loaded in this process",
            hint="call install_alias() before anything imports tvm, in a fresh process",
        )
    if importlib.util.find_spec("tvm") is not None:
        raise UserError(
            "cannot install the alias: TVM itself is installed here and would be hidden",
            hint="change the program's import to `import tvmlab.compat.tvm as tvm` instead",
        )
    sys.meta_path.insert(0, _finder)
    converted = importlib.import_module(f"{_HOME}.mixing").converted
    RULE.set(converted)  # in all formulas: an unmodified program knows no other rule


def remove_alias() -> None:
    """Take the alias back; what was imported through it stays usable."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        RULE.set(None)
        for name in [n for n in sys.modules if _home(n) is not None]:
            del sys.modules[name]
