"""The classical face of schedules: stages that write steps down, replayed on the one engine.

>>> s = te.create_schedule(C.op)
>>> xo, xi = s[C].split(C.op.axis[0], factor=32)
>>> s[C].parallel(xo)
>>> s.replay([A, C]).schedule  # the eager schedule that these steps make
"""

from .attach import Group
from .axes import AttachType, AxisMark, Fuse, IterType, Reorder, Singleton, Split, Text
from .replay import Replayed, replay
from .stage import Stage
from .te_schedule import TeSchedule

__all__ = [
    "AttachType", "AxisMark", "Fuse", "Group", "IterType", "Reorder", "Replayed", "Singleton",
    "Split", "Stage", "TeSchedule", "Text", "replay",
]  # fmt: skip
