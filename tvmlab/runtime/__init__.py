"""Running compiled kernels: arrays, calls, threads, timing, the cache of machine code.

Knows nothing of the compiler: a saved module runs with this package alone.
"""

from .array import empty, gathered
from .cache import ObjectCache, default_cache_dir
from .engine import LoadedCode, load_ir, load_object
from .footprint import peak_process_bytes
from .foreign import ForeignKernel
from .functions import find_function, packed_function, register_function
from .graph_module import GraphModule, StepTime, create
from .kernel import Kernel
from .library import KernelLibrary, ObjectLibrary, SharedLibrary
from .plan import Plan, PlanStep, TensorSpec
from .pool import Chunking, get_num_threads, num_threads, pin_threads, set_num_threads, set_spin
from .saved import load
from .signature import BufferParam, Dim, Param, ScalarParam, Signature, evaluate_dim
from .symbols import C_TYPES, call_symbol, find_symbol, load_library, value_of_symbol
from .timing import Timing, measure, measure_loop

__all__ = [
    "C_TYPES",
    "BufferParam",
    "Chunking",
    "Dim",
    "ForeignKernel",
    "GraphModule",
    "Kernel",
    "KernelLibrary",
    "LoadedCode",
    "ObjectCache",
    "ObjectLibrary",
    "Param",
    "Plan",
    "PlanStep",
    "ScalarParam",
    "SharedLibrary",
    "Signature",
    "StepTime",
    "TensorSpec",
    "Timing",
    "call_symbol",
    "create",
    "default_cache_dir",
    "empty",
    "evaluate_dim",
    "find_function",
    "find_symbol",
    "gathered",
    "get_num_threads",
    "load",
    "load_ir",
    "load_library",
    "load_object",
    "measure",
    "measure_loop",
    "num_threads",
    "packed_function",
    "peak_process_bytes",
    "pin_threads",
    "register_function",
    "set_num_threads",
    "set_spin",
    "value_of_symbol",
]
