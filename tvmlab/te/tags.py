"""Free labels on operations: tags, a scope that gives one to all computes in it, attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Any, cast

from tvmlab.ir import Annotations, Attribute
from tvmlab.support import TypeMismatch

_SCOPE: ContextVar[str] = ContextVar("te_tag", default="")


class tag_scope(ContextDecorator):  # noqa: N801 - reads as a function at its place of use
    """Give a tag to every compute made inside, if it has none of its own.

    >>> with tag_scope("injective"):
    ...     B = compute((4,), lambda i: A[i] + 1.0, name="B")

    Works as a decorator too. Scopes do not nest, as a compute has one tag.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._token: Token[str] | None = None

    def __enter__(self) -> tag_scope:
        if _SCOPE.get():
            raise TypeMismatch(
                f"te.tag_scope({self.tag!r}) stands inside te.tag_scope({_SCOPE.get()!r})",
                hint="a compute has one tag: leave the outer scope first, or pass tag= itself",
            )
        self._token = _SCOPE.set(self.tag)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _SCOPE.reset(self._token)
            self._token = None


def current_tag(own: str) -> str:
    """The tag of an operation: its own, or that of the scope around."""
    return own or _SCOPE.get()


@dataclass(frozen=True, repr=False, eq=False)
class Attributes(Mapping[str, Any]):
    """The attributes of an operation, by name; printed as JSON.

    `pairs` are the same as annotations of a block.
    """

    pairs: Annotations = ()

    def __getitem__(self, name: str) -> Any:
        return dict(self.pairs)[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return json.dumps(dict(self.pairs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attributes) and self.pairs == other.pairs

    def __hash__(self) -> int:
        return hash(self.pairs)


def attributes_of(attrs: Mapping[str, Attribute] | None) -> Attributes:
    """Attributes that can become the annotations of a block.

    Raises
    ------
    TypeMismatch
        If a value is not a number, text, truth value or tuple of those.
    """
    if isinstance(attrs, Attributes):
        return attrs
    return Attributes(tuple((n, _attribute(n, value)) for n, value in (attrs or {}).items()))


def _attribute(name: str, value: object) -> Attribute:
    if isinstance(value, (int, float, str, bool)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(_attribute(name, item) for item in cast("Sequence[object]", value))
    raise TypeMismatch(
        f"the attribute {name} is of type {type(value).__name__}",
        hint="attributes are numbers, texts, truth values, and tuples of those",
    )
