"""Compiled objects on disk, found by a hash of everything that decides their content.

An entry is a file `HASH.o` that starts with a checksum of the rest. It is written under another
name and renamed, so readers never see half of it; one that does not match its checksum is removed
and made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

CACHE_VARIABLE = "TVMLAB_CACHE_DIR"
_MAGIC = b"tvmlab1\n"
_DIGEST = 32
_serial = itertools.count()


def default_cache_dir() -> Path:
    """`TVMLAB_CACHE_DIR`, else a folder of the user's cache directory."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tvmlab" / "objects"


class ObjectCache:
    """A folder of objects, bounded in size; the least recently used ones go first."""

    def __init__(self, directory: Path | None = None, max_bytes: int = 256 << 20) -> None:
        self.directory = directory or default_cache_dir()
        self.max_bytes = max_bytes

    @staticmethod
    def key(parts: Iterable[str]) -> str:
        """The key of an entry: a hash over all parts, each with its length."""
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(f"{len(data)}:".encode())
            digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> bytes | None:
        """The object of a key, or None; a damaged entry is removed."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        digest, data = content[len(_MAGIC) : start], content[start:]
        if not content.startswith(_MAGIC) or hashlib.sha256(data).digest() != digest:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the mark of its last use
        return data

    def put(self, key: str, data: bytes) -> None:
        """Store an object; in a folder that cannot be written, do nothing."""
        try:
            self._write(self._path(key), _MAGIC + hashlib.sha256(data).digest() + data)
            self._prune()
        except OSError:
            return

    def get_or_build(self, key: str, build: Callable[[], bytes]) -> tuple[bytes, bool]:
        """The object of a key, built and stored if need be; and whether it was there."""
        found = self.get(key)
        if found is not None:
            return found, True
        data = build()
        self.put(key, data)
        return data, False

    def size(self) -> int:
        """Bytes that the entries take."""
        return sum(size for _, size, _ in self._entries())

    def clear(self) -> None:
        """Remove all entries."""
        for path, _, _ in self._entries():
            with contextlib.suppress(OSError):
                path.unlink()

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}.o"

    def _write(self, path: Path, content: bytes) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        writer = f"{os.getpid()}-{threading.get_ident()}-{next(_serial)}"
        name = self.directory / f".writing-{writer}"
        try:
            name.write_bytes(content)
            os.replace(name, path)
        except OSError:
            with contextlib.suppress(OSError):
                name.unlink()
            raise

    def _prune(self) -> None:
        """Remove the entries unused for longest until the rest fits."""
        entries = sorted(self._entries(), key=lambda entry: entry[2])
        total = sum(size for _, size, _ in entries)
        for path, size, _ in entries:
            if total <= self.max_bytes:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size

    def _entries(self) -> list[tuple[Path, int, float]]:
        """Path, size and time of last use of each entry."""
        found: list[tuple[Path, int, float]] = []
        for path in self.directory.glob("*.o"):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((path, status.st_size, status.st_mtime))
        return found
