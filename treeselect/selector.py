"""A scikit-learn transformer that selects columns, or terms of a formula.

The file is long because it documents the arguments and reads what scikit-learn may give it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from treeselect.algorithms.method import Method
from treeselect.algorithms.registry import find_method
from treeselect.arguments.checks import (
    USUAL_METHOD,
    USUAL_SIZE,
    check_flag,
    described,
    length,
    read_seed,
)
from treeselect.designs.encoding import NewLevels
from treeselect.designs.problem import FinalModel, Missing
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import WeightsKind, check_order, read_weights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import DataError, NewDataError, OptionError, listing, quoted
from treeselect.formulas.checks import unquote
from treeselect.frames.files import labels_in
from treeselect.frames.reading import read_data
from treeselect.frames.values import with_columns
from treeselect.resampling.folds import Splitter
from treeselect.result import SelectionResult
from treeselect.results.tables import tidy_table
from treeselect.selection import select
from treeselect.shown import said

_AS_THEY_ARE = (
    "family", "model", "weights_kind", "resamples", "folds", "repeats", "scoring", "n_jobs",
    "new_levels", "missing",
)  # fmt: skip
"""Arguments that ``select`` reads itself."""

_COLUMNS = ("weights", "offset", "fold_groups")
"""Arguments that name columns of the frame of a formula."""


class TreeSelector(SelectorMixin, BaseEstimator):
    """Scikit-learn transformer that selects columns or terms with :func:`treeselect.select`.

    Without a formula each column of X is a term: text and categories are factors, and missing
    values are allowed. With a formula X is a frame, and :meth:`transform` gives its columns behind
    the selected terms, never the response. Arguments that are not explained here are those of
    :func:`treeselect.select`.

    Parameters
    ----------
    method : str or method
    k : int, "auto", "1se", "best" or None
        Number of terms to select; a group counts as one. As scikit-learn can't distinguish an
        explicit argument from a default, a method that finds a set of its own (such as
        ``"boruta"``) does so with ``"auto"`` too. By default there are no `resamples`.
    formula : str, optional
    method_options : dict, optional
        Options of the method, for example ``{"gamma": 0.2}``.
    family : {"auto", "gaussian", "binomial", "multinomial", "ordinal", "poisson", "cox"}
        ``"auto"`` treats text, logical values and numbers that are all 0 or 1 as classes. Classes
        with other numbers need ``"multinomial"`` (or ``"binomial"``, ``"ordinal"``). A
        structured `y` is a survival response (cox).
    groups : dict of str to list of str, optional
        Columns that are selected together; with a formula, terms. The columns of an array are
        ``x0``, ``x1`` and so on.
    costs : dict of str to float, optional
        Cost of a column, or of a group.
    keep : list of str or str, optional
        Columns or groups that are forced in.
    monotone : dict of str to int, optional
        Columns with which predictions of ``result_`` must not decrease (1) or increase (-1).
    model : {"stack", "forest", "boosting", "glm", "gam"} or estimator, optional
        What ``result_`` predicts with; by default the method's own model.
    folds, repeats, scoring, resamples, weights_kind, n_jobs
    weights, offset, fold_groups : str, optional
        Columns of the frame, with a formula only, so that cross-validation divides them with it.
        The formula excludes them from ``.``.
    labels : dict of str to str, optional
        With a formula only.
    encode : bool
        Whether :meth:`transform` gives numbers only, as most estimators need: one column per number
        and spline basis and one per level of a selected factor, such as ``sex[female]``. By
        default, columns are unchanged.
    new_levels : {"error", "missing", "other"}
        How levels that were not in the data of the fit are treated by ``result_.predict`` and by
        :meth:`transform` with ``encode=True``, where the last two give 0 in all columns of the
        factor.
    missing : {"level", "impute", "drop"}
        What the fit and ``result_.predict`` do with missing values; :meth:`transform` keeps them.
    random_state : int, RandomState or None
        An int is the ``seed``; a RandomState draws it.

    Attributes
    ----------
    result_ : SelectionResult
        The full result, with ``.summary()``, ``.path``, ``.report(...)`` and so on. Without a
        formula its terms are the names of the columns, or ``x0``, ``x1``, ... if X has none.
    feature_importances_ : ndarray of float, shape (n_features,)
        Importance in the final model (of the whole group for a column of a group); 0 for
        columns that are not selected. Without a formula only.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        Present only if X has names; with a formula all columns of the frame in ``fit``.

    Notes
    -----
    ``fit`` takes ``sample_weight``, of the kind that ``weights_kind`` gives, and
    ``fold_groups``. With scikit-learn's metadata routing enabled, both are requested as in
    ``set_fit_request(sample_weight=True)``. Errors are those of ``select``, and are ValueErrors.
    A missing response is an error, as in other scikit-learn estimators.

    Inside a cross-validation the selection is repeated on the training rows of each fold, and what
    transforms such as ``scale`` or ``bs`` learn comes from these rows.

    Examples
    --------
    >>> import treeselect
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = treeselect.datasets.load("titanic")
    >>> X, y = data[["pclass", "parch", "sibsp"]], data["survived"]
    >>> selector = treeselect.TreeSelector(method="importance", k=1, random_state=1)
    >>> model = make_pipeline(selector, LogisticRegression()).fit(X, y)
    >>> model[0].get_feature_names_out()
    array(['pclass'], dtype=object)
    >>> selector = treeselect.TreeSelector(
    ...     "importance", k=1, formula="survived ~ sex + parch", encode=True, random_state=1
    ... )
    >>> model = make_pipeline(selector, HistGradientBoostingClassifier(max_iter=5)).fit(data, y)
    >>> model[0].get_feature_names_out()
    array(['sex[female]', 'sex[male]'], dtype=object)
    """

    def __init__(
        self,
        method: str | Method = USUAL_METHOD,
        k: int | Literal["auto", "1se", "best"] | None = "auto",
        *,
        formula: str | None = None,
        method_options: Mapping[str, Any] | None = None,
        family: str = "auto",
        weights: str | None = None,
        weights_kind: WeightsKind | None = None,
        offset: str | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        costs: Mapping[str, float] | None = None,
        keep: Iterable[str] | str | None = None,
        monotone: Mapping[str, int] | None = None,
        model: FinalModel | BaseEstimator | None = None,
        folds: int | Splitter | Sequence[int] | None = None,
        repeats: int | None = None,
        fold_groups: str | None = None,
        scoring: Scoring = None,
        resamples: int = 0,
        labels: Mapping[str, str | None] | None = None,
        encode: bool = False,
        new_levels: NewLevels = "error",
        missing: Missing = "level",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.k = k
        self.formula = formula
        self.method_options = method_options
        self.family = family
        self.weights = weights
        self.weights_kind = weights_kind
        self.offset = offset
        self.groups = groups
        self.costs = costs
        self.keep = keep
        self.monotone = monotone
        self.model = model
        self.folds = folds
        self.repeats = repeats
        self.fold_groups = fold_groups
        self.scoring = scoring
        self.resamples = resamples
        self.labels = labels
        self.encode = encode
        self.new_levels = new_levels
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Sequence[float] | None = None,
        fold_groups: Sequence[Any] | None = None,
    ) -> TreeSelector:
        """Select columns or terms.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            Numbers, with NaN for missing values, or text; a pandas, polars or pyarrow frame may
            also have categories. With a formula a frame.
        y : array or series, shape (n_samples,)
            Categories keep their order. For survival a structured array as in scikit-survival, with
            a logical field (the event) and a numeric field (the time). With a formula the variable
            on its left-hand side: it is needed if X does not hold this column, and must equal it if
            X does. If there are several variables, as in ``Surv(time, event)``, X must hold them,
            and `y` is not read.
        sample_weight : array of float, shape (n_samples,), optional
            Case weights, at least 0; with a formula use `weights`.
        fold_groups : array, shape (n_samples,), optional
            Clusters of rows, which no fold, bootstrap sample or resample divides; with a formula
            use the parameter of the same name.

        Returns
        -------
        TreeSelector
            Itself.

        Raises
        ------
        ValueError
            For a formula, data or arguments that are not allowed.
        """
        check_order(
            X, y=y, sample_weight=sample_weight, fold_groups=fold_groups, folds=self.folds
        )  # named as here
        read = self._read_columns if self.formula is None else self._read_formula
        formula, frame, arguments = read(X, y, sample_weight, fold_groups)
        frame.attrs["labels"] = labels_in(X)
        arguments |= {name: getattr(self, name) for name in _AS_THEY_ARE}
        result = select(formula, frame, progress=False, **arguments)
        assert isinstance(result, SelectionResult)
        self.result_: SelectionResult = result
        if self.formula is None:
            tidy = tidy_table(result._fit).set_index("term")
            names = [name for name in frame.columns if name in tidy.index]
            found = tidy["importance"].loc[names].to_numpy(dtype=np.float64)
            self.feature_importances_: FloatArray = found
        else:
            validate_data(self, X, skip_check_array=True)
            names = list(_frame(X).columns)
            # scikit-learn reads the names of polars and pyarrow from version 1.9 on.
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._support: BoolArray = np.isin(names, result.variables)
        self._encoded = _encoded(result, frame.head(1))[0] if self.encode else None
        return self

    def _read_columns(
        self, X: Any, y: Any, sample_weight: Any, fold_groups: Any
    ) -> tuple[str, pd.DataFrame, dict[str, Any]]:
        """Formula, frame and arguments of the call if each column is a term."""
        arguments = self._arguments()
        for name in (*_COLUMNS, "labels"):
            if getattr(self, name) is not None:
                raise OptionError(
                    f"`{name}` needs a `formula`, whose frame has the column.\n"
                    f"  Found: {described(getattr(self, name))}. Without one, `fit` takes"
                    " `sample_weight` and `fold_groups`."
                )
        for name, given in (("sample_weight", sample_weight), ("fold_groups", fold_groups)):
            if isinstance(given, str):  # `select` would take it for the name of a column
                raise OptionError(
                    f"`{name}` must be an array with one value per row.\n"
                    f"  Found: {described(given)}."
                )
            if given is not None and length(given) is not None:
                _check_lengths(y, f"`{name}`", given)
        frame = self._read(X, y)
        known = _read_response(y)
        _check_lengths(known, "X", frame)
        read_weights(sample_weight, frame, "sample_weight", self.weights_kind)
        arguments |= {
            "weights": sample_weight,
            "fold_groups": fold_groups,
            **{name: getattr(self, name) for name in ("groups", "costs", "keep", "monotone")},
        }
        return f"{_put(known, frame)} ~ .", frame, arguments

    def _read_formula(
        self, X: Any, y: Any, sample_weight: Any, fold_groups: Any
    ) -> tuple[str, pd.DataFrame, dict[str, Any]]:
        """Formula, frame and arguments of the call if there is a formula."""
        arguments = self._arguments()
        given_here = {"sample_weight": sample_weight, "fold_groups": fold_groups}
        for name, given in given_here.items():
            if given is not None:
                own = "weights" if name == "sample_weight" else name
                raise OptionError(
                    f"`{name}` must be a column of the frame if there is a formula.\n"
                    f"  Found: {described(given)}. Use `TreeSelector({own}=...)` with its name."
                )
        for name in _COLUMNS:
            if not isinstance(given := getattr(self, name), str | None):
                raise OptionError(
                    f"`{name}` must be the name of a column of X, so that cross-validation divides"
                    f" it with the rows.\n  Found: {described(given)}."
                )
        for name in (*_COLUMNS, "groups", "costs", "keep", "monotone", "labels"):
            arguments[name] = getattr(self, name)
        assert self.formula is not None
        return self.formula, _with_response(_frame(X), y, self.formula), arguments

    def _arguments(self) -> dict[str, Any]:
        """Arguments of ``select`` that need a check."""
        options = {} if self.method_options is None else self.method_options
        if not isinstance(options, Mapping):
            raise OptionError(
                "`method_options` must be a dictionary from names to values.\n"
                f"  Found: {described(options)}."
            )
        check_flag("encode", self.encode)
        find_method(self.method, options)  # an argument of `select` is none of these
        return {
            "method": self.method,
            # Clones are equal texts, and `select` knows the default by its identity.
            "k": USUAL_SIZE if isinstance(self.k, str) and self.k == USUAL_SIZE else self.k,
            "seed": _seed(self.random_state),
            **options,
        }

    def _read(self, X: Any, y: Any = "no_validation", *, reset: bool = True) -> pd.DataFrame:
        """X as a new frame whose names are text; `reset` as in ``validate_data``."""
        if nw.dependencies.is_into_dataframe(X):
            nameless = isinstance(X, pd.DataFrame) and not all(isinstance(c, str) for c in X)
            # Read first: our errors for duplicate names are more informative.
            frame = read_data(X.set_axis(_numbered(X.shape[1]), axis=1) if nameless else X)
            validate_data(self, X, y, skip_check_array=True, reset=reset)
            return frame.copy(deep=False)
        if hasattr(X, "collect"):
            raise DataError(
                "`X` must be in memory.\n"
                f"  Found: {type(X).__module__}.{type(X).__qualname__}. Use `X.collect()`."
            )
        X = validate_data(
            self, X, y="no_validation" if y is not None else None, dtype=None,
            ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1, reset=reset,
        )  # fmt: skip
        return pd.DataFrame(X, columns=_numbered(X.shape[1])).infer_objects()

    def transform(self, X: Any) -> Any:
        """The selected columns, or with a formula those behind the selected terms.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            With a formula only the columns behind the selected terms are needed.

        Returns
        -------
        array or frame, shape (n_samples, n_selected)
            An array, or a frame after ``set_output(transform="pandas")`` or ``"polars"``, which
            keeps the types of a frame's columns; with a formula always a frame, in the library of
            X. With ``encode=True`` numbers (float64), more columns if there are factors; missing
            numbers are NaN, and a missing label is 0 in all columns of its factor.

        Raises
        ------
        ValueError
            If X does not match the data of the fit; with ``encode=True`` and
            ``new_levels="error"`` also for new levels.
        """
        check_is_fitted(self)
        wanted = _get_output_config("transform", self)["dense"]
        if self.formula is not None:
            frame = _frame(X)
            columns = [str(name) for name in self.feature_names_in_[self._support]]
            absent = [name for name in columns if name not in frame]
            if absent:
                raise NewDataError(
                    "`X` must have the columns of the selected terms.\n"
                    f"  Missing: {listing(absent)}.\n  Found: {listing(frame.columns)}."
                )
            self._warn_if_empty("terms")
            if self._encoded is not None:
                return _encoded(self.result_, frame)[1]
            return _columns_at(X, [list(frame).index(name) for name in columns], wanted)
        if self._encoded is not None:
            frame = self._read(X, reset=False)
            frame.columns = list(getattr(self, "feature_names_in_", _numbered(frame.shape[1])))
            self._warn_if_empty("features")
            return _encoded(self.result_, frame)[1]
        if wanted == "default" or not nw.dependencies.is_into_dataframe(X):
            return super().transform(_without_nullable(X))
        validate_data(self, X, skip_check_array=True, reset=False)
        self._warn_if_empty("features")
        return _columns_at(X, np.flatnonzero(self._support).tolist(), wanted)

    def _warn_if_empty(self, what: str) -> None:
        if not self._support.any():
            warnings.warn(f"No {what} were selected.", UserWarning, stacklevel=3)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of :meth:`transform`, an array of str.

        Parameters
        ----------
        input_features : array of str, optional
            Names of columns without names; otherwise the names in the fit.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)[self._support]
        return names if self._encoded is None else np.array(self._encoded, dtype=object)

    def inverse_transform(self, X: Any) -> Any:
        """Selected columns in their places, 0 in all others; not possible with ``encode=True``."""
        if self.encode:
            raise OptionError(
                "`inverse_transform` must have the selected columns unchanged.\n"
                "  Found: encode=True. Use `encode=False`."
            )
        return super().inverse_transform(X)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self._support

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return said(super().__repr__(N_CHAR_MAX))

    def _html_repr(self) -> str:
        return said(super()._html_repr())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.formula is None
        tags.no_validation = self.formula is not None  # frames only
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


# --- data ----------------------------------------------------------------------------------------


def _read_response(y: Any) -> Any:
    """The response, checked; scikit-learn's errors if it is missing or infinite."""
    if getattr(getattr(y, "dtype", None), "names", None):
        return _read_times(y)
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise OptionError(
            f"`y` must have one value per row.\n  Found: the shape {shape}.\n"
            "  For survival give a structured array with a logical event and the time, as from"
            " scikit-survival's `Surv.from_arrays(event, time)`."
        )
    values = _one_column(y)
    check_array(np.asarray(values), ensure_2d=False, dtype=None, input_name="y")
    return values


