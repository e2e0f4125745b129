"""Tests of whole terms of a linear model: sequential, and of each term given the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.frames.tables import in_library
from treeselect.models.nested import FittedTerms, Nested, wald_statistic
from treeselect.printing import Summarised, Summary, SummaryContent, number_text, p_text

if TYPE_CHECKING:
    import pandas as pd

NULL, NONE = "(null model)", "(none)"
"""The rows of the models that others are compared with."""


@dataclass(frozen=True, slots=True)
class TermTests(Summarised):
    """Tests of the terms of a linear model.

    Attributes
    ----------
    table : pandas.DataFrame
        Content of :meth:`tidy`.
    content : SummaryContent
        Content of :meth:`summary`.
    library : str
        Library in which tables are returned.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> fit.refit("glm").drop1().tidy()["term"].tolist()
    ['(none)', 'pclass', 'sex']
    """

    table: pd.DataFrame
    content: SummaryContent
    library: str = "pandas"

    def tidy(self) -> Any:
        """One row per term, after that of the model with which they are compared.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``df`` of the test; ``deviance``, the part that the term explains: a sum of
            squares (gaussian), or twice the difference of log-likelihoods; ``resid_df`` and
            ``resid_deviance`` of the model of the row, and its ``aic`` (as R's ``extractAIC``);
            ``statistic``: F (gaussian, quasi-Poisson), likelihood ratio, or for clusters and
            sampling weights Wald's; ``p_value``.
        """
        return in_library(self.table, self.library)

    def summary(self) -> Summary:
        """Printed summary."""
        return Summary(self.content)

    def __repr__(self) -> str:
        return str(self.summary())


def sequential_tests(found: FittedTerms, notes: tuple[str, ...], library: str) -> TermTests:
    """Each term given those before it, as R's ``anova(fit)``.

    Parameters
    ----------
    found : FittedTerms
    notes : tuple of str
        Below the table.
    library : str

    Raises
    ------
    DataError
        If a nested model can't be fitted.

    Notes
    -----
    Gaussian: F tests with the residual variance of the whole model; quasi-Poisson: with its
    dispersion. Other families: likelihood ratio tests. Clusters and sampling weights: Wald tests,
    each in the model of the terms up to it.
    """
    terms = found.terms
    models = [found.without(terms[i:]) for i in range(len(terms))] + [found.whole]
    rows = [_row(NULL, None, models[0], None, found)]
    rows += [
        _row(term, before, after, after, found)
        for term, before, after in zip(terms, models, models[1:], strict=False)
    ]
    how = "each term given those above it (sequential), as R's `anova`"
    return _tests("Analysis of deviance: sequential tests of terms", rows, found, how, notes,
                  library)  # fmt: skip


def drop_tests(found: FittedTerms, notes: tuple[str, ...], library: str) -> TermTests:
    """Each term given all others, as R's ``drop1(fit)``; terms that an interaction contains are
    not dropped.

    Parameters, errors and tests are those of :func:`sequential_tests`; Wald tests are in the whole
    model.
    """
    whole = found.whole
    rows = [_row(NONE, None, whole, None, found)]
    for term in found.droppable:
        rows.append(_row(term, found.without([term]), whole, None, found))
    how = "each term given all others, as R's `drop1`"
    left = [found.names.get(t, t) for t in found.terms if t not in found.droppable]
    if left:
        notes = (*notes, f"Not dropped, because an interaction contains them: {', '.join(left)}.")
    return _tests("Tests of terms given all others", rows, found, how, notes, library)


def _row(
    term: str, below: Nested | None, above: Nested, shown: Nested | None, found: FittedTerms
) -> dict[str, Any]:
    """A row: the test of a term by which `above` differs from `below`, and the numbers of the
    model that is `shown`, of the lower one by default."""
    model = shown or below or above
    row: dict[str, Any] = {
        "term": term, "df": np.nan, "deviance": np.nan, "resid_df": model.df_resid,
        "resid_deviance": model.deviance, "aic": model.aic, "statistic": np.nan, "p_value": np.nan,
    }  # fmt: skip
    if below is None:
        return row
    df = above.rank - below.rank
    row |= {"df": float(df), "deviance": below.deviance - above.deviance}
    if df:
        row |= dict(zip(("statistic", "p_value"), _test(term, df, row, above, found), strict=True))
    return row


def _test(
    term: str, df: int, row: dict[str, Any], above: Nested, found: FittedTerms
) -> tuple[float, float]:
    """Statistic and p-value."""
    from scipy import stats

    if found.is_robust:
        wald, df = wald_statistic(above.fit, term)
        if above.fit.df is None:
            return wald, float(stats.chi2.sf(wald, df))
        return wald / df, float(stats.f.sf(wald / df, df, above.fit.df))
    scale = found.scale
    if scale is None:
        ratio = max(row["deviance"], 0.0)  # of equal models the difference is rounding error
        return ratio, float(stats.chi2.sf(ratio, df))
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.divide(max(row["deviance"], 0.0) / df, scale)
    return float(f), float(stats.f.sf(f, df, found.whole.df_resid))


def statistic_name(found: FittedTerms) -> str:
    """Name of the test statistic in print."""
    if found.is_robust:
        return "Wald" if found.fit.df is None else "Wald F"
    return "LR" if found.scale is None else "F"


def _tests(
    title: str,
    rows: list[dict[str, Any]],
    found: FittedTerms,
    how: str,
    notes: tuple[str, ...],
    library: str,
) -> TermTests:
    import pandas as pd

    table = pd.DataFrame(rows)
    squares = found.family == "gaussian"
    name = statistic_name(found)
    printed = tuple(_cells(row, found) for row in rows)
    return TermTests(
        table,
        SummaryContent(
            title=title,
            facts=(
                ("Call", found.call),
                ("Formula", found.formula),
                ("Model", found.fit.model),
                ("Tests", f"{_WORDS[name]}; {how}"),
            ),
            columns=(
                "Term", "Df", "Sum of sq." if squares else "Deviance", "Resid. df",
                "RSS" if squares else "Resid. dev.", "AIC", name, "P-value",
            ),
            rows=printed,
            notes=notes,
        ),
        library,
    )  # fmt: skip


def _cells(row: dict[str, Any], found: FittedTerms) -> tuple[str, ...]:
    """A printed row."""
    numbers = (
        number_text(row[name], form, "")
        for name, form in (
            ("df", ".0f"), ("deviance", ",.2f"), ("resid_df", ",.0f"), ("resid_deviance", ",.2f"),
            ("aic", ",.2f"), ("statistic", ".3f"),
        )
    )  # fmt: skip
    p = p_text(row["p_value"]) if np.isfinite(row["p_value"]) else ""
    return (found.names.get(row["term"], row["term"]), *numbers, p)


_WORDS = {
    "F": "F tests",
    "LR": "likelihood ratio tests",
    "Wald": "Wald tests with robust standard errors",
    "Wald F": "Wald F tests with robust standard errors",
}
