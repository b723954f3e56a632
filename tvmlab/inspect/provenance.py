"""Which step made each loop and block, and what a split left over."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.ir import For, Var, const_int
from tvmlab.schedule import History, HistoryNode, Step, index_of

from .symbols import Symbol


@dataclass(frozen=True, slots=True)
class Origin:
    """The history node whose step made a symbol."""

    node: HistoryNode
    step: Step


def origins(history: History) -> dict[Symbol, Origin]:
    """The makers of the symbols that steps on the way to the current state have made."""
    found: dict[Symbol, Origin] = {}
    for node in history.path():
        if node.step is not None:
            for symbol in node.step.outputs:
                found[symbol] = Origin(node, node.step)
    return found


def split_remark(loop: For, origin: Origin | None) -> str | None:
    """What the outer loop of a split that does not divide should say: its last, short round."""
    if origin is None or origin.step.primitive != "split" or loop.var is not origin.step.outputs[0]:
        return None
    old = origin.step.args.get("loop")
    before = index_of(origin.step.before).loops
    if not isinstance(old, Var) or old not in before:
        return None
    total, rounds = const_int(before[old].extent), const_int(loop.extent)
    if total is None or not rounds:
        return None
    made = index_of(origin.node.program).loops
    inner = 1
    for symbol in origin.step.outputs[1:]:
        extent = const_int(made[symbol].extent) if isinstance(symbol, Var) else None
        if extent is None:
            return None
        inner *= extent
    left = total - (rounds - 1) * inner
    return None if left == inner else f"{total} / {inner}, last one {left}"
