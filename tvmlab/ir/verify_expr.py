"""Rules of single expression nodes that their constructors leave open."""

from __future__ import annotations

from collections.abc import Iterator

from .expr import Binary, Broadcast, Call, Const, Ramp, Stride
from .op_table import call_info
from .traverse import Node

_INT_ONLY = frozenset({"truncdiv", "truncmod", "bitand", "bitor", "bitxor", "shl", "shr"})


def expr_problems(node: Node) -> Iterator[str]:
    """What is wrong with one node; its operands are not looked into."""
    if isinstance(node, Const):
        yield from _const(node)
    elif isinstance(node, Binary):
        yield from _binary(node)
    elif isinstance(node, Call):
        yield from _call(node)
    elif isinstance(node, Stride):
        if not 0 <= node.axis < len(node.buffer.shape):
            yield f"{node.buffer.name} has no dimension {node.axis}"
    elif isinstance(node, Ramp):
        if not node.base.dtype.is_int or node.base.dtype.lanes != 1:
            yield f"a ramp starts at a {node.base.dtype}, not at one whole number"
        yield from _lanes(node.lanes)
    elif isinstance(node, Broadcast):
        if node.value.dtype.lanes != 1:
            yield f"a {node.value.dtype} is broadcast, not a scalar"
        yield from _lanes(node.lanes)


def _const(node: Const) -> Iterator[str]:
    if node.dtype.is_int and not node.dtype.min_value <= node.value <= node.dtype.max_value:
        yield f"the literal {node.value} does not fit into {node.dtype}"


def _binary(node: Binary) -> Iterator[str]:
    dtype = node.dtype
    if node.op == "div" and not dtype.is_float:
        yield f"`/` of {dtype}"
    if dtype.is_float and node.op in _INT_ONLY - {"truncdiv", "truncmod"}:
        yield f"{node.op} of {dtype}"
    if dtype.is_bool and node.op not in ("bitand", "bitor", "bitxor", "min", "max"):
        yield f"{node.op} of {dtype}"


def _call(node: Call) -> Iterator[str]:
    first, info = node.args[0].dtype, call_info(node.op)
    if info.arity >= 0 and any(a.dtype != info.argument_type(first) for a in node.args[1:]):
        yield f"the arguments of {node.op} have different types"
    if info.result != "any" and node.dtype != info.result_type(first):
        yield f"{node.op} of {first} cannot give {node.dtype}"


def _lanes(lanes: int) -> Iterator[str]:
    if lanes < 1:
        yield f"a vector of {lanes} lanes"
