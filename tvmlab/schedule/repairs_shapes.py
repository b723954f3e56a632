"""Proposals about the shape of loops and of memory: tiles, padding, copies, kinds of loops."""

from __future__ import annotations

from collections.abc import Iterator

from tvmlab.ir import Block, BlockSymbol, Buffer, For, Var, const_int
from tvmlab.support import RuntimeFailure, UserError
from tvmlab.te import intrinsic_named

from .division import divide
from .fixes import split_fix
from .kinds import block_kind
from .legality import binding_vars
from .notes import PIPELINE, PREFETCH, note_of
from .refused import MAX_PLACES, FixStep, Refused, intermediates
from .registry import PRIMITIVES
from .tile_form import form_of_description
from .verdict import Fix, RefusedError

LANES, COPIES = 16, 4
"""Iterations to vectorize or unroll of a loop whose extent is not known."""


def serial_first(refused: Refused) -> Iterator[Fix]:
    """Take the kind of a loop back before changing it."""
    loop = refused.subject_loop
    if loop is not None and loop.kind != "serial" and not loop.kind.startswith(refused.primitive):
        step: FixStep = ("serial", {"loop": loop.var})
        yield refused.after(f"make {loop.var.name} serial", step)


def unnoted_first(refused: Refused) -> Iterator[Fix]:
    """Take back the plan that a loop has."""
    loop = refused.subject_loop
    if loop is None:
        return
    for key in (PIPELINE, PREFETCH):
        if note_of(loop, key) is not None:
            step: FixStep = ("unannotate", {"loop": loop.var, "key": key})
            yield refused.after(f"take {key} off {loop.var.name}", step)


def short_inner_loop(refused: Refused) -> Iterator[Fix]:
    """Split a loop of unknown extent, and act on the inner part."""
    if refused.loop is not None:
        count = LANES if refused.primitive == "vectorize" else COPIES
        yield split_fix(refused.loop.var, count, refused.primitive)


def at_the_sum(refused: Refused) -> Iterator[Fix]:
    """The same step at the outermost loop of a sum."""
    index, block = refused.index, refused.block
    if block is None:
        return
    reducing = binding_vars(block, "reduce")
    loops = [lp for lp in index.loops_around(block) if lp.var in reducing]
    doing = "decompose" if refused.primitive == "decompose_reduction" else "factor"
    for loop in loops[:2]:
        title = f"{doing} {block.name} by its reduction loop {loop.var.name}"
        yield Fix(title, (refused.again(loop=loop.var),), "at the sum")


def adjacent_first(refused: Refused) -> Iterator[Fix]:
    """Bring loops together that others separate."""
    index = refused.index
    chosen = [index.loops[v] for v in refused.args["loops"]]
    chain = [*index.loops_around(chosen[-1]), chosen[-1]]
    if not all(loop in chain for loop in chosen):
        return
    between = [lp.var for lp in chain[chain.index(chosen[0]) :] if lp not in chosen]
    step: FixStep = ("reorder", {"loops": (*between, *(lp.var for lp in chosen))})
    names = ", ".join(v.name for v in between)
    yield refused.after(f"move {names} outside of {chosen[0].var.name}", step)


def stage_instead(refused: Refused) -> Iterator[Fix]:
    """A parameter's values staged in the memory that was asked for."""
    index, buffer = refused.index, refused.args["buffer"]
    assert isinstance(buffer, Buffer)
    scope = refused.args["scope"]
    for reader in index.consumers(buffer)[:1]:
        step = {"block": reader.symbol, "buffer": buffer, "scope": scope}
        title = f"let {reader.name} read a copy of {buffer.name} in {scope} memory"
        yield Fix(title, (("cache_read", step),))
    for writer in index.writers.get(buffer, [])[:1]:
        step = {"block": writer.symbol, "scope": scope}
        title = f"let {writer.name} write to {scope} memory, and copy it to {buffer.name}"
        yield Fix(title, (("cache_write", step),))


def unshared(refused: Refused) -> Iterator[Fix]:
    """Iterations that share an intermediate: let each have its values without writing them."""
    index, loop = refused.index, refused.loop
    if loop is None:
        return
    for buffer in list(intermediates(refused))[:2]:
        for writer in index.writers[buffer][:1]:
            inline: FixStep = ("compute_inline", {"block": writer.symbol})
            root: FixStep = ("compute_root", {"block": writer.symbol})
            if block_kind(writer) == "complete":
                what = f"inline {writer.name}, so that iterations share no {buffer.name}"
                yield refused.after(what, inline, group=buffer.name)
            what = f"compute all of {writer.name} before {loop.var.name} by compute_root"
            yield refused.after(what, root, group=buffer.name)


