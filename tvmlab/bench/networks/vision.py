"""Networks on images: ResNet, MobileNet, the generator of a DCGAN, and a deep Q-network."""

from __future__ import annotations

from .recipe import Recipe

_IMAGE = (1, 3, 224, 224)


def resnet18() -> Recipe:
    """ResNet-18."""
    net = Recipe("resnet18", _IMAGE)
    x, channels = _stem(net), 64
    for width, blocks in ((64, 2), (128, 2), (256, 2), (512, 2)):
        for block in range(blocks):
            stride = 2 if block == 0 and width > 64 else 1
            y = _conv_norm(net, x, (channels, width), 3, stride, 1)
            y = _conv_norm(net, net.add("relu", y), (width, width), 3, 1, 1)
            x = _joined(net, x, y, (channels, width), stride)
            channels = width
    return _classified(net, x, channels)


def resnet50() -> Recipe:
    """ResNet-50, with the stride in the 3x3 convolution."""
    net = Recipe("resnet50", _IMAGE)
    x, channels = _stem(net), 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            stride = 2 if block == 0 and width > 64 else 1
            y = net.add("relu", _conv_norm(net, x, (channels, width), 1))
            y = net.add("relu", _conv_norm(net, y, (width, width), 3, stride, 1))
            y = _conv_norm(net, y, (width, 4 * width), 1)
            x = _joined(net, x, y, (channels, 4 * width), stride)
            channels = 4 * width
    return _classified(net, x, channels)


def _stem(net: Recipe) -> str:
    x = net.add("relu", _conv_norm(net, "x", (3, 64), 7, 2, 3))
    return net.add("max_pool", x, kernel=3, stride=2, pad=1)


def _conv_norm(
    net: Recipe, x: str, channels: tuple[int, int], kernel: int, stride: int = 1, pad: int = 0,
    groups: int = 1,
) -> str:  # fmt: skip
    return net.norm(net.conv(x, channels, kernel, stride, pad, groups), channels[1])


def _joined(net: Recipe, x: str, y: str, channels: tuple[int, int], stride: int) -> str:
    if stride > 1 or channels[0] != channels[1]:
        x = _conv_norm(net, x, channels, 1, stride)
    return net.add("relu", net.add("add", (y, x)))


def _classified(net: Recipe, x: str, channels: int) -> Recipe:
    net.dense(net.add("global_mean", x), (channels, 1000))
    return net


def mobilenet_v1() -> Recipe:
    """MobileNet v1 of full width."""
    net = Recipe("mobilenet-v1", _IMAGE)
    x, channels = net.add("relu6", _conv_norm(net, "x", (3, 32), 3, 2, 1)), 32
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2)]
    for width, stride in (*plan, (1024, 1)):
        x = _conv_norm(net, x, (channels, channels), 3, stride, 1, channels)
        x = _conv_norm(net, net.add("relu6", x), (channels, width), 1)
        x, channels = net.add("relu6", x), width
    return _classified(net, x, channels)


def mobilenet_v2() -> Recipe:
    """MobileNet v2 of full width."""
    net = Recipe("mobilenet-v2", _IMAGE)
    x, channels = net.add("relu6", _conv_norm(net, "x", (3, 32), 3, 2, 1)), 32
    plan = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1))  # fmt: skip
    for factor, width, count, first in plan:
        for number in range(count):
            stride, wide = first if number == 0 else 1, channels * factor
            y = x
            if factor > 1:
                y = net.add("relu6", _conv_norm(net, y, (channels, wide), 1))
            y = net.add("relu6", _conv_norm(net, y, (wide, wide), 3, stride, 1, wide))
            y = _conv_norm(net, y, (wide, width), 1)
            x = net.add("add", (y, x)) if stride == 1 and channels == width else y
            channels = width
    x = net.add("relu6", _conv_norm(net, x, (channels, 1280), 1))
    return _classified(net, x, 1280)


def dcgan() -> Recipe:
    """The generator of a DCGAN: from 100 numbers to an image of 64x64 pixels."""
    net = Recipe("dcgan", (1, 100, 1, 1))
    x, channels = "x", 100
    for number, width in enumerate((512, 256, 128, 64)):
        stride, pad = (1, 0) if number == 0 else (2, 1)
        x = net.norm(net.conv_transpose(x, (channels, width), 4, stride, pad), width)
        x, channels = net.add("relu", x), width
    net.add("tanh", net.conv_transpose(x, (channels, 3), 4, 2, 1))
    return net


def dqn() -> Recipe:
    """The network that plays Atari games, for six actions."""
    net = Recipe("dqn", (1, 4, 84, 84))
    x = net.add("relu", net.conv("x", (4, 32), 8, 4, bias=True))
    x = net.add("relu", net.conv(x, (32, 64), 4, 2, bias=True))
    x = net.add("relu", net.conv(x, (64, 64), 3, 1, bias=True))
    x = net.add("relu", net.dense(net.add("flatten", x), (3136, 512)))
    net.dense(x, (512, 6))
    return net
