"""Errors, spans, names, element types: what every other floor stands on."""

from .dtype import BOOL, FLOAT32, INDEX, INT32, INT64, DType
from .errors import (
    InternalError,
    OptionError,
    ParseError,
    RuntimeFailure,
    ScheduleError,
    ShapeError,
    TvmlabError,
    TypeMismatch,
    UnsupportedOp,
    UserError,
)
from .names import Namer, identifier
from .node import node, set_derived
from .span import Span, render_span, user_span

__all__ = [
    "BOOL",
    "FLOAT32",
    "INDEX",
    "INT32",
    "INT64",
    "DType",
    "InternalError",
    "Namer",
    "OptionError",
    "ParseError",
    "RuntimeFailure",
    "ScheduleError",
    "ShapeError",
    "Span",
    "TvmlabError",
    "TypeMismatch",
    "UnsupportedOp",
    "UserError",
    "identifier",
    "node",
    "render_span",
    "set_derived",
    "user_span",
]
