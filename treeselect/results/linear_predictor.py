"""Predictions of a linear model of the selected terms for new data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_choice, check_flag, check_share
from treeselect.brief import brief
from treeselect.designs.linear import LinearColumns
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.weights import check_offset
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import at_least, largest_in_row
from treeselect.engine.survival.curves import Baseline, breslow
from treeselect.errors import DataError, OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.frames.tables import as_column, as_frame, in_library
from treeselect.models.linear import tests
from treeselect.models.linear.coefficients import (
    Reference,
    exponentiated,
    ratio_cells,
    rows_with_references,
)
from treeselect.models.linear.data import LinearData
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.rule import LinearRule, Predicted, rule_of
from treeselect.printing import SummaryContent, p_text
from treeselect.results.predicting import hazards_at, read_type
from treeselect.running.machine import memory_errors

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

    def predict(
        self,
        new: Any,
        type: str,
        *,
        se: bool,
        level: float,
        interval: str | None,
        offset: Sequence[float] | None,
        times: object,
    ) -> Any:
        """See ``GlmFit.predict``."""
        at = read_type(self, type, times)
        se, level = check_flag("se", se), check_share("level", level)
        self._check_interval(type, interval, se=se)
        frame = read_data(new)
        base = self._offset(frame, offset)
        found = self.rule.predict(
            self._matrix(frame),
            base,
            on_link=type == "link",
            level=level,
            of_rows=interval == "prediction",
        )
        name, classes = self.design.response.name, self.design.response.classes
        if at is not None:
            return as_frame(hazards_at(self, type, frame, found.fit, at), new)
        if type == "class":
            return as_column(_classes(found.fit, classes), name, new)
        if se or interval:
            return as_frame(_with_errors(found, classes, interval, se=se), new)
        if found.fit.ndim == 2:
            return as_frame({str(c): found.fit[:, k].tolist() for k, c in enumerate(classes)}, new)
        return as_column(found.fit.tolist(), name, new)

    @memory_errors()
    def _matrix(self, frame: pd.DataFrame) -> FloatArray:
        return self.columns.encode(frame)[:, self.chosen]

    def _offset(self, frame: pd.DataFrame, given: Sequence[float] | None) -> FloatArray | float:
        known = self.design.offset_of(frame, given)
        check_offset(known, np.arange(len(frame)))
        return 0.0 if known is None else known

    def _check_interval(self, type: str, interval: str | None, *, se: bool) -> None:
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

        Notes
        -----
        A prediction is missing where a term of the model is missing, unless the model was fitted
        with ``missing="indicator"`` and the variable has missing values in its rows. New levels of
        a factor raise an error, or with ``new_levels="missing"`` or ``"other"`` in ``select()`` are
        missing.

        Standard errors on the scale of the response are by the delta method. Intervals are those
        of the linear predictor, transformed; for more than two classes they are symmetric on the
        logit scale of each probability. For times to an event the columns are centred, as in
        ``predict(coxph, reference = "sample")``, and Breslow's baseline hazard is used. With
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
        if self.predictor is None:
            raise OptionError(
                "This linear model can't predict: its columns are not known, or differ between"
                " imputed frames (a mean, knots).\n  Fix their parameters in the formula."
            )
        return self.predictor.predict(
            new, type, se=se, level=level, interval=interval, offset=offset, times=times
        )


def _classes(mean: FloatArray, classes: Sequence[Any]) -> list[Any]:
    known = np.isfinite(mean if mean.ndim == 1 else mean[:, 0])
    own = np.where(known if mean.ndim == 1 else known[:, np.newaxis], mean, 0.0)
    chosen = largest_in_row(own) if own.ndim == 2 else at_least(own, 0.5).astype(np.int64)
    return [classes[i] if there else None for i, there in zip(chosen, known, strict=True)]


def _with_errors(
    found: Predicted, classes: Sequence[Any], interval: str | None, *, se: bool
) -> dict[str, list[float]]:
    of_mean = "" if interval == "prediction" else "ci_"
    parts = {"fit": found.fit, "se": found.se} if se else {"fit": found.fit}
    parts |= {f"{of_mean}low": found.low, f"{of_mean}high": found.high}
    if found.fit.ndim == 1:
        return {name: values.tolist() for name, values in parts.items()}
    return {
        f"{name}.{c}": values[:, k].tolist()
        for k, c in enumerate(classes)
        for name, values in parts.items()
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
        baseline = breslow(full.y, eta if full.offset is None else eta + full.offset, weight)
    rule = rule_of(fit, centre)
    return LinearPredictor(
        dataclasses.replace(data, notes=()), full.columns, chosen, rule, baseline
    )


# --- tests of terms ------------------------------------------------------------------------------

SELECTED_HERE = (
    "These p-values and intervals are not valid: the terms were selected on the same rows, so they"
    " are anti-conservative."
)

FORCED_IN = (
    "All candidate terms were forced in, so these p-values and intervals are not affected by a"
    " selection."
)


_STATISTICS = {
    "df_resid": "df_resid", "deviance": "deviance", "null_deviance": "null_deviance",
    "df_null": "df_null", "log_lik": "ll", "aic": "aic", "bic": "bic", "sigma": "sigma",
    "r2": "r2", "adj_r2": "adj_r2",
}  # fmt: skip


class TermTested:
    """A linear model whose terms can be tested."""

    __slots__ = ()

    n_used: int
    n_dropped: int
    table: pd.DataFrame
    library: str
    statistics: dict[str, float]
    ratio: str
    labels: dict[str, str]
    content: SummaryContent
    fitted: tests.FittedTerms | None
    references: Mapping[str, Reference]
    shown: pd.DataFrame | None

    @property
    def _caution(self) -> str:
        """How the selection affects p-values."""
        return FORCED_IN if FORCED_IN in self.content.notes else SELECTED_HERE

    def anova(self) -> tests.TermTests:
        """Sequential tests of terms, as R's ``anova(fit)``: each term given those before it.

        Returns
        -------
        TermTests
            ``.tidy()`` and ``.summary()``. F tests for a gaussian response, otherwise likelihood
            ratio tests (R: ``test = "LRT"``), F tests for quasi-Poisson models; Wald tests for
            clusters and sampling weights. They are not valid after a selection on the same rows.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").anova().tidy()["term"].tolist()
        ['(null model)', 'sex', 'sibsp']
        """
        return tests.sequential_tests(self._terms(), (self._caution,), self.library)

    def drop1(self) -> tests.TermTests:
        """Tests of each term given all others, as R's ``drop1(fit, test = "LRT")``.

        A term that an interaction contains is not dropped.

        Returns
        -------
        TermTests
            As of :meth:`anova`; for a gaussian response F tests (R: ``test = "F"``).

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").drop1().tidy()["df"].tolist()[1:]
        [1.0, 1.0]
        """
        return tests.drop_tests(self._terms(), (self._caution,), self.library)

    def confint(self, *, method: str | None = None, level: float = 0.95) -> Any:
        """Confidence intervals of the coefficients, as R's ``confint(fit)``.

        Parameters
        ----------
        method : {"profile", "wald"}, optional
            ``"profile"``: profile-likelihood intervals, for two classes, counts and times to an
            event; for a gaussian response those of the t distribution. ``"wald"``: symmetric ones,
            those of :meth:`tidy`. By default profile intervals, or symmetric ones where there is
            no likelihood to profile.
        level : float
            Between 0 and 1.

        Returns
        -------
        frame, in the library of the data
            ``term``, ``column``, ``estimate``, ``ci_low``, ``ci_high``. An end is infinite where
            the likelihood stays flat. They are not valid after a selection on the same rows.

        Raises
        ------
        OptionError
            If an argument is not allowed, or ``"profile"`` has no likelihood: for more than two
            classes, and for robust standard errors (clusters, sampling weights).
        DataError
            If the fit did not converge.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").confint(level=0.9).columns.tolist()
        ['term', 'column', 'estimate', 'ci_low', 'ci_high']
        """
        if method is not None:
            check_choice("method", method, ("profile", "wald"))
        ends = tests.intervals(self._terms(), method, check_share("level", level))
        table = self.table[["term", "column", "estimate"]].assign(
            ci_low=ends[:, 0], ci_high=ends[:, 1]
        )
        return in_library(table, self.library)

    def glance(self) -> Any:
        """One row about the whole model.

        Returns
        -------
        frame, in the library of the data
            ``n``, rows used (copies counted); ``n_dropped``; ``events``, rows of the positive class
            or events; ``df_resid``, ``deviance``, ``null_deviance``, ``df_null``, ``log_lik``,
            ``aic``, ``bic``, ``sigma``, ``r2``, ``adj_r2``. Those that do not exist for the model
            are missing; so are likelihood and criteria for weights that are no frequencies.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> int(fit.refit("glm").glance()["events"].iloc[0])
        500
        """
        found = self._terms().whole
        known: dict[str, float] = {"n": found.n, "n_dropped": self.n_dropped} | {
            name: self.statistics.get(key, np.nan) for name, key in _STATISTICS.items()
        }
        known |= self._terms().criteria(found) | {"events": self._terms().n_events}
        columns = ["n", "n_dropped", "events", *_STATISTICS]
        return in_library(pd.DataFrame([{name: known[name] for name in columns}]), self.library)

    def tables_of_paper(self) -> tuple[SummaryContent, SummaryContent | None]:
        """The table of a paper, of ratios where there are any, and the tests of terms; None if a
        model without one of the terms can't be fitted."""
        content = self._with_ratios() if self.ratio else self.content
        try:
            return content, self.drop1().content
        except DataError:
            return content, None

    def _with_ratios(self) -> SummaryContent:
        """The summary with ratios in place of coefficients."""
        exponentiated(self.table, self.ratio)  # an error if they are no ratios
        table = self._readable()
        rows = tuple(
            (str(row.column), *ratio_cells(row), p_text(row.p_value))  # type: ignore[arg-type]
            for row in table.itertuples(index=False)
        )
        names = map(str, table["column"])
        shown = [
            (self.labels.get(name, name), *row[1:]) for name, row in zip(names, rows, strict=True)
        ]
        filled = rows_with_references(table, self.references, shown)
        filled = tuple(
            (row[0], "1", *row[2:]) if row[0].endswith("(reference)") and not row[1] else row
            for row in filled
        )
        columns = ("Column", self.ratio.capitalize(), "95% interval", "P-value")
        return dataclasses.replace(self.content, columns=columns, rows=filled)

    def _readable(self) -> pd.DataFrame:
        """The table of coefficients, with differences between quartiles for splines."""
        return self.table if self.shown is None else self.shown

    def _terms(self) -> tests.FittedTerms:
        if self.fitted is None:
            raise DataError(
                "Can't do this without the data of the fit, which are not in the file of a linear"
                " model.\n  Save the selection with `include_data=True`, load it and refit."
            )
        return self.fitted
