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
_SHARE = 8
_room: dict[Path, int] = {}
"""Bytes that this process may still add to a folder before it must look at what is there."""


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
            self._prune_if_full(len(_MAGIC) + _DIGEST + len(data))
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

    def _prune_if_full(self, added: int) -> None:
        """Prune when the folder may be full; looking at all entries each time would cost more than
        a small kernel's compilation.
        """
        room = _room.get(self.directory, 0) - added
        _room[self.directory] = room if room > 0 else self._prune()

    def _prune(self) -> int:
        """Remove the entries unused for longest until the rest fits.

        Returns
        -------
        int
            Bytes that may be added before the next look: a part of what is free, for other
            processes add entries too.
        """
        entries = sorted(self._entries(), key=lambda entry: entry[2])
        total = sum(size for _, size, _ in entries)
        for path, size, _ in entries:
            if total <= self.max_bytes:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size
        return (self.max_bytes - total) // _SHARE

    def _entries(self) -> list[tuple[Path, int, float]]:
        """Path, size and time of last use of each entry."""
        found: list[tuple[Path, int, float]] = []
        for path in self.directory.glob("*.o"):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((path, status.st_size, status.st_mtime))
        return found
