"""Design spaces: templates with knobs, generic ones, and those around a schedule."""

from .generic import generic_space, random_schedule
from .knobs import Knob, Value
from .partial import partial_space
from .reader import Knobs, Points
from .space import Outputs, Space, Template, program_of

__all__ = [
    "Knob",
    "Knobs",
    "Outputs",
    "Points",
    "Space",
    "Template",
    "Value",
    "generic_space",
    "partial_space",
    "program_of",
    "random_schedule",
]
