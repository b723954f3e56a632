"""The operators of graphs: attributes, types, and what each computes.

>>> infer_types(Node("relu", ("x",), ("y",)), [TensorType.of("float32", (2, "n"))])
[float32[2, n]]
"""

from . import (
    attention,
    blocked,
    elementwise,
    gather,
    matmul,
    normalize,
    products,
    quantized,
    reduce,
    shape,
    while_loop,
    window,
)
from .attention import attention_layouts
from .elementwise import broadcast_shapes
from .normalize import lrn_window
from .products import einsum_letters, einsum_sizes
from .reduce import reduced_shape
from .registry import (
    OPERATORS,
    Attr,
    Attrs,
    Call,
    Kind,
    Operator,
    attributes,
    axes_of,
    axis_of,
    evaluate_node,
    find,
    infer_types,
)
from .shape import slice_bounds
from .while_loop import body_of_loop
from .window import transposed_sizes, window_places

# Importing these modules filled the table; each is named so that none is missed.
FAMILIES = (attention, blocked, elementwise, gather, matmul, normalize, products, quantized, reduce,
            shape, while_loop, window)  # fmt: skip

__all__ = [
    "FAMILIES",
    "OPERATORS",
    "Attr",
    "Attrs",
    "Call",
    "Kind",
    "Operator",
    "attention_layouts",
    "attributes",
    "axes_of",
    "axis_of",
    "body_of_loop",
    "broadcast_shapes",
    "einsum_letters",
    "einsum_sizes",
    "evaluate_node",
    "find",
    "infer_types",
    "lrn_window",
    "reduced_shape",
    "slice_bounds",
    "transposed_sizes",
    "window_places",
]
