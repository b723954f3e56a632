"""The shipped model, which is read once in a process, and a Python without XGBoost."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

_PRETRAINED: Any = importlib.import_module("tvmlab.tune.models.pretrained")
NEEDS_XGBOOST = (
    "the learned cost model needs XGBoost, which is not installed\n"
    'hint: pip install "tvmlab[tune]"'
)  # fmt: skip


def forget_shipped_model() -> None:
    """Have its file read again on next use."""
    _PRETRAINED._shipped.cache_clear()


def hide_xgboost(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the length of a test, be a Python in which XGBoost is not installed."""
    monkeypatch.setitem(sys.modules, "xgboost", None)
    forget_shipped_model()