def _one_column(y: Any) -> Any:
    """One value per row, of a series with its type: the order of categories has a meaning."""
    y = pd.Series(y) if isinstance(y, pd.Categorical) else y
    if nw.dependencies.is_into_series(y):
        return read_data(nw.from_native(y, series_only=True).alias("y").to_frame().to_native())["y"]
    return column_or_1d(y, warn=True)


def _read_times(y: Any) -> Any:
    """A survival response from a structured array, whatever the names and order of its fields."""
    kinds = {name: y.dtype[name].kind for name in y.dtype.names}
    if y.ndim != 1 or len(kinds) != 2 or sum(kind == "b" for kind in kinds.values()) != 1:
        found = listing(f"{name}: {y.dtype[name]}" for name in kinds)
        raise OptionError(
            "`y` must have two fields, a logical event and a numeric time, if it is a structured"
            f" array.\n  Found: {found}, of shape {y.shape}.\n"
            "  For start times or strata, use `treeselect.select` with"
            " `Surv(start, stop, event) ~ . + strata(site)`."
        )
    for name in kinds:
        check_array(y[name], ensure_2d=False, dtype=None, input_name=f"y[{name!r}]")
    return y


def _put(known: Any, frame: pd.DataFrame) -> str:
    """Add the response to the frame under unused names; the left-hand side of a formula."""
    names = list(frame.columns)
    if not known.dtype.names:
        response = _free_name(names, "y")
        frame[response] = known
        return response
    event, time = sorted(known.dtype.names, key=lambda name: known.dtype[name].kind != "b")
    time_name, event_name = _free_name(names, "time"), _free_name(names, "event")
    frame[time_name], frame[event_name] = known[time], known[event]
    return f"Surv({time_name}, {event_name})"


