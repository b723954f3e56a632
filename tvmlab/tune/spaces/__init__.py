"""Design spaces: templates with knobs, and their points."""

from .knobs import Knob, Value
from .reader import Knobs, Points
from .space import Outputs, Space, Template

__all__ = ["Knob", "Knobs", "Outputs", "Points", "Space", "Template", "Value"]
