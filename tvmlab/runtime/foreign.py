"""Kernels for another machine: code to look at, to write to a file or to link, not to be called."""

from __future__ import annotations

from typing import Any, NoReturn

from tvmlab.support import RuntimeFailure

from .kernel import Kernel
from .signature import Signature
from .timing import Timing


class ForeignKernel(Kernel):
    """Machine code that this process cannot run, with its signature.

    Parameters
    ----------
    missing
        Why it cannot run here.
    """

    def __init__(self, object_bytes: bytes, signature: Signature, missing: str) -> None:
        # Nothing is loaded: not even the linker may look at it.
        self.signature = signature
        self.object_bytes = object_bytes
        self._missing = missing
        self.enter = self._refuse

    def _refuse(self, *arguments: Any) -> NoReturn:
        raise RuntimeFailure(
            f"{self.signature.name} cannot be run here: {self._missing}",
            hint="build it for this machine to run it; its code is in exe.kernel.object_bytes, and "
            'as text in exe.source("asm")',
        )

    def time(self, *arguments: Any, **options: Any) -> Timing:
        """Refused, as a call is."""
        self._refuse(*arguments)
