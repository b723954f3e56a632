"""Networks without files: each written down once, and told to all who are to compute it."""

from .recipe import Recipe
from .sequence import encoder, lstm_model
from .to_graph import to_graph
from .to_onnx import to_onnx
from .to_torch import to_torch
from .vision import dcgan, dqn, mobilenet_v1, mobilenet_v2, resnet18, resnet50

NETWORKS = {
    "resnet18": resnet18,
    "resnet50": resnet50,
    "mobilenet-v1": mobilenet_v1,
    "mobilenet-v2": mobilenet_v2,
    "dcgan": dcgan,
    "dqn": dqn,
    "lstm": lstm_model,
    "encoder": encoder,
}

__all__ = ["NETWORKS", "Recipe", "to_graph", "to_onnx", "to_torch"]
