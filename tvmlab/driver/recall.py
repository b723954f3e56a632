"""Kernels of programs that were built before, found without lowering them again.

An entry of the cache says, for a program's text and all that decides how it is compiled, which
object was made of it and how that is called. Any change of the compiler's own files makes all
entries void.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import tvmlab.codegen as codegen
from tvmlab.ir import Program, to_text
from tvmlab.runtime import ObjectCache, Signature
from tvmlab.target import Target

_COMPILER = ("support", "target", "ir", "arith", "lower", "codegen", "driver", "runtime")
"""The packages between a program and its machine code."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """Machine code from the cache, how it is called, and the C functions that it calls itself."""

    object_bytes: bytes
    signature: Signature
    symbols: tuple[str, ...]


def recall_key(program: Program, target: Target, *options: object) -> str | None:
    """The key of a program; None if its text does not say all, for code is linked with it."""
    if program.imported_code:
        return None
    text = to_text(program)
    parts = codegen.cache_key_parts(text, target)
    return ObjectCache.key(
        ["program", _compiler_state(), *map(repr, options), *parts, repr(target)]
    )


def recall(store: ObjectCache, key: str) -> Recalled | None:
    """What was made of a program; None if it was never built, or its object is gone."""
    entry = store.get(key)
    if entry is None:
        return None
    found = json.loads(entry)
    data = store.get(found["object"])
    if data is None:
        return None
    return Recalled(data, Signature.from_json(found["signature"]), tuple(found["symbols"]))


def remember(
    store: ObjectCache,
    key: str,
    object_key: str,
    signature: Signature,
    symbols: Sequence[str],
) -> None:
    """Note which object was made of a program."""
    entry = {"object": object_key, "signature": signature.to_json(), "symbols": list(symbols)}
    store.put(key, json.dumps(entry).encode())


@lru_cache(maxsize=1)
def _compiler_state() -> str:
    """Changes whenever a file of the compiler does: names, sizes and times of all of them."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in _COMPILER:
        for path in sorted((root / package).rglob("*.py")):
            status = path.stat()
            digest.update(
                f"{path.relative_to(root)}:{status.st_size}:{status.st_mtime_ns};".encode()
            )
    return digest.hexdigest()
