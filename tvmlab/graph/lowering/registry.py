"""The table of lowerings: an operator's formula in the tensor language.

A lowering takes what is known of the node and a tensor for each input, and gives a tensor or
several. How the formula runs is decided later, for a whole fused group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tvmlab.graph.ir import Node
from tvmlab.graph.operators import Attrs, attributes
from tvmlab.graph.types import TensorType
from tvmlab.support import UnsupportedOp
from tvmlab.te import Tensor


@dataclass(frozen=True, slots=True)
class Site:
    """The node being lowered: attributes, and the types around it."""

    attrs: Attrs
    inputs: tuple[TensorType | None, ...]
    outputs: tuple[TensorType, ...]
    name: str

    @property
    def output(self) -> TensorType:
        """The type of the first output."""
        return self.outputs[0]


Lowering: TypeAlias = Callable[..., Any]
LOWERINGS: dict[str, Lowering] = {}


def lowering(*names: str) -> Callable[[Lowering], Lowering]:
    """Enter a function as the lowering of operators."""

    def enter(function: Lowering) -> Lowering:
        for name in names:
            assert name not in LOWERINGS, name
            LOWERINGS[name] = function
        return function

    return enter


def lower_node(
    node: Node, types: tuple[TensorType | None, ...], made: tuple[TensorType, ...],
    tensors: Sequence[Tensor | None],
) -> list[Tensor]:  # fmt: skip
    """The tensors that a node makes.

    Raises
    ------
    UnsupportedOp
        If the operator has no formula.
    """
    rule = LOWERINGS.get(node.op)
    if rule is None:
        raise UnsupportedOp(f"the operator {node.op} of node {node.name} cannot be compiled")
    result: Any = rule(Site(attributes(node), types, made, node.op), *tensors)
    return [result] if isinstance(result, Tensor) else list(result)
