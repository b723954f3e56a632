"""tvmlab: a tensor-expression compiler whose schedules are live objects.

>>> import tvmlab as tl
>>> from tvmlab import te
>>> A = te.placeholder((64, 64), name="A")
>>> C = te.compute((64, 64), lambda i, j: A[i, j] * 2.0, name="C")
>>> sch = tl.Schedule(C)
"""

from importlib import metadata as _metadata
from typing import Any

from . import te
from .schedule import Schedule, Verdict
from .support import TvmlabError, UserError

try:
    __version__ = _metadata.version("tvmlab")
except _metadata.PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["Schedule", "TvmlabError", "UserError", "Verdict", "te"]


def _jupyter_labextension_paths() -> list[dict[str, Any]]:
    """Where JupyterLab's development install finds the built extension."""
    return [{"src": "labextension", "dest": "tvmlab-lab"}]
