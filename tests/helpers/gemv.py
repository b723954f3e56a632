"""A matrix-vector intrinsic of 16 x 64, whose code is functions in LLVM IR, as C compilers emit."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab import te
from tvmlab.ir import Stmt
from tvmlab.te import TensorIntrin, View

GEMV_LLVM = """
define void @gemv_reset(ptr %cc, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr float, ptr %cc, i64 %i
  store float 0.0, ptr %p
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %m
  br i1 %more, label %loop, label %done
done:
  ret void
}

define void @gemv_update(ptr %cc, ptr %aa, ptr %bb, i64 %m, i64 %l, i64 %stride) {
entry:
  br label %row
row:
  %i = phi i64 [ 0, %entry ], [ %inext, %rowend ]
  %start = mul i64 %i, %stride
  %pc = getelementptr float, ptr %cc, i64 %i
  %before = load float, ptr %pc
  br label %column
column:
  %j = phi i64 [ 0, %row ], [ %jnext, %column ]
  %sum = phi float [ %before, %row ], [ %after, %column ]
  %at = add i64 %start, %j
  %pb = getelementptr float, ptr %bb, i64 %at
  %pa = getelementptr float, ptr %aa, i64 %j
  %b = load float, ptr %pb
  %a = load float, ptr %pa
  %ab = fmul float %a, %b
  %after = fadd float %sum, %ab
  %jnext = add i64 %j, 1
  %jmore = icmp slt i64 %jnext, %l
  br i1 %jmore, label %column, label %rowend
rowend:
  store float %after, ptr %pc
  %inext = add i64 %i, 1
  %imore = icmp slt i64 %inext, %m
  br i1 %imore, label %row, label %done
done:
  ret void
}
"""


def gemv(m: int = 16, length: int = 64, name: str = "gemv") -> TensorIntrin:
    """`c[i] = sum(a[k] * b[i, k])`, with any distance between the rows of b."""
    a = te.placeholder((length,), name="a")
    b = te.placeholder((m, length), name="b")
    k = te.reduce_axis(length, "k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    rows = te.decl_buffer(b.shape, b.dtype, name="B", offset_factor=1, strides=[te.var("s"), 1])
    column = te.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1])
    out = te.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1])

    def code(ins: Sequence[View], outs: Sequence[View]) -> tuple[Stmt, Stmt, Stmt]:
        aa, bb = ins
        (cc,) = outs

        def reset() -> Stmt:
            ib = te.ir_builder.create()
            ib.emit(te.call_extern("int32", "gemv_reset", cc.access_ptr("w"), m))
            return ib.get()

        def update() -> Stmt:
            ib = te.ir_builder.create()
            pointers = cc.access_ptr("rw"), aa.access_ptr("r"), bb.access_ptr("r")
            ib.emit(te.call_extern("int32", "gemv_update", *pointers, m, length, bb.strides[0]))
            return ib.get()

        both = te.ir_builder.create()
        both.emit(reset())
        both.emit(update())
        return both.get(), reset(), update()

    return te.decl_tensor_intrin(
        c.op, code, name=name, binds={a: column, b: rows, c: out}, llvm=GEMV_LLVM
    )
