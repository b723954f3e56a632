"""How a view shows things: options given in Python, and preferences that views tell."""

from __future__ import annotations

import pytest
from helpers.bench_session import Bench
from helpers.nests import product

from tvmlab.support import OptionError
from tvmlab.widgets.options import view_options
from tvmlab.widgets.widget import ExplorerWidget


def test_options_come_to_the_view_by_the_names_that_it_knows() -> None:
    bench = Bench(product(32))
    widget = ExplorerWidget(bench.session, {"time": "us", "letter_keys": False})
    assert widget.preferences == {"time": "µs", "letterKeys": False}
    assert ExplorerWidget(bench.session).preferences == {}


def test_what_is_no_option_or_no_choice_is_refused_with_what_there_is() -> None:
    with pytest.raises(OptionError, match="a view has no option 'tme'") as refused:
        view_options({"tme": "ms"})
    assert "did you mean 'time'? there are: code_theme, letter_keys" in str(refused.value)
    with pytest.raises(OptionError, match="cannot be 'min'") as refused:
        view_options({"time": "min"})
    assert "choose one of: 'auto', 's', 'ms', 'us', 'ns'" in str(refused.value)
    with pytest.raises(OptionError, match="cannot be 1"):
        view_options({"letter_keys": 1})


def test_a_view_tells_what_its_reader_prefers() -> None:
    bench = Bench(product(32))
    row = bench.row("i")
    assert "4 KB" in bench.done("actions", row=row)["sentence"]
    bench.done("prefer", auto=True, bytes="decimal")
    assert bench.view.state["auto"] is True
    assert "4.1 kB" in bench.done("actions", row=row)["sentence"]
    # What was chosen in the session itself is not overruled by another view that opens.
    bench.done("auto", on=False)
    bench.done("prefer", auto=True, bytes="binary")
    assert bench.view.state["auto"] is False
    assert "4 KB" in bench.done("actions", row=row)["sentence"]
    assert "needs 'auto'" in bench.failed("prefer", auto=1, bytes="octal")
