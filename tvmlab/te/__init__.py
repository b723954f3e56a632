"""The tensor-expression language: say what each element is, not how to loop.

>>> from tvmlab import te
>>> A = te.placeholder((8, 8), name="A")
>>> k = te.reduce_axis(8, "k")
>>> C = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="C")

What numbers do:

- Integers wrap: `uint8` 255 + 1 is 0, the negative of the smallest number is itself. Indices are
  int64 and taken not to overflow; sizes and scalar arguments are checked for that at each call.
- `//` and `%` round down (`te.truncdiv`, `te.truncmod` to zero); by zero they give 0, and the
  smallest number by -1 wraps. A shift by the width or more gives 0, or the sign.
- A cast of a float to an integer cuts off the fraction; what does not fit gives some integer
  (`te.saturating_cast`: the nearest one). `te.round` takes a half away from zero.
- An index that leaves its tensor is an error of the call, never a read of other memory.
"""

from typing import TYPE_CHECKING

from tvmlab.arith import AXIS_SEPARATOR
from tvmlab.ir import const, eq, maximum, minimum, ne
from tvmlab.support import on_demand

from . import ir_builder
from .axis import (
    Axis,
    Range,
    ThreadAxis,
    reduce_axis,
    thread_axis,
)
from .buffers import View, decl_buffer
from .calls import call_extern, call_packed, call_pure_extern
from .classic import (
    create_schedule,
    provide_schedules,
)
from .compute import (
    Formula,
    compute,
    placeholder,
)
from .extern import extern, numpy_function
from .folds import (
    all,
    any,
    argmax,
    argmin,
    max,
    min,
    prod,
    sum,
)
from .integers import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    ceildiv,
    div,
    floordiv,
    floormod,
    indexdiv,
    indexmod,
    logical_and,
    logical_not,
    logical_or,
    shift_left,
    shift_right,
    truncdiv,
    truncmod,
)
from .intrinsic import (
    TensorIntrin,
    decl_tensor_intrin,
    intrinsic_family,
    intrinsic_named,
    intrinsics,
    tensor_intrin,
)
from .math import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    clz,
    copysign,
    cos,
    cosh,
    erf,
    exp,
    exp2,
    exp10,
    expm1,
    fabs,
    floor,
    fmod,
    hypot,
    isfinite,
    isinf,
    isnan,
    ldexp,
    log,
    log1p,
    log2,
    log10,
    nearbyint,
    nextafter,
    popcount,
    pow,
    power,
    q_multiply_shift,
    round,
    rsqrt,
    sigmoid,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
)
from .order import (
    inputs_of,
    operations_of,
    topological_order,
)
from .program import (
    create_program,
    sizes_of,
    tensor_names,
)
from .reduction import (
    Reduce,
    Reducer,
    comm_reducer,
)
from .scalars import (
    cast,
    if_then_else,
    infinity,
    max_value,
    min_value,
    nan,
    saturating_cast,
    size_var,
    var,
)
from .scan import (
    scan,
)
from .tags import (
    Attributes,
    attributes_of,
    tag_scope,
)
from .tensor import (
    ComputeOp,
    ExternOp,
    Operation,
    PlaceholderOp,
    ScanOp,
    Tensor,
)

Select = if_then_else

if TYPE_CHECKING:
    from .differentiation import gradient

__all__ = [
    "AXIS_SEPARATOR",
    "Attributes",
    "Axis",
    "ComputeOp",
    "ExternOp",
    "Formula",
    "Operation",
    "PlaceholderOp",
    "Range",
    "Reduce",
    "Reducer",
    "ScanOp",
    "Select",
    "Tensor",
    "TensorIntrin",
    "ThreadAxis",
    "View",
    "abs",
    "acos",
    "acosh",
    "all",
    "any",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "attributes_of",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "call_extern",
    "call_packed",
    "call_pure_extern",
    "cast",
    "ceil",
    "ceildiv",
    "clz",
    "comm_reducer",
    "compute",
    "const",
    "copysign",
    "cos",
    "cosh",
    "create_program",
    "create_schedule",
    "decl_buffer",
    "decl_tensor_intrin",
    "div",
    "eq",
    "erf",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "extern",
    "fabs",
    "floor",
    "floordiv",
    "floormod",
    "fmod",
    "gradient",
    "hypot",
    "if_then_else",
    "indexdiv",
    "indexmod",
    "infinity",
    "inputs_of",
    "intrinsic_family",
    "intrinsic_named",
    "intrinsics",
    "ir_builder",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "max_value",
    "maximum",
    "min",
    "min_value",
    "minimum",
    "nan",
    "ne",
    "nearbyint",
    "nextafter",
    "numpy_function",
    "operations_of",
    "placeholder",
    "popcount",
    "pow",
    "power",
    "prod",
    "provide_schedules",
    "q_multiply_shift",
    "reduce_axis",
    "round",
    "rsqrt",
    "saturating_cast",
    "scan",
    "shift_left",
    "shift_right",
    "sigmoid",
    "sin",
    "sinh",
    "size_var",
    "sizes_of",
    "sqrt",
    "sum",
    "tag_scope",
    "tan",
    "tanh",
    "tensor_intrin",
    "tensor_names",
    "thread_axis",
    "topological_order",
    "trunc",
    "truncdiv",
    "truncmod",
    "var",
]

# Few programs differentiate, and what does it is as large as the rest of the reductions.
__getattr__ = on_demand(__name__, {"differentiation": ["gradient"]})
