"""A session's learned cost model, asked for programs."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tvmlab import tune
from tvmlab.ir import Program


class Guesses:
    """The throughput that a session's model expects of programs; each is asked for once."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Program, float] = WeakKeyDictionary()
        self._model: tune.CostModel | None = None

    @property
    def model(self) -> tune.CostModel:
        """The learned cost model, empty at first."""
        if self._model is None:
            self._model = tune.CostModel()
        return self._model

    @property
    def learned_from(self) -> int:
        """How many measured schedules the model has learned from."""
        return 0 if self._model is None else self._model.row_count

    def predict(self, program: Program) -> float | None:
        """Throughput in GFLOP/s; None while the model has learned nothing."""
        if self._model is None or not self._model.trained:
            return None
        known = self._known.get(program)
        if known is None:
            found = self._model.predict_gflops(tune.extract_batch([program]))
            if found is None:
                return None
            known = self._known[program] = float(found[0])
        return known

    def forget(self) -> None:
        """The model has learned more: older answers no longer hold."""
        self._known.clear()
