"""llvmlite's binding: the one place that imports it, on first need.

`target` asks it about the host, `codegen` has it compile, `runtime` has it load; none of them may
make `import tvmlab` slower.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def llvm_binding() -> Any:
    """The module `llvmlite.binding` with every target ready (untyped: llvmlite has no types)."""
    from llvmlite import binding  # pyright: ignore[reportMissingTypeStubs]

    llvm: Any = binding
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def llvm_version() -> str:
    """The version of LLVM in use."""
    return ".".join(str(part) for part in llvm_binding().llvm_version_info)
