"""A learned cost model: which of two schedules is faster, and about how fast, without running them.

It starts with no data or with what another has learned, is fitted again as measurements arrive, and
learns from several workloads at once: rows are only ranked against rows of their own workload.

>>> model = CostModel()
>>> model.predict(features) is None
True
>>> model.fit(features, gflops)
>>> model.predict_gflops(features)
array([...])
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvmlab.support import OptionError, ParseError, ShapeError, write_whole
from tvmlab.tune.features import REVISION, feature_names

from .belief import Belief
from .booster import Booster, BoosterOptions, Matrix
from .calibration import Calibration
from .contribution import Contribution
from .prior import AnalyticModel
from .training import ALL, LEAST_ROWS, Data, HeldOut, Trained, Training, train

Numbers: TypeAlias = NDArray[np.float64]
FORMAT, VERSION = "tvmlab cost model", 1
_GZIP = b"\x1f\x8b"
"""What compressed files begin with; names may lose their .gz, or keep it when they are unpacked."""
_REMEDY = "fit one to measurements and save it, as `tvmlab pretrain FILE` does"


class CostModel:
    """Boosted trees over loop-nest features, trained on pairs, with a scale in GFLOP/s.

    Parameters
    ----------
    hold_out
        Whether each fit also trains models that leave rows out, for `held_out` and an honest scale;
        without, it is four times as quick.
    prior
        What this model corrects, so that few rows go a long way: a model that needs no data, or one
        that was fitted before. Without one it knows nothing but what it has learned.
    """

    def __init__(
        self,
        options: BoosterOptions | None = None,
        *,
        hold_out: bool = True,
        prior: AnalyticModel | CostModel | None = None,
    ) -> None:
        self.options = options or BoosterOptions()
        self.hold_out = hold_out
        self.prior = prior
        self._trained: Trained | None = None

    @property
    def _known(self) -> Trained | None:
        """What it has learned itself, else what its prior has."""
        inherited = self.prior._known if isinstance(self.prior, CostModel) else None
        return self._trained or inherited

    @property
    def trained(self) -> bool:
        return self._trained is not None

    @property
    def row_count(self) -> int:
        """How many measured schedules it has learned from."""
        return self._trained.rows if self._trained else 0

    @property
    def held_out(self) -> HeldOut | None:
        """Predictions for the fitted rows by models that had not seen them; None with few rows."""
        return self._trained.held_out if self._trained else None

    def fit(
        self, features: ArrayLike, gflops: ArrayLike, groups: Sequence[str] | None = None
    ) -> None:
        """Learn from measured schedules, from scratch. With too few rows nothing is learned.

        Parameters
        ----------
        features
            One row for each schedule, as `extract_batch` makes them.
        gflops
            Measured throughput; 0 for a schedule that failed, which is then worse than all others.
        groups
            The workload of each row; by default all rows are of one.

        Raises
        ------
        ShapeError
            If the arguments do not have one entry for each row, or rows of another length.
        OptionError
            If XGBoost is not installed.
        """
        rows = _matrix(features)
        throughput = np.asarray(gflops, np.float64).ravel()
        names = np.array(groups if groups is not None else [ALL] * len(rows), dtype=np.str_)
        if not len(rows) == len(throughput) == len(names):
            raise ShapeError(
                f"{len(rows)} rows of features, {len(throughput)} throughputs and {len(names)} "
                f"workloads do not fit together"
            )
        if np.count_nonzero(throughput > 0) < LEAST_ROWS:
            return
        data = Data(rows, throughput, names)
        self._trained = train(data, self._training())

    def predict(self, features: ArrayLike) -> Numbers | None:
        """Scores, higher is faster; None before it or its prior has learned. They have no unit."""
        return None if self._known is None else self._known.scores(_matrix(features))

    def predict_gflops(self, features: ArrayLike, group: str = ALL) -> Numbers | None:
        """Throughput in GFLOP/s; None before it has learned itself: others have other scales.

        Parameters
        ----------
        group
            The workload, if it is among those that were fitted; else the scale of all is used.
        """
        trained = self._trained
        if trained is None:
            return None
        scale = trained.calibrations.get(group, trained.calibrations[ALL])
        return scale.predict(trained.scores(_matrix(features)))

    def explain(self, features: ArrayLike, most: int = 10) -> list[Contribution]:
        """The features of one schedule that move its score most, strongest first.

        The effects of all features and a constant sum to the score.
        """
        trained = self._known
        if trained is None:
            return []
        row = _matrix(features)[:1]
        effects = trained.booster.contributions(row)[0, :-1] / trained.spread
        strongest: list[int] = np.argsort(-np.abs(effects), kind="stable")[:most].tolist()
        names = feature_names()
        found = [
            Contribution(names[n], float(row[0, n]), float(effects[n]))
            for n in strongest
            if effects[n] != 0
        ]
        if trained.belief is not None:
            found.append(trained.belief.contribution(row, trained.spread))
        return sorted(found, key=lambda c: -abs(c.effect))[:most]

    def _training(self) -> Training:
        if isinstance(self.prior, CostModel):
            return Training(self.options, self.hold_out, start=self.prior._known)
        return Training(self.options, self.hold_out, prior=self.prior)

    def to_json(self) -> dict[str, Any]:
        """The model as plain data, with what it has from its prior; it has learned from rows, but
        does not keep them, so a later fit begins anew.
        """
        trained = self._known
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "features": list(feature_names()),
            "revision": REVISION,
            "rows": 0 if trained is None else trained.rows,
        }
        if trained is not None:
            data["booster"] = trained.booster.to_json()
            data["scale"] = [trained.mean, trained.spread]
            data["calibrations"] = {k: c.to_json() for k, c in trained.calibrations.items()}
            if trained.belief is not None:
                data["belief"] = trained.belief.to_json()
        return data

    def on(self, machine: AnalyticModel) -> CostModel:
        """A copy with another machine's analytic model beneath what was learned."""
        prior = self.prior
        beneath = prior.on(machine) if isinstance(prior, CostModel) else prior and machine
        model = CostModel(self.options, hold_out=self.hold_out, prior=beneath)
        known = self._trained
        if known is not None and known.belief is not None:
            known = replace(known, belief=replace(known.belief, prior=machine))
        model._trained = known
        return model

    @staticmethod
    def from_json(data: object) -> CostModel:
        """The model that `to_json` wrote.

        Raises
        ------
        ParseError
            If the data is no model, a damaged one, or one for other features than this tvmlab has.
        """
        if not isinstance(data, dict) or cast("dict[str, Any]", data).get("format") != FORMAT:
            raise ParseError("this is no tvmlab cost model", hint=_REMEDY)
        fields = cast("dict[str, Any]", data)
        made = fields.get("version"), fields.get("revision"), fields.get("features")
        if made != (VERSION, REVISION, list(feature_names())):
            raise ParseError(
                "this cost model was made by another version of tvmlab, with other features",
                hint=_REMEDY,
            )
        model = CostModel()
        if "booster" in fields:
            try:
                model._trained = _trained(fields)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ParseError(
                    "this cost model is damaged: a part is missing or is no number", hint=_REMEDY
                ) from error
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, whole or not at all; compressed if it ends in .gz."""
        content = json.dumps(self.to_json()).encode()
        # No time in it, so that the same model gives the same file.
        packed = gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content
        write_whole(Path(path), packed)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> CostModel:
        """Read a model that `save` wrote.

        Raises
        ------
        ParseError
            If the file holds no model that fits.
        OptionError
            If there is no such file.
        """
        try:
            content = Path(path).read_bytes()
            if content.startswith(_GZIP):
                content = gzip.decompress(content)
            return CostModel.from_json(json.loads(content))
        except ParseError as error:
            raise ParseError(f"{path}: {error.message}", hint=error.hint) from error
        except (ValueError, gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ParseError(f"{path} holds no cost model: {error}", hint=_REMEDY) from error
        except OSError as error:
            raise OptionError(
                f"the cost model {path} cannot be read: {error.strerror or error}", hint=_REMEDY
            ) from error


def _trained(fields: dict[str, Any]) -> Trained:
    """What a model has learned, as `to_json` wrote it."""
    mean, spread = (float(x) for x in fields["scale"])
    return Trained(
        Booster.from_json(fields["booster"]),
        mean,
        spread,
        {k: Calibration.from_json(c) for k, c in fields["calibrations"].items()},
        int(fields["rows"]),
        belief=Belief.from_json(fields["belief"]) if "belief" in fields else None,
    )


def _matrix(features: ArrayLike) -> Matrix:
    rows = np.atleast_2d(np.asarray(features, np.float32))
    width = len(feature_names())
    if rows.size == 0:
        return rows.reshape(0, width)
    if rows.shape[1] != width:
        raise ShapeError(
            f"a row of features has {width} entries, not {rows.shape[1]}",
            hint="make rows with tvmlab.tune.extract_batch",
        )
    return rows
