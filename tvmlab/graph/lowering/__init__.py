"""Operators as formulas of the tensor language."""

from . import blocked, elementwise, gather, layers, normalize, order, products, quantized, shape
from .registry import LOWERINGS, Site, lower_node

# Importing these modules filled the table; each is named so that none is missed.
FAMILIES = (blocked, elementwise, gather, layers, normalize, order, products, quantized, shape)

__all__ = ["FAMILIES", "LOWERINGS", "Site", "lower_node"]
