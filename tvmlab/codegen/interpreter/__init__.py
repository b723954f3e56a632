"""The interpreter: the slow, obvious meaning of a program, and the oracle of all other targets.

The tree is turned into Python closures once and then run: `expressions` and `statements` build the
closures, `arithmetic` says what operations do, `memory` holds the elements and watches for races.
"""

from .failure import Fault, InterpreterFailure
from .run import interpret

__all__ = ["Fault", "InterpreterFailure", "interpret"]
