"""Other models of the selected terms: trees, linear model, any estimator of scikit-learn."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import found_near
from treeselect.arguments.scalars import answer, described
from treeselect.designs.design import FloatArray, WeightArray
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.modeldata import ModelData
from treeselect.engine.random import stream_seed
from treeselect.errors import (
    OptionError,
    TreeselectWarning,
    listing,
    quoted,
    said_by,
)
from treeselect.frames.libraries import as_column, in_library
from treeselect.frames.reading import read_data
from treeselect.models.forest import refit_forest
from treeselect.models.linear import (
    LinearFit,
    coefficient_table,
    fit_linear,
    independent_columns,
    linear_data,
    near_certain,
)
from treeselect.results.boosting import fit_boosted
from treeselect.results.summary import Summary, SummaryContent, p_text
from treeselect.running.machine import memory_is_told
from treeselect.running.parallel import engine_threads

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.results.result import SelectionResult

MODELS = ("forest", "boosting", "glm")
"""Models that :meth:`SelectionResult.refit` knows by name."""

_PREDICTS = "Refitted: predicts with"

NOT_VALID = (
    "These p-values and intervals are not valid: the terms were selected on the same rows, so that"
    " they look better than they are. Use `inference()`, which selects on one part of the rows and"
    " fits on the other."
)


def refit(result: SelectionResult, model: Any, data: ModelData) -> Any:
    """See :meth:`SelectionResult.refit`."""
    if isinstance(model, str):
        if model in ("forest", "boosting"):
            return _refit_trees(result, model, data)
        if model == "glm":
            return refit_glm(result, data)
        raise OptionError(
            f"`model` must be one of {listing(MODELS)}, or an estimator of scikit-learn.\n"
            f"{found_near(model, MODELS)}"
        )
    return refit_estimator(result, model, data)


@memory_is_told()
def _refit_trees(result: SelectionResult, model: str, data: ModelData) -> SelectionResult:
    grow = refit_forest if model == "forest" else fit_boosted
    fitted = grow(
        data.problem,
        data.weight,
        result.step.selected,
        seed=stream_seed(result.seed, "fit"),
        n_threads=engine_threads(result.n_jobs),
    )
    before = result.model.note  # said of the model that goes
    notes = tuple(n for n in result.notes if n != before and not n.startswith(_PREDICTS))
    scored = getattr(result.chosen_method, "refit", "forest")  # what select() itself had predict
    if model != scored:
        notes += (f"{_PREDICTS} {fitted.description}; the scores are those of the model before.",)
    return dataclasses.replace(result, model=fitted, notes=notes)


# --- linear model ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GlmFit:
    """A linear model of the selected terms.

    Attributes
    ----------
    result : statsmodels results
        OLS, WLS, GLM or MNLogit results.
    n_used, n_dropped : int
        Rows that were fitted, and rows left out because a selected term is missing there.
    left_out : tuple of str
        Columns that are sums of others, which have no coefficient of their own.
    content : SummaryContent
        What :meth:`summary` says.
    table : pandas.DataFrame
        What :meth:`tidy` gives.
    library : str
        Library in which tables are given.
    """

    result: Any
    n_used: int
    n_dropped: int
    left_out: tuple[str, ...]
    content: SummaryContent
    table: pd.DataFrame
    library: str = "pandas"

    def tidy(self) -> Any:
        """One row per coefficient.

        Returns
        -------
        frame, in the library of the data
            ``term``, ``column``, ``estimate``, ``std_error``, ``statistic``, ``p_value``,
            ``ci_low``, ``ci_high`` (95 %), neither of which is valid after a selection on the same
            rows. Of more than two classes ``column`` begins with the class that is compared with
            the first one.
        """
        return in_library(self.table, self.library)

    def summary(self) -> Summary:
        """Printed summary, as R's ``summary(glm(...))``."""
        return Summary(self.content)

    def __repr__(self) -> str:
        return f"<GlmFit of {self.n_used:,} rows, {self.n_dropped:,} dropped>"


