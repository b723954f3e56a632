"""Notes on loops and blocks: annotate, pragma and unannotate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tvmlab.ir import Attribute, Block, BlockSymbol, For, Program, Var
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.notes import (
    MEANINGS,
    OWN_PRIMITIVE,
    PIPELINE,
    PREFETCH,
    STREAM,
    WOULD_CHANGE,
    note_of,
    with_note,
)
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.verdict import refuse

_KEY = ParamSpec("key", "name", "the name of the note")
_VALUE = ParamSpec("value", "value", "what it says", default=True)
_LOOP = ParamSpec("loop", "loop", "the loop")
_BLOCK = ParamSpec("block", "block", "the block")


def _propose_pragma(index: ProgramIndex, loop: For) -> Iterator[dict[str, Any]]:
    del index
    if loop.kind == "serial":
        yield {"key": "auto_unroll_max_step", "value": 16}


def _propose_removal(index: ProgramIndex, node: For | Block) -> Iterator[dict[str, Any]]:
    del index
    for key, _ in node.annotations:
        if key not in OWN_PRIMITIVE or key in (PIPELINE, PREFETCH, STREAM):
            yield {"key": key}


@primitive("annotate", "note", "", _LOOP, _KEY, _VALUE)
def annotate(program: Program, loop: Var, key: str, value: Attribute) -> Applied:
    """Put a note on a loop: a name and a value that travel with it.

    A note changes nothing that is computed. Lowering knows some (see `pragma`); others are for
    whoever reads them.

    Before::

        for i in range(64): ...

    After `annotate(i, "hint", 3)`::

        for i in range(64, hint=3): ...
    """
    target = index_of(program).loops[loop]
    _require_free(key, "annotate", loop)
    _require_fitting(key, value, "annotate", loop, "loop")
    return Applied(replace_stmts(program, {target: with_note(target, key, value)}))


@primitive("annotate_block", "note", "", _BLOCK, _KEY, _VALUE)
def annotate_block(program: Program, block: BlockSymbol, key: str, value: Attribute) -> Applied:
    """Put a note on a block: a name and a value that travel with it.

    Before::

        with block("C", ...): ...

    After `annotate_block("C", "hint", 3)`::

        with block("C", ..., hint=3): ...
    """
    target = index_of(program).blocks[block]
    _require_free(key, "annotate_block", block)
    _require_fitting(key, value, "annotate_block", block, "block")
    return Applied(replace_stmts(program, {target: with_note(target, key, value)}))


@primitive("pragma", "tell lowering", "", _LOOP, _KEY, _VALUE, propose=_propose_pragma)
def pragma(program: Program, loop: Var, key: str, value: Attribute = True) -> Applied:
    """Tell lowering how to treat a loop, by a name that it knows.

    - `auto_unroll_max_step`: write out short loops inside, as long as each becomes no more
      statements than this; `unroll_explicit=False` leaves that to LLVM.
    - `hoist_conditions=False`: conditions stay inside the loop although it does not change them.
    - `loop_partition_hint`: True cuts the loop where conditions become decided, False never does.
    - `parallel_launch_point`, `parallel_stride_pattern`, `parallel_barrier_when_finish`: accepted
      for programs that have them, without effect: the pool of threads needs no such hints.

    Before::

        for i in range(64): ...

    After `pragma(i, "auto_unroll_max_step", 16)`::

        for i in range(64, auto_unroll_max_step=16): ...
    """
    target = index_of(program).loops[loop]
    if key in WOULD_CHANGE:
        raise refuse(
            "pragma.would-change",
            f"cannot take the pragma {key} on {loop.name}: {WOULD_CHANGE[key]}",
            subject=loop,
        )
    if key not in MEANINGS:
        raise refuse(
            "pragma.unknown",
            f"cannot take the pragma {key} on {loop.name}: lowering knows {', '.join(MEANINGS)}; "
            f"a note of your own is made by annotate",
            subject=loop,
        )
    _require_fitting(key, value, "pragma", loop, "loop")
    return Applied(replace_stmts(program, {target: with_note(target, key, value)}))


@primitive("unannotate", "remove note", "", _LOOP, _KEY, propose=_propose_removal)
def unannotate(program: Program, loop: Var, key: str) -> Applied:
    """Take a note off a loop; a pipelined or prefetching loop becomes plain again.

    Before::

        for i in range(64, hint=3): ...

    After `unannotate(i, "hint")`::

        for i in range(64): ...
    """
    target = index_of(program).loops[loop]
    _require_there(target, key, loop)
    return Applied(replace_stmts(program, {target: with_note(target, key, None)}))


@primitive("unannotate_block", "remove note", "", _BLOCK, _KEY, propose=_propose_removal)
def unannotate_block(program: Program, block: BlockSymbol, key: str) -> Applied:
    """Take a note off a block.

    Before::

        with block("C", ..., hint=3): ...

    After `unannotate_block("C", "hint")`::

        with block("C", ...): ...
    """
    target = index_of(program).blocks[block]
    _require_free(key, "unannotate", block)
    _require_there(target, key, block)
    return Applied(replace_stmts(program, {target: with_note(target, key, None)}))


def _require_free(key: str, step: str, subject: Var | BlockSymbol) -> None:
    if key in WOULD_CHANGE and step != "unannotate":
        raise refuse(
            f"{step}.would-change",
            f"cannot put the note {key} on {subject.name}: {WOULD_CHANGE[key]}",
            subject=subject,
        )
    if key in OWN_PRIMITIVE:
        raise refuse(
            f"{step}.own-primitive",
            f"cannot {step.removesuffix('_block')} {subject.name} with {key}: that note is kept by "
            f"a primitive of its own, which looks whether it is lawful",
            subject=subject,
        )
    if not key.isidentifier():
        raise refuse(
            f"{step}.name",
            f"cannot {step.removesuffix('_block')} {subject.name} with {key!r}: a note has a plain "
            f"name of letters, digits and _",
            subject=subject,
        )


def _require_fitting(
    key: str, value: Attribute, step: str, subject: Var | BlockSymbol, where: str
) -> None:
    meaning = MEANINGS.get(key)
    if meaning is None:
        return
    wrong = not isinstance(value, meaning.kind) or (meaning.kind is int and value is True)
    negative = meaning.kind is int and isinstance(value, int) and value < 0
    if wrong or negative or where != meaning.where:
        kind = "True or False" if meaning.kind is bool else "a whole number from 0 on"
        raise refuse(
            f"{step}.value",
            f"cannot set {key} to {value!r} on {subject.name}: it stands on a {meaning.where} and "
            f"takes {kind}",
            subject=subject,
        )


def _require_there(node: For | Block, key: str, subject: Var | BlockSymbol) -> None:
    if note_of(node, key) is None:
        names = ", ".join(name for name, _ in node.annotations) or "none"
        raise refuse(
            "unannotate.missing",
            f"cannot take {key} off {subject.name}: it has no such note; it has {names}",
            subject=subject,
        )
