"""Names of TVM's containers; Python's own are used."""

from __future__ import annotations

from .missing import missing

Map = dict
Array = (list, tuple)

__all__ = ["Array", "Map"]

__getattr__ = missing("tvm.container")
