"""Rules for conditions and for selection, of scalars and of vectors alike."""

from __future__ import annotations

from .pattern import Match, Num, Rule, RuleTable, Wild, op

p, q = Wild("p"), Wild("q")
x, y = Wild("x"), Wild("y")


def _ordered(m: Match) -> bool:
    """Not for floats, where a NaN makes `a < b` and `a >= b` both false."""
    return not m["x"].dtype.is_float


def _same_lanes(m: Match) -> bool:
    return m["p"].dtype == m.root.dtype


LOGIC_RULES = (
    Rule("and of equals", op("and", p, p), p, domain="bool"),
    Rule("or of equals", op("or", p, p), p, domain="bool"),
    Rule("and of opposites", op("and", p, op("not", p)), Num(False), domain="bool"),
    Rule("and of opposites, swapped", op("and", op("not", p), p), Num(False), domain="bool"),
    Rule("or of opposites", op("or", p, op("not", p)), Num(True), domain="bool"),
    Rule("or of opposites, swapped", op("or", op("not", p), p), Num(True), domain="bool"),
    Rule("and absorbs or", op("and", p, op("or", p, q)), p, domain="bool"),
    Rule("or absorbs and", op("or", p, op("and", p, q)), p, domain="bool"),
    Rule("double negation", op("not", op("not", p)), p, domain="bool"),
)

NEGATION_RULES = (
    Rule("not equal", op("not", op("eq", x, y)), op("ne", x, y)),
    Rule("not unequal", op("not", op("ne", x, y)), op("eq", x, y)),
    Rule("not less", op("not", op("lt", x, y)), op("ge", x, y), _ordered),
    Rule("not at most", op("not", op("le", x, y)), op("gt", x, y), _ordered),
    Rule("not greater", op("not", op("gt", x, y)), op("le", x, y), _ordered),
    Rule("not at least", op("not", op("ge", x, y)), op("lt", x, y), _ordered),
)

SELECT_RULES = (
    Rule("select between equals", op("select", p, x, x), x),
    Rule("select on a negation", op("select", op("not", p), x, y), op("select", p, y, x)),
    Rule("select true or false", op("select", p, True, False), p, _same_lanes, domain="bool"),
    Rule(
        "select false or true",
        op("select", p, False, True),
        op("not", p),
        _same_lanes,
        domain="bool",
    ),
)

BOOL_RULES = (*LOGIC_RULES, *NEGATION_RULES, *SELECT_RULES)
BOOL_TABLE = RuleTable(BOOL_RULES)
