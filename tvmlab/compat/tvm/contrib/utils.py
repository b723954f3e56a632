"""A folder for files that vanishes with its owner."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tvmlab.compat.tvm.missing import missing

__getattr__ = missing("tvm.contrib.utils")


class TempDirectory:
    """A folder that is removed when nothing refers to it any more."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tvmlab-")
        self.temp_dir = self._folder.name
        self.path = Path(self.temp_dir)

    def relpath(self, name: str) -> str:
        """The path of a file in it."""
        return str(self.path / name)

    def listdir(self) -> list[str]:
        """The names of the files in it."""
        return sorted(p.name for p in self.path.iterdir())

    def remove(self) -> None:
        """Remove the folder now."""
        self._folder.cleanup()

    def __truediv__(self, name: str) -> Path:
        return self.path / name


def tempdir(custom_path: str | None = None) -> TempDirectory:
    """A new folder for files."""
    del custom_path
    return TempDirectory()
