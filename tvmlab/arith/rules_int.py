"""Rules for scalar integers that are not sums, quotients or remainders by a number.

Those go through linear forms (`divmod`); what stands here needs no arithmetic on forms.
Commutative operations come with a number on the right.
"""

from __future__ import annotations

from .pattern import Computed, Match, Num, Rule, RuleTable, Wild, op

x, y = Wild("x"), Wild("y")
c, d = Wild("c", literal=True), Wild("d", literal=True)


def _non_negative(m: Match) -> bool:
    return m.at_least("x", 0) and m.at_least("y", 1)


def _negative_divisor(m: Match) -> bool:
    """The divisor is negative, and neither operand is the one number without a counterpart."""
    smallest = int(m.root.dtype.min_value)
    lo = m.range("x").lo
    return smallest < m.number("c") < 0 and (lo is None or lo > smallest)


def _is_low_mask(m: Match) -> bool:
    mask = m.number("c")
    return 0 < mask < int(m.root.dtype.max_value) and mask & (mask + 1) == 0


def _shift_fits(m: Match) -> bool:
    return 0 <= m.number("c") < m.root.dtype.bits - 1


def _power(m: Match) -> int:
    return 1 << m.number("c")


_DIVISION = (
    Rule(
        "quotient by a negative number",
        x // c,
        (Num(0) - x) // Computed(lambda m: -m.number("c")),
        _negative_divisor,
    ),
    Rule(
        "remainder by a negative number",
        x % c,
        Num(0) - (Num(0) - x) % Computed(lambda m: -m.number("c")),
        _negative_divisor,
    ),
    Rule("truncated quotient by one", op("truncdiv", x, 1), x),
    Rule("truncated remainder by one", op("truncmod", x, 1), Num(0)),
    Rule("truncated quotient of naturals", op("truncdiv", x, y), x // y, _non_negative),
    Rule("truncated remainder of naturals", op("truncmod", x, y), x % y, _non_negative),
)

_MIN_MAX = (
    Rule("minimum of equals", op("min", x, x), x),
    Rule("maximum of equals", op("max", x, x), x),
    Rule("minimum, left is smaller", op("min", x, y), x, lambda m: m.le("x", "y")),
    Rule("minimum, right is smaller", op("min", x, y), y, lambda m: m.le("y", "x")),
    Rule("maximum, left is larger", op("max", x, y), x, lambda m: m.le("y", "x")),
    Rule("maximum, right is larger", op("max", x, y), y, lambda m: m.le("x", "y")),
    Rule("minimum of three", op("min", op("min", x, c), d), op("min", x, op("min", c, d))),
    Rule("maximum of three", op("max", op("max", x, c), d), op("max", x, op("max", c, d))),
    Rule("minimum with a member", op("min", op("min", x, y), y), op("min", x, y)),
    Rule("maximum with a member", op("max", op("max", x, y), y), op("max", x, y)),
)

_BITS = (
    Rule("and with zero", x & 0, Num(0)),
    Rule("and with itself", x & x, x),
    Rule("and with a low mask", x & c, x % Computed(lambda m: m.number("c") + 1), _is_low_mask),
    Rule("or with zero", x | 0, x),
    Rule("or with itself", x | x, x),
    Rule("xor with zero", x ^ 0, x),
    Rule("xor with itself", x ^ x, Num(0)),
    Rule("shift left", x << c, x * Computed(_power), _shift_fits),
    Rule("shift right", x >> c, x // Computed(_power), _shift_fits),
)

INT_RULES = (*_DIVISION, *_MIN_MAX, *_BITS)
INT_TABLE = RuleTable(INT_RULES)
