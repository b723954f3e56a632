"""What the notebooks of browser tests begin with."""

MATMUL = """
import tvmlab as tl
from tvmlab import te

N = 128
A = te.placeholder((N, N), name="A")
B = te.placeholder((N, N), name="B")
k = te.reduce_axis(N, "k")
C = te.compute((N, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
sch = tl.Schedule(C)
"""
