"""The schedule primitives, one family a file. Importing this package fills the registry."""

from . import annotate, attach, cache, decompose, inline, loops

__all__ = ["annotate", "attach", "cache", "decompose", "inline", "loops"]
