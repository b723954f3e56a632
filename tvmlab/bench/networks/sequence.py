"""Networks on sequences: a language model of LSTM layers, and the encoder of a transformer."""

from __future__ import annotations

from .recipe import Recipe

_WORDS = 10000


def lstm_model() -> Recipe:
    """A language model: two LSTM layers of 650 units, over 16 words of 10000."""
    net, units = Recipe("lstm", (16, 1), "int64", _WORDS), 650
    x = net.add("embedding", "x", [net.noise(_WORDS, units, scale=0.1)])
    for _ in range(2):
        bound = (1.0 / units) ** 0.5
        weights = [net.noise(4 * units, units, scale=bound) for _ in range(2)]
        weights += [net.noise(4 * units, scale=bound) for _ in range(2)]
        x = net.add("lstm", x, weights, units=units)
    net.dense(x, (units, _WORDS))
    return net


def encoder() -> Recipe:
    """The encoder of a transformer: 6 layers of width 384 with 6 heads, over 128 tokens."""
    tokens, width, heads = 128, 384, 6
    net = Recipe("encoder", (1, tokens, width))
    x = "x"
    for _ in range(6):
        parts = [_split(net, net.dense(x, (width, width)), tokens, heads) for _ in range(3)]
        a = net.add("attention", parts, scale=(width // heads) ** -0.5)
        a = net.add("transpose", a, perm=(0, 2, 1, 3))
        a = net.dense(net.add("reshape", a, shape=(1, tokens, width)), (width, width))
        x = _normalized(net, net.add("add", (x, a)), width)
        y = net.dense(net.add("gelu", net.dense(x, (width, 4 * width))), (4 * width, width))
        x = _normalized(net, net.add("add", (x, y)), width)
    return net


def _split(net: Recipe, x: str, tokens: int, heads: int) -> str:
    x = net.add("reshape", x, shape=(1, tokens, heads, 384 // heads))
    return net.add("transpose", x, perm=(0, 2, 1, 3))


def _normalized(net: Recipe, x: str, width: int) -> str:
    scale = abs(net.noise(width, scale=0.2)) + 1
    return net.add("layer_norm", x, [scale, net.noise(width, scale=0.1)])
