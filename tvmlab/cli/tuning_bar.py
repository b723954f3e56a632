"""The bar that `tvmlab tune` shows while it searches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable


def follow(
    trials: Iterable[object],
    title: str,
    total: int,
    measured: Callable[[], int],
    best: Callable[[], str],
    *,
    seconds: int | None,
    hidden: bool,
) -> None:
    """Let a search run, with a bar of how many were measured and the best so far.

    Parameters
    ----------
    trials
        The search: each item is a trial that is done.
    total, seconds
        How many trials there will be, and how long they may take.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    until = time.monotonic() + seconds if seconds else None
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[best]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as bar:
        shown = bar.add_task(title, total=total, best=best())
        start = measured()
        try:
            for _ in trials:
                bar.update(shown, completed=measured() - start, best=best())
                if until is not None and time.monotonic() > until:
                    break
        except KeyboardInterrupt:
            bar.console.print("stopped; the log keeps what was measured")
