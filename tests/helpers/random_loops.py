"""Random programs written as plain loops, in which the order of iterations often matters.

Stencils in place, running sums, triangular nests, guarded statements, loops around several nests:
what tensor programs never contain and hand-written kernels do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import Buffer, Program, parse

SIZE = 20
"""Elements of each dimension; indices stay inside by construction."""
BUFFERS = {"A": 1, "B": 1, "C": 2, "D": 2}


def random_loops(rng: np.random.Generator) -> Program:
    """A program of one or two nests, perhaps inside a common loop."""
    writer = _Writer(rng)
    nests = [writer.nest("ij" if n == 0 else "kl", "") for n in range(int(rng.integers(1, 3)))]
    if rng.random() < 0.3:
        head = f"    for t in range({int(rng.integers(1, 4))}):\n"
        nests = [head + "".join(_indented(n) for n in nests)]
    params = ", ".join(
        f"{name}: int64[{', '.join([str(SIZE)] * rank)}]" for name, rank in BUFFERS.items()
    )
    return parse(f"def f({params}):\n" + "".join(nests))


def arrays_for(program: Program, seed: int) -> list[NDArray[Any]]:
    """Small numbers for each parameter."""
    rng = np.random.default_rng(seed)
    arrays: list[NDArray[Any]] = []
    for param in program.params:
        assert isinstance(param, Buffer)
        assert param.const_shape is not None
        arrays.append(rng.integers(-4, 5, param.const_shape).astype(param.dtype.numpy))
    return arrays


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


class _Writer:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def pick(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def nest(self, names: str, head: str) -> str:
        """Up to three loops around one or two statements."""
        loops = [names[0], names[1], "m"][: int(self.pick(1, 2, 2, 2, 3))]
        text = ""
        for depth, name in enumerate(loops):
            text += "    " * (depth + 1) + f"for {name} in range({self.extent(loops[:depth])}):\n"
        inside = "    " * (len(loops) + 1)
        for _ in range(int(self.pick(1, 1, 1, 2))):
            text += self.statement(loops, inside)
        return head + text

    def extent(self, outer: list[str]) -> str:
        if outer and self.rng.random() < 0.3:
            name = outer[-1]
            return str(self.pick(f"{name} + 1", f"5 - {name}", f"{name} + 2"))
        return str(int(self.rng.integers(1, 5)))

    def statement(self, loops: list[str], indent: str) -> str:
        name = str(self.pick(*BUFFERS))
        place = f"{name}[{self.indices(name, loops)}]"
        other = f"{self.read(loops)}"
        form = int(self.rng.integers(6))
        if form == 0:
            value = f"{place} + {other}"
        elif form == 1:
            value = f"max({place}, {other})"
        elif form == 2:
            value = f"{place} * 3 + {other}"
        elif form == 3:
            value = f"{other} * 2 - {self.read(loops)}"
        else:
            value = f"{self.near(name, place, loops)} * 2 + {other}"
        text = f"{indent}{place} = {value}\n"
        if self.rng.random() < 0.2:
            cond = f"{self.pick(*loops)} {self.pick('<', '>=', '!=')} {int(self.rng.integers(3))}"
            text = f"{indent}if {cond}:\n    {text}"
        return text

    def near(self, name: str, place: str, loops: list[str]) -> str:
        """An element of the same buffer not far away."""
        shift = self.pick(" - 1]", " + 1]", " - 2]", "]")
        return str(self.pick(place[:-1] + shift, f"{name}[{self.indices(name, loops)}]"))

    def read(self, loops: list[str]) -> str:
        name = str(self.pick(*BUFFERS))
        return f"{name}[{self.indices(name, loops)}]"

    def indices(self, name: str, loops: list[str]) -> str:
        return ", ".join(self.index(loops) for _ in range(BUFFERS[name]))

    def index(self, loops: list[str]) -> str:
        v = self.pick(*loops)
        w = self.pick(*loops)
        shift = int(self.rng.integers(4, 7))
        return str(
            self.pick(
                f"{v} + {shift}", f"{v} + {shift}", f"{v} + {shift}", f"{v} - {w} + 7",
                f"{v} * 2 + {shift}", f"9 - {v}", f"{v} // 2 + {shift}", f"{v} % 2 + {shift}",
                f"{v} + {w} + 4", str(shift),
            )
        )  # fmt: skip
