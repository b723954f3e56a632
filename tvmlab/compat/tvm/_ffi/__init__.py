"""Where old programs find the base of TVM's errors."""

from . import base

__all__ = ["base"]
