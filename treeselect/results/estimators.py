"""Estimators of scikit-learn, and for times of scikit-survival, fitted on the selected terms."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.checks import answer, check_choice
from treeselect.designs.encoding import DesignSpec, NewLevels
from treeselect.designs.estimators import (
    check_estimator,
    check_kind,
    class_shares,
    fitting,
    takes_missing,
)
from treeselect.designs.modeldata import ModelData
from treeselect.designs.row_sample import outcomes, read_all
from treeselect.designs.scoring import structured
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.survival.times import FROM_THE_BEGINNING, START, STRATUM
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.frames.reading import is_dask, read_data, scan_of
from treeselect.frames.tables import Scanned, as_column, as_frame
from treeselect.models.linear.fit import ONLY_FOR
from treeselect.running.machine import memory_errors

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


MODELS = ("stack", "forest", "boosting", "glm", "gam", *ONLY_FOR)
"""Models that :meth:`SelectionResult.refit` knows by name."""


@dataclass(frozen=True, slots=True)
class EstimatorFit:
    """An estimator of scikit-learn, or for times of scikit-survival, on the selected terms.

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
    spec : DesignSpec
        How new data are encoded.
    response : str
        Name of the response.
    classes : tuple
        Classes of the response; the second of two is the positive one. Empty for numbers.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = fit.refit(DecisionTreeClassifier(max_depth=2, random_state=0))
    >>> tree.predict_proba(data.head(2)).shape
    (2, 2)
    """

    estimator: Any
    columns: tuple[str, ...]
    terms: tuple[str, ...]
    imputer: Any
    notes: tuple[str, ...]
    spec: DesignSpec
    response: str
    classes: tuple[Any, ...] = ()

    def encode(self, new: Any) -> FloatArray:
        """Columns of new data as the estimator takes them.

        Parameters
        ----------
        new : frame or path
            Must have the columns behind the selected terms.

        Returns
        -------
        ndarray of float, shape (n_rows, n_columns)

        Raises
        ------
        NewDataError
            If `new` does not match the data of the fit.
        """
        encoded = self.spec.encode(read_data(new), self.terms)
        values = finite(self.spec.one_hot_of(self.terms, encoded)[1])
        return values if self.imputer is None else np.asarray(self.imputer.transform(values))

    def predict(self, new: Any, type: Literal["class", "response"] | None = None) -> Any:
        """Predictions of new data.

        Parameters
        ----------
        new : frame or path
            Must hold the columns behind the selected terms.
        type : {"class", "response"}, optional
            Classes; or, for a response with classes, probabilities (:meth:`predict_proba`), of two
            classes that of the positive one, otherwise the number that the estimator predicts. By
            default what its own ``predict`` returns: classes or numbers, and for most estimators of
            times to an event a risk score.

        Returns
        -------
        series, or frame with the probability of each of more than two classes
            Of the length of `new`, in its library, with its index if it has one.

        Raises
        ------
        OptionError
            If `type` does not suit the response or the estimator.
        NewDataError
            If `new` does not match the data of the fit.
        """
        if type is not None:
            check_choice("type", type, ("class", "response"))
        if type == "class" and not self.classes:
            raise OptionError('`type="class"` needs a response with classes.\n  Found: numbers.')
        if type == "response" and self.classes:
            shares = self._probabilities(new)
            if len(self.classes) > 2:
                return as_frame(shares, new)
            return as_column(shares[str(self.classes[1])], self.response, new)
        found = np.asarray(self.estimator.predict(self.encode(new))).ravel()
        return as_column(found.tolist(), self.response, new)

    def predict_proba(self, new: Any) -> Any:
        """Probability of each class.

        Parameters
        ----------
        new : frame or path
            Must hold the columns behind the selected terms.

        Returns
        -------
        frame
            One column per class, named after it. As long as `new`, in its library, with its index
            if it has one.

        Raises
        ------
        OptionError
            If the response has no classes, or the estimator gives no probabilities.
        NewDataError
            If `new` does not match the data of the fit.

        Examples
        --------
        >>> import treeselect
        >>> from sklearn.linear_model import LogisticRegression
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + pclass", data, method="rrf", k=2, n_trees=5)
        >>> fit.refit(LogisticRegression()).predict_proba(data.head(2)).columns.to_list()
        ['0', '1']
        """
        return as_frame(self._probabilities(new), new)

    def _probabilities(self, new: Any) -> dict[str, list[float]]:
        if not self.classes:
            raise OptionError(
                "`predict_proba()` needs a response with classes.\n"
                "  Found: numbers. Use `predict()`."
            )
        if not callable(answer(self.estimator, "predict_proba")):
            raise OptionError(
                "`predict_proba()` needs an estimator that gives probabilities.\n"
                f"  Found: {type(self.estimator).__name__}. Use `predict()` for classes, or wrap it"
                " in scikit-learn's `CalibratedClassifierCV`."
            )
        shares = class_shares(self.estimator, self.encode(new), self.classes)
        return {str(c): shares[:, k].tolist() for k, c in enumerate(self.classes)}

    def __repr__(self) -> str:
        return f"<EstimatorFit of {self.estimator!r} on {len(self.columns)} columns>"


@memory_errors()
def refit_estimator(result: Fit, estimator: Any, data: ModelData) -> EstimatorFit:
    """Fit a clone of an estimator to the encoded columns of the selected terms."""
    from sklearn.base import clone

    check_suits(result, estimator, data)
    data.check_data()
    weight, response = data.weight, data.response
    rows = np.flatnonzero(weight > 0)
    pairs = zip(data.arrays.column_names, data.arrays.columns, strict=True)
    encoded = [column for term, column in pairs if term in result.selected]
    names, values = data.spec.one_hot_of(result.selected, encoded)
    values = finite(values[rows])
    imputer, notes = None, ["A missing label is 0 in all columns of its factor."]
    if np.isnan(values).any():
        if takes_missing(estimator):
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
    elif response.family.has_times:
        y = structured(y, ("event", "time"))
    extra = {}
    if not (weight[rows] == 1).all():
        extra = {"sample_weight": _sample_weight(estimator, weight[rows])}
        notes.append("Case weights are given as `sample_weight`.")
    with fitting(estimator):
        fitted = clone(estimator)
        fitted.fit(values, y, **extra)
    return EstimatorFit(
        estimator=fitted,
        columns=tuple(names),
        terms=result.selected,
        imputer=imputer,
        notes=tuple(notes),
        spec=data.spec,
        response=response.name,
        classes=tuple(response.classes),
    )


def check_suits(result: Fit, estimator: Any, data: ModelData) -> None:
    """Raise an OptionError unless this is an estimator, and can be fitted to the selected terms."""
    check_estimator(estimator, MODELS)
    if data.response.family.has_times:
        _check_times(estimator, data)
    else:
        check_kind(estimator, data.response)
    if data.offset is not None:
        raise OptionError(
            "`model` can't be an estimator where there is an offset, which it would ignore.\n"
            '  Use `refit("forest")` or `refit("glm")`.'
        )
    if not result.selected:
        raise OptionError(
            "`model` can't be an estimator, because no term is selected and there are no columns.\n"
            "  Select at least one term, for example with `k=1`."
        )


# --- times to an event ---------------------------------------------------------------------------


_CURVES = ("predict_survival_function", "predict_cumulative_hazard_function")
"""Methods that tell an estimator of times; some of scikit-survival's have none of them."""


