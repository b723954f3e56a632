"""The loop-program representation: immutable expressions, statements, buffers, programs."""

from .buffer import Region
from .expr import (
    FALSE,
    TRUE,
    AnyExpr,
    Binary,
    BinaryOp,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    ExprLike,
    Load,
    Logic,
    Not,
    Ramp,
    Scalar,
    Scope,
    Select,
    Var,
    as_expr,
    binary,
    cast,
    compare,
    conjunction,
    conjuncts,
    const,
    const_int,
    eq,
    fold_compare,
    is_const,
    logic,
    maximum,
    minimum,
    ne,
    wrap_int,
)
from .kernel import kernel
from .naming import Names
from .op_table import CALLS, CallInfo
from .parser import parse, parse_expr, parse_stmt
from .printer import Line, marked_text, to_lines, to_text
from .program import Param, Program
from .regions import infer_regions, make_block
from .stmt import (
    Alloc,
    Annotations,
    AnyStmt,
    Block,
    BlockSymbol,
    Evaluate,
    For,
    If,
    IterKind,
    IterVar,
    LoopKind,
    Seq,
    Stmt,
    Store,
    child_stmts,
    is_noop,
    seq,
)
from .structural import structural_equal, structural_hash, structural_key
from .traverse import (
    Node,
    child_fields,
    children,
    free_vars,
    loads_of,
    map_children,
    replace_buffers,
    substitute,
    transform,
    uses_var,
    walk,
    with_body,
)
from .verify import Violation, verify, violations

__all__ = [
    "CALLS", "FALSE", "TRUE", "Alloc", "Annotations", "AnyExpr", "AnyStmt", "Binary", "BinaryOp",
    "Block", "BlockSymbol", "Broadcast", "Buffer", "Call", "CallInfo", "Cast", "Compare",
    "CompareOp", "Const", "Evaluate", "Expr", "ExprLike", "For", "If", "IterKind", "IterVar",
    "Line", "Load", "Logic", "LoopKind", "Names", "Node", "Not", "Param", "Program", "Ramp",
    "Region", "Scalar", "Scope", "Select", "Seq", "Stmt", "Store", "Var", "Violation", "as_expr",
    "binary", "cast", "child_fields", "child_stmts", "children", "compare", "conjunction",
    "conjuncts", "const", "const_int", "eq", "fold_compare", "free_vars", "infer_regions",
    "is_const", "is_noop", "kernel", "loads_of", "logic", "make_block", "map_children",
    "marked_text", "maximum", "minimum", "ne", "parse", "parse_expr", "parse_stmt",
    "replace_buffers", "seq", "structural_equal", "structural_hash", "structural_key", "substitute",
    "to_lines", "to_text", "transform", "uses_var", "verify", "violations", "walk", "with_body",
    "wrap_int",
]  # fmt: skip
