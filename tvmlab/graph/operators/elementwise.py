"""Functions of each element, and of elements at the same place of several tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.types import TensorType, shape_text
from tvmlab.support import BOOL, ShapeError

from .registry import (
    Array,
    Attr,
    Attrs,
    Call,
    Evaluate,
    Infer,
    axis_of,
    need,
    operator,
    same_dtype,
)


def broadcast_shapes(shapes: Sequence[Sequence[Dim]]) -> tuple[Dim, ...]:
    """The shape that all are stretched to.

    Raises
    ------
    ShapeError
        If two sizes differ and neither is 1.
    """
    rank = max((len(s) for s in shapes), default=0)
    result: list[Dim] = []
    for place in range(-rank, 0):
        found: Dim = 1
        for shape in shapes:
            size = shape[place] if -place <= len(shape) else 1
            if size == 1 or size == found:
                continue
            if found != 1:
                raise ShapeError(
                    f"shapes {' and '.join(shape_text(tuple(s)) for s in shapes)} cannot be "
                    f"stretched to one another: {found} and {size} differ in dimension {place}"
                )
            found = size
        result.append(found)
    return tuple(result)


def one(function: Callable[[Array], Any]) -> Evaluate:
    """The reference of an operator of one input and no attributes."""

    def computed(_: Attrs, x: Array) -> Array:
        return np.asarray(function(x))

    return computed


def with_attrs(function: Callable[[Attrs, Array], Any]) -> Evaluate:
    """The reference of an operator of one input."""

    def computed(attrs: Attrs, x: Array) -> Array:
        return np.asarray(function(attrs, x))

    return computed


def two(function: Callable[[Array, Array], Any]) -> Evaluate:
    """The reference of an operator of two inputs and no attributes."""

    def computed(_: Attrs, x: Array, y: Array) -> Array:
        return np.asarray(function(x, y))

    return computed


def _float_work(function: Callable[[Attrs, Array], Any]) -> Evaluate:
    """A function computed in float32 for narrower floats, and rounded once."""

    def computed(attrs: Attrs, x: Array) -> Array:
        narrow = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
        with np.errstate(all="ignore"):
            made = function(attrs, x.astype(np.float32) if narrow else x)
            return np.asarray(made).astype(x.dtype)

    return computed


def _named_work(function: Callable[[Array], Any]) -> Evaluate:
    return _float_work(lambda _, x: function(x))


def _erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x


def _unary_type(what: str) -> Infer:
    def infer(call: Call) -> TensorType:
        if what != "any":
            need(call[0], what)  # pyright: ignore[reportArgumentType]
        return call[0]

    return infer


def _truth_type(what: str) -> Infer:
    def infer(call: Call) -> TensorType:
        need(call[0], what)  # pyright: ignore[reportArgumentType]
        return call[0].with_dtype(BOOL)

    return infer


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Array) -> Array:
    return np.logaddexp(x, np.zeros_like(x))


def _gelu(attrs: Attrs, x: Array) -> Array:
    if attrs.text("approximate") == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _elu(attrs: Attrs, x: Array) -> Array:
    return np.where(x > 0, x, attrs.float("alpha") * (np.exp(np.minimum(x, 0)) - 1))


def _celu(attrs: Attrs, x: Array) -> Array:
    alpha = attrs.float("alpha")
    return np.maximum(x, 0) + np.minimum(0, alpha * (np.exp(np.minimum(x, 0) / alpha) - 1))


def _selu(attrs: Attrs, x: Array) -> Array:
    alpha, gamma = attrs.float("alpha"), attrs.float("gamma")
    return gamma * np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0)) - 1))


def _hard_sigmoid(attrs: Attrs, x: Array) -> Array:
    return np.clip(x * attrs.float("alpha") + attrs.float("beta"), 0, 1)


def _shrink(attrs: Attrs, x: Array) -> Array:
    lambd, bias = attrs.float("lambd"), attrs.float("bias")
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0))


_FLOAT_FUNCTIONS: dict[str, Callable[[Array], Any]] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "floor": np.floor, "ceil": np.ceil, "round": np.rint, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "erf": _erf, "sigmoid": _sigmoid, "softplus": _softplus,
    "softsign": lambda x: x / (1 + np.abs(x)), "reciprocal": lambda x: 1 / x,
    "silu": lambda x: x * _sigmoid(x), "mish": lambda x: x * np.tanh(_softplus(x)),
    "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}  # fmt: skip
for _name, _function in _FLOAT_FUNCTIONS.items():
    operator(_name, _unary_type("float"), _named_work(_function))

operator("abs", _unary_type("number"), one(lambda x: np.abs(x)))
operator("negative", _unary_type("number"), one(lambda x: np.negative(x)))
operator("sign", _unary_type("number"), one(lambda x: np.sign(x)))
operator("relu", _unary_type("number"), one(lambda x: np.maximum(x, x.dtype.type(0))))
operator("identity", _unary_type("any"), one(lambda x: x))
operator("logical_not", _unary_type("bool"), one(lambda x: np.logical_not(x)))
operator("bitwise_not", _unary_type("int"), one(lambda x: np.invert(x)))
operator("is_nan", _truth_type("float"), one(lambda x: np.isnan(x)))


def _is_inf(attrs: Attrs, x: Array) -> Array:
    both = np.isinf(x.astype(np.float64))
    low, high = attrs.flag("detect_negative"), attrs.flag("detect_positive")
    return (both & (x < 0) & low) | (both & (x > 0) & high)


operator("is_inf", _truth_type("float"), _is_inf, detect_negative=Attr("flag", True),
         detect_positive=Attr("flag", True))  # fmt: skip


def _alpha(value: float) -> Attr:
    return Attr("float", value)


operator(
    "leaky_relu",
    _unary_type("float"),
    _float_work(lambda a, x: np.where(x >= 0, x, a.float("alpha") * x)),
    alpha=_alpha(0.01),
)
operator(
    "thresholded_relu",
    _unary_type("float"),
    _float_work(lambda a, x: np.where(x > a.float("alpha"), x, 0)),
    alpha=_alpha(1.0),
)
operator("elu", _unary_type("float"), _float_work(_elu), alpha=_alpha(1.0))
operator("celu", _unary_type("float"), _float_work(_celu), alpha=_alpha(1.0))
operator(
    "selu",
    _unary_type("float"),
    _float_work(_selu),
    alpha=_alpha(1.6732632423543772),
    gamma=_alpha(1.0507009873554805),
)
operator(
    "hard_sigmoid",
    _unary_type("float"),
    _float_work(_hard_sigmoid),
    alpha=_alpha(0.2),
    beta=_alpha(0.5),
)
operator(
    "shrink",
    _unary_type("number"),
    with_attrs(lambda a, x: _shrink(a, x).astype(x.dtype)),
    lambd=_alpha(0.5),
    bias=_alpha(0.0),
)
operator("gelu", _unary_type("float"), _float_work(_gelu),
         approximate=Attr("text", "none", ("none", "tanh")))  # fmt: skip


def _clip(attrs: Attrs, x: Array) -> Array:
    """Limits of integers are whole numbers, beyond the range of the type if it has none."""
    low, high = attrs.float("low"), attrs.float("high")
    if x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        least, most = max(low, info.min), min(high, info.max)
        return np.minimum(np.maximum(x, x.dtype.type(least)), x.dtype.type(most))
    return np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high))


operator("clip", _unary_type("number"), _clip, low=Attr("float", -math.inf),
         high=Attr("float", math.inf))  # fmt: skip


def _cast(attrs: Attrs, x: Array) -> Array:
    dtype = attrs.dtype("dtype")
    with np.errstate(invalid="ignore", over="ignore"):
        return x.astype(np.float32).astype(dtype.numpy) if x.dtype.name == "bfloat16" else (
            x.astype(dtype.numpy))  # fmt: skip


operator("cast", lambda call: call[0].with_dtype(call.attrs.dtype("dtype")), _cast,
         dtype=Attr("dtype"))  # fmt: skip


def _pair_type(what: str, result: str = "same") -> Infer:
    def infer(call: Call) -> TensorType:
        dtype = same_dtype(call.given)
        if what != "any":
            need(call[0], what)  # pyright: ignore[reportArgumentType]
        shape = broadcast_shapes([t.shape for t in call.given])
        return TensorType(BOOL if result == "bool" else dtype, shape)

    return infer


def _divide(x: Array, y: Array) -> Array:
    """Integers are rounded to zero; a division by zero gives zero."""
    with np.errstate(all="ignore"):
        if x.dtype.kind not in "iu":
            return np.divide(x, y)
        quotient = np.abs(x) // np.where(y == 0, 1, np.abs(y))
        return np.where(y == 0, 0, np.where((x < 0) != (y < 0), -quotient, quotient)).astype(
            x.dtype
        )


def _mod(attrs: Attrs, x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.fmod(x, y) if attrs.flag("truncated") else np.mod(x, y)


def _shift(attrs: Attrs, x: Array, y: Array) -> Array:
    return np.left_shift(x, y) if attrs.text("direction") == "left" else np.right_shift(x, y)


def _power_type(call: Call) -> TensorType:
    """The exponent may be of another type than the base."""
    need(call[0], "number")
    need(call[1], "number")
    return call[0].with_shape(broadcast_shapes([call[0].shape, call[1].shape]))


def _power(_: Attrs, x: Array, y: Array) -> Array:
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    with np.errstate(all="ignore"):
        if x.dtype.kind in "iu" and (y.dtype.kind == "f" or (y < 0).any()):
            return np.power(x.astype(np.float64), y).astype(x.dtype)
        return np.power(x.astype(wide), y.astype(wide)).astype(x.dtype)


operator("power", _power_type, _power, inputs=2)
operator("add", _pair_type("number"), two(lambda x, y: np.add(x, y)), inputs=2)
operator("subtract", _pair_type("number"), two(lambda x, y: np.subtract(x, y)), inputs=2)
operator("multiply", _pair_type("number"), two(lambda x, y: np.multiply(x, y)), inputs=2)
operator("divide", _pair_type("number"), two(lambda x, y: _divide(x, y)), inputs=2)
operator("maximum", _pair_type("number"), two(lambda x, y: np.maximum(x, y)), inputs=2)
operator("minimum", _pair_type("number"), two(lambda x, y: np.minimum(x, y)), inputs=2)
operator("mod", _pair_type("number"), _mod, inputs=2, truncated=Attr("flag", False))
operator(
    "prelu",
    _pair_type("number"),
    two(lambda x, y: np.where(x < 0, x * y, x).astype(x.dtype)),
    inputs=2,
)
operator("shift", _pair_type("int"), _shift, inputs=2,
         direction=Attr("text", "left", ("left", "right")))  # fmt: skip
for _name, _ufunc in {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}.items():
    operator(f"logical_{_name}", _pair_type("bool"), two(_ufunc), inputs=2)
for _name, _ufunc in {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.items():
    operator(f"bitwise_{_name}", _pair_type("int"), two(_ufunc), inputs=2)
for _name, _ufunc in {
    "equal": np.equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "not_equal": np.not_equal,
}.items():  # fmt: skip
    operator(_name, _pair_type("any", "bool"), two(_ufunc), inputs=2)


def _where(_: Attrs, c: Array, x: Array, y: Array) -> Array:
    return np.where(c, x, y)


def _where_type(call: Call) -> TensorType:
    need(call[0], "bool")
    dtype = same_dtype([call[1], call[2]])
    return TensorType(dtype, broadcast_shapes([t.shape for t in call.given]))


operator("where", _where_type, _where, inputs=3)


def _hardmax(attrs: Attrs, x: Array) -> Array:
    axis = axis_of(attrs.int("axis"), x.ndim)
    shape = tuple(-1 if d == axis else 1 for d in range(x.ndim))
    places: Any = np.arange(x.shape[axis], dtype=np.int64).reshape(shape)
    best: Any = np.argmax(x, axis, keepdims=True)
    return np.equal(best, places).astype(x.dtype)


def _softmax(attrs: Attrs, x: Array) -> Array:
    axis = axis_of(attrs.int("axis"), x.ndim)
    spread = np.exp(x - x.max(axis, keepdims=True))
    return spread / spread.sum(axis, keepdims=True)


def _log_softmax(attrs: Attrs, x: Array) -> Array:
    axis = axis_of(attrs.int("axis"), x.ndim)
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def _axis_type(call: Call) -> TensorType:
    need(call[0], "float")
    axis_of(call.attrs.int("axis"), call[0].rank)
    return call[0]


operator("softmax", _axis_type, _float_work(_softmax), "reduction", axis=Attr("int", -1))
operator("log_softmax", _axis_type, _float_work(_log_softmax), "reduction", axis=Attr("int", -1))
operator("hardmax", _axis_type, _hardmax, "reduction", axis=Attr("int", -1))


def _full_type(call: Call) -> TensorType:
    return TensorType.of(call.attrs.dtype("dtype"), call.attrs.ints("shape"))


def _full(attrs: Attrs) -> Array:
    return np.full(attrs.ints("shape"), attrs.float("value")).astype(attrs.dtype("dtype").numpy)


operator("full", _full_type, _full, inputs=0, shape=Attr("ints"), value=Attr("float", 0.0),
         dtype=Attr("dtype", "float32"))  # fmt: skip