def _check_times(estimator: Any, data: ModelData) -> None:
    others = '`refit("forest")`, `refit("boosting")` or `refit("glm")`'
    if not _is_for_times(estimator):
        raise OptionError(
            "`model` must be an estimator of times to an event, as those of scikit-survival: the"
            " family of the response is cox.\n"
            f"  Found: {type(estimator).__name__}, which does not know of rows without an event."
            f" Use {others}."
        )
    y = data.response.y
    found = [
        what
        for what, there in (
            ("late entries", (y[:, START] > FROM_THE_BEGINNING).any()),
            ("strata", (y[:, STRATUM] > 0).any()),
        )
        if there
    ]
    if found:
        raise OptionError(
            f"`model` can't be an estimator where there are {' and '.join(found)}, which it would"
            f" ignore.\n  Use {others}."
        )


def _is_for_times(estimator: Any) -> bool:
    """Whether it is of scikit-survival or has its methods, or is a search or pipeline of such."""
    for _ in range(_MOST_LAYERS):
        if type(estimator).__module__.split(".")[0] == "sksurv":
            return True
        if any(callable(answer(estimator, name)) for name in _CURVES):
            return True
        steps = answer(estimator, "steps")
        inner = (
            steps[-1][1] if isinstance(steps, list) and steps else answer(estimator, "estimator")
        )
        if inner is None:
            return False
        estimator = inner
    return False


_MOST_LAYERS = 10
"""Searches and pipelines around an estimator."""


# --- what estimators take ------------------------------------------------------------------------


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


def finite(values: FloatArray) -> FloatArray:
    """The same with infinite numbers (log of 0) as missing ones."""
    return np.where(np.isfinite(values), values, np.nan)


# --- estimators that a cluster fits --------------------------------------------------------------

_KNOWN = ("DaskLGBMClassifier", "DaskLGBMRegressor")


def is_distributed(estimator: Any) -> bool:
    """Whether an estimator trains on collections of Dask."""
    rooms = {base.__module__ for base in type(estimator).__mro__}
    return bool(rooms & {"lightgbm.dask", "xgboost.dask"})


