"""What every test of a refused step asks for: the rule that decided, and what the text says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tvmlab.schedule import RefusedError


def assert_refused(run: Callable[[], object], rule: str, text: str) -> None:
    """The steps are refused by a rule, with these words in the message."""
    with pytest.raises(RefusedError) as caught:
        run()
    assert caught.value.verdict.rule == rule
    assert text in str(caught.value)
