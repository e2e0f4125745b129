"""A scikit-learn transformer that selects terms of a formula, for pipelines that keep the frame."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from treeselect.arguments.checks import USUAL_METHOD, described
from treeselect.designs.encoding import NewLevels
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import WeightsKind
from treeselect.errors import DataError, NewDataError, OptionError, listing, quoted
from treeselect.formulas.checks import unquote
from treeselect.frames.files import labels_in
from treeselect.frames.reading import read_data
from treeselect.resampling.folds import Splitter
from treeselect.selection import select
from treeselect.selector_base import SelectorBase, columns_at, encoded

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.algorithms.method import Method
    from treeselect.result import SelectionResult


class FormulaSelector(TransformerMixin, SelectorBase):
    """Scikit-learn transformer that selects the terms of a formula in a frame.

    ``fit`` calls :func:`treeselect.select`; ``transform`` gives the columns of the frame behind the
    selected terms, or with ``encode=True`` the terms as numbers. The response is never among them.
    Arguments that are not explained here are those of :func:`treeselect.select`.

    Parameters
    ----------
    formula : str
    method : str or method
        Options of a method object are nested parameters: ``FormulaSelector("y ~ .", GRRF())`` has
        ``method__gamma``.
    k : int, "auto", "1se", "best" or None
        Number of terms to select. As scikit-learn can't distinguish an explicit argument from a
        default, a method that finds a set of its own (such as ``"boruta"``) does so with ``"auto"``
        too.
    method_options : dict, optional
        Options of the method, for example ``{"gamma": 0.2}``.
    family, weights_kind, groups, costs, keep, monotone, folds, repeats, scoring, resamples
    labels, n_jobs
    weights, offset, fold_groups : str, optional
        Columns of the frame, so that cross-validation divides them with it. The formula excludes
        them from ``.``.
    encode : bool
        Whether ``transform`` gives the selected terms as numbers, as most estimators need: one
        column per number, per level of a factor, such as ``sex[female]``, and per spline basis.
    new_levels : {"error", "missing", "other"}
        How factor levels that were not in the data of the fit are treated, in ``transform`` with
        ``encode=True`` and in ``result_.predict``.
    random_state : int, RandomState or None
        An int is the ``seed``; a RandomState draws it.

    Attributes
    ----------
    result_ : SelectionResult
        The full result, with ``.summary()``, ``.predict(new)``, ``.report(...)`` and so on.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        Columns of the frame in ``fit``, the response included if it is there.

    Notes
    -----
    Inside a cross-validation the selection is repeated on the training rows of each fold, and what
    transforms such as ``scale`` or ``bs`` learn comes from these rows.

    Examples
    --------
    >>> import treeselect
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> data = treeselect.datasets.load("titanic")
    >>> selector = treeselect.FormulaSelector(
    ...     "survived ~ sex + parch + sibsp", "importance", k=1, encode=True, random_state=1
    ... )
    >>> model = make_pipeline(selector, HistGradientBoostingClassifier(max_iter=5))
    >>> model = model.fit(data, data["survived"])
    >>> model[0].get_feature_names_out()
    array(['sex[female]', 'sex[male]'], dtype=object)
    """

    def __init__(
        self,
        formula: str,
        method: str | Method = USUAL_METHOD,
        k: int | Literal["auto", "1se", "best"] | None = "auto",
        *,
        method_options: Mapping[str, Any] | None = None,
        family: str = "auto",
        weights: str | None = None,
        weights_kind: WeightsKind | None = None,
        offset: str | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        costs: Mapping[str, float] | None = None,
        keep: Iterable[str] | str | None = None,
        monotone: Mapping[str, int] | None = None,
        folds: int | Splitter | Sequence[int] | None = None,
        repeats: int | None = None,
        fold_groups: str | None = None,
        scoring: Scoring = None,
        resamples: int = 0,
        labels: Mapping[str, str | None] | None = None,
        encode: bool = False,
        new_levels: NewLevels = "error",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.formula = formula
        self.method = method
        self.k = k
        self.method_options = method_options
        self.family = family
        self.weights = weights
        self.weights_kind = weights_kind
        self.offset = offset
        self.groups = groups
        self.costs = costs
        self.keep = keep
        self.monotone = monotone
        self.folds = folds
        self.repeats = repeats
        self.fold_groups = fold_groups
        self.scoring = scoring
        self.resamples = resamples
        self.labels = labels
        self.encode = encode
        self.new_levels = new_levels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> FormulaSelector:
        """Select terms.

        Parameters
        ----------
        X : frame, shape (n_samples, n_features)
            A pandas, polars or pyarrow table.
        y : array, shape (n_samples,), optional
            The variable on the left-hand side of the formula. It is needed if X does not hold this
            column, and must equal it if X does. With several variables on the left-hand side, as in
            ``Surv(time, event)``, X must hold them, and `y` is not read.

        Returns
        -------
        FormulaSelector
            Itself.

        Raises
        ------
        ValueError
            For a formula, data or arguments that are not allowed.
        """
        arguments = self._selection_arguments()
        for name in ("weights", "offset", "fold_groups"):
            _check_column(name, getattr(self, name))
        frame = _with_response(_frame(X), y, self.formula)
        frame.attrs["labels"] = labels_in(X)
        result = select(
            self.formula,
            frame,
            family=self.family,
            weights=self.weights,
            weights_kind=self.weights_kind,
            offset=self.offset,
            groups=self.groups,
            costs=self.costs,
            keep=self.keep,
            monotone=self.monotone,
            resamples=self.resamples,
            folds=self.folds,
            repeats=self.repeats,
            fold_groups=self.fold_groups,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            new_levels=self.new_levels,
            labels=self.labels,
            **arguments,
        )
        validate_data(self, X, skip_check_array=True)
        self.result_: SelectionResult = result
        held = set(result.variables)
        # scikit-learn reads the names of polars and pyarrow from version 1.9 on.
        names = getattr(self, "feature_names_in_", np.asarray(_frame(X).columns, dtype=object))
        self.feature_names_in_ = names
        self._columns: list[str] = [name for name in names if name in held]
        self._encoded = encoded(result, frame.head(1))[0] if self.encode else None
        return self

    def transform(self, X: Any) -> Any:
        """The columns of the frame behind the selected terms, or the terms as numbers.

        Parameters
        ----------
        X : frame, shape (n_samples, n_features)
            Only the columns behind the selected terms are needed.

        Returns
        -------
        frame, shape (n_samples, n_columns)
            In the library of X, with its index and types. With ``encode=True`` an array of float64:
            missing numbers are NaN, and a missing label is 0 in all columns of its factor. After
            ``set_output(transform="pandas")`` or ``"polars"`` a frame of that library.

        Raises
        ------
        ValueError
            If X does not match the data of the fit; with ``encode=True`` and
            ``new_levels="error"`` also for new levels.
        """
        check_is_fitted(self)
        frame = _frame(X)
        absent = [name for name in self._columns if name not in frame]
        if absent:
            raise NewDataError(
                "`X` must have the columns of the selected terms.\n"
                f"  Missing: {listing(absent)}.\n  Found: {listing(frame.columns)}."
            )
        if not self._columns:
            warnings.warn("No terms were selected.", UserWarning, stacklevel=2)
        if self._encoded is not None:
            return encoded(self.result_, frame)[1]
        places = [list(frame).index(name) for name in self._columns]
        return columns_at(X, places, _get_output_config("transform", self)["dense"])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of :meth:`transform`, an array of str.

        Parameters
        ----------
        input_features : array of str, optional
            Must be the names in the fit.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        names = self._columns if self._encoded is None else self._encoded
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.no_validation = True  # frames only
        return tags


def _frame(X: Any) -> pd.DataFrame:
    """X as a new frame of pandas."""
    if not nw.dependencies.is_into_dataframe(X):
        raise DataError(
            "`X` must be a pandas, polars or pyarrow table in memory: a formula names its"
            f" columns.\n  Found: {described(X)}.\n"
            "  For arrays use `treeselect.TreeSelector`."
        )
    return read_data(X).copy(deep=False)


def _check_column(name: str, given: Any) -> None:
    if given is not None and not isinstance(given, str):
        raise OptionError(
            f"`{name}` must be the name of a column of X, so that cross-validation divides it with"
            f" the rows.\n  Found: {described(given)}."
        )


def _with_response(frame: pd.DataFrame, y: Any, formula: Any) -> pd.DataFrame:
    """The frame with the variable on the left-hand side of the formula."""
    import pandas as pd

    names = _response_names(formula)
    if y is None or len(names) != 1:
        return frame
    check_consistent_length(frame, y)
    values = y.reset_index(drop=True) if isinstance(y, pd.Series) else column_or_1d(y, warn=True)
    (name,) = names
    if name not in frame:
        return frame.assign(**{name: values})
    # A permuted `y` beside the true response would be ignored in silence.
    held = frame[name].tolist()
    if not all(_same(a, b) for a, b in zip(held, values, strict=True)):
        raise OptionError(
            f"`y` must equal the column {quoted(name)} of X, the response of the formula.\n"
            "  Found: other values. Leave `y` out, or leave the column out of X."
        )
    return frame


def _same(held: Any, given: Any) -> bool:
    import pandas as pd

    missing = [value is None or bool(pd.isna(value)) for value in (held, given)]
    return missing[0] and missing[1] if any(missing) else bool(held == given)


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
