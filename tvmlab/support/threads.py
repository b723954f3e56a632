"""How many threads a kernel may use: `TVMLAB_NUM_THREADS`, else the CPUs it may run on."""

from __future__ import annotations

import os

from .errors import OptionError

THREADS_VARIABLE = "TVMLAB_NUM_THREADS"


def default_num_threads() -> int:
    """The number of threads that kernels use unless told otherwise.

    Raises
    ------
    OptionError
        If the environment variable is set but is not a positive number.
    """
    text = os.environ.get(THREADS_VARIABLE, "").strip()
    if not text:
        return available_cpus()
    if not text.isdigit() or int(text) < 1:
        raise OptionError(
            f"environment variable {THREADS_VARIABLE} is {text!r}, not a positive number",
            hint=f"unset it, or set it to a number such as {available_cpus()}",
        )
    return int(text)


def available_cpus() -> int:
    """CPUs that this process may run on, respecting its affinity."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
