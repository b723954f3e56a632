"""An argument parser that explains itself in tvmlab's way, and types for its arguments."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Iterable
from typing import NoReturn


class UsageError(Exception):
    """The command line is not understood; the text says what would be."""


class Parser(argparse.ArgumentParser):
    """Like argparse's, but an error is raised, and help keeps its line breaks."""

    def __init__(
        self,
        prog: str | None = None,
        description: str | None = None,
        epilog: str | None = None,
        help: str | None = None,
    ) -> None:
        argparse.ArgumentParser.__init__(
            self,
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is."""
        raise UsageError(f"{message}\nhint: see {self.prog} --help")


def close_match(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` if a known word is close, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number from `low` to `high`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return value

    return parse
