"""Reading text by Python's own parser, whatever other threads parse meanwhile.

Python 3.11 counts how deep the trees of all threads are in one place, and fails if another thread
parses in between; a collection of cycles is what lets one in.
"""

from __future__ import annotations

import ast

from .garbage import without_collections


def parse_python(text: str) -> ast.Module:
    """The syntax tree of statements."""
    with without_collections():
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one expression."""
    with without_collections():
        return ast.parse(text, mode="eval").body
