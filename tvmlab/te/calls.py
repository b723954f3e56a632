"""Calls of outside code in hand-written statements.

>>> call_extern("int32", "scale", c.access_ptr("rw"), 16)          # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from tvmlab.ir import SYMBOL, Buffer, Call, Expr, Invoke, Operand, as_expr
from tvmlab.support import DType, UserError

from .buffers import View, operand_of


def call_extern(dtype: DType | str, name: str, *args: Any) -> Invoke:
    """Call a C function for its effect.

    Parameters
    ----------
    dtype
        What the function returns; nothing is done with it.
    name
        The function's name.
    args
        Numbers and formulas, passed by value, and pointers from `access_ptr`. A buffer among them
        is passed as a pointer to its first element.
    """
    DType.of(dtype)
    return Invoke(f"symbol:{_checked(name)}", tuple(_argument(a) for a in args))


def call_pure_extern(dtype: DType | str, name: str, *args: Any) -> Expr:
    """The value of a C function of numbers, in a formula.

    Parameters
    ----------
    dtype
        What the function returns.
    name
        The function's name. Its value depends on nothing but the arguments, so that it may be
        called more or less often than the formula says.
    args
        Numbers and formulas, passed by value.

    Raises
    ------
    TypeMismatch
        If there is no argument.
    """
    return Call(SYMBOL + _checked(name), tuple(as_expr(a) for a in args), DType.of(dtype))


def call_packed(name: str, *args: Any) -> Invoke:
    """Call a registered Python function, with buffers as arrays.

    Parameters
    ----------
    name
        The name that the function is registered under.
    args
        Buffers, numbers and formulas.
    """
    return Invoke(f"packed:{_checked(name)}", tuple(_argument(a) for a in args))


def _checked(name: str) -> str:
    # Users without a type checker may pass the function itself.
    if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UserError(f"a call of outside code names its function, not {name!r}")
    return name


def _argument(value: Any) -> Any:
    if isinstance(value, Operand):
        return value
    if isinstance(value, Buffer):
        return operand_of(value, value.role if isinstance(value, View) else "update")
    return as_expr(value)
