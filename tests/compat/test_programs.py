"""Programs as they were written for TVM, one for each family, against NumPy."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmlab.compat.tvm as tvm
from tvmlab.compat.tvm import te, topi
from tvmlab.compat.tvm.contrib import cc, tedd, utils
from tvmlab.compat.tvm.topi.utils import get_const_tuple
from tvmlab.support import ParseError, UserError

RNG = np.random.default_rng(0)


def values(*shape: int) -> Any:
    return RNG.random(shape).astype("float32")


def test_vector_add_of_any_length_saved_and_loaded() -> None:
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")  # noqa: N806
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")  # noqa: N806
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=4)
    s[C].parallel(outer)
    s[C].vectorize(inner)
    target = tvm.target.Target("llvm", host="llvm")
    add = tvm.build(s, [A, B, C], target, name="myadd")
    dev = tvm.device(target.kind.name, 0)
    a, b = tvm.nd.array(values(37), dev), tvm.nd.array(values(37), dev)
    c = tvm.nd.array(np.zeros(37, dtype=C.dtype), dev)
    add(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy())
    assert add.entry_name == "myadd"
    assert add.time_evaluator(add.entry_name, dev, number=3)(a, b, c).mean > 0
    assert "define" in add.get_source("ll")
    folder = utils.tempdir()
    add.save(folder.relpath("add.o"))
    cc.create_shared(folder.relpath("add.so"), [folder.relpath("add.o")])
    add.export_library(folder.relpath("packed.so"))
    for name in ("add.so", "packed.so"):
        c.copyfrom(np.zeros(37, "float32"))
        tvm.runtime.load_module(folder.relpath(name))(a, b, c)
        tvm.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy())


def test_a_file_of_another_kind_is_no_module(tmp_path: Path) -> None:
    file = tmp_path / "x.so"
    file.write_bytes(b"\x7fELF")
    with pytest.raises(ParseError, match="is no module that tvmlab wrote"):
        tvm.runtime.load_module(str(file))


def test_matrix_product_with_blocking_packing_and_a_write_cache() -> None:
    size, bn = 64, 16
    k = te.reduce_axis((0, size), "k")
    A = te.placeholder((size, size), name="A")  # noqa: N806
    B = te.placeholder((size, size), name="B")  # noqa: N806
    packed = te.compute((size / bn, size, bn), lambda o, k, i: B[k, o * bn + i], name="packedB")
    C = te.compute(  # noqa: N806
        (size, size),
        lambda m, n: te.sum(A[m, k] * packed[n // bn, k, tvm.tir.indexmod(n, bn)], axis=k),
        name="C",
    )
    s = te.create_schedule(C.op)
    cache = s.cache_write(C, "global")
    mo, no, _, _ = s[C].tile(C.op.axis[0], C.op.axis[1], bn, bn)
    s[cache].compute_at(s[C], no)
    mc, nc = s[cache].op.axis
    (kaxis,) = s[cache].op.reduce_axis
    ko, ki = s[cache].split(kaxis, factor=4)
    s[cache].reorder(ko, mc, ki, nc)
    s[cache].vectorize(nc)
    s[cache].unroll(ki)
    s[C].parallel(mo)
    f = tvm.build(s, [A, B, C], target="llvm -mcpu=core-avx2", name="mmult")
    a, b = values(size, size), values(size, size)
    c = tvm.nd.empty((size, size), "float32")
    f(tvm.nd.array(a), tvm.nd.array(b), c)
    tvm.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-5)
    assert "C_global" in str(tvm.lower(s, [A, B, C], simple_mode=True))


def test_names_from_before_version_0_6() -> None:
    A = tvm.placeholder((3, 4), name="a")  # noqa: N806
    j = tvm.reduce_axis((0, 4), name="j")
    product = tvm.comm_reducer(lambda a, b: a * b, lambda t: tvm.const(1, dtype=t))
    B = tvm.compute((3,), lambda i: product(A[i, j], axis=j), name="b")  # noqa: N806
    f = tvm.build(tvm.create_schedule(B.op), [A, B])
    a, b = values(3, 4), tvm.nd.array(np.empty(3, "float32"), ctx=tvm.context("llvm", 0))
    f(tvm.nd.array(a), b)
    np.testing.assert_allclose(b.asnumpy(), a.prod(1), rtol=1e-5)


def test_index_and_value_of_the_largest_element() -> None:
    def pick(x: Any, y: Any) -> Any:
        keep = x[1] >= y[1]
        return tvm.tir.Select(keep, x[0], y[0]), tvm.tir.Select(keep, x[1], y[1])

    argmax = te.comm_reducer(pick, lambda i, v: (tvm.tir.const(-1, i), te.min_value(v)), "argmax")
    m, n = te.var("m"), te.var("n")
    A = te.placeholder((m, n), name="A")  # noqa: N806
    k = te.reduce_axis((0, n), "k")
    where, top = te.compute((m,), lambda i: argmax((k.var, A[i, k]), axis=k), name="T")
    assert where.dtype == "int32"
    f = tvm.build(te.create_schedule(where.op), [A, where, top])
    a = values(5, 9)
    out = tvm.nd.empty((5,), "int32"), tvm.nd.empty((5,), "float32")
    f(tvm.nd.array(a), *out)
    np.testing.assert_array_equal(out[0].numpy(), a.argmax(1))
    np.testing.assert_array_equal(out[1].numpy(), a.max(1))


def test_a_program_for_a_device_is_interpreted() -> None:
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")  # noqa: N806
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")  # noqa: N806
    s = te.create_schedule(B.op)
    _, ki = s[B].split(B.op.reduce_axis[0], factor=4)
    partial = s.rfactor(B, ki)
    xo, xi = s[B].split(s[B].op.axis[0], factor=8)
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.y"))
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[partial].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    f = tvm.build(s, [A, B], "cuda")
    assert "threadIdx.x" in f.imported_modules[0].get_source()
    a, b = values(10, 13), tvm.nd.array(np.zeros(10, "float32"), tvm.cuda(0))
    f(tvm.nd.array(a, tvm.cuda(0)), b)
    tvm.testing.assert_allclose(b.numpy(), a.sum(1), rtol=1e-5)
    with pytest.raises(UserError, match="it is interpreted here"):
        f.time_evaluator(f.entry_name, tvm.cuda(0))


def test_a_running_sum_and_its_cell_stages() -> None:
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")  # noqa: N806
    state = te.placeholder((m, n))
    init = te.compute((1, n), lambda _, i: X[0, i])
    double = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="double")
    update = te.compute((m, n), lambda t, i: double[t, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X])
    s = te.create_schedule(scan.op)
    s[double].compute_inline()
    assert s[update].group is s[double].group
    f = tvm.build(s, [X, scan])
    x, y = values(6, 5), tvm.nd.empty((6, 5), "float32")
    f(tvm.nd.array(x), y)
    want = [x[0]]
    for row in x[1:]:
        want.append(want[-1] * 2 + row)
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-5)
    bounds = te.schedule.InferBound(s)
    assert bounds[scan.op.scan_axis].min.value == 1


def test_arithmetic_on_tensors_and_inlining_it() -> None:
    c, n = 4, 6
    X = te.placeholder((c, n, n), name="X")  # noqa: N806
    mean, var = (te.placeholder((c, 1, 1), name=name) for name in ("mean", "var"))
    Y = (X - mean) / topi.sqrt(var + 1e-5) * 2.0  # noqa: N806
    s = te.create_schedule(Y.op)
    te.schedule.AutoInlineInjective(s)
    fused = s[Y].fuse(*Y.op.axis[:2])
    s[Y].parallel(fused)
    f = tvm.build(s, [X, mean, var, Y])
    x, m, v = values(c, n, n), values(c, 1, 1), values(c, 1, 1)
    y = tvm.nd.empty(get_const_tuple(Y.shape), "float32")
    f(*(tvm.nd.array(t) for t in (x, m, v)), y)
    np.testing.assert_allclose(y.numpy(), (x - m) / np.sqrt(v + 1e-5) * 2, rtol=1e-4, atol=1e-4)


def test_formulas_meet_whole_tensors() -> None:
    n = te.var("n")
    A = te.placeholder((), name="A")  # noqa: N806
    B = te.placeholder((4, 3), name="B")  # noqa: N806
    made = [n + B, n * B, B[0, 0] - B, B[1, 2] + A]
    assert [len(t.shape) for t in made] == [2, 2, 2, 0]
    f = tvm.build(te.create_schedule(made[2].op), [B, made[2]])
    b, out = values(4, 3), tvm.nd.array(np.zeros((4, 3), "float32"))
    f(tvm.nd.array(b), out)
    np.testing.assert_array_equal(out.numpy(), b[0, 0] - b)


def test_c_functions_in_formulas() -> None:
    A = te.placeholder((6,), name="A", dtype="float64")  # noqa: N806
    B = te.compute((6,), lambda i: tvm.tir.call_pure_extern("float64", "cbrt", A[i]))  # noqa: N806
    C = te.compute((6,), lambda i: tvm.tir.call_extern("float64", "cbrt", B[i]) + 1)  # noqa: N806
    f = tvm.build(te.create_schedule(C.op), [A, C])
    a = np.arange(6, dtype="float64")
    out = tvm.nd.array(np.zeros(6))
    f(tvm.nd.array(a), out)
    np.testing.assert_allclose(out.numpy(), np.cbrt(np.cbrt(a)) + 1)


def test_attributes_of_operations() -> None:
    A = te.placeholder((4,), name="A")  # noqa: N806
    B = te.compute((4,), lambda i: A[i], attrs={"n": 1, "way": "up", "all": [2, 3]})  # noqa: N806
    again = tvm.ir.load_json(tvm.ir.save_json(B))
    for op in (B.op, again.op):
        assert (op.attrs["n"].value, op.attrs["way"].value) == (1, "up")
        assert [v.value for v in op.attrs["all"]] == [2, 3]
        assert json.loads(str(op.attrs)) == {"n": 1, "way": "up", "all": [2, 3]}
        assert "down" not in op.attrs


def test_reading_a_tensor_in_steps() -> None:
    A = te.placeholder((4, 5), name="A")  # noqa: N806
    B = te.compute((5,), lambda i: A[1][i] + A[2, i], name="B")  # noqa: N806
    f = tvm.build(te.create_schedule(B.op), [A, B])
    a, b = values(4, 5), tvm.nd.empty((5,), "float32")
    f(tvm.nd.array(a), b)
    np.testing.assert_allclose(b.numpy(), a[1] + a[2], rtol=1e-6)


def test_a_range_that_depends_on_the_element() -> None:
    A = te.placeholder((6,), name="A")  # noqa: N806
    B = te.compute(  # noqa: N806
        (6,),
        lambda i: te.sum(A[r], axis=r) if (r := te.reduce_axis((0, i + 1))) is not None else 0,
        name="B",
    )
    f = tvm.build(te.create_schedule(B.op), [A, B])
    a, b = values(6), tvm.nd.empty((6,), "float32")
    f(tvm.nd.array(a), b)
    np.testing.assert_allclose(b.numpy(), np.cumsum(a), rtol=1e-5)


def test_numbers_of_different_types_meet() -> None:
    A = te.placeholder((6,), "int32", name="A")  # noqa: N806
    B = te.compute((6,), lambda i: A[i] * 0.5 + i + te.const(1, "int32"), name="B")  # noqa: N806
    assert B.dtype == "float32"
    f = tvm.build(te.create_schedule(B.op), [A, B])
    a, b = np.arange(6, dtype="int32"), tvm.nd.empty((6,), "float32")
    f(tvm.nd.array(a), b)
    np.testing.assert_allclose(b.numpy(), a * 0.5 + np.arange(6) + 1)


def test_schedules_and_formulas_as_json() -> None:
    A = te.placeholder((8, 8), name="A")  # noqa: N806
    k = te.reduce_axis((0, 8), "k")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")  # noqa: N806
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], factor=2)
    again = tvm.ir.load_json(tvm.ir.save_json(s))
    assert isinstance(again, te.schedule.Schedule)
    assert str(again.outputs[0].body) == str(s.outputs[0].body)
    assert str(again.replay().schedule) == str(s.replay().schedule)
    with pytest.raises(ParseError, match=r"not written by tvm\.ir\.save_json"):
        tvm.ir.load_json('{"format": "tvmlab-nodes", "version": 1, "root": {"node": 0}, "nodes": '
                         '[{"class": "os:system", "fields": {}}]}')  # fmt: skip


def test_pictures_of_a_schedule() -> None:
    A = te.placeholder((8, 8, 4, 1), name="A")  # noqa: N806
    W = te.placeholder((3, 3, 4, 4), name="W")  # noqa: N806
    with tvm.target.Target("llvm"):
        out = topi.nn.relu(topi.nn.conv2d_hwcn(A, W, 1, "SAME", 1))
        s = topi.generic.schedule_conv2d_hwcn([out])
    s[out].split(out.op.axis[0], factor=4)
    flow = tedd.viz_dataflow_graph(s, output_dot_string=True)
    tree = tedd.viz_schedule_tree(s, output_dot_string=True)
    axes = tedd.viz_itervar_relationship_graph(s, output_dot_string=True)
    assert flow is not None
    assert "stage_A -> stage_pad_temp" in flow
    assert tree is not None
    assert "_outer data_par of 2" in tree
    assert axes is not None
    assert 'label="split"' in axes


def test_a_function_of_the_users_by_its_rule() -> None:
    tvm.ir.register_op_attr("tir.mylog", "TCallEffectKind", tvm.tir.CallEffectKind.Pure)
    tvm.ir.register_intrin_lowering(
        "tir.mylog",
        target="cuda",
        f=lambda op: tvm.tir.call_pure_extern(op.dtype, "logf", op.args[0]),
        level=99,
    )
    A = te.placeholder((6,), name="A")  # noqa: N806
    B = te.compute((6,), lambda i: tvm.tir.call_intrin("float32", "tir.mylog", A[i]), name="B")  # noqa: N806
    f = tvm.build(te.create_schedule(B.op), [A, B])
    a, b = values(6) + 1, tvm.nd.empty((6,), "float32")
    f(tvm.nd.array(a), b)
    np.testing.assert_allclose(b.numpy(), np.log(a), rtol=1e-5)
    with pytest.warns(UserWarning, match=r"tvmlab computes tir\.exp itself"):
        tvm.ir.register_intrin_lowering("tir.exp", target="cuda", f=lambda op: op, level=99)


def test_the_simplifier() -> None:
    analyzer = tvm.arith.Analyzer()
    x = te.var("x")
    analyzer.bind(x, tvm.ir.Range(tvm.tir.const(0, "int64"), tvm.tir.const(8, "int64")))
    assert analyzer.simplify((x * 8 + 3) // 8) is x
    assert analyzer.can_prove(x < 8)
    assert analyzer.const_int_bound(x * 2).max_value == 14


def test_names_of_nodes() -> None:
    x = te.var("x")
    assert isinstance(x + 1, tvm.tir.Add)
    assert isinstance(tvm.tir.const(1, "int32"), tvm.tir.IntImm)
    assert not isinstance(x, tvm.tir.Call)
    assert isinstance(tvm.tir.Select(x < 1, x, 2), tvm.tir.Select)


def test_registered_functions() -> None:
    @tvm.register_func("test.compat.double", override=True)
    def double(x: int) -> int:
        return x * 2

    found = tvm.get_global_func("test.compat.double")
    assert found is not None
    assert found(4) == double(4) == 8
    assert tvm.get_global_func("test.compat.none", allow_missing=True) is None
