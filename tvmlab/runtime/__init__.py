"""Running compiled kernels: arrays, calls, threads, timing, the cache of machine code.

Knows nothing of the compiler: a saved module runs with this package alone.
"""

from .array import empty
from .cache import ObjectCache, default_cache_dir
from .engine import LoadedCode, load_ir, load_object
from .functions import find_function, packed_function, register_function
from .kernel import Kernel
from .pool import Chunking, get_num_threads, num_threads, set_num_threads, set_spin
from .signature import BufferParam, Dim, Param, ScalarParam, Signature
from .symbols import C_TYPES, call_symbol, find_symbol, load_library, value_of_symbol
from .timing import Timing, measure, measure_loop

__all__ = [
    "C_TYPES",
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
    "call_symbol",
    "default_cache_dir",
    "empty",
    "find_function",
    "find_symbol",
    "get_num_threads",
    "load_ir",
    "load_library",
    "load_object",
    "measure",
    "measure_loop",
    "num_threads",
    "packed_function",
    "register_function",
    "set_num_threads",
    "set_spin",
    "value_of_symbol",
]