def refit_glm(result: SelectionResult, data: ModelData) -> GlmFit:
    """Fit the linear model of a selection to all complete rows.

    Raises
    ------
    DataError
        If there are too few rows, or statsmodels gives up.

    Warns
    -----
    TreeselectWarning
        If the fit did not converge or the terms separate the classes.
    """
    response = data.response
    full = linear_data(data, result.selected, np.arange(len(data.weight)))
    free = independent_columns(full.matrix.to_numpy())
    left_out = tuple(str(c) for c in full.matrix.columns[~free])
    fit = fit_linear(full.of_columns(free), response.family.name, response.name, response.classes)
    problems = list(fit.problems)
    if not problems and response.family.has_classes and near_certain(fit):
        problems.append(
            "Fitted probabilities of 0 or 1: the terms may separate the classes, and then estimates"
            " are too large without bound."
        )
    if problems:
        warnings.warn(TreeselectWarning(" ".join(problems)), stacklevel=4)
    n_used = len(full.y)
    table = coefficient_table(fit)
    content = SummaryContent(
        title="Linear model of the selected terms",
        facts=(
            ("Call", f"{result.call.text}.refit('glm')"),
            ("Formula", result.formula),
            ("Model", f"{fit.model} (statsmodels)"),
            *_response_facts(data),
            ("Rows used", f"{n_used:,}"),
            ("Rows dropped", f"{full.n_dropped:,}, with a missing value in a selected term"),
            ("Seed", str(result.seed)),  # the selection can't be repeated from its call alone
        ),
        columns=table_head(fit, 0.95),
        rows=tuple(table_row(row) for row in table.itertuples(index=False)),
        notes=(
            NOT_VALID,
            *_group_note(result.choice.folds.groups_name),
            *problems,
            *_left_out_note(left_out),
            *_weight_notes(data, fit),
        ),
    )
    return GlmFit(
        result=fit.result,
        n_used=n_used,
        n_dropped=full.n_dropped,
        left_out=left_out,
        content=content,
        table=table,
        library=data.library,
    )


def _response_facts(data: ModelData) -> tuple[tuple[str, str], ...]:
    classes = data.response.classes
    if not classes:
        return (("Response", data.response.name),)
    if len(classes) == 2:
        return (("Response", f"{data.response.name}; positive class: {classes[-1]}"),)
    return (("Response", f"{data.response.name}; compared with the class: {classes[0]}"),)


def _group_note(name: str | bool) -> tuple[str, ...]:
    if not name:
        return ()
    of = f"one {quoted(name)}" if isinstance(name, str) else "one group"
    return (
        f"Standard errors count rows of {of} as independent, and are too small if they are not:"
        " those of `inference()` are cluster-robust.",
    )


def _left_out_note(left_out: Sequence[str]) -> tuple[str, ...]:
    if not left_out:
        return ()
    return (f"Left out, as they are sums of columns before them: {listing(left_out)}.",)


def _weight_notes(data: ModelData, fit: LinearFit) -> tuple[str, ...]:
    notes = []
    if not np.issubdtype(data.weight.dtype, np.integer):
        notes.append("Case weights are relative: divided by their mean (statsmodels: var_weights).")
    elif (data.weight > 1).any():
        notes.append("Case weights are copies of rows.")
    if data.offset is not None:
        least_squares = fit.model.startswith(("OLS", "WLS"))
        notes.append(
            "The offset is subtracted from the response."
            if least_squares
            else "The offset is part of the linear predictor."
        )
    return tuple(notes)


def table_head(fit: LinearFit | None, level: float) -> tuple[str, ...]:
    """Head of a printed table of coefficients."""
    letter = "z" if fit is None or fit.df is None else "t"
    interval = f"{100 * level:g} % interval"
    return ("Column", "Estimate", "Std. error", letter, f"P(>|{letter}|)", interval)


def table_row(row: Any) -> tuple[str, ...]:
    """A printed row of ``linear.coefficient_table``."""
    return (
        row.column,
        f"{row.estimate:.4g}",
        f"{row.std_error:.4g}",
        f"{row.statistic:.3f}",
        p_text(row.p_value),
        f"{row.ci_low:.4g} to {row.ci_high:.4g}",
    )


# --- estimators of scikit-learn ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EstimatorFit:
    """An estimator of scikit-learn on the selected terms.

    Attributes
    ----------
    estimator : object
        The fitted clone.
    columns : tuple of str
        Names of the columns that it was fitted on, formulaic's; where medians stand in for missing
        numbers, the indicators ``missing(<name>)`` come last.
    terms : tuple of str
    imputer : sklearn.impute.SimpleImputer or None
        Medians of the training rows, if the estimator can't take missing numbers and there are
        some.
    notes : tuple of str
        What became of missing values and weights.
    """

    estimator: Any
    columns: tuple[str, ...]
    terms: tuple[str, ...]
    imputer: Any
    notes: tuple[str, ...]
    spec: DesignSpec
    response: str

    def encode(self, new: Any) -> FloatArray:
        """Columns of new data as the estimator takes them, shape (n_rows, n_columns).

        Raises
        ------
        NewDataError
            If `new` does not match the data of the fit.
        """
        encoded = self.spec.encode(read_data(new), self.terms)
        values = _finite(self.spec.one_hot_of(self.terms, encoded)[1])
        return values if self.imputer is None else np.asarray(self.imputer.transform(values))

    def predict(self, new: Any) -> Any:
        """What the estimator predicts of new data.

        Parameters
        ----------
        new : frame or path
            Must hold the columns behind the selected terms.

        Returns
        -------
        series
            Of the length of `new`, in its library, with its index if it has one.

        Raises
        ------
        NewDataError
            If `new` does not match the data of the fit.
        """
        found = np.asarray(self.estimator.predict(self.encode(new))).ravel()
        return as_column(found.tolist(), self.response, new)

    def __repr__(self) -> str:
        return f"<EstimatorFit of {self.estimator!r} on {len(self.columns)} columns>"


