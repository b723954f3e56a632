"""A text being parsed: its syntax tree, its names, and errors that point into it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from textwrap import dedent
from typing import NoReturn

from tvmlab.support import ParseError, Span, parse_python

_SYNTAX_HINTS = (
    ("indent", "lines of one body stand in one column; the line before them ends with a colon"),
    ("expected ':'", "a `def`, `for`, `if` or `with` line ends with a colon"),
    ("expected an indented block", "write `pass` for an empty body"),
    ("was never closed", "close the bracket that the mark points at"),
    ("unmatched", "remove the bracket that the mark points at, or open one before it"),
)


class Source:
    """The text of one parse, for messages with file, line and marked columns."""

    def __init__(self, text: str, file: str, first_line: int = 1) -> None:
        self.text = dedent(text)
        self.file = file
        self._lines = self.text.splitlines()
        self._first = first_line

    def tree(self) -> ast.Module:
        """The syntax tree of the text.

        Raises
        ------
        ParseError
            If the text is not Python at all.
        RecursionError
            If it is nested beyond what Python reads.
        """
        try:
            return parse_python(self.text)
        except SyntaxError as error:
            self._syntax_error(error)
        except (MemoryError, ValueError) as error:
            raise ParseError(f"the text cannot be read: {error}") from None

    def fail(self, node: ast.AST, message: str, hint: str | None = None) -> NoReturn:
        """Raise a ParseError that marks the text of a syntax node."""
        line = getattr(node, "lineno", 1)
        text = self._line(line)
        start = _column(text, getattr(node, "col_offset", 0))
        last = getattr(node, "end_lineno", line)
        end = _column(text, getattr(node, "end_col_offset", 0)) if last == line else len(text)
        raise self._error(message, line, start, end, hint) from None

    def _syntax_error(self, error: SyntaxError) -> NoReturn:
        line = error.lineno or 1
        start = max(0, (error.offset or 1) - 1)
        end = (error.end_offset or 0) - 1 if error.end_lineno == line else start + 1
        said = error.msg or "invalid syntax"
        hint = next((text for key, text in _SYNTAX_HINTS if key in said), None)
        raise self._error(f"this is not Python: {said}", line, start, end, hint) from None

    def _error(self, message: str, line: int, start: int, end: int, hint: str | None) -> ParseError:
        text = self._line(line)
        span = Span(self.file, line + self._first - 1, text)
        shown = text.strip()
        start = min(max(0, start - (len(text) - len(text.lstrip()))), len(shown))
        width = max(1, min(end - (len(text) - len(text.lstrip())), len(shown)) - start)
        # An error prints its span as place and stripped line; the mark belongs right below.
        notes = [f"    {' ' * start}{'^' * width}"] if shown else []
        return ParseError(message, hint=hint, notes=notes, span=span)

    def _line(self, number: int) -> str:
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def __repr__(self) -> str:
        return f"Source({Path(self.file).name})"


def _column(line: str, byte_offset: int) -> int:
    """The character column of a UTF-8 byte offset, which is what `ast` counts."""
    return len(line.encode()[:byte_offset].decode(errors="ignore"))


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """A hint for a misspelt name: the known name closest to it."""
    close = get_close_matches(name, sorted(set(known)), n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else None
