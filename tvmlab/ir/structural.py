"""Structural comparison: equality, hash and dictionary keys up to the renaming of symbols.

A tree is written out as a flat list of tokens, parents first. A symbol (variable, buffer, block) is
numbered where it is bound, so its name never appears; a buffer brings its type, shape and scope.
Two trees are equal if their tokens are, and the hash is the SHA-256 of the tokens. Nothing here
recurses, so very deep expressions are fine.

>>> structural_equal(program, parse(to_text(program)))
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias, Union

from tvmlab.support import DType

from .buffer import Region
from .expr import (
    Binary,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Stride,
    Var,
)
from .program import Program
from .stmt import (
    Alloc,
    Annotations,
    Barrier,
    Block,
    Combiner,
    Evaluate,
    For,
    If,
    Invoke,
    IterVar,
    Let,
    Operand,
    Procedure,
    Seq,
    Store,
)
from .traverse import Node
from .type_table import TypeTable

Comparable: TypeAlias = Union[Program, Buffer, Node, Sequence[Node]]
"""What can be compared: a program, a buffer, any node, or a sequence of nodes."""


def structural_equal(a: Comparable, b: Comparable) -> bool:
    """Whether two trees are the same up to the names of what they bind.

    Loop variables, iteration variables, allocated buffers, block symbols and everything a program
    declares may differ in name. A variable or buffer that is free in both must be the same object,
    so `i + 1` equals `j + 1` only if `i` is `j`. The name of a program does not count.
    """
    return a is b or structural_key(a) == structural_key(b)


def structural_hash(tree: Comparable) -> str:
    """A SHA-256 in hex, equal for structurally equal trees, in every process.

    Free symbols are numbered by their first occurrence, for an object's identity has no meaning in
    another process: `i + 1` and `j + 1` have one hash although they are not equal.
    """
    return sha256("\n".join(_Encoder(number_free=True).encode(tree)).encode()).hexdigest()


def structural_key(tree: Comparable) -> tuple[str, ...]:
    """A dictionary key for use within this process: equal keys mean structurally equal trees.

    Valid as long as the free symbols of the tree are alive.
    """
    return tuple(_Encoder(number_free=False).encode(tree))


class _Binding:
    """An item to write that writes nothing: here the scope of a symbol begins."""

    __slots__ = ("symbol",)

    def __init__(self, symbol: Var) -> None:
        self.symbol = symbol


class _Encoder:
    """Writes one tree as tokens; `todo` is the stack of nodes and ready tokens still to write."""

    def __init__(self, *, number_free: bool) -> None:
        self.tokens: list[str] = []
        self.todo: list[Any] = []
        self.number_free = number_free
        self._numbers: dict[object, int] = {}
        self._next = 0

    def encode(self, tree: Comparable) -> list[str]:
        self.todo.append(tree)
        tokens, todo, rules = self.tokens, self.todo, _RULES
        while todo:
            item = todo.pop()
            if type(item) is str:
                tokens.append(item)
            else:
                rules[type(item)](self, item)
        return tokens

    def push(self, *items: object) -> None:
        """Schedule items to be written in the given order, before all that is waiting."""
        self.todo.extend(reversed(items))

    def bind(self, symbol: object) -> None:
        """Give a symbol a new number: here its scope begins."""
        self._numbers[symbol] = self._next
        self._next += 1

    def number(self, symbol: object) -> int:
        """The number of a symbol that has no scope; the first use gives it one."""
        if symbol not in self._numbers:
            self.bind(symbol)
        return self._numbers[symbol]

    def bind_buffer(self, buffer: Buffer) -> tuple[object, ...]:
        """Bind a buffer and return the items that define it."""
        self.bind(buffer)
        return (f"{buffer.scope}{len(buffer.shape)}{_dtype(buffer.dtype)}", *buffer.shape)

    def reference(self, symbol: Var | Buffer) -> None:
        """Write a use of a symbol; the first use of a free one brings its definition along."""
        number = self._numbers.get(symbol)
        if number is not None:
            self.tokens.append(f"#{number}")
        elif not self.number_free:
            self.tokens.append(f"free{id(symbol)}")
        elif isinstance(symbol, Buffer):
            self.tokens.append("free")
            self.push(*self.bind_buffer(symbol))
        else:
            self.tokens.append(f"free{_dtype(symbol.dtype)}")
            self.bind(symbol)


@lru_cache(maxsize=256)
def _dtype(dtype: DType) -> str:
    return dtype.name


def _annotations(annotations: Annotations) -> str:
    """Annotations are a set of pairs: the order in which they were made means nothing."""
    return repr(sorted(annotations, key=lambda pair: pair[0])) if annotations else ""


def _const(out: _Encoder, e: Const) -> None:
    out.tokens.append(f"const{_dtype(e.dtype)}:{e.value!r}")


def _binary(out: _Encoder, e: Binary | Compare | Logic) -> None:
    out.tokens.append(e.op)
    out.todo += (e.b, e.a)


def _not(out: _Encoder, e: Not) -> None:
    out.tokens.append("not")
    out.push(e.a)


def _select(out: _Encoder, e: Select) -> None:
    out.tokens.append("select")
    out.push(e.cond, e.then, e.otherwise)


def _cast(out: _Encoder, e: Cast) -> None:
    out.tokens.append(f"cast{_dtype(e.dtype)}")
    out.push(e.value)


def _load(out: _Encoder, e: Load) -> None:
    masked = e.mask is not None
    out.tokens.append(f"load{len(e.indices)}{masked}")
    out.push(*e.indices, *((e.mask,) if masked else ()))
    out.reference(e.buffer)


def _stride(out: _Encoder, e: Stride) -> None:
    out.tokens.append(f"stride{e.axis}")
    out.reference(e.buffer)


def _call(out: _Encoder, e: Call) -> None:
    out.tokens.append(f"call:{e.op}:{len(e.args)}{_dtype(e.dtype)}")
    out.push(*e.args)


def _ramp(out: _Encoder, e: Ramp) -> None:
    out.tokens.append(f"ramp{e.lanes}")
    out.push(e.base, e.stride)


def _broadcast(out: _Encoder, e: Broadcast) -> None:
    out.tokens.append(f"broadcast{e.lanes}")
    out.push(e.value)


def _region(out: _Encoder, r: Region) -> None:
    out.tokens.append(f"region{len(r.mins)}")
    out.push(*r.mins, *r.extents)
    out.reference(r.buffer)


def _iter_var(out: _Encoder, it: IterVar) -> None:
    out.bind(it.var)
    out.tokens.append(f"iter:{it.kind}{_dtype(it.var.dtype)}")
    out.push(it.extent)


def _store(out: _Encoder, s: Store) -> None:
    masked = s.mask is not None
    out.tokens.append(f"store{len(s.indices)}{masked}")
    out.push(*s.indices, s.value, *((s.mask,) if masked else ()))
    out.reference(s.buffer)


def _evaluate(out: _Encoder, s: Evaluate) -> None:
    out.tokens.append("evaluate")
    out.push(s.value)


def _let(out: _Encoder, s: Let) -> None:
    # The value comes first: it does not see the variable.
    out.tokens.append(f"let{_dtype(s.var.dtype)}")
    out.push(s.value, _Binding(s.var), s.body)


def _binding(out: _Encoder, binding: _Binding) -> None:
    out.bind(binding.symbol)


def _operand(out: _Encoder, o: Operand) -> None:
    out.tokens.append(f"operand:{o.access}:{len(o.shape)}:{len(o.strides)}")
    out.push(o.region, *o.shape, *o.strides)


def _invoke(out: _Encoder, s: Invoke) -> None:
    out.tokens.append(f"invoke:{s.callee}:{len(s.args)}:{s.meaning is None}")
    out.push(*s.args, *(() if s.meaning is None else (s.meaning,)))


def _procedure(out: _Encoder, p: Procedure) -> None:
    out.tokens.append(f"procedure{len(p.params)}")
    out.push(*_parameters(out, p.params), p.body)


def _barrier(out: _Encoder, s: Barrier) -> None:
    out.tokens.append(f"barrier:{s.scope}")


def _combiner(out: _Encoder, c: Combiner) -> None:
    for var in (*c.left, *c.right):
        out.bind(var)
    types = ":".join(_dtype(v.dtype) for v in c.left)
    out.tokens.append(f"combiner:{types}:{c.lawful}")
    out.push(*c.results, *c.identity)


def _seq(out: _Encoder, s: Seq) -> None:
    out.tokens.append(f"seq{len(s.stmts)}")
    out.push(*s.stmts)


def _if(out: _Encoder, s: If) -> None:
    out.tokens.append("if" if s.otherwise is None else "ifelse")
    out.push(s.cond, s.then, *(() if s.otherwise is None else (s.otherwise,)))


def _for(out: _Encoder, s: For) -> None:
    out.bind(s.var)
    kind = f"{s.kind}:{s.thread}" if s.thread else s.kind
    out.tokens.append(f"for:{kind}{_dtype(s.var.dtype)}{_annotations(s.annotations)}")
    out.push(s.extent, s.body)


def _alloc(out: _Encoder, s: Alloc) -> None:
    out.tokens.append("alloc")
    out.push(*out.bind_buffer(s.buffer), s.body)


def _block(out: _Encoder, s: Block) -> None:
    sizes = f"{len(s.iters)}:{len(s.reads)}:{len(s.writes)}:{s.init is None}"
    out.tokens.append(f"block#{out.number(s.symbol)}:{sizes}{_annotations(s.annotations)}")
    init = () if s.init is None else (s.init,)
    joined = () if s.combiner is None else ("combiner", s.combiner)
    out.push(*s.bindings, s.predicate, *s.iters, *s.reads, *s.writes, *joined, *init, s.body)


def _program(out: _Encoder, p: Program) -> None:
    # A program is closed: what it does not declare is numbered like the rest.
    out.number_free = True
    out.tokens.append(f"program{len(p.params)}:{len(p.allocs)}{_annotations(p.annotations)}")
    definitions = _parameters(out, p.params)
    for buffer in p.allocs:
        definitions.extend(out.bind_buffer(buffer))
    out.push(*definitions, p.body)


def _parameters(out: _Encoder, params: Sequence[Var | Buffer]) -> list[object]:
    """Bind parameters and return the items that define them."""
    definitions: list[object] = []
    for param in params:
        if isinstance(param, Buffer):
            definitions.extend(("buffer", *out.bind_buffer(param)))
        else:
            out.bind(param)
            definitions.append(f"scalar{_dtype(param.dtype)}")
    return definitions


def _buffer(out: _Encoder, b: Buffer) -> None:
    """A buffer compared for itself is compared by what it is, not by which one it is."""
    out.push(*out.bind_buffer(b))


def _sequence(out: _Encoder, nodes: Sequence[Node]) -> None:
    out.tokens.append(f"nodes{len(nodes)}")
    out.push(*nodes)


_RULES: TypeTable[Callable[[_Encoder, Any], None]] = TypeTable(
    {
        Const: _const,
        Var: _Encoder.reference,
        Binary: _binary,
        Compare: _binary,
        Logic: _binary,
        Not: _not,
        Select: _select,
        Cast: _cast,
        Load: _load,
        Stride: _stride,
        Call: _call,
        Ramp: _ramp,
        Broadcast: _broadcast,
        Region: _region,
        IterVar: _iter_var,
        Store: _store,
        Evaluate: _evaluate,
        Let: _let,
        _Binding: _binding,
        Operand: _operand,
        Invoke: _invoke,
        Procedure: _procedure,
        Barrier: _barrier,
        Combiner: _combiner,
        Seq: _seq,
        If: _if,
        For: _for,
        Alloc: _alloc,
        Block: _block,
        Program: _program,
        Buffer: _buffer,
        tuple: _sequence,
        list: _sequence,
    }
)
