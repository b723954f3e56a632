"""A folder for files that vanishes with its owner."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from tvmlab.compat.tvm.missing import missing

__getattr__ = missing("tvm.contrib.utils")


class TempDirectory:
    """A folder that is removed when nothing refers to it any more."""

    def __init__(self) -> None:
        self.temp_dir = tempfile.mkdtemp(prefix="tvmlab-")
        self.path = Path(self.temp_dir)
        self._remove = weakref.finalize(self, shutil.rmtree, self.temp_dir, ignore_errors=True)

    def relpath(self, name: str) -> str:
        """The path of a file in it."""
        return str(self.path / name)

    def listdir(self) -> list[str]:
        """The names of the files in it."""
        return sorted(p.name for p in self.path.iterdir())

    def remove(self) -> None:
        """Remove the folder now."""
        self._remove()

    def __truediv__(self, name: str) -> Path:
        return self.path / name


def tempdir(custom_path: str | None = None) -> TempDirectory:
    """A new folder for files."""
    del custom_path
    return TempDirectory()
