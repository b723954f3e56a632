"""What a session has learned of speed: a model that follows its measurements."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from tvmlab.ir import Program, structural_hash
from tvmlab.target import Target
from tvmlab.tune import Ensemble, Features, Learner, extract_features

_MODELS = 4
NOTHING_LEARNED = "The model has seen no measurements yet."


class Guesses:
    """The throughput that a session's model expects of programs; each is asked for once.

    Parameters
    ----------
    start
        The unscheduled program: what is learned of one computation is kept apart from others.
    """

    def __init__(self, start: Program, target: Target) -> None:
        self.learner = Learner()
        self.group = structural_hash(start)
        self._threads = target.num_threads
        self._known: WeakKeyDictionary[Program, float] = WeakKeyDictionary()
        self._rows: WeakKeyDictionary[Program, Features] = WeakKeyDictionary()
        self._by_hash: dict[str, Features] = {}
        self._several: tuple[int, Ensemble] | None = None

    @property
    def words(self) -> str:
        """What the model stands on."""
        learned, seen = self.learner.model.row_count, self.learner.row_count
        if learned:
            return f"The model has learned from {learned} measurements."
        if seen:
            return f"The model needs more measurements to learn from; so far there are {seen}."
        return NOTHING_LEARNED

    def predict(self, program: Program) -> float | None:
        """Throughput in GFLOP/s; None while the model has learned nothing."""
        if not self.learner.model.trained:
            return None
        known = self._known.get(program)
        if known is None:
            features = self.features(program)
            found = self.learner.model.predict_gflops(features, self.group)
            if found is None:
                return None
            known = self._known[program] = float(found[0])
        return known

    def learn(self, program: Program, gflops: float | None) -> None:
        """Learn from one measured program; None stands for a failure."""
        self.learner.add(self.features(program), gflops, self.group)
        if self.learner.refit_if_due():
            self.forget()

    def features(self, program: Program) -> Features:
        """What the model sees of a program."""
        known = self._rows.get(program)
        if known is None:
            known = self._rows[program] = extract_features(program, self._threads)
        return known

    def features_of(self, program_hash: str, program: Callable[[], Program]) -> Features:
        """The same of a program that has to be made first, which takes far longer."""
        known = self._by_hash.get(program_hash)
        if known is None:
            known = self._by_hash[program_hash] = self.features(program())
        return known

    def doubt(self, program: Program) -> float | None:
        """How far models of parts of the measurements disagree on a program; None without one."""
        if not self.learner.model.trained:
            return None
        count = self.learner.row_count
        if self._several is None or self._several[0] != count:
            self._several = (count, Ensemble(_MODELS))
            self._several[1].fit(*self.learner.seen())
        found = self._several[1].doubt(self.features(program))
        return None if found is None else float(found[0])

    def forget(self) -> None:
        """The model has learned more: older answers no longer hold."""
        self._known.clear()
