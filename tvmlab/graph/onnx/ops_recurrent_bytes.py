"""The recurrent layer of ONNX Runtime whose weights are bytes, as quantized models have it."""

from __future__ import annotations

from collections.abc import Callable

from .ops_recurrent import Layer, lstm
from .registry import Site, onnx_op
from .values import Value


class _ByteLayer(Layer):
    """Weights (in, gates) in bytes, with scales and zero points behind the usual inputs."""

    def factor(self, number: int) -> Callable[[str], str]:
        """The product of rows, which are brought to bytes as they come, by weights in bytes."""
        site, figures = self.site, 8 + 2 * (number - 1)
        scale = Value(site, self.part(figures)).reshape(-1)
        weights = Value(site, self.part(number)).cast("int32")
        if site.has(figures + 1):
            weights = weights - Value(site, self.part(figures + 1)).reshape(-1).cast("int32")

        def product(rows: str) -> str:
            values, step = _centered_bytes(Value(site, rows))
            total = site.add("matmul_integer", values.name, weights.name)
            return (Value(site, total).cast("float32") * (step * scale)).name

        return product


def _centered_bytes(rows: Value) -> tuple[Value, Value]:
    """Whole numbers, less their zero point, and the step between them: 256 from least to most."""
    low, high = (rows.reduce(fold, 0, 1).reshape(1, 1) for fold in ("min", "max"))
    low, high = low.minimum(0), high.maximum(0)
    step = (high - low) / 255
    step = (step > 0).where(step, 1, step)
    zero = (-low / step).round().within(0, 255)
    numbers = ((rows / step).round() + zero).within(0, 255)
    return (numbers - zero).cast("int32"), step


@onnx_op("DynamicQuantizeLSTM", domain="com.microsoft")
def _dynamic_quantize_lstm(site: Site) -> list[str]:
    return lstm(site, _ByteLayer)
