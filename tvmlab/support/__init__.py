"""Errors, spans, names, element types: what every other floor stands on."""

from .deep import deep, in_deep_thread
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
from .files import write_whole
from .garbage import without_collections
from .llvm import llvm_binding, llvm_version
from .names import Namer, identifier
from .node import Readable, describe_by, node, set_derived
from .on_demand import on_demand
from .plain import fields_of, items_of
from .require import is_among, require_option, require_text, shown
from .span import Span, render_span, user_span
from .syntax import parse_expression, parse_python
from .threads import THREADS_VARIABLE, available_cpus, default_num_threads
from .version import version

__all__ = [
    "BOOL",
    "FLOAT32",
    "INDEX",
    "INT32",
    "INT64",
    "THREADS_VARIABLE",
    "DType",
    "InternalError",
    "Namer",
    "OptionError",
    "ParseError",
    "Readable",
    "RuntimeFailure",
    "ScheduleError",
    "ShapeError",
    "Span",
    "TvmlabError",
    "TypeMismatch",
    "UnsupportedOp",
    "UserError",
    "available_cpus",
    "deep",
    "default_num_threads",
    "describe_by",
    "fields_of",
    "identifier",
    "in_deep_thread",
    "is_among",
    "items_of",
    "llvm_binding",
    "llvm_version",
    "node",
    "on_demand",
    "parse_expression",
    "parse_python",
    "render_span",
    "require_option",
    "require_text",
    "set_derived",
    "shown",
    "user_span",
    "version",
    "without_collections",
    "write_whole",
]
