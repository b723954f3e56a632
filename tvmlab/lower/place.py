"""Where a piece of code stands: loops, blocks and conditions around it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tvmlab.arith import Bounds
from tvmlab.ir import Block, Expr, Var, is_const, substitute


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece of code stands.

    Attributes
    ----------
    extents
        The loops and block iterations around it.
    conditional
        Whether it runs for some of their values only.
    bindings, loops, conditions
        In a block: what its iterations are in terms of the loops, what is known of those, and the
        conditions on the way from the block to here.
    """

    extents: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    conditional: bool = False
    bindings: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    loops: Bounds | None = None
    conditions: tuple[tuple[Expr, bool], ...] = ()

    def inside(self, var: Var, extent: Expr) -> Place:
        """The same inside a loop or block iteration."""
        return replace(self, extents={**self.extents, var: extent})

    def where(self, cond: Expr, holds: bool) -> Place:
        """The same where a condition holds, or where it does not."""
        return replace(self, conditional=True, conditions=(*self.conditions, (cond, holds)))

    def in_block(self, block: Block, loops: Bounds) -> Place:
        """The same inside a block, of whose loops something is known."""
        bound = {it.var: b for it, b in zip(block.iters, block.bindings, strict=True)}
        bound = {var: substitute(binding, self.bindings) for var, binding in bound.items()}
        conditional = self.conditional or not is_const(block.predicate, True)
        return replace(
            self, conditional=conditional, bindings={**self.bindings, **bound}, loops=loops
        )

    def bound(self, e: Expr) -> Expr:
        """An expression of a block's iterations in terms of the loops around the block."""
        return substitute(e, self.bindings)

    def around(self) -> Bounds:
        """What is known of the loops here."""
        env = self.loops or Bounds()
        for cond, holds in self.conditions:
            env = env.assume(self.bound(cond), holds)
        return env
