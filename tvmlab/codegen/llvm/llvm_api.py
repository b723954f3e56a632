"""llvmlite's binding, imported and initialised once, on first need."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def binding() -> Any:
    """The module `llvmlite.binding` with every target ready (untyped: llvmlite has no types)."""
    from llvmlite import binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm
