"""Graphs of operators, and their compiler: from a model to a module that can be deployed.

>>> graph, lib, params = build(model, "cpu")                       # doctest: +SKIP
>>> module = tvmlab.runtime.create(graph, lib)                     # doctest: +SKIP
"""

from . import compiler
from .builder import GraphBuilder, bind
from .compare import Difference, first_difference
from .compiler import BuildOptions, Built, build
from .evaluate import evaluate
from .export import export
from .ir import Graph, Node
from .operators import OPERATORS
from .quantize import quantize
from .text import parse, to_text
from .types import GraphError, TensorType

# A graph prints as its text; the printer stands above the node classes.
Graph.__str__ = to_text  # pyright: ignore[reportAttributeAccessIssue]

__all__ = [
    "OPERATORS",
    "BuildOptions",
    "Built",
    "Difference",
    "Graph",
    "GraphBuilder",
    "GraphError",
    "Node",
    "TensorType",
    "bind",
    "build",
    "compiler",
    "evaluate",
    "export",
    "first_difference",
    "parse",
    "quantize",
    "to_text",
]
