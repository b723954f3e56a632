"""Loop-nest features: a program as a row of numbers of fixed length, without lowering it."""

from .extract import Features, extract_batch, extract_features, feature_names

__all__ = ["Features", "extract_batch", "extract_features", "feature_names"]
