"""The passes that make a graph fast, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from tvmlab.graph.ir import Graph
from tvmlab.support import OptionError
from tvmlab.target import Target
from tvmlab.topi import channel_block

from .clean import fold_constants, remove_dead, share_equal
from .empty import remove_empty
from .fold_norm import fold_norm
from .fold_pad import fold_pad
from .join_attention import join_attention
from .layout import use_blocks
from .pack_dense import pack_dense
from .simplify import simplify, split_to_slices
from .sink_layout import sink_layout
from .spread import spread
from .turn_factors import turn_factors

Pass = Callable[[Graph], Graph]


@dataclass(frozen=True, slots=True)
class PassRecord:
    """A pass that has run, and the graphs before and after it."""

    name: str
    before: Graph
    after: Graph

    @property
    def changed(self) -> bool:
        """Whether it found anything to do."""
        return self.before is not self.after


def passes(target: Target) -> list[tuple[str, Pass]]:
    """The names of passes, each with its function, in the order in which they run."""
    block = channel_block(target, "float32")
    return [
        ("remove_dead", remove_dead),
        ("remove_empty", remove_empty),
        ("split_to_slices", split_to_slices),
        ("fold_constants", fold_constants),
        ("simplify", simplify),
        ("share_equal", share_equal),
        ("fold_pad", fold_pad),
        ("fold_norm", fold_norm),
        ("spread", lambda graph: spread(graph, target)),
        ("use_blocks", lambda graph: use_blocks(graph, block)),
        ("sink_layout", sink_layout),
        ("join_attention", lambda graph: join_attention(graph, target)),
        ("turn_factors", turn_factors),
        ("pack_dense", lambda graph: pack_dense(graph, target)),
        # Weights that were packed by nodes are packed now.
        ("pack_weights", fold_constants),
    ]


def optimize_before_layout(graph: Graph, target: Target) -> Graph:
    """A graph after the passes that keep its layouts: what `quantize` begins with."""
    for name, run in passes(target):
        if name == "spread":
            break
        graph = run(graph)
    return graph


def optimize(
    graph: Graph, target: Target, without: Collection[str] = ()
) -> tuple[Graph, list[PassRecord]]:
    """A graph that computes the same faster, and what each pass did.

    Parameters
    ----------
    without
        Names of passes that are left out.

    Raises
    ------
    OptionError
        If there is no such pass.
    """
    chosen = passes(target)
    unknown = set(without) - {name for name, _ in chosen}
    if unknown:
        raise OptionError(f"there is no pass named {min(unknown)!r}",
                          hint=f"passes are {', '.join(name for name, _ in chosen)}")  # fmt: skip
    records: list[PassRecord] = []
    for name, run in chosen:
        if name in without:
            continue
        after = run(graph)
        records.append(PassRecord(name, graph, after))
        graph = after
    return graph, records