@memory_errors()
def refit_on_partitions(result: Fit, estimator: Any, data: ModelData, frame: Any) -> EstimatorFit:
    """Fit LightGBM to a Dask frame, whose workers encode their partitions."""
    _check(estimator, data, frame)
    check_suits(result, estimator, data)
    sizes = np.array(frame.map_partitions(len).compute(), dtype=np.int64)
    rows = _rows_by_partition(data, frame, sizes)
    names, _ = data.spec.one_hot_of(
        result.selected, data.spec.encode(data.sources.iloc[:1], result.selected)
    )
    # As in `resampling.confirming`: a level of rows that were not drawn is none of the levels.
    levels: NewLevels = "missing" if data.spec.new_levels == "missing" else "other"
    spec = dataclasses.replace(data.spec, new_levels=levels)
    columns = _columns(frame, rows, spec, result.selected, len(names))
    fitted = _trained(estimator, columns, rows, with_weights=data.weights is not False)
    return EstimatorFit(
        estimator=fitted,
        columns=tuple(names),
        terms=result.selected,
        imputer=None,
        notes=(
            "A missing label is 0 in all columns of its factor.",
            "Missing numbers are passed on: the estimator takes them.",
            f"Fitted to all {sum(len(part.place) for part in rows):,} rows by the workers of the"
            " Dask cluster.",
        ),
        spec=data.spec,
        response=data.response.name,
        classes=tuple(data.response.classes),
    )


def _check(estimator: Any, data: ModelData, frame: Any) -> None:
    name = type(estimator).__name__
    if name not in _KNOWN:
        raise OptionError(
            f"`model` must be one of {listing(_KNOWN)} of LightGBM to train on a Dask cluster.\n"
            f"  Found: {name}."
        )
    if not is_dask(frame):
        raise OptionError(
            f"`data` must be a Dask frame, on whose partitions {name} trains.\n"
            "  Pass the one that the terms were selected on, or use LightGBM's"
            f" {name.removeprefix('Dask')} on rows in memory."
        )
    if data.weights is True:
        raise OptionError(
            "`weights` must be a column of the Dask frame, not an array, for an estimator that"
            " trains on its partitions."
        )


# --- rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows in use of a partition: their number, places in it, responses and case weights."""

    number: int
    place: IntArray
    y: NDArray[Any]
    weight: WeightArray


def _rows_by_partition(data: ModelData, frame: Any, sizes: IntArray) -> list[_Part]:
    """The rows in use of each partition that has any."""
    parsed = data.spec.formula
    scan = scan_of(frame)
    assert scan is not None
    whole = outcomes(parsed, Scanned(scan), data.spec.na, parsed.hidden)
    given = data.weights if isinstance(data.weights, str) else None
    every, full = read_all(parsed, whole, given, data.weights_kind, data.response.family.name)
    y: NDArray[Any] = full.y
    if full.classes:
        y = np.array(full.classes)[full.y.astype(np.int64)]
    ends = np.cumsum(sizes)
    found = []
    for number, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        low, high = np.searchsorted(full.rows, [start, end])
        if low == high:
            continue
        own = full.rows[low:high]
        found.append(_Part(number, own - start, y[low:high], every.values[own]))
        absent = sorted(set(full.classes) - set(y[low:high].tolist()))
        if absent:
            raise DataError(
                "Each partition of `data` must have rows of all classes to train LightGBM on.\n"
                f"  Partition {number} has none of class {quoted(str(absent[0]))}: shuffle the"
                " rows, or make fewer partitions with `repartition`."
            )
    return found


# --- work of the cluster -------------------------------------------------------------------------


def _columns(
    frame: Any, rows: Sequence[_Part], spec: DesignSpec, terms: Sequence[str], width: int
) -> Any:
    """A Dask array of the encoded columns of the rows in use, a block per partition."""
    import dask.array as da
    from dask.delayed import delayed

    variables = list(dict.fromkeys(v for name in terms for v in spec[name].term.variables))
    parts = frame[variables].to_delayed()
    encode, known = delayed(_encoded, pure=False), delayed(spec)
    blocks = [
        da.from_delayed(
            encode(parts[own.number], own.place, known, tuple(terms)),
            shape=(len(own.place), width),
            dtype=np.float64,
        )
        for own in rows
    ]
    return da.concatenate(blocks, axis=0)


def _encoded(
    part: pd.DataFrame, place: IntArray, spec: DesignSpec, terms: Sequence[str]
) -> FloatArray:
    """Columns of some rows of a partition; runs on a worker."""
    return finite(spec.one_hot_of(terms, spec.encode(part.iloc[place], terms))[1])


def _trained(estimator: Any, columns: Any, rows: Sequence[_Part], *, with_weights: bool) -> Any:
    """The estimator of this machine that the cluster's workers trained."""
    import dask.array as da

    def spread(values: Sequence[NDArray[Any]]) -> Any:
        return da.from_array(np.concatenate(values), chunks=(tuple(map(len, values)),))

    extra = {"sample_weight": spread([part.weight for part in rows])} if with_weights else {}
    own = type(estimator)(**estimator.get_params(deep=False))  # a client can't be cloned
    with fitting(estimator):
        return own.fit(columns, spread([part.y for part in rows]), **extra).to_local()
