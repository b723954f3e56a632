"""The names that the text form gives to the symbols of a tree.

Loop variables, parameters and buffers have names unique in the whole program, so that a name is
enough to refer to one. The iteration variables of a block are seen inside it only: each block may
call its own `vi`. Block names are texts of their own kind: a block and a buffer may both be `C`.

>>> Names(program)[loop.var]
'i_outer'
"""

from __future__ import annotations

from typing import TypeAlias, Union

from tvmlab.support import Namer

from .buffer import Region
from .expr import Buffer, Load, Stride, Var
from .program import Program
from .stmt import (
    Alloc,
    Block,
    BlockSymbol,
    Combiner,
    For,
    If,
    Invoke,
    Let,
    Procedure,
    Seq,
    Stmt,
    Store,
)
from .traverse import Node, walk

Symbol: TypeAlias = Union[Var, Buffer, BlockSymbol]


class Names:
    """One readable name for each variable, buffer and block of a tree, decided at once."""

    def __init__(self, root: Program | Node) -> None:
        self._names: dict[Var | Buffer, str] = {}
        self._blocks: dict[BlockSymbol, str] = {}
        self._namer = Namer()
        self._local: set[Var] = set()
        if isinstance(root, Program):
            for symbol in (*root.params, *root.allocs):
                self._name_globally(symbol)
        tree = root.body if isinstance(root, Program) else root
        for node in walk(tree):
            self._visit(node)
        if self._local and isinstance(tree, Stmt):
            self._name_iters(tree)

    def __getitem__(self, symbol: Symbol) -> str:
        """The name of a symbol, or the one it wishes for if it does not occur in the tree."""
        if isinstance(symbol, BlockSymbol):
            return self._blocks.get(symbol, symbol.name)
        return self._names.get(symbol, symbol.name)

    def _visit(self, node: Node) -> None:
        if isinstance(node, Block):
            self._local.update(it.var for it in node.iters)
            self._name_block(node.symbol)
        elif isinstance(node, Var):
            if node not in self._local:
                self._name_globally(node)
        elif isinstance(node, (For, Let)):
            self._name_globally(node.var)
        elif isinstance(node, (Load, Store, Region, Alloc, Stride)):
            self._name_globally(node.buffer)
        elif isinstance(node, Combiner):
            for var in (*node.left, *node.right):
                self._name_globally(var)
        elif isinstance(node, Invoke) and node.meaning is not None:
            self._name_meaning(node.meaning)

    def _name_meaning(self, meaning: Procedure) -> None:
        for param in meaning.params:
            self._name_globally(param)
        for node in walk(meaning.body):
            self._visit(node)

    def _name_globally(self, symbol: Var | Buffer) -> None:
        if symbol in self._names:
            return
        self._names[symbol] = self._namer.name(symbol, symbol.name)
        if isinstance(symbol, Buffer):
            for size in symbol.shape:
                for node in walk(size):
                    self._visit(node)

    def _name_block(self, symbol: BlockSymbol) -> None:
        if symbol in self._blocks:
            return
        taken, name, number = set(self._blocks.values()), symbol.name, 1
        while name in taken:
            name = f"{symbol.name}_{number}"
            number += 1
        self._blocks[symbol] = name

    def _name_iters(self, root: Stmt) -> None:
        """Name the iteration variables, avoiding global names and those of the blocks around."""
        taken = frozenset(self._names.values())
        stack: list[tuple[Stmt, frozenset[str]]] = [(root, taken)]
        while stack:
            tree, around = stack.pop()
            for block in outermost_blocks(tree):
                namer = Namer(around)
                for it in block.iters:
                    self._names[it.var] = namer.name(it.var, it.var.name)
                inside = around | {self._names[it.var] for it in block.iters}
                stack.extend((part, inside) for part in (block.init, block.body) if part)


def outermost_blocks(root: Stmt) -> list[Block]:
    """The blocks of a statement that stand in no other block, in order."""
    found: list[Block] = []
    stack: list[Stmt] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Block):
            found.append(node)
        elif isinstance(node, (For, Alloc, Let)):
            stack.append(node.body)
        elif isinstance(node, Invoke) and node.meaning is not None:
            stack.append(node.meaning.body)
        elif isinstance(node, Seq):
            stack.extend(reversed(node.stmts))
        elif isinstance(node, If):
            stack.extend(part for part in (node.otherwise, node.then) if part)
    return found