def pad_first(refused: Refused) -> Iterator[Fix]:
    """Pad a block, so that its last tile is whole; or leave the last tile to a loop of its own."""
    loop = refused.index.loops.get(refused.args["target"])
    if loop is None:
        return
    try:
        division = divide(refused.index, loop, refused.primitive)
    except RefusedError:
        return
    block = division.block()
    multiples = tuple(tile.size for tile in division.tiles)
    pad: FixStep = ("pad", {"block": block.symbol, "multiples": multiples})
    what = f"pad {block.name} to multiples of {', '.join(map(str, multiples))}"
    yield refused.after(what, pad, group="whole tiles")
    for outer in refused.index.loops_around(loop)[::-1][:MAX_PLACES]:
        cut: FixStep = ("partition", {"loop": outer.var, "points": None})
        what = f"give the last iterations of {outer.var.name} a loop of their own by partition"
        yield refused.after(what, cut, group="last tile")


def tile_first(refused: Refused) -> Iterator[Fix]:
    """Cut loops into tiles of the size that an intrinsic works on, padded where need be."""
    loop = refused.index.loops.get(refused.args["target"])
    sizes = _intrinsic_sizes(refused)
    plain = None if loop is None else _plain_loops(refused, loop)
    if loop is None or sizes is None or plain is None:
        return
    block, loops = plain
    wanted = [
        (lp, size)
        for kind in ("spatial", "reduce")
        for lp, size in zip(loops[kind][-len(sizes[kind]) :], sizes[kind], strict=False)
        if sizes[kind]
    ]
    known = [(lp, size, const_int(lp.extent) or 0) for lp, size in wanted]
    if any(len(loops[kind]) < len(sizes[kind]) for kind in sizes) or not known:
        return
    cut = [(lp, size) for lp, size, extent in known if extent != size]
    steps: list[FixStep] = []
    ragged = {lp.var: size for lp, size, extent in known if extent % size}
    if ragged:
        multiples = tuple(ragged.get(b, 1) if isinstance(b, Var) else 1 for b in block.bindings)
        steps.append(("pad", {"block": block.symbol, "multiples": multiples}))
    made = int(bool(ragged)) * _pad_outputs(refused, block, ragged)
    outer: list[Var | str] = []
    inner: dict[Var, Var | str] = {lp.var: lp.var for lp, _ in wanted}
    for lp, size in cut:
        steps.append(("split", {"loop": lp.var, "factors": (None, size)}))
        outer.append(f"${made}")
        inner[lp.var] = f"${made + 1}"
        made += 2
    around = refused.index.loops_around(block)
    rest = [lp.var for lp in around[around.index(loop) :] if lp.var not in inner]
    order = (*rest, *outer, *inner.values())
    if len(order) > 1:
        steps.append(("reorder", {"loops": order}))
    first = next(iter(inner.values()))
    sizes_text = ", ".join(f"{lp.var.name} by {size}" for lp, size in cut)
    pads = f"pad {block.name} and " if ragged else ""
    title = f"{pads}split {sizes_text}, then tensorize the inner loops"
    yield Fix(title, (*steps, refused.again(target=first)))


def _intrinsic_sizes(refused: Refused) -> dict[str, list[int]] | None:
    """The extents of an intrinsic's axes, by kind."""
    try:
        intrin = intrinsic_named(refused.args["intrin"])
    except (UserError, RuntimeFailure):
        return None
    sizes: dict[str, list[int]] = {"spatial": [], "reduce": []}
    for axis in form_of_description(intrin.description).axes:
        sizes[axis.kind].append(axis.extent)
    return sizes


def _plain_loops(refused: Refused, loop: For) -> tuple[Block, dict[str, list[For]]] | None:
    """The block under a loop, and the loops from there on that each run over one variable."""
    blocks = refused.index.blocks_under(loop)
    if len(blocks) != 1:
        return None
    block = blocks[0]
    around = refused.index.loops_around(block)
    inside = {lp.var: lp for lp in around[around.index(loop) :]}
    found: dict[str, list[For]] = {"spatial": [], "reduce": []}
    for it, binding in zip(block.iters, block.bindings, strict=True):
        if isinstance(binding, Var) and binding in inside and it.kind in found:
            found[it.kind].append(inside[binding])
    return block, found


def _pad_outputs(refused: Refused, block: Block, ragged: dict[Var, int]) -> int:
    """How many blocks `pad` would return, which come before the loops that are split later."""
    multiples = [ragged.get(b, 1) if isinstance(b, Var) else 1 for b in block.bindings]
    try:
        made = PRIMITIVES["pad"].run(refused.index.program, block=block.symbol, multiples=multiples)
    except RefusedError:
        return 0
    return sum(isinstance(symbol, BlockSymbol) for symbol in made.outputs)
