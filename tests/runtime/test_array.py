"""Arrays for kernels: where they lie, and that they hold what was put in."""

from __future__ import annotations

import numpy as np
import pytest

from tvmlab.runtime import empty, gathered


@pytest.mark.parametrize("count", [1, 5, 1 << 20])
def test_data_begins_at_a_cache_line(count: int) -> None:
    array = empty((count, 3))
    array[...] = 2
    assert array.ctypes.data % 64 == 0
    assert array.sum() == 6 * count
    assert array.flags.writeable


def test_arrays_are_gathered_in_one_piece() -> None:
    turned = np.arange(6, dtype=np.int8).reshape(2, 3).T
    given = {"a": turned, "b": np.float32(3), "c": np.zeros((0, 2)), "d": np.ones(1 << 20)}
    made = gathered({name: np.asarray(array) for name, array in given.items()})
    for name, array in given.items():
        np.testing.assert_array_equal(made[name], array)
        assert made[name].dtype == np.asarray(array).dtype
        assert made[name].flags.c_contiguous
        assert made[name].ctypes.data % 64 == 0
    assert made["d"].ctypes.data - made["a"].ctypes.data == 128
    made["a"][0] = 9
    assert turned[0, 0] == 0
