"""P-values after selection by sample splitting: select on one part, test on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_flag
from treeselect.brief import brief
from treeselect.engine.arrays import FloatArray
from treeselect.errors import OptionError
from treeselect.frames.tables import in_library
from treeselect.models.coefficients import coefficient_table, exponentiated
from treeselect.models.linear import LinearFit
from treeselect.models.maketables import OTHER_ROWS, ModelColumn, Tabled, coefficient_frame
from treeselect.printing import Summarised, Summary, SummaryContent

if TYPE_CHECKING:
    import pandas as pd


def aggregate_p_values(p_values: FloatArray, gamma_min: float = 0.05) -> FloatArray:
    """One p-value per term from those of several splits.

    Notes
    -----
    Equations 2.2 and 2.3 of [1]_. The empirical gamma-quantile of B values is the k-th smallest
    for gamma in ((k - 1) / B, k / B], so ``Q(gamma)`` is smallest at ``gamma = k / B``. The infimum
    is the minimum of ``B / k`` times the k-th smallest value, over ``k / B`` above `gamma_min`.

    References
    ----------
    .. [1] N. Meinshausen, L. Meier, P. Buehlmann (2009). p-values for high-dimensional regression.
       Journal of the American Statistical Association 104, 1671-1681.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.inference import aggregate_p_values
    >>> p_values = np.array([[0.001, 1.0], [0.002, 0.5]])
    >>> print(aggregate_p_values(p_values).round(6))
    [0.007991 1.      ]
    """
    n = len(p_values)
    k = np.arange(1, n + 1)
    looked_at = k / n > gamma_min * (1 + 1e-12)
    quantiles = np.sort(p_values, axis=0)[looked_at] * (n / k[looked_at])[:, np.newaxis]
    least = np.minimum(quantiles.min(axis=0), 1.0)
    return np.asarray(np.minimum((1 - np.log(gamma_min)) * least, 1.0))


@dataclass(frozen=True, slots=True)
class SplitFit:
    """Selection and tests of one split."""

    selected: tuple[str, ...]  # terms selected on the first part
    # Unadjusted p-values of the joint test of each selected term on the second part; 1 if there is
    # no linear model, NaN if no column of the term is left
    p_values: dict[str, float]
    fit: LinearFit | None  # the linear model on the second part; None if it failed
    failure: str  # why it failed, in a sentence; empty if it did not
    n_fitted: int  # rows of the second part without and with a missing value in a selected term
    n_dropped: int
    # Selected terms with columns that are dropped because they are linear combinations of columns
    # of preceding terms
    aliased: tuple[str, ...] = ()

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Inference(Summarised, Tabled):
    """P-values of terms that were selected on other rows (sample splitting).

    Attributes
    ----------
    terms : tuple of str
        All terms of the formula.
    splits : tuple of SplitFit
    p_values : ndarray of float, shape (n_splits, n_terms)
        By split: 1 for terms that it did not select, otherwise the p-value of the joint test times
        the number of selected terms, at most 1.
    gamma_min, level : float
    content : SummaryContent
        Content of :meth:`summary`.
    groups_name : str or bool
        Column of the clusters that the splits do not divide; otherwise, whether an array of
        clusters was given.
    library : str
        Data frame library of the tables.
    asked : int or None
        Number of splits requested, if the call was stopped before all were done.
    response : str
        The modelled response.
    statistics : dict of str to float
        Statistics of the model of a single split: see
        :func:`treeselect.models.fit_statistics.fit_statistics`.
    labels : dict of str to str
        Labels of the columns of that model that have one.

    Notes
    -----
    The result of a single split is a model for the package maketables, which sets several models
    side by side: ``maketables.ETable([fit.inference(seed=1), other])``.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> found = fit.inference(repeats=2)
    >>> found.n_splits, found.n_failed
    (2, 0)
    >>> list(found.tidy().columns)
    ['term', 'p_value', 'selected', 'tested']
    """

    terms: tuple[str, ...]
    splits: tuple[SplitFit, ...]
    p_values: FloatArray
    gamma_min: float
    level: float
    content: SummaryContent
    groups_name: str | bool = False
    library: str = "pandas"
    asked: int | None = None
    response: str = ""
    statistics: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def partial(self) -> bool:
        """Whether the call was stopped, so that only the finished splits are here."""
        return self.asked is not None

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.splits)

    @property
    def n_failed(self) -> int:
        """Number of splits without a linear model, in which p = 1 for all terms."""
        return sum(bool(split.failure) for split in self.splits)

    def tidy(self, *, exponentiate: bool = False) -> Any:
        """Coefficients of a single split, or p-values over several splits.

        Parameters
        ----------
        exponentiate : bool
            Whether ``estimate``, ``ci_low`` and ``ci_high`` of a single split are ratios, as in
            ``GlmFit.tidy``.

        Returns
        -------
        frame, in the library of the data
            For a single split, one row per coefficient: ``term``, ``column``, ``estimate``,
            ``std_error``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, with the unadjusted
            p-values of the submodel. If its linear model failed, one row per term with p-value 1
            and no other numbers; a term without a column left has a row without numbers. For
            several splits, one row per term of the formula, in increasing
            order of p-value: ``term``, ``p_value`` (aggregated), and the numbers of splits that
            ``selected`` and ``tested`` it.

        Raises
        ------
        OptionError
            If ratios are requested for several splits, or for a linear model of a numeric response.
        """
        table = _coefficients(self) if self.n_splits == 1 else _aggregated(self)
        if check_flag("exponentiate", exponentiate):
            table = exponentiated(table, self._ratio())
        return in_library(table, self.library)

    def _ratio(self) -> str:
        if self.n_splits > 1:
            raise OptionError(
                "`exponentiate` must be False for several splits: they have no common coefficients."
                f"\n  Found: {self.n_splits:,} splits. `repeats=1` gives coefficients."
            )
        (split,) = self.splits
        return "ratio" if split.fit is None else split.fit.ratio  # without a fit none is known

    def summary(self) -> Summary:
        """Printed summary."""
        return Summary(self.content)

    def _column(self) -> ModelColumn:
        if self.n_splits > 1:
            raise OptionError(
                "A table of models needs coefficients, and several splits have no common ones.\n"
                f"  Found: {self.n_splits:,} splits. `repeats=1` gives coefficients."
            )
        (split,) = self.splits
        if split.fit is None:
            raise OptionError(
                f"A table of models needs a model, and none could be fitted.\n  {split.failure}"
            )
        groups = self.groups_name if isinstance(self.groups_name, str) else ""
        return ModelColumn(
            table=coefficient_frame(coefficient_table(split.fit), has_tests=True),
            response=self.response,
            statistics={"N": split.n_fitted, **self.statistics, "selection": OTHER_ROWS},
            below=("N", "r2", "deviance", "aic", "selection"),
            errors="cluster-robust" if self.groups_name else "iid",
            groups=groups,
            labels=self.labels,
        )

    def __repr__(self) -> str:
        partial = ", partial" if self.partial else ""
        return f"<Inference, {self.n_splits} split{'s' if self.n_splits > 1 else ''}{partial}>"


# --- tables ------------------------------------------------------------------------------------


def _coefficients(found: Inference) -> pd.DataFrame:
    import pandas as pd

    (split,) = found.splits
    if split.fit is None:
        return _without_estimates(split.selected, 1.0)
    table = coefficient_table(split.fit, found.level)
    lost = [term for term, p_value in split.p_values.items() if np.isnan(p_value)]
    if not lost:
        return table
    return pd.concat([table, _without_estimates(lost, float("nan"))], ignore_index=True)


def _without_estimates(terms: Sequence[str], p_value: float) -> pd.DataFrame:
    import pandas as pd

    nan = [float("nan")] * len(terms)
    names = ("estimate", "std_error", "statistic", "p_value", "ci_low", "ci_high")
    columns: dict[str, Sequence[Any]] = {"term": list(terms), "column": list(terms)}
    columns |= {name: [p_value] * len(nan) if name == "p_value" else nan for name in names}
    return pd.DataFrame(columns)


def _aggregated(found: Inference) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(
        {
            "term": found.terms,
            "p_value": aggregate_p_values(found.p_values, found.gamma_min),
            "selected": [sum(t in s.selected for s in found.splits) for t in found.terms],
            "tested": [
                sum(not np.isnan(s.p_values.get(t, np.nan)) and not s.failure for s in found.splits)
                for t in found.terms
            ],
        }
    )
    return table.sort_values(
        ["p_value", "selected"], ascending=[True, False], kind="stable", ignore_index=True
    )
