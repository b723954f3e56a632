"""The cache of objects: hits, damage, many writers, bounded size."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tvmlab.runtime import ObjectCache, default_cache_dir


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    return ObjectCache(tmp_path / "objects")


def test_built_once(cache: ObjectCache) -> None:
    built: list[int] = []

    def build() -> bytes:
        built.append(1)
        return b"machine code"

    key = ObjectCache.key(["text", "cpu"])
    assert cache.get_or_build(key, build) == (b"machine code", False)
    assert cache.get_or_build(key, build) == (b"machine code", True)
    assert ObjectCache(cache.directory).get(key) == b"machine code"
    assert built == [1]


def test_keys_depend_on_each_part_and_on_their_borders() -> None:
    keys = {ObjectCache.key(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], ["ab", "d"])}
    assert len(keys) == 4


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_damaged_entries_are_rebuilt(cache: ObjectCache, damage: str) -> None:
    key = ObjectCache.key(["x"])
    cache.put(key, b"0123456789" * 10)
    path = next(cache.directory.glob("*.o"))
    content = path.read_bytes()
    bad = {
        "cut": content[:-3],
        "flip": content[:-1] + b"?",
        "empty": b"",
        "other": b"#!" + content[2:],
    }[damage]
    path.write_bytes(bad)
    assert cache.get(key) is None
    assert not path.exists()
    assert cache.get_or_build(key, lambda: b"again") == (b"again", False)
    assert cache.get(key) == b"again"


def test_many_writers_of_one_entry(cache: ObjectCache) -> None:
    key = ObjectCache.key(["shared"])
    data = os.urandom(100_000)
    wrong: list[bytes] = []

    def work() -> None:
        for _ in range(20):
            cache.put(key, data)
            found = cache.get(key)
            if found != data:
                wrong.append(found or b"")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert [p.name for p in cache.directory.iterdir()] == [f"{key}.o"]


def test_least_recently_used_entries_go_first(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, max_bytes=3500)
    keys = [ObjectCache.key([str(n)]) for n in range(4)]
    for age, key in zip((40, 30, 20), keys, strict=False):
        cache.put(key, bytes(1000))
        path = tmp_path / f"{key}.o"
        before = path.stat().st_mtime - age
        os.utime(path, (before, before))
    assert cache.get(keys[0]) is not None  # used just now
    cache.put(keys[3], bytes(1000))
    assert [cache.get(key) is not None for key in keys] == [True, False, True, True]
    assert cache.size() <= 3500
    cache.clear()
    assert cache.size() == 0


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache = ObjectCache(blocked / "objects")
    assert cache.get_or_build(ObjectCache.key(["x"]), lambda: b"code") == (b"code", False)
    assert cache.get(ObjectCache.key(["x"])) is None


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TVMLAB_CACHE_DIR", str(tmp_path / "mine"))
    assert default_cache_dir() == tmp_path / "mine"
    monkeypatch.delenv("TVMLAB_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache_dir() == tmp_path / "xdg" / "tvmlab" / "objects"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache_dir() == Path.home() / ".cache" / "tvmlab" / "objects"
