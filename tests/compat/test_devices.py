"""Programs for devices: what their kernels ask for, and what a target allows."""

# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import pytest

import tvmlab.compat.tvm as tvm
from tvmlab.compat.tvm import te
from tvmlab.lower import device_uses
from tvmlab.support import UserError


def staged(threads: int, each: int = 1) -> tuple[Any, list[Any]]:
    """Groups of threads that share a tile of what they read."""
    size = 4 * threads * each
    a = te.placeholder((size,), name="A")
    b = te.compute((size,), lambda i: a[i] * 2.0, name="B")
    s = te.create_schedule(b.op)
    outer, inner = s[b].split(b.op.axis[0], factor=threads * each)
    inner, _ = s[b].split(inner, factor=each)
    s[b].bind(outer, te.thread_axis("blockIdx.x"))
    s[b].bind(inner, te.thread_axis("threadIdx.x"))
    tile = s.cache_read(a, "shared", [b])
    s[tile].compute_at(s[b], outer)
    x, _ = s[tile].split(s[tile].op.axis[0], factor=each)
    s[tile].bind(x, te.thread_axis("threadIdx.x"))
    return s, [a, b]


def test_kernels_tell_their_threads_and_memory() -> None:
    s, args = staged(64, 2)
    (use,) = device_uses(tvm.lower(s, args, simple_mode=True).program)
    assert (use.threads, use.group_size, use.shared_bytes) == ({"threadIdx.x": 64}, 64, 512)


def test_too_many_threads_are_refused() -> None:
    s, args = staged(2048)
    text = (
        r"a group would have 2048 threads, 2048 \(threadIdx.x\), but the target's max_num_threads "
        r"is 1024"
    )
    with pytest.raises(UserError, match=text):
        tvm.build(s, args, "cuda")
    tvm.build(s, args, "cuda -max_num_threads=2048")


def test_too_much_shared_memory_is_refused() -> None:
    s, args = staged(512, 32)
    text = "would share 65536 bytes, but the target's max_shared_memory_per_block is 49152"
    with pytest.raises(UserError, match=text):
        tvm.build(s, args, "cuda")
    tvm.build(s, args, "cuda -max_shared_memory_per_block=65536")


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({"max_threads_per_block": 64, "max_shared_memory_per_block": 512}, True),
        ({"max_threads_per_block": 63}, False),
        ({"max_shared_memory_per_block": 511}, False),
        ({"max_thread_x": 32}, False),
        ({"max_thread_y": 1}, True),
    ],
)
def test_limits_are_verified(limits: dict[str, int], fits: bool) -> None:
    s, args = staged(64, 2)
    function = tvm.lower(s, args)["main"]
    assert tvm.tir.analysis.verify_gpu_code(function, limits) is fits
