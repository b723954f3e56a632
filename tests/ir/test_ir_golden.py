"""The printed form of programs at several stages, kept in golden files."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.golden import check_golden

from tvmlab.ir import parse, structural_equal, to_text

GOLDEN = Path(__file__).parent / "golden"

# Written by hand, in a freer form than the printer's; the golden file is what the printer makes.
PROGRAMS = {
    "matmul_blocks": """
        def matmul(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64]):
            for i in range(64):
                for j in range(64):
                    for k in range(64):
                        with block("C", vi=spatial(64, i), vj=spatial(64, j), vk=reduce(64, k)):
                            with init():
                                C[vi, vj] = 0
                            C[vi, vj] += A[vi, vk] * B[vk, vj]
        """,
    "split_with_predicate": """
        def scale(A: float16[100], B: float16[100]):
            for i_outer in parallel(7, grain=2):
                for i_inner in vectorized(16):
                    with block("B", vi=spatial(100, i_outer * 16 + i_inner)):
                        where(i_outer * 16 + i_inner < 100)
                        annotate(pragma="stream", **{"tile.size": 16})
                        B[vi] = A[vi] * 0.5
        """,
    "padding": """
        def pad(n: int64, A: int8[n, n], B: int32[n + 2, n + 2]):
            T = alloc(int8[n + 2, n + 2], scope="local")
            for i in range(n + 2):
                for j in range(n + 2):
                    with block("T", vi=spatial(n + 2, i), vj=spatial(n + 2, j)):
                        T[vi, vj] = A[vi - 1, vj - 1] if 1 <= vi <= n and 1 <= vj <= n else 0
            for i in range(n + 2):
                for j in range(n + 2):
                    with block("B", vi=spatial(n + 2, i), vj=spatial(n + 2, j)):
                        B[vi, vj] = int32(T[vi, vj]) << 2
        """,
    "lowered_tail": """
        def tail(n: int64, A: float32[1024], B: float32[1024]):
            with alloc(float32[16], scope="register") as acc:
                for i in parallel(n // 16 + 1):
                    if i < n // 16:
                        acc[ramp(0, 1, 16)] = A[ramp(i * 16, 1, 16)]
                    elif n % 16 != 0:
                        acc[ramp(0, 1, 16)] = A.masked(
                            ramp(i * 16, 1, 16) < broadcast(n, 16)
                        )[ramp(i * 16, 1, 16)]
                    else:
                        pass
                    B.masked(ramp(i * 16, 1, 16) < broadcast(n, 16))[ramp(i * 16, 1, 16)] = fma(
                        acc[ramp(0, 1, 16)], broadcast(2.0, 16), broadcast(float32("-inf"), 16)
                    )
        """,
    "opaque_block": """
        def tiles(
            A: float32[8, 4], s: float32, B: buffer(float32[8, 4], scope="shared"), D: bool[()]
        ):
            for t in range(2):
                with block("tile", vt=opaque(2, t)):
                    reads(A[vt * 4:vt * 4 + 4, 0:4])
                    writes(B[vt * 4:vt * 4 + 4, 0:4], D[()])
                    for i in unrolled(4):
                        for j in range(4):
                            with block("copy", vi=spatial(4, i), vj=spatial(4, j)):
                                B[vt * 4 + vi, vj] = max(A[vt * 4 + vi, vj], -s)
                    D[()] = not (s < 1 or isnan(s)) == (s > -3)
                    exp(s)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_golden(name: str) -> None:
    program = parse(PROGRAMS[name])
    text = to_text(program)
    check_golden(GOLDEN / f"{name}.txt", text)
    assert structural_equal(parse(text), program)
