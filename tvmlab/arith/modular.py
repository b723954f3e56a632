"""Remainders: a value known to be `coeff * n + base` for some integer n.

>>> Modular(8, 4).add(Modular(4, 1))
Modular(coeff=4, base=1)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class Modular:
    """The integers `coeff * n + base`. `coeff` 0 is the single value `base`, 1 is any integer.

    Make one with `Modular.of`, which brings `base` into `[0, coeff)`.
    """

    coeff: int
    base: int

    @staticmethod
    def of(coeff: int, base: int) -> Modular:
        """Normalize: a non-negative coefficient, and a base reduced by it."""
        coeff = abs(coeff)
        return Modular(coeff, base % coeff if coeff else base)

    def __contains__(self, value: int) -> bool:
        if self.coeff == 0:
            return value == self.base
        return (value - self.base) % self.coeff == 0

    def add(self, other: Modular) -> Modular:
        return Modular.of(gcd(self.coeff, other.coeff), self.base + other.base)

    def times(self, factor: int) -> Modular:
        """All values multiplied by a number."""
        return Modular.of(self.coeff * factor, self.base * factor)

    def mul(self, other: Modular) -> Modular:
        """Products: (c n + b)(d m + e) = cd nm + ce n + bd m + be."""
        step = gcd(gcd(self.coeff * other.coeff, self.coeff * other.base), self.base * other.coeff)
        return Modular.of(step, self.base * other.base)

    def union(self, other: Modular) -> Modular:
        """The best that holds for values of either kind."""
        step = gcd(gcd(self.coeff, other.coeff), self.base - other.base)
        return Modular.of(step, self.base)

    def floordiv(self, divisor: int) -> Modular:
        """Quotients by a positive number; exact only if it divides the coefficient."""
        if self.coeff % divisor:
            return ANY
        return Modular.of(self.coeff // divisor, self.base // divisor)

    def floormod(self, divisor: int) -> Modular:
        """Remainders by a positive number."""
        step = gcd(self.coeff, divisor)
        if self.coeff % divisor == 0:
            return Modular(0, self.base % divisor)
        return Modular.of(step, self.base)

    def remainder(self, divisor: int) -> int | None:
        """The remainder by a positive number, if it is always the same."""
        return None if self.coeff % divisor else self.base % divisor


ANY = Modular(1, 0)
