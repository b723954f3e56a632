"""Random programs whose intermediates keep values from one round of a loop to the next.

    T = alloc(int64[8])
    for t in range(3):                      # rounds
        for p in range(2):                  # tasks, each with elements of T of its own
            for z in range(4):
                if t < 1:
                    T[z * 2 + p] = A[z * 2 + p]
            for i in range(3):
                T[i * 2 + p] = T[(i + t) % 4 * 2 + p] * 2 + A[i * 2 + p]
            for c in range(4):
                C[t, c * 2 + p] = T[c * 2 + p]

Copies of such an intermediate, memory that ends too early, and rounds in another order are wrong.
"""

from __future__ import annotations

import numpy as np

from tvmlab.ir import Program, parse


def random_rounds(rng: np.random.Generator) -> Program:
    """A program with one or two intermediates, its rounds around its tasks or within them."""
    return parse(_Writer(rng).text())


class _Writer:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.rounds, self.tasks, self.width = (int(rng.integers(1, 5)) for _ in range(3))
        self.blocked = bool(rng.integers(2))
        self.temporary = rng.random() < 0.4
        self.rounds_first = rng.random() < 0.7

    def text(self) -> str:
        cells = self.tasks * self.width
        lines = [f"def f(A: int64[{cells}], C: int64[{self.rounds}, {cells}]):"]
        lines.append(f"    T = alloc(int64[{cells}])")
        if self.temporary:
            lines.append(f"    U = alloc(int64[{self.width}])")
        loops = [f"for t in range({self.rounds}):", f"for p in range({self.tasks}):"]
        for depth, loop in enumerate(loops if self.rounds_first else loops[::-1], start=1):
            lines.append("    " * depth + loop)
        body = [
            self.nest("z", self.width, "if t < 1:", f"    T[{self.own('z')}] = {self.read_a('z')}")
        ]
        if self.temporary:
            body.append(self.nest("u", self.width, f"U[u] = T[{self.cell('u')}] * 3 - t"))
        body += [self.update(name) for name in "ij"[: int(self.rng.integers(1, 3))]]
        extra = f" + U[{self.width - 1} - c]" if self.temporary else ""
        body.append(
            self.nest("c", self.width, f"C[t, {self.own('c')}] = T[{self.own('c')}]{extra}")
        )
        lines += [f"            {line}" for part in body for line in part]
        return "\n".join(lines) + "\n"

    def nest(self, name: str, extent: int, *statement: str) -> list[str]:
        return [f"for {name} in range({extent}):", *(f"    {line}" for line in statement)]

    def update(self, name: str) -> list[str]:
        """A loop that goes on from what is there."""
        target = self.cell(name)
        other = self.pick(self.read_a(name), f"{name} + p", f"U[{name}]" if self.temporary else "7")
        read = self.pick(f"T[{target}]", f"T[{self.cell(name)}]")
        form = self.pick(f"{read} * 2 + {other}", f"max({read}, {other})", f"{other} - {read}")
        statement = [f"T[{target}] = {form}"]
        if self.rng.random() < 0.3:
            test = self.pick("t > 0", f"{name} < 2", f"t < {self.rounds} - 1", "p < 1")
            statement = [f"if {test}:", f"    {statement[0]}"]
        return self.nest(name, int(self.rng.integers(1, self.width + 1)), *statement)

    def cell(self, name: str) -> str:
        """An element of the task's own, by a formula of a loop below `width` and the round."""
        w = self.width
        return self.own(
            self.pick(name, name, f"({name} + t) % {w}", f"({w - 1} - {name})", f"({name} // 2)")
        )

    def own(self, place: str) -> str:
        return f"p * {self.width} + {place}" if self.blocked else f"{place} * {self.tasks} + p"

    def read_a(self, name: str) -> str:
        return f"A[{self.cell(name)}]"

    def pick(self, *options: str) -> str:
        return options[int(self.rng.integers(len(options)))]
