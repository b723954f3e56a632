"""Operators with the arguments and the meaning that they have in TVM, against NumPy."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmlab.compat.tvm as tvm
from tvmlab.compat.tvm import te, topi
from tvmlab.support import OptionError, ShapeError, UserError

RNG = np.random.default_rng(2)
M = RNG.random((4, 6)).astype("float32") - np.float32(0.5)
I = RNG.integers(-9, 9, (4, 6)).astype("int32")
B = RNG.integers(-100, 100, (4, 6)).astype("int8")
W = RNG.integers(-100, 100, (3, 6)).astype("int8")
J = np.array([0, 2, 3], "int32")
FAR = np.array([-7, 2, 9], "int32")
ND = np.array([[0, 1, 3], [5, 0, 2]], "int32")
ROWS = np.abs(I) % 4


def one(value: float) -> Any:
    return te.const(value, "float32")


def dense(a: Any) -> Any:
    return a.astype("int32") @ W.T.astype("int32")


CASES: list[tuple[Any, list[Any], Any]] = [
    (lambda a: topi.mod(a, 4), [I], np.fmod(I, 4)),
    (lambda a: topi.mod(a, 0.3), [M], np.fmod(M, np.float32(0.3))),
    (lambda a, j: topi.take(a, j), [M, J], M.ravel()[J]),
    (lambda a, j: topi.take(a, j, axis=-2), [M, J], M[J]),
    (lambda a, j: topi.take(a, j, axis=1), [M, FAR], M[:, FAR.clip(0, 5)]),
    (lambda a, j: topi.take(a, j, axis=1, mode="wrap"), [M, FAR], M[:, FAR % 6]),
    (lambda a, j: topi.take(a, j, axis=1, mode="fast"), [M, J], M[:, J]),
    (lambda a, j: topi.gather(a, 0, j), [M, ROWS], np.take_along_axis(M, ROWS, 0)),
    (lambda a, j: topi.gather_nd(a, j), [M, ND], M[ND[0], ND[1]]),
    (lambda j: topi.one_hot(j, one(2), one(1), 5, -1, "float32"), [J], (np.eye(5)[J] + 1)),
    (lambda a: topi.cumsum(a), [M], M.ravel().cumsum()),
    (lambda a: topi.cumsum(a, axis=1, dtype="int32"), [B], B.cumsum(1, dtype="int32")),
    (lambda a: topi.cumprod(a, axis=0, exclusive=False), [M], M.cumprod(0)),
    (lambda a: topi.argmax(a, axis=1), [M], M.argmax(1).astype("int32")),
    (lambda a: topi.argmin(a, axis=[0], keepdims=True, select_last_index=False), [M],
     M.argmin(0, keepdims=True).astype("int32")),
    (lambda a: topi.matmul(a, a, False, True), [M], M @ M.T),
    (lambda a: topi.matmul(a, a, transp_a=True), [M], M.T @ M),
    (lambda a: topi.flip(a), [M], M[::-1]),
    (lambda a: topi.flip(a, axis=1), [M], M[:, ::-1]),
    (lambda a: topi.clip(a, a_min=-0.1, a_max=0.2), [M], M.clip(-0.1, 0.2)),
    (lambda a: topi.add(topi.full_like(a, fill_value=2.0), a), [M], M + 2),
    (lambda a: topi.add(topi.full((4, 6), dtype="float32", fill_value=2), a), [M], M + 2),
    (lambda a: topi.reshape(a, newshape=(6, 4)), [M], M.reshape(6, 4)),
    (lambda a: topi.concatenate(a_tuple=(a, a), axis=1), [M], np.concatenate([M, M], 1)),
    (lambda a: topi.split(a, indices_or_sections=2, axis=1)[1], [M], M[:, 3:]),
    (lambda a: topi.split(a, (2, 5), axis=1)[1], [M], M[:, 2:5]),
    (lambda a, w: topi.nn.dense(a, w, None, "int32"), [B, W], dense(B)),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "inputs", "want"), CASES)
def test_values(operator: Any, inputs: list[Any], want: Any) -> None:
    tensors = [te.placeholder(x.shape, x.dtype.name, f"X{n}") for n, x in enumerate(inputs)]
    made = operator(*tensors)
    out = tvm.nd.array(np.zeros(tuple(int(size) for size in made.shape), made.dtype.name))
    tvm.build(te.create_schedule(made.op), [*tensors, made])(*map(tvm.nd.array, inputs), out)
    assert out.dtype == want.dtype.name or want.dtype == np.float64
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-4, atol=1e-5)


def test_depthwise_convolutions_in_a_wider_type() -> None:
    x, w = te.placeholder((1, 2, 5, 5), "int8"), te.placeholder((2, 1, 3, 3), "int8")
    made = topi.nn.depthwise_conv2d_nchw(x, w, 1, 1, 1, out_dtype="int32")
    a, b = np.full((1, 2, 5, 5), 100, "int8"), np.full((2, 1, 3, 3), 100, "int8")
    out = tvm.nd.array(np.zeros((1, 2, 5, 5), "int32"))
    tvm.build(te.create_schedule(made.op), [x, w, made])(tvm.nd.array(a), tvm.nd.array(b), out)
    assert out.numpy()[0, 0, 2, 2] == 90_000


def test_refusals() -> None:
    a, j = te.placeholder((4, 6), name="A"), te.placeholder((3,), "int32", "J")
    with pytest.raises(OptionError, match="there is no mode 'raise' of take"):
        topi.take(a, j, mode="raise")
    with pytest.raises(UserError, match=r"topi\.take with batch_dims is not part"):
        topi.take(a, j, axis=1, batch_dims=1)
    with pytest.raises(ShapeError, match="so there is no axis 2"):
        topi.take(a, j, axis=2)
    with pytest.raises(ShapeError, match="must be known and at most 2"):
        topi.gather_nd(a, j)
    with pytest.raises(ShapeError, match="cannot multiply"):
        topi.matmul(a, a)