def _free_name(names: Sequence[str], name: str) -> str:
    while name in names:
        name += "_"
    return name


def _numbered(n: int) -> list[str]:
    """Default names of columns, as in ``get_feature_names_out``."""
    return [f"x{j}" for j in range(n)]


def _frame(X: Any) -> pd.DataFrame:
    if not nw.dependencies.is_into_dataframe(X):
        raise DataError(
            "`X` must be a pandas, polars or pyarrow table in memory: a formula names its"
            f" columns.\n  Found: {described(X)}.\n"
            "  For arrays leave the formula out."
        )
    return read_data(X).copy(deep=False)


def _check_lengths(y: Any, other: str, others: Any) -> None:
    n, m = length(y), length(others)
    if n != m:
        found = f"{described(y) if n is None else n} and {m}"
        raise OptionError(
            f"`y` and {other} have inconsistent numbers of samples.\n  Found: {found}."
        )


def _with_response(frame: pd.DataFrame, y: Any, formula: Any) -> pd.DataFrame:
    """The frame with the variable on the left-hand side of the formula."""
    names = _response_names(formula)
    if y is None or len(names) != 1:
        return frame
    _check_lengths(y, "X", frame)
    (name,), values = names, _one_column(y)
    if name not in frame:
        return with_columns(frame, {name: values})
    # A permuted `y` beside the true response would be ignored in silence.
    pairs = zip(frame[name].tolist(), values, strict=True)
    if not all(pd.isna(a) == pd.isna(b) and (pd.isna(a) or a == b) for a, b in pairs):
        raise OptionError(
            f"`y` must equal the column {quoted(name)} of X, the response of the formula.\n"
            "  Found: other values. Leave `y` out, or leave the column out of X."
        )
    return frame


