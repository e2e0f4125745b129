"""A scikit-learn transformer that selects columns, for pipelines and searches."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from treeselect.arguments.checks import (
    USUAL_METHOD,
    described,
    length,
    named_groups,
    named_keep,
    named_keys,
)
from treeselect.designs.encoding import NewLevels
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import WeightsKind, read_weights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import DataError, OptionError, listing
from treeselect.frames.files import labels_in
from treeselect.frames.reading import read_data
from treeselect.resampling.folds import Splitter
from treeselect.results.tables import tidy_table
from treeselect.selection import select
from treeselect.selector_base import (
    SelectorBase,
    columns_at,
    encoded,
)

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.algorithms.method import Method
    from treeselect.result import SelectionResult

Column = str | int
"""A column of X by its name or its number, from 0."""


class TreeSelector(SelectorMixin, SelectorBase):
    """Scikit-learn transformer that selects columns with :func:`treeselect.select`.

    Each column of X is a term: text and categories are factors, and missing values are allowed.
    Arguments that are not explained here are those of :func:`treeselect.select`.

    Parameters
    ----------
    method : str or method
        Options of a method object are nested parameters: ``TreeSelector(GRRF())`` has
        ``method__gamma``.
    k : int, "auto", "1se", "best" or None
        Number of columns to select; a group counts as one. As scikit-learn can't distinguish an
        explicit argument from a default, a method that finds a set of its own (such as
        ``"boruta"``) does so with ``"auto"`` too.
    method_options : dict, optional
        Options of the method, for example ``{"gamma": 0.2}``.
    family : {"auto", "gaussian", "binomial", "multinomial", "poisson", "cox"}
        ``"auto"`` treats text, logical values and numbers that are all 0 or 1 as classes. Classes
        with other numbers need ``"multinomial"`` (or ``"binomial"``). A structured `y` is a
        survival response (cox).
    groups : dict of str to list of str or int, optional
        Columns, by name or number, that are selected together.
    costs : dict of str or int to float, optional
        Cost of a column, by name or number, or of a group.
    keep : list of str or int, str or int, optional
        Columns, by name or number, or groups that are forced in.
    monotone : dict of str or int to int, optional
        Columns, by name or number, with which predictions of ``result_`` must not decrease (1) or
        must not increase (-1).
    folds, repeats, scoring, resamples, weights_kind, n_jobs
    encode : bool
        Whether :meth:`transform` gives numbers only, as most estimators need: one column per level
        of a selected factor, such as ``sex[female]``, and text and logical values as numbers. By
        default, selected columns are unchanged.
    new_levels : {"error", "missing", "other"}
        How :meth:`transform` with ``encode=True`` treats levels that were not in the data of the
        fit; the last two give 0 in all columns of the factor.
    random_state : int, RandomState or None
        An int is the ``seed``; a RandomState draws it.

    Attributes
    ----------
    result_ : SelectionResult
        The full result, with ``.summary()``, ``.path``, ``.report(...)`` and so on. Its terms are
        the names of the columns, or ``x0``, ``x1``, ... if X has none.
    feature_importances_ : ndarray of float, shape (n_features,)
        Importance in the final model (of the whole group for a column of a group); 0 for
        columns that are not selected.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        Present only if X has names.

    Notes
    -----
    ``fit`` takes ``sample_weight``, of the kind that ``weights_kind`` gives, and
    ``fold_groups``. With scikit-learn's metadata routing enabled, both are requested as in
    ``set_fit_request(sample_weight=True)``. Errors are those of ``select``, and are ValueErrors.
    A missing response is an error, as in other scikit-learn estimators.

    Examples
    --------
    >>> import treeselect
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> X, y = data[["sex", "parch", "sibsp"]], data["survived"]
    >>> selector = treeselect.TreeSelector(method="importance", k=1, random_state=1)
    >>> model = make_pipeline(selector, LogisticRegression()).fit(X, y)
    >>> model[0].get_feature_names_out()
    array(['sex'], dtype=object)
    """

    def __init__(
        self,
        method: str | Method = USUAL_METHOD,
        k: int | Literal["auto", "1se", "best"] | None = "auto",
        *,
        method_options: Mapping[str, Any] | None = None,
        family: str = "auto",
        groups: Mapping[str, Sequence[Column]] | None = None,
        costs: Mapping[Column, float] | None = None,
        keep: Iterable[Column] | Column | None = None,
        monotone: Mapping[Column, int] | None = None,
        folds: int | Splitter | Sequence[int] | None = None,
        repeats: int | None = None,
        scoring: Scoring = None,
        resamples: int = 0,
        encode: bool = False,
        new_levels: NewLevels = "error",
        weights_kind: WeightsKind | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.k = k
        self.method_options = method_options
        self.family = family
        self.groups = groups
        self.costs = costs
        self.keep = keep
        self.monotone = monotone
        self.folds = folds
        self.repeats = repeats
        self.scoring = scoring
        self.resamples = resamples
        self.encode = encode
        self.new_levels = new_levels
        self.weights_kind = weights_kind
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Sequence[float] | None = None,
        fold_groups: Sequence[Any] | None = None,
    ) -> TreeSelector:
        """Select columns.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            Numbers, with NaN for missing values, or text; a pandas, polars or pyarrow frame may
            also have categories.
        y : array, shape (n_samples,)
            For survival a structured array as in scikit-survival, with a logical field (the event)
            and a numeric field (the time).
        sample_weight : array of float, shape (n_samples,), optional
            Case weights, at least 0.
        fold_groups : array, shape (n_samples,), optional
            Clusters of rows, which no fold, bootstrap sample or resample divides.

        Returns
        -------
        TreeSelector
            Itself.

        Raises
        ------
        ValueError
            For data or arguments that are not allowed.
        """
        arguments = self._selection_arguments()
        for name, given in (("sample_weight", sample_weight), ("fold_groups", fold_groups)):
            if isinstance(given, str):  # `select` would take it for the name of a column
                raise OptionError(
                    f"`{name}` must be an array with one value per row.\n"
                    f"  Found: {described(given)}."
                )
            if given is not None and length(given) not in (None, length(y)):
                raise OptionError(
                    f"`y` and `{name}` have inconsistent numbers of samples.\n"
                    f"  Found: {length(y)} and {length(given)}."
                )
        frame = self._read(X, y)
        names = list(frame.columns)
        known = _read_response(y, self)
        check_consistent_length(frame, known)
        read_weights(
            sample_weight, frame, "sample_weight", self.weights_kind
        )  # said by their name here
        response = _put(known, frame)
        frame.attrs["labels"] = labels_in(X)
        self.result_: SelectionResult = select(
            f"{response} ~ .",
            frame,
            family=self.family,
            weights=sample_weight,
            weights_kind=self.weights_kind,
            groups=named_groups(self.groups, names),
            costs=named_keys(self.costs, names, "costs"),
            keep=named_keep(self.keep, names),
            monotone=named_keys(self.monotone, names, "monotone"),
            resamples=self.resamples,
            folds=self.folds,
            repeats=self.repeats,
            fold_groups=fold_groups,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            new_levels=self.new_levels,
            **arguments,
        )
        tidy = tidy_table(self.result_).set_index("term").loc[names]
        self._support: BoolArray = tidy["selected"].to_numpy(dtype=bool)
        self.feature_importances_: FloatArray = tidy["importance"].to_numpy(dtype=np.float64)
        self._encoded = encoded(self.result_, frame.head(1))[0] if self.encode else None
        return self

    def _read(self, X: Any, y: Any = "no_validation", *, reset: bool = True) -> pd.DataFrame:
        """X as a new frame whose names are text; `reset` as in ``validate_data``."""
        import pandas as pd

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
        """The selected columns.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)

        Returns
        -------
        array, shape (n_samples, n_selected)
            A frame after ``set_output(transform="pandas")`` or ``"polars"``, which keeps the types
            of a frame's columns. With ``encode=True`` numbers (float64), more columns if there are
            factors; missing numbers are NaN, and a missing label is 0 in all columns of its factor.

        Raises
        ------
        ValueError
            If X does not match the data of the fit; with ``encode=True`` and
            ``new_levels="error"`` also for new levels.
        """
        check_is_fitted(self)
        if self._encoded is not None:
            frame = self._read(X, reset=False)
            frame.columns = list(getattr(self, "feature_names_in_", _numbered(frame.shape[1])))
            self._warn_if_empty()
            return encoded(self.result_, frame)[1]
        wanted = _get_output_config("transform", self)["dense"]
        if wanted == "default" or not nw.dependencies.is_into_dataframe(X):
            return super().transform(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        self._warn_if_empty()
        return columns_at(X, np.flatnonzero(self._support).tolist(), wanted)

    def _warn_if_empty(self) -> None:
        if not self._support.any():
            warnings.warn("No features were selected.", UserWarning, stacklevel=3)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of :meth:`transform`, an array of str.

        Parameters
        ----------
        input_features : array of str, optional
            Names of columns without names; otherwise the names in the fit.
        """
        names = super().get_feature_names_out(input_features)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


# --- data ----------------------------------------------------------------------------------------


def _read_response(y: Any, estimator: TreeSelector) -> Any:
    """The response as an array; scikit-learn's errors if it is missing or infinite."""
    if getattr(getattr(y, "dtype", None), "names", None):
        return _read_times(y)
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise OptionError(
            f"`y` must have one value per row.\n  Found: the shape {shape}.\n"
            "  For survival give a structured array with a logical event and the time, as from"
            " scikit-survival's `Surv.from_arrays(event, time)`."
        )
    values = column_or_1d(y, warn=True)
    check_array(values, ensure_2d=False, dtype=None, input_name="y", estimator=estimator)
    return values


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
    """An unused name."""
    while name in names:
        name += "_"
    return name


def _numbered(n: int) -> list[str]:
    """Default names of columns, as in ``get_feature_names_out``."""
    return [f"x{j}" for j in range(n)]
