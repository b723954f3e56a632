"""Rules for floating point: only identities that hold for every bit pattern a value may have.

`x + 0.0` is not one (it turns -0.0 into 0.0), `x * 0.0` is not (NaN, infinities, signs), and
nothing is re-associated.
"""

from __future__ import annotations

from .pattern import Num, Rule, RuleTable, Wild, op

x = Wild("x")

FLOAT_RULES = (
    Rule("times one", x * 1.0, x, domain="float"),
    Rule("one times", Num(1.0) * x, x, domain="float"),
    Rule("divided by one", x / 1.0, x, domain="float"),
    Rule("minus zero", x - 0.0, x, domain="float"),
    Rule("plus negative zero", x + -0.0, x, domain="float"),
    Rule("negative zero plus", Num(-0.0) + x, x, domain="float"),
    Rule("minimum of equals", op("min", x, x), x, domain="float"),
    Rule("maximum of equals", op("max", x, x), x, domain="float"),
)
FLOAT_TABLE = RuleTable(FLOAT_RULES)
