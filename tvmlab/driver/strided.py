"""Parameters whose elements lie at distances known only at the call: views, without a copy.

    A: float32[n, m]      with strides (None, 1)      A[i, j]  at  i * A_stride_0 + j

The distances become scalar parameters of the kernel, which the runtime reads off the array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from tvmlab.ir import STRIDES, Attribute, Buffer, Param, Program, Var
from tvmlab.support import OptionError, shown

Strides = Mapping[str, "Sequence[int | None] | None"]


def with_strides(program: Program, strides: Strides) -> Program:
    """The program with distances of its own for some parameters.

    Parameters
    ----------
    strides
        For a buffer's name the distance of neighbors along each axis, in elements: a positive
        number, or None where the call decides. None alone: the call decides all of them.

    Raises
    ------
    OptionError
        If a name is no buffer of the program, or the distances do not fit it.
    """
    buffers = {p.name: p for p in program.params if isinstance(p, Buffer)}
    rows: list[Attribute] = []
    more: list[Param] = []
    taken = {p.name for p in program.params}
    for name, given in strides.items():
        buffer = buffers.get(name)
        if buffer is None:
            raise OptionError(
                f"strides are given for {shown(name)}, which is no array parameter",
                hint=f"the array parameters of {program.name} are {', '.join(buffers)}",
            )
        row: list[Attribute] = []
        for axis, step in enumerate(_steps(buffer, given)):
            if step is not None:
                row.append(step)
                continue
            var = Var(_free(f"{name}_stride_{axis}", taken))
            more.append(var)
            row.append(var.name)
        rows.append((name, tuple(row)))
    if not rows:
        return program
    return replace(
        program,
        params=(*program.params, *more),
        annotations=(*program.annotations, (STRIDES, tuple(rows))),
    )


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _steps(buffer: Buffer, given: Sequence[int | None] | None) -> list[int | None]:
    rank = len(buffer.shape)
    steps: list[object] = [None] * rank if given is None else list(cast("Sequence[object]", given))
    fits = len(steps) == rank and all(
        step is None or (type(step) is int and step > 0) for step in steps
    )
    if not fits:
        raise OptionError(
            f"the strides {shown(given)} do not fit {buffer.name}, which has {rank} dimension(s)",
            hint="give one distance per axis, in elements: a positive number, or None for one that "
            "is known only at the call",
        )
    return cast("list[int | None]", steps)