@memory_is_told()
def refit_estimator(result: SelectionResult, estimator: Any, data: ModelData) -> EstimatorFit:
    """Fit a clone of an estimator to the encoded columns of the selected terms.

    Raises
    ------
    OptionError
        If it is no estimator, of the wrong kind, or can't take the weights or the offset.
    """
    from sklearn.base import clone

    _check_estimator(estimator, data)
    if not result.selected:
        raise OptionError(
            "`model` can't be an estimator: nothing is selected, so that it has no columns.\n"
            "  Select at least one term, for example with `k=1`."
        )
    data.check_data()
    weight, response = data.weight, data.response
    rows = np.flatnonzero(weight > 0)
    pairs = zip(data.arrays.column_names, data.arrays.columns, strict=True)
    encoded = [column for term, column in pairs if term in result.selected]
    names, values = data.spec.one_hot_of(result.selected, encoded)
    values = _finite(values[rows])
    imputer, notes = None, ["A missing label is 0 in all columns of its factor."]
    if np.isnan(values).any():
        if _takes_missing(estimator):
            notes.append("Missing numbers are passed on: the estimator takes them.")
        else:
            imputer = _medians(values)
            missing = imputer.indicator_.features_
            notes.append(
                "Missing numbers are replaced by the median of the training rows, with an indicator"
                f" column each: {listing(names[j] for j in missing)}."
            )
            names = [*names, *(f"missing({names[j]})" for j in missing)]
            values = np.asarray(imputer.transform(values))
    y = response.y[rows]
    if response.classes:
        y = np.array(response.classes)[y.astype(np.int64)]
    extra = {}
    if not (weight[rows] == 1).all():
        extra = {"sample_weight": _sample_weight(estimator, weight[rows])}
        notes.append("Case weights are given as `sample_weight`.")
    try:
        fitted = clone(estimator)
        fitted.fit(values, y, **extra)
    except MemoryError:
        raise
    except Exception as error:  # code of others can fail in any way
        raise OptionError(
            "`model` must be an estimator that can be fitted to the selected columns.\n"
            f"  {type(estimator).__name__} says: {said_by(error)}"
        ) from error
    return EstimatorFit(
        estimator=fitted,
        columns=tuple(names),
        terms=result.selected,
        imputer=imputer,
        notes=tuple(notes),
        spec=data.spec,
        response=response.name,
    )


def _check_estimator(estimator: Any, data: ModelData) -> None:
    from sklearn.base import is_classifier, is_regressor

    if isinstance(estimator, type):
        raise OptionError(
            "`model` must be an estimator, not its class.\n"
            f"  Found: {estimator.__name__}. Write `{estimator.__name__}()`."
        )
    if not all(callable(answer(estimator, name)) for name in ("fit", "predict", "get_params")):
        raise OptionError(
            f"`model` must be one of {listing(MODELS)}, or an estimator of scikit-learn.\n"
            f"  Found: {described(estimator)}."
        )
    needed = "classifier" if data.response.classes else "regressor"
    try:
        fits = (is_classifier if data.response.classes else is_regressor)(estimator)
    except Exception:  # it does not say what it is
        fits = False
    if not fits:
        raise OptionError(
            f"`model` must be a {needed}: the family of the response is"
            f" {data.response.family.name}.\n  Found: {type(estimator).__name__}."
        )
    if data.offset is not None:
        raise OptionError(
            "`model` can't be an estimator of scikit-learn where there is an offset, which it"
            ' would ignore.\n  Use `refit("forest")` or `refit("glm")`.'
        )


def _takes_missing(estimator: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.allow_nan)


def _medians(values: FloatArray) -> Any:
    from sklearn.impute import SimpleImputer

    medians = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return medians.fit(values)


def _sample_weight(estimator: Any, weight: WeightArray) -> WeightArray:
    from sklearn.utils.validation import has_fit_parameter

    if not has_fit_parameter(estimator, "sample_weight"):
        raise OptionError(
            "`model` must take `sample_weight`: the fit has case weights.\n"
            f"  Found: {type(estimator).__name__}, whose `fit` does not."
        )
    return weight


def _finite(values: FloatArray) -> FloatArray:
    """The same with infinite numbers (log of 0) as missing ones."""
    return np.where(np.isfinite(values), values, np.nan)
