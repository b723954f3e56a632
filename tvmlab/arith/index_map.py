"""Maps between index spaces: what a layout is.

>>> tiles = index_map("lambda n, c, h, w: [n, c // 16, h, w, c % 16]", 4)
>>> [const_int(size) for size in new_shape(tiles, sizes)]

A map is written as a Python function at call time and kept as text in traces; the text is read by
the parser of programs, never run.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union

from tvmlab.ir import Expr, Var, as_expr, const, const_int, parse_expr, substitute, to_text
from tvmlab.support import (
    ParseError,
    ShapeError,
    TypeMismatch,
    items_of,
    node,
    parse_expression,
    shown,
)

from .bounds import Bounds, bound_of
from .iter_map import detect_iter_map
from .simplify import simplify

AXIS_SEPARATOR = ...
"""Stands between indices of a map where memory shall get another dimension of its own."""

IndexMapLike: TypeAlias = Union["IndexMap", str, Callable[..., Any]]


@node
class IndexMap:
    """New indices in terms of old ones.

    `separators` are positions in `results` before which physical memory has a new dimension. The
    memory of a CPU has one, so they change nothing there; they are kept for those that have more.
    """

    params: tuple[Var, ...]
    results: tuple[Expr, ...]
    separators: tuple[int, ...] = ()

    def apply(self, indices: Sequence[Expr]) -> tuple[Expr, ...]:
        """The new indices for given old ones."""
        values: Mapping[Var, Expr] = dict(zip(self.params, indices, strict=True))
        return tuple(substitute(result, values) for result in self.results)

    def __str__(self) -> str:
        parts = [to_text(result) for result in self.results]
        for number, position in enumerate(self.separators):
            parts.insert(position + number, "...")
        names = ", ".join(param.name for param in self.params)
        return f"lambda{' ' if names else ''}{names}: [{', '.join(parts)}]"


def index_map(given: IndexMapLike, rank: int) -> IndexMap:
    """The map that a function, a text or a map stands for, over `rank` indices.

    Raises
    ------
    ShapeError, TypeMismatch, ParseError
        If it takes another number of indices, does not return indices, or is no such text.
    """
    if isinstance(given, IndexMap):
        found = given
    elif isinstance(given, str):
        found = _parsed(given)
    else:
        found = _called(given, rank)
    if len(found.params) != rank:
        raise ShapeError(
            f"the map takes {len(found.params)} indices, but there are {rank}",
            hint=f"write it as a function of {rank} indices that returns the new ones",
        )
    return found


def _called(function: Callable[..., Any], rank: int) -> IndexMap:
    if not callable(function):
        raise TypeMismatch(
            f"{function!r} is no map of indices",
            hint="write a function of the old indices: lambda i, j: [i // 16, j, i % 16]",
        )
    params = tuple(Var(name) for name in _names(function, rank))
    returned: Any = function(*params)
    items = items_of(returned)
    return _made(params, [returned] if items is None else list(items))


def _names(function: Callable[..., Any], rank: int) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions of Python itself do not tell
        raise TypeMismatch(
            f"{shown(function)} is no map of indices",
            hint="write a function of the old indices: lambda i, j: [i // 16, j, i % 16]",
        ) from None
    names: list[str] = []
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"i{n}" for n in range(len(names), rank)]
        elif parameter.default is parameter.empty:
            names.append(parameter.name)
    if len(names) != rank:
        raise ShapeError(
            f"the map takes {len(names)} indices, but there are {rank}",
            hint=f"write it as a function of {rank} indices that returns the new ones",
        )
    return names


def _parsed(text: str) -> IndexMap:
    hint = 'write it like "lambda i, j: [i // 16, j, i % 16]"'
    try:
        tree = parse_expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ParseError(f"the map {text!r} cannot be read: {error}", hint=hint) from None
    if not isinstance(tree, ast.Lambda) or not isinstance(tree.body, (ast.List, ast.Tuple)):
        raise ParseError(f"the map {text!r} is not a lambda that returns a list", hint=hint)
    params = tuple(Var(argument.arg) for argument in tree.args.args)
    symbols = {param.name: param for param in params}
    results: list[object] = []
    for item in tree.body.elts:
        if isinstance(item, ast.Constant) and item.value is ...:
            results.append(...)
        else:
            results.append(parse_expr(ast.unparse(item), symbols))
    return _made(params, results)


def _made(params: tuple[Var, ...], items: Sequence[object]) -> IndexMap:
    results: list[Expr] = []
    separators: list[int] = []
    for item in items:
        if item is ...:
            separators.append(len(results))
        elif isinstance(item, (Expr, int)) and not isinstance(item, bool):
            results.append(as_expr(item))
        else:
            raise TypeMismatch(
                f"the map returns {item!r}, which is no index",
                hint="return a list of whole-number formulas of the old indices",
            )
    strange = [r for r in results if not r.dtype.is_int or r.dtype.lanes != 1]
    if strange or not results:
        what = to_text(strange[0]) if strange else "no index at all"
        raise TypeMismatch(f"the map returns {what}, which is no whole-number index")
    return IndexMap(params, tuple(results), tuple(separators))


def new_shape(mapping: IndexMap, sizes: Sequence[Expr]) -> tuple[Expr, ...]:
    """The smallest shape that holds the images of all old indices.

    Raises
    ------
    ShapeError
        If an image may be negative, or its range is known only at run time.
    """
    env = Bounds.of(dict(zip(mapping.params, sizes, strict=True)))
    extents = dict(zip(mapping.params, sizes, strict=True))
    shape: list[Expr] = []
    for result in mapping.results:
        place = simplify(result, env)
        if isinstance(place, Var) and place in extents:
            shape.append(extents[place])
            continue
        span = bound_of(place, env)
        if span.hi is None or span.lo is None:
            raise ShapeError(
                f"the range of {to_text(result)} is known only at run time",
                hint="an index of a size known only at run time must stay as it is",
            )
        if span.lo < 0:
            raise ShapeError(f"{to_text(result)} may be {span.lo}, but an index is never negative")
        shape.append(const(span.hi + 1))
    return tuple(shape)


def collision(mapping: IndexMap, sizes: Sequence[Expr]) -> str | None:
    """Why two old indices may have one image; None if it is proven that they have not."""
    loops = list(zip(mapping.params, sizes, strict=True))
    found = detect_iter_map(mapping.results, loops, new_shape(mapping, sizes))
    if found.injective:
        return None
    return _witness(mapping, sizes) or found.reason or "two places may become one"


_MOST_LOOKED_AT = 4096


def _witness(mapping: IndexMap, sizes: Sequence[Expr]) -> str | None:
    """Two old places with one new place, found by looking; None if there are too many to look."""
    shape = [const_int(size) for size in sizes]
    total = 1
    for size in shape:
        total *= size if size is not None else _MOST_LOOKED_AT + 1
    if total > _MOST_LOOKED_AT:
        return None
    seen: dict[tuple[int, ...], tuple[int, ...]] = {}
    for flat in range(total):
        place: list[int] = []
        for size in reversed(shape):
            assert size is not None
            place.insert(0, flat % size)
            flat //= size
        images = [simplify(r, Bounds()) for r in mapping.apply([const(p) for p in place])]
        image = tuple(value for r in images if (value := const_int(r)) is not None)
        if len(image) < len(images):
            return None
        if image in seen:
            return f"{list(seen[image])} and {place} both become {list(image)}"
        seen[image] = tuple(place)
    return None
