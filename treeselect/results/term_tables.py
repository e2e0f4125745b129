"""Tests of terms and intervals of a refitted linear model, for its users."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_choice, check_share
from treeselect.designs.labels import shown_names
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.errors import DataError
from treeselect.frames.tables import in_library
from treeselect.models.linear.coefficients import (
    Reference,
    exponentiated,
    ratio_cells,
    rows_with_references,
    with_references,
)
from treeselect.models.linear.data import LinearData
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.tests import (
    FittedTerms,
    TermTests,
    drop_tests,
    intervals,
    sequential_tests,
)
from treeselect.printing import SummaryContent, p_text

if TYPE_CHECKING:
    import pandas as pd

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
    fitted: FittedTerms | None

    @property
    def _caution(self) -> str:
        """How the selection affects p-values."""
        return FORCED_IN if FORCED_IN in self.content.notes else SELECTED_HERE

    def anova(self) -> TermTests:
        """Sequential tests of terms, as R's ``anova(fit)``: each term given those before it.

        Returns
        -------
        TermTests
            ``.tidy()`` and ``.summary()``. F tests for a gaussian response, otherwise likelihood
            ratio tests (R: ``test = "LRT"``), F tests for quasi-Poisson models; Wald tests for
            clusters and sampling weights. They are not valid after a selection on the same rows.

        Raises
        ------
        DataError
            If a model of fewer terms can't be fitted.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").anova().tidy()["term"].tolist()
        ['(null model)', 'sex', 'sibsp']
        """
        return sequential_tests(self._terms(), (self._caution,), self.library)

    def drop1(self) -> TermTests:
        """Tests of each term given all others, as R's ``drop1(fit, test = "LRT")``.

        A term that an interaction contains is not dropped.

        Returns
        -------
        TermTests
            As of :meth:`anova`; for a gaussian response F tests (R: ``test = "F"``).

        Raises
        ------
        DataError
            If a model without a term can't be fitted.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").drop1().tidy()["df"].tolist()[1:]
        [1.0, 1.0]
        """
        return drop_tests(self._terms(), (self._caution,), self.library)

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
        ends = intervals(self._terms(), method, check_share("level", level))
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
        import pandas as pd

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
        rows = tuple(
            (str(row.column), *ratio_cells(row), p_text(row.p_value))  # type: ignore[arg-type]
            for row in self.table.itertuples(index=False)
        )
        names = map(str, self.table["column"])
        shown = [
            (self.labels.get(name, name), *row[1:]) for name, row in zip(names, rows, strict=True)
        ]
        filled = rows_with_references(self.table, self._terms().references, shown)
        filled = tuple(
            (row[0], "1", *row[2:]) if row[0].endswith("(reference)") and not row[1] else row
            for row in filled
        )
        columns = ("Column", self.ratio.capitalize(), "95% interval", "P-value")
        return dataclasses.replace(self.content, columns=columns, rows=filled)

    def _with_references(self) -> pd.DataFrame:
        return with_references(self.table, self._terms().references)

    def _terms(self) -> FittedTerms:
        assert self.fitted is not None
        return self.fitted


def fitted_terms(
    data: ModelData,
    full: LinearData,
    fit: LinearFit,
    call: str,
    references: dict[str, Reference],
) -> FittedTerms:
    """The model as the tests of its terms use it; `full` has all columns."""
    terms = (term for term in dict.fromkeys(full.term_of) if term != INTERCEPT)
    return FittedTerms(
        data=full,
        fit=fit,
        family=data.response.family.name,
        name=data.response.name,
        classes=data.response.classes,
        factors_of={
            spec.term.name: frozenset(factor.name for factor in spec.term.factors)
            for spec in data.spec.terms
        },
        names=shown_names(data),
        call=call,
        formula=data.spec.formula.text_of(terms),
        references=references,
    )
