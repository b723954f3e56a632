"""Running compiled kernels: arrays, calls, threads, timing, the cache of machine code.

Knows nothing of the compiler: a saved module runs with this package alone.
"""

from .array import empty
from .cache import ObjectCache, default_cache_dir
from .engine import LoadedCode, load_object
from .kernel import Kernel
from .pool import Chunking, get_num_threads, num_threads, set_num_threads, set_spin
from .signature import BufferParam, Dim, Param, ScalarParam, Signature
from .timing import Timing, measure, measure_loop

__all__ = [
    "BufferParam",
    "Chunking",
    "Dim",
    "Kernel",
    "LoadedCode",
    "ObjectCache",
    "Param",
    "ScalarParam",
    "Signature",
    "Timing",
    "default_cache_dir",
    "empty",
    "get_num_threads",
    "load_object",
    "measure",
    "measure_loop",
    "num_threads",
    "set_num_threads",
    "set_spin",
]
