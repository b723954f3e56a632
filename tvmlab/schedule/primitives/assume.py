"""What the user vouches for, as a step that the trace records."""

from __future__ import annotations

from dataclasses import replace
from typing import Union

from tvmlab.ir import (
    Block,
    BlockSymbol,
    Compare,
    Expr,
    IterKind,
    IterVar,
    Load,
    Logic,
    Not,
    Program,
    Var,
    parse_expr,
    walk,
)
from tvmlab.schedule.assumptions import (
    ASSOCIATIVE,
    INDEPENDENT,
    scalar_symbols,
    with_assumption,
)
from tvmlab.schedule.index import index_of
from tvmlab.schedule.kinds import block_kind, final_stores
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.verdict import RefusedError, refuse
from tvmlab.support import ParseError

_FORMS = 'write assume("n % 16 == 0"), assume("independent", loop) or assume("associative", block)'


@primitive(
    "assume", "assume", "",
    ParamSpec("fact", "name", 'a condition on sizes, "independent" or "associative"'),
    ParamSpec("subject", "subject", "the loop or block that it is about", required=False),
)  # fmt: skip
def assume(program: Program, fact: str, subject: Union[Var, BlockSymbol, None] = None) -> Applied:
    """Take something for granted that cannot be proved; the result is on your own word.

    Three kinds of facts: a condition on sizes (`"n % 16 == 0"`); that the iterations of a loop
    are `"independent"` of each other; that the operation of a block is `"associative"` and
    commutative, so that its iterations may run in any order. The fact is written into the program
    and its trace. Running the program in the interpreter still finds a race that was denied.

    Before::

        for i in range(64):
            C[index[i]] = A[i]

    After `assume("independent", i)`::

        for i in range(64):
            annotate(assume=("independent",))
            C[index[i]] = A[i]
    """
    if fact == INDEPENDENT:
        return _independent(program, subject)
    if fact == ASSOCIATIVE:
        return _associative(program, subject)
    _require_condition(program, fact, subject)
    annotations = with_assumption(program.annotations, fact)
    return Applied(replace(program, annotations=annotations))


def _independent(program: Program, subject: object) -> Applied:
    if not isinstance(subject, Var):
        raise _refusal("subject", '"independent" is said of a loop', subject)
    loop = index_of(program).loops[subject]
    assumed = replace(loop, annotations=with_assumption(loop.annotations, INDEPENDENT))
    return Applied(replace_stmts(program, {loop: assumed}))


def _associative(program: Program, subject: object) -> Applied:
    if not isinstance(subject, BlockSymbol):
        raise _refusal("subject", '"associative" is said of a block', subject)
    block = index_of(program).blocks[subject]
    annotations = with_assumption(block.annotations, ASSOCIATIVE)
    iters = tuple(replace(it, kind=_kind(block, it)) for it in block.iters)
    assumed = replace(block, iters=iters, annotations=annotations)
    if block_kind(assumed) != "reduction":
        raise _refusal(
            "no-update",
            f"block {block.name} is no update of elements: it must read exactly the elements that "
            f"it writes, and nothing else of that buffer",
            subject,
        )
    return Applied(replace_stmts(program, {block: assumed}))


def _kind(block: Block, it: IterVar) -> IterKind:
    """Loops whose order is free now reduce; those that choose the element are spatial."""
    if it.kind != "opaque":
        return it.kind
    chosen = any(v is it.var for s in final_stores(block) for e in s.indices for v in walk(e))
    return "spatial" if chosen else "reduce"


def _require_condition(program: Program, fact: str, subject: object) -> None:
    if subject is not None:
        raise _refusal("subject", f"{fact!r} is a fact about sizes and has no subject", subject)
    known = scalar_symbols(program)
    try:
        condition = parse_expr(fact, known)
    except ParseError as error:
        names = ", ".join(known) or "none, all sizes of this program are fixed"
        raise _refusal(
            "not-a-fact",
            f"{fact!r} is not understood ({error.message}); {_FORMS}; sizes are: {names}",
            None,
        ) from None
    if not isinstance(condition, (Compare, Logic, Not)) or _loads(condition):
        raise _refusal("not-a-fact", f"{fact!r} is no condition on sizes; {_FORMS}", None)


def _loads(e: Expr) -> bool:
    return any(isinstance(n, Load) for n in walk(e))


def _refusal(rule: str, why: str, subject: object) -> RefusedError:
    return refuse(f"assume.{rule}", f"cannot assume this: {why}", subject=subject)
