"""Binds arguments to the parameters of a program and runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, Union, cast

import numpy as np

from tvmlab.ir import Buffer, Cast, Program, Var, written_buffers
from tvmlab.support import RuntimeFailure, in_deep_thread

from .failure import Fault
from .memory import Slot
from .statements import StmtCompiler

Argument: TypeAlias = Union[np.ndarray[Any, Any], int, float, bool]


def interpret(program: Program, arguments: Sequence[Argument]) -> None:
    """Run a program on NumPy arrays, in place, by its plain meaning.

    This is the oracle that schedules and code generators are tested against. It runs programs at
    any stage and checks every step: indices, reads of elements that nothing has written, division
    by zero, block iterations outside their domain, and races between iterations of a parallel or
    vectorized loop.

    The init of a block runs in the iterations whose reduction variables are all 0; if the reduction
    has no iterations at all, once for each element. For the check of
    races, an intermediate of the program (`Program.allocs`) that is used only inside a concurrent
    loop counts as private to its iterations, as lowering makes it: there, only reading what another
    iteration wrote is a race.

    Parameters
    ----------
    program
        The program.
    arguments
        For each parameter in order an array, or a number for a scalar. Scalars may all be left
        out if the shapes of the arrays tell them. A flat parameter takes an array of any shape
        with as many elements.

    Raises
    ------
    RuntimeFailure
        If the arguments do not fit the parameters.
    InterpreterFailure
        If a check fails; it says which rule, and the element and the iterations concerned.
    """
    try:
        run = _prepare(program, arguments)
    except RecursionError:
        in_deep_thread(lambda: _prepare(program, arguments)())
        return
    run()


def _prepare(program: Program, arguments: Sequence[Argument]) -> Callable[[], None]:
    """Everything but running it: no argument is changed yet."""
    compiler = StmtCompiler(program)
    binder = _Binder(program, compiler)
    binder.bind(arguments)
    for buffer in program.allocs:
        shape = compiler.shape(buffer)()
        compiler.exprs.declare(buffer).allocate(shape)
    action = compiler.stmt(program.body)

    def run() -> None:
        try:
            with np.errstate(all="ignore"):
                action()
        except Fault as fault:
            raise fault.report(program) from None
        binder.copy_back()

    return run


class _Binder:
    """Checks arguments against parameters and puts them into the frame and the slots."""

    def __init__(self, program: Program, compiler: StmtCompiler) -> None:
        self.program = program
        self.compiler = compiler
        self._copies: list[tuple[np.ndarray[Any, Any], Slot]] = []

    def bind(self, arguments: Sequence[Argument]) -> None:
        pairs = self._pair(arguments)
        for param, argument in pairs:
            if isinstance(param, Var):
                self._bind_scalar(param, argument)
        written = set(written_buffers(self.program.body))
        for param, argument in pairs:
            if isinstance(param, Buffer):
                self._bind_array(param, argument, param in written)

    def copy_back(self) -> None:
        """Return results to arrays that had to be copied because they are not contiguous."""
        for array, slot in self._copies:
            array[...] = slot.flat.reshape(array.shape)

    def _pair(self, arguments: Sequence[Argument]) -> list[tuple[Any, Any]]:
        params = self.program.params
        if len(arguments) == len(params):
            return list(zip(params, arguments, strict=True))
        buffers = [p for p in params if isinstance(p, Buffer)]
        if len(arguments) != len(buffers):
            raise RuntimeFailure(
                f"{self.program.name} takes {len(params)} argument(s), not {len(arguments)}",
                hint="parameters are " + ", ".join(p.name for p in params),
            )
        sizes: dict[Var, int] = {}
        for buffer, array in zip(buffers, arguments, strict=True):
            for size, dim in zip(buffer.shape, np.shape(array), strict=False):
                named = size.value if isinstance(size, Cast) else size
                if isinstance(named, Var):
                    sizes.setdefault(named, dim)
        for param in params:
            if isinstance(param, Var) and param not in sizes:
                raise RuntimeFailure(
                    f"the size {param.name} cannot be told from the shapes of the arrays",
                    hint=f"give a value for each parameter, {param.name} too",
                )
        scalars = [(p, sizes[p]) for p in params if isinstance(p, Var)]
        return [*scalars, *zip(buffers, arguments, strict=True)]

    def _bind_scalar(self, param: Var, argument: Any) -> None:
        if np.ndim(argument) != 0:
            raise RuntimeFailure(f"{param.name} is a number, not an array")
        dtype = param.dtype
        value: Any = dtype.numpy.type(argument)
        if not dtype.is_float:
            value = value.item()
            if value != argument:
                raise RuntimeFailure(f"{param.name} is a {dtype}; {argument!r} does not fit")
        self.compiler.exprs.frame[self.compiler.exprs.place(param)] = value

    def _bind_array(self, param: Buffer, argument: object, written: bool) -> None:
        if not isinstance(argument, np.ndarray):
            raise RuntimeFailure(
                f"{param.name} needs a NumPy array, not a {type(argument).__name__}",
                hint="programs write their outputs in place, so pass the array itself",
            )
        array = cast("np.ndarray[Any, Any]", argument)
        dims = self.compiler.shape(param)()
        flat = len(dims) == 1 and dims[0] == array.size
        if array.shape != dims and not flat:
            raise RuntimeFailure(f"{param.name} has the shape {dims}, not {array.shape}")
        if array.dtype != param.dtype.numpy:
            raise RuntimeFailure(
                f"{param.name} holds {param.dtype}, the array holds {array.dtype}",
                hint=f'convert it: array.astype("{param.dtype}")',
            )
        if written and not array.flags.writeable:
            raise RuntimeFailure(f"{param.name} is written, but its array is read-only")
        slot = self.compiler.exprs.declare(param)
        slot.attach(np.ascontiguousarray(array), dims)
        if written and not array.flags.c_contiguous:
            self._copies.append((array, slot))
