"""The error family: three blames, each message saying what was asked, why not, and what would work.

`UserError` is the caller's to mend, `RuntimeFailure` happened while a kernel ran, `InternalError`
is a bug in tvmlab.
"""

from __future__ import annotations

from collections.abc import Sequence

from .span import Span, render_span


class TvmlabError(Exception):
    """Base of all errors that tvmlab raises on purpose.

    Parameters
    ----------
    message
        One sentence: what was asked and why it cannot be.
    hint
        What would work instead.
    notes
        Further lines, such as a loop nest with the offending loop marked.
    span
        The user's source line that led here, if it is known.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        notes: Sequence[str] = (),
        span: Span | None = None,
    ) -> None:
        self.message = message
        self.hint = hint
        self.notes = tuple(notes)
        self.span = span
        Exception.__init__(self, message)

    def __str__(self) -> str:
        parts = [self.message]
        if self.span is not None:
            parts.append(render_span(self.span))
        parts.extend(self.notes)
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


class UserError(TvmlabError):
    """The request cannot be carried out as it was made."""


class ScheduleError(UserError):
    """A schedule primitive was refused."""


class ShapeError(UserError):
    """Shapes, ranks or index counts do not fit together."""


class TypeMismatch(UserError):  # noqa: N818 - the name says what is wrong
    """Element types do not fit together, or a type is unknown."""


class ParseError(UserError):
    """A text is not a program of the printed form."""


class OptionError(UserError):
    """An option, environment variable or target description is not understood."""


class UnsupportedOp(UserError):  # noqa: N818 - the name says what is wrong
    """The chosen target or pass has no way to express an operation."""


class RuntimeFailure(TvmlabError):  # noqa: N818 - RuntimeError is Python's own
    """A compiled kernel could not be called, or failed while it ran."""


class InternalError(TvmlabError):
    """A bug in tvmlab itself."""
