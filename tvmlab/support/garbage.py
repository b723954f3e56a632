"""No search for garbage while something short makes many objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Generator[None]:
    """Let Python's collector of cycles wait until the end.

    Each of its runs looks at all that is alive, in a process with large packages for 50 ms. Objects
    without cycles are freed at once as ever. If several threads are in such parts, the first to
    leave one that it found the collector on in turns it on again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
