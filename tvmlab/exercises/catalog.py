"""The exercises that come with tvmlab, in the order in which they build on each other."""

from __future__ import annotations

from .loop_tasks import LOOP_TASKS
from .placement_tasks import PLACEMENT_TASKS
from .task import Task
from .tile_tasks import TILE_TASKS

TASKS: dict[str, Task] = {task.name: task for task in (*LOOP_TASKS, *PLACEMENT_TASKS, *TILE_TASKS)}
