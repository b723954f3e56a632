"""Comparing programs, saving and loading them, and names that old programs import."""

from __future__ import annotations

from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.ir import Program
from tvmlab.ir import structural_equal as same
from tvmlab.support import UserError

from .module import IRModule, PrimFunc
from .ranges import Range
from .rules import register_intrin_lowering, register_op_attr
from .saving import load_json, save_json

__all__ = [
    "IRModule", "PrimFunc", "Range", "assert_structural_equal", "load_json",
    "register_intrin_lowering", "register_op_attr", "save_json", "structural_equal",
]  # fmt: skip

__getattr__ = missing("tvm.ir")


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two expressions, statements or functions are alike but for names."""
    del map_free_vars
    return bool(same(_node(lhs), _node(rhs)))


def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """Raise if two expressions, statements or functions are not alike."""
    if not structural_equal(lhs, rhs, map_free_vars):
        raise UserError(f"these differ:\n{lhs}\n{rhs}")


def _node(value: Any) -> Any:
    if isinstance(value, PrimFunc):
        return value.program
    return value.program if isinstance(getattr(value, "program", None), Program) else value
