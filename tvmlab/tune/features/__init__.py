"""Loop-nest features: a program as a row of numbers of fixed length, without lowering it."""

from .dense import Part, joined
from .extract import (
    REVISION,
    Features,
    NestBatch,
    extract_batch,
    extract_features,
    feature_names,
    feature_rows,
)

__all__ = [
    "REVISION",
    "Features",
    "NestBatch",
    "Part",
    "extract_batch",
    "extract_features",
    "feature_names",
    "feature_rows",
    "joined",
]
