"""Arithmetic on index expressions: what values they take, whether they are equal, what they map.

Stands on `ir` alone. Everything is a function of an expression and a `Bounds` environment; nothing
here knows of schedules.
"""

from .agreeing_pairs import agreeing_pairs
from .bounds import Bounds, bound_of, linear_form, modular_of
from .index_map import (
    AXIS_SEPARATOR,
    IndexMap,
    IndexMapLike,
    collision,
    index_map,
    new_shape,
)
from .index_map_inverse import Inverse, invert
from .interval import EVERYTHING, NATURAL, Interval
from .iter_map import IterMap, detect_iter_map
from .laws import Law, law_of
from .linear import LinearForm, form_to_expr
from .modular import Modular
from .relax import Relaxation, SymbolicRange, relax
from .simplify import prove, simplify
from .simplify_stmt import simplify_stmt
from .turning_points import negative_when_true, turning_points, without

__all__ = [
    "AXIS_SEPARATOR",
    "EVERYTHING",
    "NATURAL",
    "Bounds",
    "IndexMap",
    "IndexMapLike",
    "Interval",
    "Inverse",
    "IterMap",
    "Law",
    "LinearForm",
    "Modular",
    "Relaxation",
    "SymbolicRange",
    "agreeing_pairs",
    "bound_of",
    "collision",
    "detect_iter_map",
    "form_to_expr",
    "index_map",
    "invert",
    "law_of",
    "linear_form",
    "modular_of",
    "negative_when_true",
    "new_shape",
    "prove",
    "relax",
    "simplify",
    "simplify_stmt",
    "turning_points",
    "without",
]