def _response_names(formula: Any) -> list[str]:
    """Variables on the left-hand side; none if it can't be read, which ``select`` explains."""
    if not isinstance(formula, str):
        return []
    unquoted = unquote(formula)
    left = unquoted.code.partition("~")[0].strip()
    try:
        tree = ast.parse(left, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    found = (n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in functions)
    named = (unquoted.columns.get(name, name) for name in found if name not in unquoted.words)
    return list(dict.fromkeys(named))


def _columns_at(X: Any, numbers: Sequence[int], wanted: str) -> Any:
    """Columns of a frame by number, with its rows and types, in the library that ``set_output``
    wants, or with ``"default"`` that of the frame."""
    if isinstance(X, pd.DataFrame):
        X = X.iloc[:, list(numbers)]  # of no columns, narwhals would keep no rows
    chosen = nw.from_native(X, eager_only=True)
    if not isinstance(X, pd.DataFrame):
        chosen = chosen[:, list(numbers)]
    if wanted == "polars":
        return chosen.to_polars()
    if wanted == "pandas" and not chosen.implementation.is_pandas():
        return chosen.to_pandas()
    return chosen.to_native()


def _without_nullable(X: Any) -> Any:
    """Nullable numbers of a pandas frame as floats: beside them scikit-learn takes labels for
    numbers, too."""
    if not nw.dependencies.is_pandas_dataframe(X):
        return X
    plain = (np.dtype, pd.SparseDtype)
    own = [c for c, d in X.dtypes.items() if not isinstance(d, plain) and d.kind in "biuf"]
    return X.astype(dict.fromkeys(own, np.float64))


def _encoded(result: SelectionResult, frame: pd.DataFrame) -> tuple[list[str], FloatArray]:
    """Names and values of the selected terms as numeric columns, shape (n_rows, n_columns): one per
    number and spline basis, one per level of a factor. Missing numbers and infinite ones (log of 0)
    are NaN; a missing label is 0 in all columns of its factor."""
    spec, terms = result.data.design.spec, result.selected
    if not terms:
        return [], np.empty((len(frame), 0))
    names, values = spec.one_hot(spec.encode(frame, terms), terms)
    return names, np.where(np.isfinite(values), values, np.nan)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, np.random.RandomState) or random_state is np.random:
        return int(check_random_state(random_state).randint(2**31 - 1))
    return read_seed(random_state, "random_state")
