"""Passes over loop programs: tvmlab's own run inside `tvm.build`, so none is offered by name."""

from __future__ import annotations

from tvmlab.compat.tvm.missing import missing

__getattr__ = missing("tvm.tir.transform")
