"""What each pass over a graph did: nodes that went and came, and the lines before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.graph import Graph
from tvmlab.graph.passes import PassRecord
from tvmlab.graph.text import node_text

from .graph_view import GraphRow
from .line_diff import DiffLine, diff_lines

JOIN = "join_nodes"
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class GraphPass:
    """A pass, with the number of nodes before and after it."""

    name: str
    title: str
    before: int
    after: int
    changed: bool
    summary: str


TITLES = {
    "remove_dead": "leave out what no output needs",
    "remove_empty": "leave out tensors without elements",
    "split_to_slices": "cut splits into slices that readers can take in",
    "fold_constants": "compute what depends on no input",
    "simplify": "rewrite by algebra",
    "share_equal": "compute what is equal once",
    "fold_pad": "let convolutions pad for themselves",
    "fold_norm": "put norms and factors into weights before them",
    "spread": "spread what is broadcast, where that lets nodes join",
    "use_blocks": "lay channels in blocks of vectors",
    "turn_factors": "turn factors of products for the memory order",
    "pack_dense": "pack weights of products in panels",
    "pack_weights": "lay weights out now, not in each run",
    JOIN: "join nodes to kernels",
}


def pass_rows(records: Sequence[PassRecord], rows: Sequence[GraphRow]) -> tuple[GraphPass, ...]:
    """The passes in their order, and last the joining of nodes to kernels."""
    found = [_pass(record) for record in records]
    if records:
        nodes = len(records[-1].after.nodes)
        joined = sum(len(r.nodes) > 1 for r in rows)
        summary = f"{joined} of {len(rows)} kernels compute several nodes"
        found.append(GraphPass(JOIN, TITLES[JOIN], nodes, len(rows), joined > 0, summary))
    return tuple(found)


def _pass(record: PassRecord) -> GraphPass:
    before, after = record.before, record.after
    old, new = (Counter(n.op for n in g.nodes) for g in (before, after))
    changed = record.changed and _lines(before) != _lines(after)
    return GraphPass(record.name, TITLES.get(record.name, record.name.replace("_", " ")),
                     len(before.nodes), len(after.nodes), changed,
                     _summary(old, new) if changed else "nothing to do")  # fmt: skip


def _summary(old: Counter[str], new: Counter[str]) -> str:
    gone, come = old - new, new - old
    words = [f"−{count} {op}" for op, count in gone.most_common(4)]
    words += [f"+{count} {op}" for op, count in come.most_common(4)]
    more = max(len(gone) - 4, 0) + max(len(come) - 4, 0)
    if more:
        words.append(f"and {more} more operators")
    return ", ".join(words) or "the same operators, with other values or attributes"


def pass_diff(record: PassRecord) -> tuple[DiffLine, ...]:
    """The nodes before and after a pass, equal ones far from any change left out."""
    before, after = ("\n".join(_lines(g)) for g in (record.before, record.after))
    return diff_lines(before, after, context=_CONTEXT)


def join_diff(rows: Sequence[GraphRow]) -> tuple[DiffLine, ...]:
    """For each kernel its nodes, and why it does not go on."""
    found: list[DiffLine] = []
    for row in rows:
        found.append(DiffLine("+", f"{row.name}: {row.fused}"))
        found += [DiffLine(" ", f"    {n.op} {n.type}  {n.name}") for n in row.nodes]
        if row.ends:
            found.append(DiffLine("…", f"    ends here: {row.ends}"))
    return tuple(found)


def _lines(graph: Graph) -> list[str]:
    return [node_text(graph, node) for node in graph.nodes]
