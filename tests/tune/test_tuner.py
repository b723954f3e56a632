"""The tuner: trials are kept, a second run goes on, failures are told by cause."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.tune_templates import Oracle, blocked, blocked_space

import tvmlab.tune.chooser as chooser
from tvmlab import te
from tvmlab.inspect import tuning_report
from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor
from tvmlab.topi import conv2d, schedule_conv
from tvmlab.tune import (
    Measurer,
    MeasureSettings,
    Space,
    Tuner,
    TuningLog,
    best,
    default_starts,
    generic_space,
    lookup,
)

QUICK = MeasureSettings(repeats=3, repeat_seconds=1e-4, run_timeout=5.0)


def small_conv() -> Tensor:
    return conv2d(te.placeholder((1, 4, 8, 8, 16)), te.placeholder((2, 4, 3, 3, 16, 16)), 1, 1,
                  layout="NCHW16c", kernel_layout="OIHW16i16o", out_layout="NCHW16c")  # fmt: skip


def by_length(text: str) -> float | None:
    """Short programs are fast, those with an unrolled loop of eight crash."""
    return None if "unrolled(8)" in text else 1e-6 * len(text)


def test_a_template_is_tuned_with_real_measurements(tmp_path: Path) -> None:
    space = blocked_space()
    with Measurer(2, lock=tmp_path / "lock") as runner, TuningLog(tmp_path / "log") as log:
        tuner = Tuner(space, log=log, runner=runner, search="random", settings=QUICK)
        trials = list(tuner.run(12))
        assert tuner.measured == 12
        assert {t.status for t in trials} <= {"ok", "refused"}
        assert tuner.best is not None
        found = best(space.program, log=log)
    assert found is not None
    assert tuner.best_schedule is not None
    assert structural_hash(found.program) == structural_hash(tuner.best_schedule.program)


def test_a_second_run_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "log") as log:
        first = Tuner(blocked_space(), log=log, runner=Oracle(by_length), search="random")
        tried = {t.program_hash for t in first.run(20)}
    with TuningLog(tmp_path / "log") as log:
        second = Tuner(blocked_space(), log=log, runner=Oracle(by_length), search="random")
        assert second.measured == 20
        assert second.best == first.best
        more = {t.program_hash for t in second.run(20) if t.program_hash}
    assert not tried & more


def test_failures_are_grouped_by_cause_with_the_first_error() -> None:
    tuner = Tuner(blocked_space(), runner=Oracle(by_length), search="random")
    trials = list(tuner.run(40))
    causes = {status: (count, error) for status, count, error in tuner.failures()}
    assert causes["crash"][0] == sum(t.status == "crash" for t in trials) > 0
    assert causes["crash"][1] == "the worker crashed with SIGSEGV"


def test_patience_ends_a_search_without_gain() -> None:
    tuner = Tuner(blocked_space(), runner=Oracle(lambda _: 1.0), search="random", patience=5)
    list(tuner.run(100))
    assert tuner.measured <= 10


def test_stop_ends_a_search() -> None:
    tuner = Tuner(blocked_space(), runner=Oracle(by_length), search="random")
    for number, _ in enumerate(tuner.run(100), 1):
        if number == 3:
            tuner.stop.set()
    assert len(tuner.trials) < 20


def test_the_default_schedule_comes_first_unless_there_is_none() -> None:
    tuner = Tuner(blocked_space(), runner=Oracle(by_length), search="random")
    first = next(tuner.run(3))
    assert (first.values, first.ok) == ({}, True)
    assert "vectorize" in first.trace
    alone = Tuner(blocked_space(), runner=Oracle(by_length), search="random", starts=())
    assert next(alone.run(3)).values
    program = Space(blocked_space().program, blocked(32))
    assert default_starts(program) == ()
    out = small_conv()
    [start] = default_starts(generic_space(out))
    assert structural_hash(start.program) == structural_hash(schedule_conv(out, "cpu").program)


def test_lookup_finds_nothing_without_a_log(tmp_path: Path) -> None:
    program = blocked_space().program
    assert lookup(tmp_path / "none")(program, "cpu") is None
    with TuningLog(tmp_path / "empty") as log:
        assert best(program, log=log) is None


@pytest.mark.parametrize("search", ["random", "genetic", "climb", "annealing", "evolution"])
def test_every_search_finds_a_better_point(search: str) -> None:
    tuner = Tuner(blocked_space(16), runner=Oracle(by_length), search=search)
    values = [t.seconds for t in tuner.run(40) if t.seconds]
    assert min(values) < values[0]


def test_the_best_schedule_replays() -> None:
    space = blocked_space()
    tuner = Tuner(space, runner=Oracle(by_length), search="random")
    list(tuner.run(10))
    assert tuner.best is not None
    again = Schedule.replay(space.program, tuner.best.trace)
    assert structural_hash(again.program) == tuner.best.program_hash


def test_a_machine_that_becomes_slower_is_noticed(tmp_path: Path) -> None:
    calls: list[str] = []

    def slower_and_slower(text: str) -> float:
        calls.append(text)
        return 1e-6 * (1.0 + 0.05 * len(calls))

    with TuningLog(tmp_path / "log") as log:
        tuner = Tuner(
            blocked_space(), log=log, runner=Oracle(slower_and_slower), search="random", watch=5
        )
        list(tuner.run(12))
        assert tuner.drift is not None
        assert tuner.drift > 0.2
        assert len(log.trials(kind="reference")) == 2
        assert tuner.measured == 12
    assert "slower meanwhile" in dict(tuning_report(tuner).facts)["clock"]
    steady = Tuner(blocked_space(), runner=Oracle(by_length), search="random", watch=3)
    list(steady.run(12))
    assert steady.drift == 0.0
    assert "clock" not in dict(tuning_report(steady).facts)


def test_what_was_best_for_a_relative_is_tried_first(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "log") as log:
        # The model that knows no data yet likes the loops of eight that crash here.
        first = Tuner(
            blocked_space(32), log=log, runner=Oracle(by_length), search="random", starts=()
        )
        list(first.run(12))
        assert first.best is not None
        second = Tuner(blocked_space(48), log=log, runner=Oracle(by_length), starts=())
        trial = next(second.run(3))
        old, new = first.best.values, trial.values
        assert old["copy_b"] == new["copy_b"]
        assert abs(old["i"][-1] - new["i"][-1]) <= 2
        alone = Tuner(
            blocked_space(24), log=log, runner=Oracle(by_length), starts=(), transfer=False
        )
        assert not alone.waiting
        other = Tuner(generic_space(small_conv()), log=log, runner=Oracle(by_length), starts=())
        assert not other.waiting


def test_features_of_points_are_remembered_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chooser, "_MOST_ROWS", 32)
    tuner = Tuner(blocked_space(32), runner=Oracle(by_length))
    features = tuner._chooser._features  # pyright: ignore[reportPrivateUsage]
    remembered = tuner._chooser._rows  # pyright: ignore[reportPrivateUsage]
    rng = np.random.default_rng(0)
    for count in (12, 12, 12, 40, 12):
        points = tuner.space.sample(count, rng)
        assert np.array_equal(features(points), tuner.space.features(points))
        assert np.array_equal(features(points[:6]), tuner.space.features(points[:6]))
        assert len(remembered) <= 48
