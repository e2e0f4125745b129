"""Predictions of a linear model of the selected terms for new data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treeselect.arguments.checks import check_choice, check_flag, check_level
from treeselect.brief import brief
from treeselect.designs.linear import LinearColumns
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.weights import check_offset, check_order
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import at_least, largest_in_row
from treeselect.engine.survival.curves import Baseline, efron
from treeselect.errors import OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.frames.tables import as_column, as_frame
from treeselect.models.linear.data import LinearData
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.rule import LinearRule, Predicted, rule_of
from treeselect.results.predicting import hazards_at, read_type
from treeselect.running.machine import memory_errors

SELECTED_HERE = (
    "These p-values and intervals are not valid: the terms were selected on the same rows, so they"
    " are anti-conservative."
)

_WITH_ERRORS = ("response", "link")
"""Types of prediction that have standard errors."""


@dataclass(frozen=True, slots=True)
class LinearPredictor:
    """What a linear model needs to predict: how columns are made, and which are `chosen`."""

    design: ModelData
    columns: LinearColumns
    chosen: BoolArray
    rule: LinearRule
    baseline: Baseline | None

    __repr__ = brief

    @property
    def family(self) -> str:
        """Of the response."""
        return self.design.response.family.name

    def check_interval(self, type: str, interval: str | None, *, se: bool) -> None:
        asked = "`se`" if se else "`interval`"
        if (se or interval is not None) and type not in _WITH_ERRORS:
            raise OptionError(
                f"{asked} must be left out for `type={type!r}`.\n"
                '  `type="response"` and `type="link"` have standard errors and intervals.'
            )
        if interval is None:
            return
        check_choice("interval", interval, ("confidence", "prediction"))
        if interval == "prediction" and self.rule.family != "gaussian":
            raise OptionError(
                '`interval="prediction"` needs a numeric response.\n'
                f'  Found: family {quoted(self.rule.family)}. Use `interval="confidence"`.'
            )


class Predicting:
    """A linear model that predicts."""

    __slots__ = ()

    predictor: LinearPredictor | None

    def predict(
        self,
        new: Any,
        type: Literal["response", "link", "class", "survival", "cumulative_hazard"] = "response",
        *,
        se: bool = False,
        level: float = 0.95,
        interval: Literal["confidence", "prediction"] | None = None,
        offset: Sequence[float] | None = None,
        times: float | Sequence[float] | None = None,
    ) -> Any:
        """Predict with the linear model.

        Parameters
        ----------
        new : frame or path
            Must have the columns behind the terms of the model; other columns are ignored. They are
            encoded as in the fit: levels, centres, knots, and what replaces missing values.
        type : {"response", "link", "class", "survival", "cumulative_hazard"}
            As in ``SelectionResult.predict``: the mean (for two classes the probability of the
            positive class, for more that of each; for times to an event the hazard ratio relative
            to the average of each column), the linear predictor (for more than two classes the log
            probabilities), the most probable class, or survival or cumulative hazard at `times`.
        se : bool
            Whether to return standard errors and confidence intervals too, for ``"response"`` and
            ``"link"``.
        level : float
            Confidence level of the intervals, above 0 and below 1.
        interval : {"confidence", "prediction"}, optional
            Intervals for the mean or, for a numeric response, for the response of a new row.
        offset : sequence of float, optional
            One value per row, required if the fit was given an array. If it was given a column,
            `new` must have that column.
        times : float or sequence of float, optional
            As in ``SelectionResult.predict``.

        Returns
        -------
        series, or frame with a column for each of more than two classes, or for each time
            As long as `new`, in its library, with its index if it has one. With ``se=True``, a
            frame with ``fit``, ``se``, ``ci_low`` and ``ci_high``, for more than two classes
            ``fit.<class>`` and so on. With an `interval` alone there is no ``se``; prediction
            intervals are ``low`` and ``high``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or does not suit the response or `type`.
        NewDataError
            If `new` does not match the data of the fit.

        Notes
        -----
        A prediction is missing where a term of the model is missing, unless the model was fitted
        with ``missing="indicator"`` and the variable has missing values in its rows. New levels of
        a factor raise an error, or with ``new_levels="missing"`` or ``"other"`` in ``select()`` are
        missing.

        Standard errors on the scale of the response are by the delta method. Intervals are those
        of the linear predictor, transformed; for more than two classes they are symmetric on the
        logit scale of each probability. For times to an event the columns are centred, those of
        levels too, as in ``predict(reference = "sample")`` of ``coxph(nocenter = NULL)``, and
        Efron's baseline hazard is used. With
        ``interval="prediction"`` and weights that are not frequencies, the new row has the mean
        weight. As the terms were selected on the same rows, the intervals do not account for the
        selection and are too narrow.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + pclass", data, method="rrf", k=2, n_trees=5)
        >>> glm = fit.refit("glm")
        >>> glm.predict(data.head(2), se=True).round(2).columns.to_list()
        ['fit', 'se', 'ci_low', 'ci_high']
        """
        own = self.predictor
        if own is None:
            raise OptionError(
                "This linear model can't predict: its columns are not known, or differ between"
                " imputed frames.\n  Fix what the formula learns (a mean, knots), and give all"
                " frames the same strata."
            )
        at = read_type(own, type, times)
        se = check_flag("se", se)
        level = check_level(level, se or interval, "se=True")
        own.check_interval(type, interval, se=se)
        check_order(new, offset=offset)
        frame = read_data(new, own.design.spec.numbers)
        known = own.design.offset_of(frame, offset)
        check_offset(known, np.arange(len(frame)))
        with memory_errors():
            matrix = own.columns.encode(frame)[:, own.chosen]
        found = own.rule.predict(
            matrix, 0.0 if known is None else known, on_link=type == "link", level=level,
            of_rows=interval == "prediction",
        )  # fmt: skip
        name, classes = own.design.response.name, own.design.response.classes
        if at is not None:
            return as_frame(hazards_at(own, type, frame, found.fit, at), new)
        if type == "class":
            return as_column(_classes(found.fit, classes), name, new)
        if se or interval:
            return as_frame(_with_errors(found, classes, interval, se=se), new)
        if found.fit.ndim == 2:
            return as_frame({str(c): found.fit[:, k] for k, c in enumerate(classes)}, new)
        return as_column(found.fit, name, new)


def _classes(mean: FloatArray, classes: Sequence[Any]) -> Any:
    known = np.isfinite(mean if mean.ndim == 1 else mean[:, 0])
    own = np.where(known if mean.ndim == 1 else known[:, np.newaxis], mean, 0.0)
    chosen = largest_in_row(own) if own.ndim == 2 else at_least(own, 0.5).astype(np.int64)
    found = [classes[i] if there else None for i, there in zip(chosen, known, strict=True)]
    return found or np.array(classes)[:0]


def _with_errors(
    found: Predicted, classes: Sequence[Any], interval: str | None, *, se: bool
) -> dict[str, FloatArray]:
    of_mean = "" if interval == "prediction" else "ci_"
    parts = {"fit": found.fit, "se": found.se} if se else {"fit": found.fit}
    parts |= {f"{of_mean}low": found.low, f"{of_mean}high": found.high}
    if found.fit.ndim == 1:
        return parts
    return {
        f"{name}.{c}": values[:, k] for k, c in enumerate(classes) for name, values in parts.items()
    }


def linear_predictor(data: ModelData, full: LinearData, fit: LinearFit) -> LinearPredictor:
    """What a linear model, fitted to `full`, needs to predict."""
    assert full.columns is not None
    chosen = full.is_free
    weight = np.asarray(full.row_weights.values, dtype=np.float64)
    centre, baseline = np.zeros(int(chosen.sum())), None
    if INTERCEPT not in full.term_of:  # thresholds replace it, or the baseline hazards
        chosen = np.append(False, chosen)
    if full.has_times:
        matrix = full.matrix.to_numpy(dtype=np.float64)[:, full.is_free]
        centre = np.average(matrix, axis=0, weights=weight)
        eta = (matrix - centre) @ fit.estimate
        baseline = efron(full.y, eta if full.offset is None else eta + full.offset, weight)
    rule = rule_of(fit, centre)
    return LinearPredictor(
        dataclasses.replace(data, notes=()), full.columns, chosen, rule, baseline
    )
