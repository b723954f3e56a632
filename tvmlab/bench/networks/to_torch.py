"""A recipe as a module of PyTorch."""
# PyTorch is imported by name, when it is asked for, so that nothing is known of its types.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from .recipe import Layer, Recipe


def to_torch(recipe: Recipe) -> Any:
    """The module, ready for inference."""
    torch: Any = import_module("torch")
    functional: Any = import_module("torch.nn.functional")
    steps: list[tuple[Layer, list[str], Callable[..., Any]]] = []

    class Network(torch.nn.Module):
        """The layers of the recipe, one after another."""

        def __init__(self) -> None:
            super().__init__()
            for layer in recipe.layers:
                names = [f"{layer.name}_w{n}" for n in range(len(layer.weights))]
                if layer.kind == "lstm":
                    setattr(self, layer.name, _lstm(torch, layer))
                    steps.append((layer, [layer.name], lambda f, o, x, lstm: lstm(x)[0]))
                    continue
                for name, array in zip(names, layer.weights, strict=True):
                    value = torch.from_numpy(np.ascontiguousarray(array))
                    self.register_parameter(name, torch.nn.Parameter(value, requires_grad=False))
                steps.append((layer, names, _LAYERS[layer.kind]))

        def forward(self, x: Any) -> Any:
            values = {"x": x}
            for layer, names, run in steps:
                weights = [getattr(self, name) for name in names]
                given = [values[i] for i in layer.inputs]
                values[layer.name] = run(functional, layer.options, *given, *weights)
            result = values[recipe.result]
            return result.squeeze(1) if recipe.dtype == "int64" else result

    return Network().eval()


def _lstm(torch: Any, layer: Layer) -> Any:
    units = layer.options["units"]
    made = torch.nn.LSTM(layer.weights[0].shape[1], units)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    made.load_state_dict(
        {n: torch.from_numpy(w) for n, w in zip(names, layer.weights, strict=True)}
    )
    return made


def _conv(f: Any, o: Any, x: Any, w: Any, b: Any = None) -> Any:
    return f.conv2d(x, w, b, o["stride"], o["pad"], 1, o["groups"])


def _max_pool(f: Any, o: Any, x: Any) -> Any:
    return f.max_pool2d(x, o["kernel"], o["stride"], o["pad"])


_LAYERS: dict[str, Callable[..., Any]] = {
    "conv": _conv,
    "conv_transpose": lambda f, o, x, w: f.conv_transpose2d(x, w, None, o["stride"], o["pad"]),
    "norm": lambda f, o, x, scale, bias, mean, var: f.batch_norm(x, mean, var, scale, bias),
    "relu": lambda f, o, x: f.relu(x),
    "relu6": lambda f, o, x: f.relu6(x),
    "tanh": lambda f, o, x: x.tanh(),
    "gelu": lambda f, o, x: f.gelu(x),
    "add": lambda f, o, x, y: x + y,
    "max_pool": _max_pool,
    "global_mean": lambda f, o, x: x.mean((2, 3)),
    "flatten": lambda f, o, x: x.flatten(1),
    "dense": lambda f, o, x, w, b=None: f.linear(x, w, b),
    "embedding": lambda f, o, x, w: f.embedding(x, w),
    "attention": lambda f, o, q, k, v: f.scaled_dot_product_attention(q, k, v, scale=o["scale"]),
    "transpose": lambda f, o, x: x.permute(o["perm"]),
    "reshape": lambda f, o, x: x.reshape(o["shape"]),
    "layer_norm": lambda f, o, x, w, b: f.layer_norm(x, w.shape, w, b),
}
