"""Converters of nodes that hold graphs: taken in place where it is known which part runs."""

from __future__ import annotations

from .registry import Site, onnx_op


@onnx_op("If")
def _if(site: Site) -> list[str]:
    """The branch of a condition that is known now."""
    condition = site.constant(0, "which branch is taken")
    branch = "then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"
    return list(site.around.branch(site, site.attr(branch)))
