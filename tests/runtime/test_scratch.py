"""Memory kept for intermediates: large blocks come back, foreign ones go to the C library."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tvmlab import te
from tvmlab.driver import build
from tvmlab.runtime.engine import load_ir
from tvmlab.runtime.scratch_ir import GIVE, LEAST, MOST, SLOTS, TAKE, WASTE, scratch_ir
from tvmlab.schedule import Schedule


class Memory:
    """The two functions, with slots of their own."""

    def __init__(self) -> None:
        self._code = load_ir(scratch_ir(), (TAKE, GIVE))
        self.take = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int64, ctypes.c_int64)(
            self._code[TAKE]
        )
        self.give = ctypes.CFUNCTYPE(None, ctypes.c_size_t)(self._code[GIVE])


@pytest.fixture
def memory() -> Memory:
    return Memory()


def test_a_block_comes_back(memory: Memory) -> None:
    first = memory.take(64, LEAST)
    second = memory.take(64, LEAST)
    assert first != second
    assert first % 64 == second % 64 == 0
    memory.give(first)
    assert memory.take(64, LEAST) == first
    memory.give(second)
    assert memory.take(64, 2 * LEAST) not in (first, second)


def test_a_block_is_not_given_for_far_less(memory: Memory) -> None:
    large = memory.take(64, (WASTE + 1) * LEAST)
    memory.give(large)
    assert memory.take(64, LEAST) != large
    assert memory.take(64, 2 * LEAST) == large


def test_more_blocks_than_slots(memory: Memory) -> None:
    blocks = [memory.take(64, LEAST + 64 * n) for n in range(2 * SLOTS)]
    assert len(set(blocks)) == len(blocks)
    for block in blocks:
        ctypes.memset(block, 7, LEAST)
        memory.give(block)
    again = [memory.take(64, MOST) for _ in range(SLOTS + 1)]  # in the place of idle ones
    assert len(set(again)) == len(again)
    for block in again:
        memory.give(block)


@pytest.mark.parametrize(("align", "size"), [(64, 64), (64, MOST + 64), (4096, 2 * LEAST)])
def test_other_blocks_are_the_c_librarys(memory: Memory, align: int, size: int) -> None:
    block = memory.take(align, size)
    assert block % align == 0
    memory.give(block)
    memory.give(0)


def test_blocks_lent_at_once_are_apart(memory: Memory) -> None:
    def work(number: int) -> bool:
        fine = True
        for step in range(200):
            size = LEAST * (1 + (number + step) % 3)
            block = memory.take(64, size)
            ctypes.memset(block, number, size)
            fine &= ctypes.string_at(block, size) == bytes([number]) * size
            memory.give(block)
        return fine

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(1, 7)))


def test_kernels_of_several_threads_have_their_own() -> None:
    a = te.placeholder((256, 256), name="A")
    b = te.compute((256, 256), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((256, 256), lambda i, j: b[255 - i, j] + b[i, 255 - j], name="C")
    kernel = build(Schedule(c))

    def work(number: int) -> bool:
        x = np.full((256, 256), number, np.float32)
        out = np.empty_like(x)
        for _ in range(20):
            out.fill(0)
            kernel(x, out)
            if not (out == 4.0 * number).all():
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))
