"""Other libraries as contenders; each is imported when a row is measured, and only in its file."""

from .numba_peer import numba_peer
from .numpy_peer import numpy_peer
from .onnx_peer import OnnxNode, model_peers, onnx_peers
from .torch_peer import compiled_module, compiled_torch, torch_peer
from .tvm_peer import tvm_model_peer, tvm_peer

__all__ = [
    "OnnxNode",
    "compiled_module",
    "compiled_torch",
    "model_peers",
    "numba_peer",
    "numpy_peer",
    "onnx_peers",
    "torch_peer",
    "tvm_model_peer",
    "tvm_peer",
]
