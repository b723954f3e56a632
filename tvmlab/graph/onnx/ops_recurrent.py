"""Converters of recurrent layers, written out step by step.

What does not depend on the step before, the product with the inputs, is computed for all steps at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .registry import Site, onnx_op

_LONGEST = 1024


@dataclass
class Layer:
    """One direction of a layer: its weights, and sizes."""

    site: Site
    direction: int
    gates: int
    hidden: int
    steps: int
    batch: int

    def part(self, number: int) -> str:
        """The slice of an input that is for the direction."""
        value = self.site[number]
        shape = self.site.shape_of(value)
        d = self.direction
        cut = self.site.add("slice", value, starts=(d,), ends=(d + 1,), axes=(0,), steps=(1,))
        return self.site.reshape(cut, shape[1:])

    def columns(self, value: str, first: int, count: int, axis: int = -1) -> str:
        """Some of the gates, each of the hidden size."""
        h = self.hidden
        return self.site.add("slice", value, starts=(first * h,), ends=((first + count) * h,),
                             axes=(axis,), steps=(1,))  # fmt: skip

    def row(self, value: str, step: int) -> str:
        """What a value says of a step."""
        return self.site.add("slice", value, starts=(step,), ends=(step + 1,), axes=(0,),
                             steps=(1,))  # fmt: skip

    def factor(self, number: int) -> Callable[[str], str]:
        """The product of rows by the weights that are an input."""
        weights = self.part(number)
        return lambda rows: self.site.add("matmul", rows, weights, transpose_b=True)

    def initial(self, number: int) -> str:
        """The state before the first step: an input, or zeros."""
        if self.site.has(number):
            return self.part(number)
        zero = np.zeros((self.batch, self.hidden), self.site.type().dtype.numpy)
        return self.site.param(zero)


def _activation(
    site: Site, name: str, alpha: float | None, beta: float | None
) -> Callable[[str], str]:
    plain = {"sigmoid": "sigmoid", "tanh": "tanh", "relu": "relu", "softsign": "softsign",
             "softplus": "softplus"}  # fmt: skip
    low = name.lower()
    if low in plain:
        return lambda v: site.add(plain[low], v)
    if low == "leakyrelu":
        return lambda v: site.add("leaky_relu", v, alpha=0.01 if alpha is None else alpha)
    if low == "hardsigmoid":
        return lambda v: site.add("hard_sigmoid", v, alpha=0.2 if alpha is None else alpha,
                                  beta=0.5 if beta is None else beta)  # fmt: skip
    if low == "affine":
        a, b = 1.0 if alpha is None else alpha, beta or 0.0
        return lambda v: site.add("add", site.add("multiply", v, site.scalar(a, v)),
                                  site.scalar(b, v))  # fmt: skip
    raise site.error(f"the activation {name!r} is not supported")


def _activations(
    site: Site, direction: int, defaults: tuple[str, ...]
) -> list[Callable[[str], str]]:
    names = site.attr("activations", ())
    alphas, betas = site.attr("activation_alpha", ()), site.attr("activation_beta", ())
    count = len(defaults)
    own = list(names[direction * count : (direction + 1) * count]) or list(defaults)
    first = direction * count
    return [
        _activation(site, name, _at(alphas, first + n), _at(betas, first + n))
        for n, name in enumerate(own)
    ]


def _at(values: Sequence[float], number: int) -> float | None:
    return values[number] if number < len(values) else None


Cell = Callable[[Any, str, list[str]], list[str]]


def recurrent(site: Site, gates: int, states: tuple[int, ...], cell: Callable[[Layer], Cell],
               joined: bool = True, kind_of: type[Layer] = Layer) -> list[str]:  # fmt: skip
    """Run a cell over all steps in one or both directions.

    `states` are the inputs that hold initial states; the first of them is the output. If the biases
    of inputs and state are not `joined`, that of the state is the cell's.
    """
    batch_first = bool(site.attr("layout", 0))
    x = site.add("transpose", site[0], perm=(1, 0, 2)) if batch_first else site[0]
    steps, batch, width = (int(s) for s in site.around.type_of(x).sizes)
    hidden = int(site.attr("hidden_size", site.type(2).sizes[2]))
    kind = site.attr("direction", "forward")
    if kind not in ("forward", "reverse", "bidirectional") or steps > _LONGEST:
        raise site.error(f"direction is {kind!r}, with {steps} steps",
                         hint=f"at most {_LONGEST} steps are written out")  # fmt: skip
    lengths = site.get(4)
    count = 2 if kind == "bidirectional" else 1
    sequences: list[str] = []
    finals: list[list[str]] = []
    for d in range(count):
        layer = kind_of(site, d, gates, hidden, steps, batch)
        flat = site.reshape(x, [steps * batch, width])
        given = layer.factor(1)(flat)
        if site.has(3):
            both = layer.part(3)
            bias = layer.columns(both, 0, gates, 0)
            if joined:
                bias = site.add("add", bias, layer.columns(both, gates, gates, 0))
            given = site.add("add", given, bias)
        given = site.reshape(given, [steps, batch, gates * hidden])
        backwards = kind == "reverse" or d == 1
        outputs, last = _steps(layer, given, [_state(site, layer, batch_first, n) for n in states],
                               cell(layer), backwards, lengths)  # fmt: skip
        sequences.append(site.reshape(site.add("concat", *outputs, axis=0),
                                      [steps, 1, batch, hidden]))  # fmt: skip
        finals.append([site.reshape(s, [1, batch, hidden]) for s in last])
    whole = site.add("concat", *sequences, axis=1) if count > 1 else sequences[0]
    ends = [site.add("concat", *(f[n] for f in finals), axis=0) for n in range(len(states))]
    if batch_first:
        whole = site.add("transpose", whole, perm=(2, 0, 1, 3))
        ends = [site.add("transpose", e, perm=(1, 0, 2)) for e in ends]
    return [whole, *ends]


def _state(site: Site, layer: Layer, batch_first: bool, number: int) -> str:
    if batch_first and site.has(number):
        moved = site.add("transpose", site[number], perm=(1, 0, 2))
        site.inputs[number], kept = moved, site.inputs[number]
        found = layer.initial(number)
        site.inputs[number] = kept
        return found
    return layer.initial(number)


def _steps(layer: Layer, given: str, state: list[str], cell: Cell, backwards: bool,
           lengths: str) -> tuple[list[str], list[str]]:  # fmt: skip
    site, shape = layer.site, [layer.batch, layer.gates * layer.hidden]
    outputs: dict[int, str] = {}
    alive = _alive(layer, lengths) if lengths else ""
    order = range(layer.steps - 1, -1, -1) if backwards else range(layer.steps)
    for step in order:
        new = cell(step, site.reshape(layer.row(given, step), shape), state)
        if alive:
            goes_on = site.reshape(layer.row(alive, step), [layer.batch, 1])
            zero = site.scalar(0, new[0])
            outputs[step] = site.add("where", goes_on, new[0], zero)
            state = [site.add("where", goes_on, n, o) for n, o in zip(new, state, strict=True)]
        else:
            outputs[step], state = new[0], new
    return [outputs[s] for s in range(layer.steps)], state


def _alive(layer: Layer, lengths: str) -> str:
    """For each step and each sequence whether it is that long.

    Of all steps at once: a step with its number in it would be a kernel of its own.
    """
    site, kind = layer.site, layer.site.dtype_of(lengths).numpy
    numbers = site.param(np.arange(layer.steps, dtype=kind).reshape(-1, 1))
    return site.add("greater", site.reshape(lengths, [1, layer.batch]), numbers)


@onnx_op("LSTM")
def _lstm(site: Site) -> list[str]:
    return lstm(site)


def lstm(site: Site, kind_of: type[Layer] = Layer) -> list[str]:
    """Gates in the order input, output, forget, cell; peepholes for the first three."""
    if site.attr("input_forget", 0):
        raise site.error("coupled input and forget gates are not supported")

    def cell(layer: Layer) -> Cell:
        f, g, h = _activations(site, layer.direction, ("Sigmoid", "Tanh", "Tanh"))
        turned = layer.factor(2)
        peep = layer.part(7) if site.has(7) else ""
        clip = site.attr("clip", 0.0)

        def gate(total: str, number: int, state: str, spy: int) -> str:
            value = layer.columns(total, number, 1)
            if peep:
                value = site.add("add", value, site.add("multiply", state,
                                                        layer.columns(peep, spy, 1)))  # fmt: skip
            return site.add("clip", value, low=-clip, high=clip) if clip else value

        def run(step: Any, now: str, state: list[str]) -> list[str]:
            del step
            before, c = state
            total = site.add("add", now, turned(before))
            inward, forget = f(gate(total, 0, c, 0)), f(gate(total, 2, c, 2))
            fresh = layer.columns(total, 3, 1)
            fresh = g(site.add("clip", fresh, low=-clip, high=clip) if clip else fresh)
            new = site.add("add", site.add("multiply", forget, c),
                           site.add("multiply", inward, fresh))  # fmt: skip
            outward = f(gate(total, 1, new, 1))
            return [site.add("multiply", outward, h(new)), new]

        return run

    return recurrent(site, 4, (5, 6), cell, kind_of=kind_of)


@onnx_op("GRU")
def _gru(site: Site) -> list[str]:
    """Gates in the order update, reset, hidden."""
    linear = bool(site.attr("linear_before_reset", 0))

    def cell(layer: Layer) -> Cell:
        f, g = _activations(site, layer.direction, ("Sigmoid", "Tanh"))
        weights = layer.part(2)
        biases = layer.part(3) if site.has(3) else ""

        def factor(first: int, count: int) -> Callable[[str], str]:
            """What the state before contributes to some of the gates."""
            part = layer.columns(weights, first, count, 0)
            bias = layer.columns(biases, 3 + first, count, 0) if biases else ""

            def product(before: str) -> str:
                made = site.add("matmul", before, part, transpose_b=True)
                return site.add("add", made, bias) if bias else made

            return product

        gates, fresh_part = factor(0, 3 if linear else 2), factor(2, 1)

        def run(step: Any, now: str, state: list[str]) -> list[str]:
            del step
            before = state[0]
            whole = gates(before)
            both = f(site.add("add", layer.columns(now, 0, 2), layer.columns(whole, 0, 2)))
            z, r = layer.columns(both, 0, 1), layer.columns(both, 1, 1)
            if linear:
                inner = site.add("multiply", r, layer.columns(whole, 2, 1))
            else:
                inner = fresh_part(site.add("multiply", r, before))
            fresh = g(site.add("add", layer.columns(now, 2, 1), inner))
            difference = site.add("subtract", before, fresh)
            return [site.add("add", fresh, site.add("multiply", z, difference))]

        return run

    return recurrent(site, 3, (5,), cell, joined=False)


@onnx_op("RNN")
def _rnn(site: Site) -> list[str]:
    def cell(layer: Layer) -> Cell:
        (f,) = _activations(site, layer.direction, ("Tanh",))
        turned = layer.factor(2)

        def run(step: Any, now: str, state: list[str]) -> list[str]:
            del step
            return [f(site.add("add", now, turned(state[0])))]

        return run

    return recurrent(site, 1, (5,), cell)
