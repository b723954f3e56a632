"""The context of passes: its options are accepted where they have a meaning here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from tvmlab.support import OptionError, user_span

from .missing import missing, refused

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
        for key in self.config:
            _require_known(key)

    @staticmethod
    def current() -> PassContext:
        """The innermost context around."""
        return _current[-1] if _current else PassContext()

    def __enter__(self) -> PassContext:
        _current.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _current.pop()


_OWN_PASSES = "tir.add_lower_pass"
_UNNEEDED = (
    "te.keep_schedule_record", "tir.disable_assert", "tir.disable_cse_tir",
    "tir.disable_storage_rewrite", "tir.disable_vectorize", "tir.enable_equiv_terms_in_cse_tir",
    "tir.debug_keep_trivial_loop", "tir.detect_global_barrier", "tir.HoistExpression",
    "tir.HoistIfThenElse", "tir.InjectDoubleBuffer", "tir.InjectSoftwarePipeline",
    "tir.instrument_bound_checkers", "tir.is_entry_func", "tir.LoopPartition",
    "tir.merge_static_smem", "tir.noalias", "tir.ReduceBranchingThroughOvercompute",
    "tir.RemoveNoOp", "tir.Simplify", "tir.UnrollLoop", "tir.use_async_copy",
)  # fmt: skip
_OF_OTHER_PARTS = ("relay.", "relax.", "meta_schedule.", "tir.usmp.")


def _require_known(key: str) -> None:
    """Refuse an option that would change the program, and one that there never was."""
    if key == _OWN_PASSES:
        raise refused(
            f"the option {key}",
            "tvmlab's passes are fixed: change the loops by the schedule instead",
        )
    if key not in _UNNEEDED and not key.startswith(_OF_OTHER_PARTS):
        near = difflib.get_close_matches(key, _UNNEEDED, 3, 0.6)
        raise OptionError(
            f"there is no option {key!r} of a PassContext",
            hint=f"nearest are {', '.join(near)}" if near else "tvmlab's passes need no options",
            span=user_span(),
        )
