"""What padding must hold so that the added iterations of a block change nothing."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import Bounds, prove
from tvmlab.ir import Binary, Block, Buffer, Cast, Const, Expr, Load, Var, loads_of, uses_var
from tvmlab.schedule.index import accesses
from tvmlab.schedule.kinds import block_kind, single_store
from tvmlab.schedule.windows import same_size

from .reduction import neutral


def padded_bounds(block: Block, sizes: dict[Var, int]) -> Bounds:
    """The ranges of a block's iteration variables once it is padded."""
    return Bounds.of({it.var: sizes.get(it.var, it.extent) for it in block.iters})


def leaving(block: Block, sizes: dict[Var, int]) -> list[Buffer]:
    """The buffers whose end (or beginning) an added iteration would leave."""
    env, store = padded_bounds(block, sizes), single_store(block)
    assert store is not None
    found: dict[Buffer, None] = {}
    for access in accesses(block):
        if isinstance(access, Load) and access.buffer is not store.buffer:
            for index, size in zip(access.indices, access.buffer.shape, strict=True):
                inside = prove(index < size, env) and prove(index >= 0, env)
                if uses_var(index, set(sizes)) and not inside:
                    found.setdefault(access.buffer)
    return list(found)


def pad_value(block: Block, sizes: dict[Var, int]) -> float:
    """Zero, or the neutral value if with that the added iterations of a reduction add nothing."""
    nothing = neutral_value(block)
    padded = leaving(block, sizes)
    for value in (0, nothing):
        fits = value is not None and all(b.dtype.holds(value) for b in padded)
        if fits and value is not None and adds_nothing(block, sizes, padded, value):
            return value
    return 0


def adds_nothing(
    block: Block, sizes: dict[Var, int], padded: Sequence[Buffer], value: float
) -> bool:
    """Whether each added iteration of a reduction joins in the neutral value, if inputs pad so."""
    nothing, store = neutral_value(block), single_store(block)
    assert store is not None
    reduced = [it.var for it in block.iters if it.kind == "reduce" and it.var in sizes]
    if nothing is None or not isinstance(store.value, Binary):
        return not reduced
    joined = store.value.b if reads_buffer(store.value.a, store.buffer) else store.value.a
    ends = {it.var: it.extent for it in block.iters}
    return all(_at_padding(joined, v, ends[v], padded, value) == nothing for v in reduced)


def neutral_value(block: Block) -> float | None:
    """What a reduction by a built-in operation joins in without effect; None for other blocks."""
    store = single_store(block)
    if block_kind(block) != "reduction" or store is None or not isinstance(store.value, Binary):
        return None
    return neutral(store.value.op, store.value.dtype).value


def reads_buffer(e: Expr, buffer: Buffer) -> bool:
    """Whether an expression loads from a buffer."""
    return any(load.buffer is buffer for load in loads_of(e))


def _at_padding(
    e: Expr, var: Var, end: Expr, padded: Sequence[Buffer], value: float
) -> float | None:
    """The value of an expression where a variable is past its end; None if it is not fixed."""
    match e:
        case Const():
            return e.value
        case Cast() if e.dtype.is_float or not e.value.dtype.is_float:
            return _at_padding(e.value, var, end, padded, value)
        case Load():
            # There the copy holds padding if the dimension ends where the variable does, whatever
            # the other variables are.
            at_end = any(
                i is var and same_size(end, size)
                for i, size in zip(e.indices, e.buffer.shape, strict=True)
            )
            return value if e.buffer in padded and at_end else None
        case Binary(op="add" | "sub" | "mul" | "min" | "max"):
            a, b = (
                _at_padding(e.a, var, end, padded, value),
                _at_padding(e.b, var, end, padded, value),
            )
            if a is None or b is None:
                return None
            results = {"add": a + b, "sub": a - b, "mul": a * b, "min": min(a, b), "max": max(a, b)}
            return results[e.op]
        case _:
            return None
