"""The context of passes: its options are accepted where they have a meaning here."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from .missing import missing

__getattr__ = missing("tvm.transform")

_current: list[PassContext] = []


class PassContext(AbstractContextManager["PassContext"]):
    """Options for what is built inside a `with` block; tvmlab's passes need none of them."""

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Any = None,
        disabled_pass: Any = None,
        instruments: Any = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        del required_pass, disabled_pass, instruments
        self.opt_level = opt_level
        self.config = dict(config or {})

    @staticmethod
    def current() -> PassContext:
        """The innermost context around."""
        return _current[-1] if _current else PassContext()

    def __enter__(self) -> PassContext:
        _current.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _current.pop()
