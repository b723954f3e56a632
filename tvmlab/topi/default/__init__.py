"""A default schedule for any graph of operators, by public primitives.

>>> sch = schedule(topi.softmax(x))

Cheap producers are inlined; a reduction, and whatever is used more than once, is computed where
rows of the output need it, so that it stays in the nearest cache; then each nest gets vectors along
the memory, accumulators in registers, and threads. A step that is refused is left out: the result
is always right, and the better the more the operators are of the usual kinds.
"""

from .entry import schedule

__all__ = ["schedule"]
