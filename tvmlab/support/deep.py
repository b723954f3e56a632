"""Very deep trees: what recurses over them is tried again with room for the recursion.

Python's limit guards the machine's stack, which for a usual thread has a few megabytes. A tree that
is deeper than the limit allows is worked on in a thread with a large stack. Only pure functions may
be tried again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_STACK_BYTES = 1 << 29
_LIMIT = 400_000
_inside = threading.local()
_one_at_a_time = threading.Lock()


def deep(function: Callable[P, R]) -> Callable[P, R]:
    """Let a pure function recurse deeper than Python's limit where it has to."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            if getattr(_inside, "deep", False):
                raise
        return in_deep_thread(lambda: function(*args, **kwargs))

    return run


def in_deep_thread(call: Callable[[], R]) -> R:
    """Call a function where there is room for a deep recursion."""
    found: list[tuple[R | None, BaseException | None]] = []

    def work() -> None:
        _inside.deep = True
        try:
            found.append((call(), None))
        except BaseException as error:
            found.append((None, error))

    with _one_at_a_time:
        limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
        try:
            thread = threading.Thread(target=work, name="tvmlab-deep")
            sys.setrecursionlimit(max(limit, _LIMIT))
            thread.start()
            threading.stack_size(size)
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
    result, error = found[0]
    if error is not None:
        raise error
    kept: Any = result
    return kept
