"""The linear model of a selection: coefficients, tests, tables and figures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_choice, check_flag, check_share, file_path, read_seed
from treeselect.coding import LINEAR_FORMAT, write_record
from treeselect.errors import DataError, ModelFileError, OptionError
from treeselect.figures.marks import Figure, Rows
from treeselect.figures.plotting import plotted
from treeselect.frames.tables import in_library
from treeselect.models.linear import coefficients, tests
from treeselect.models.linear.regression_table import InPapers, OfTable
from treeselect.printing import Summarised, Summary, SummaryContent, p_text, written
from treeselect.results.diagnostics import Diagnostics, diagnose
from treeselect.results.linear_figures import coefficient_figure, spline_figures, term_figure
from treeselect.results.linear_file import saved_linear
from treeselect.results.linear_predictor import SELECTED_HERE, LinearPredictor, Predicting

if TYPE_CHECKING:
    from matplotlib.axes import Axes


UNAFFECTED = (
    "No selection affects these p-values and intervals: all terms were forced in, or the number"
    " given left none out."
)

_STATISTICS = (
    "df_resid", "deviance", "null_deviance", "df_null", "log_lik", "aic", "bic", "sigma", "r2",
    "adj_r2",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class GlmFit(Summarised, Predicting, InPapers):
    """A linear model of the selected terms.

    Attributes
    ----------
    result : statsmodels results, or LikelihoodFit
        OLS, WLS, GLM or MNLogit results. For times to an event coefficients (``params``), their
        covariance (``cov_params()``), ``llf``, ``aic`` and ``bic``.
    n_used, n_dropped : int
        Complete cases, and rows excluded because a selected term is missing.
    left_out : tuple of str
        Columns dropped because they are linear combinations of others.
    ratio : str
        What the exponential of a coefficient is, such as an odds ratio; may be empty.
    formula : str
        Of the model, for formulaic, patsy and statsmodels; splines are ``cr(age, knots=...)``.
    statistics : dict of str to float
        Of the whole model: see :func:`treeselect.models.linear.statistics.fit_statistics`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> glm = fit.refit("glm")
    >>> list(glm.tidy().columns)
    ['term', 'column', 'estimate', 'std_error', 'statistic', 'p_value', 'ci_low', 'ci_high']
    """

    result: Any
    n_used: int
    n_dropped: int
    left_out: tuple[str, ...]
    content: SummaryContent  # of the summary, but for the rows, which are those of the table
    table: pd.DataFrame
    library: str = "pandas"
    ratio: str = ""
    response: str = ""
    formula: str = ""
    statistics: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)  # labels of the columns that have one
    # the model as the tests of its terms use it
    fitted: tests.FittedTerms | None = field(default=None, repr=False)
    predictor: LinearPredictor | None = None
    fingerprint: str | None = None  # of the data
    seed: int = 0
    # reference levels of factors, by term
    references: Mapping[str, coefficients.Reference] = field(default_factory=dict)
    # the table as it is printed: of splines the difference between quartiles
    shown: pd.DataFrame | None = field(default=None, repr=False)

    @property
    def coef(self) -> pd.Series:
        """Coefficients by column, as R's ``coef()``: a pandas Series of float, on the scale of the
        linear predictor. With more than two classes the names are those of ``tidy()``.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> fit.refit("glm").coef.index.to_list()
        ['Intercept', 'sex']
        """
        return self.table.set_index("column")["estimate"].astype(float).rename("coef")

    def tidy(self, *, exponentiate: bool = False, reference: bool = False) -> Any:
        """One row per coefficient.

        Parameters
        ----------
        exponentiate : bool
            Whether ``estimate``, ``ci_low`` and ``ci_high`` are ratios: hazard ratios for times to
            an event, odds ratios for classes (relative to the first, if there are more than two),
            rate ratios for counts. Standard errors and tests refer to the untransformed
            coefficients.
        reference : bool
            Whether reference levels of factors have rows, with an estimate of 0 (a ratio of 1) and
            missing errors, tests and intervals.

        Returns
        -------
        frame, in the library of the data
            ``term``, ``column``, ``estimate``, ``std_error``, ``statistic``, ``p_value``,
            ``ci_low``, ``ci_high`` (95%). Tests and intervals are not valid after a selection on
            the same rows. For more than two classes without an order ``column`` begins with the
            class that is compared with the first.

        Raises
        ------
        OptionError
            If ratios are requested for a linear model of a numeric response.
        """
        check_flag("exponentiate", exponentiate)
        check_flag("reference", reference)
        table = self._readable() if exponentiate else self.table
        if reference:
            table = coefficients.with_references(table, self.references)
        table = coefficients.exponentiated(table, self.ratio) if exponentiate else table
        return in_library(table, self.library)

    def summary(
        self, *, exponentiate: bool = False, digits: int | None = None, notes: bool = True
    ) -> Summary:
        """Printed summary, like R's ``summary(glm(...))``.

        Parameters
        ----------
        exponentiate : bool
            Whether the table has ratios as in :meth:`tidy`, with their intervals and p-values: the
            table of a paper.
        digits, notes
            As in :meth:`SelectionResult.summary`.

        Raises
        ------
        OptionError
            If an argument is not allowed, or ratios are requested for a linear model of a numeric
            response.
        """
        check_flag("exponentiate", exponentiate)
        return written(self._with_ratios if exponentiate else self._content, digits, notes)

    def _of_table(self) -> OfTable:
        assert self.predictor is not None
        found = self._terms()
        return found, self.predictor.design, found.terms, self._cautions

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the model to a file of its own, for :func:`treeselect.load`, without the data.

        Parameters
        ----------
        path : path
            File to write, with any suffix. An existing file is replaced atomically.

        Returns
        -------
        pathlib.Path
            The file: coefficients, their covariance, tables, and how terms are coded (levels, knots
            and quartiles of numbers). The loaded model predicts and prints; tests of its terms need
            the data. Nothing in the file is code, as of :meth:`SelectionResult.save`.

        Raises
        ------
        ModelFileError
            If the file can't be written, or the columns can't be made again without the data.

        Examples
        --------
        >>> import tempfile, treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     glm = treeselect.load(fit.refit("glm").save(f"{folder}/glm.treeselect"))
        >>> glm.coef.index.to_list()
        ['Intercept', 'sex']
        """
        target = file_path(path, error=ModelFileError)
        write_record(target, lambda: saved_linear(self), LINEAR_FORMAT)
        return target

    def plot(self, term: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the coefficients, or the effect of a term.

        Parameters
        ----------
        term : str, optional
            A term with one variable: its part in the linear predictor, less its mean, with a 95%
            confidence band, as R's ``termplot``. By default the coefficients with their intervals:
            odds, rate or hazard ratios on a logarithmic axis where there are any, of splines the
            difference between the quartiles.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default new ones.

        Raises
        ------
        OptionError
            If the model has no such term, or it has several variables; if there is no coefficient.
        MissingPackageError
            If matplotlib is not installed.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=2, seed=1)
        >>> axes = fit.refit("gam").plot("age")
        """
        if term is not None:
            assert self.predictor is not None
            figure = term_figure(self._terms(), self.predictor.design, term)
            return plotted(figure, ax, (6.4, 4.0))
        drawn = figure_of_coefficients(self)
        if drawn is None:
            raise OptionError("There is nothing to plot: the model has no coefficients.")
        return plotted(drawn, ax, (7.6, 1.4 + 0.32 * len(drawn.rows)))

    def diagnostics(self, *, folds: int = 10, seed: int | None = None) -> Diagnostics:
        """Residuals, influence, collinearity, calibration, and the forest of the same terms.

        Parameters
        ----------
        folds : int
            Folds in which the model and a forest of its terms are fitted again, at least 2.
        seed : int, optional
            Of the folds and the forest; by default that of the fit.

        Returns
        -------
        Diagnostics
            ``.summary()``; ``.plot()``, four figures; ``.tidy()``, one row per row of the fit;
            ``.terms``, with variance inflation and, for times to an event, tests of proportional
            hazards; ``.calibration``, ``.scores``, ``.forest_scores``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the model has no terms.
        DataError
            If the model can't be fitted in a fold.

        Notes
        -----
        See :func:`treeselect.models.linear.diagnostics.row_diagnostics`, ``variance_inflation`` and
        ``hazard_tests``: numbers are those of R's ``rstandard``, ``cooks.distance``, ``car::vif``
        and ``cox.zph``. The interval of the difference from the forest is that of the corrected
        resampled t test (Nadeau and Bengio 2003).

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").diagnostics(folds=3).tidy().columns.to_list()[:3]
        ['row', 'fitted', 'residual']
        """
        assert self.predictor is not None
        seed = self.seed if seed is None else read_seed(seed)
        is_chosen, here = SELECTED_HERE in self._cautions, self.predictor.design
        return diagnose(self._terms(), here, folds, seed, is_chosen, self.library)

    @property
    def _cautions(self) -> tuple[str, ...]:
        """How the selection affects p-values, and what they assume of clusters."""
        notes = self.content.notes
        selection = UNAFFECTED if UNAFFECTED in notes else SELECTED_HERE
        return selection, *(note for note in notes if "as independent" in note)

    def anova(self) -> tests.TermTests:
        """Sequential tests of terms, as R's ``anova(fit)``: each term given those before it.

        Returns
        -------
        TermTests
            ``.tidy()`` and ``.summary()``. F tests for a gaussian response and, by Pearson's
            dispersion, quasi-Poisson and gamma models; Wald tests for clusters and
            sampling weights; otherwise likelihood ratio tests (R: ``test = "LRT"``). They are not
            valid after a selection on the same rows.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").anova().tidy()["term"].tolist()
        ['(null model)', 'sex', 'sibsp']
        """
        return tests.sequential_tests(self._terms(), self._cautions, self.library)

    def drop1(self) -> tests.TermTests:
        """Tests of each term given all others, as R's ``drop1(fit, test = "LRT")``.

        A term that an interaction contains is not dropped.

        Returns
        -------
        TermTests
            As of :meth:`anova`. F tests, unless the response is gaussian, and those of a negative
            binomial model are R's ``anova(less, fit)``; ``drop1`` has another dispersion, or theta.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + sibsp", data, method="mrmr", k=2, seed=1)
        >>> fit.refit("glm").drop1().tidy()["df"].tolist()[1:]
        [1.0, 1.0]
        """
        return tests.drop_tests(self._terms(), self._cautions, self.library)

    def confint(self, *, method: str | None = None, level: float = 0.95) -> Any:
        """Confidence intervals of the coefficients, as R's ``confint(fit)``, which has Wald's for
        ``coxph``, the profile for gamma and negative binomial models and, for quasi-Poisson ones,
        normal quantiles, not t.

        Parameters
        ----------
        method : {"profile", "wald"}, optional
            ``"profile"``: profile-likelihood intervals, for two or ordered classes, Poisson counts
            and times to an event; for a gaussian response those of the t distribution. ``"wald"``:
            symmetric ones, those of :meth:`tidy`. By default profile intervals if there are any.
        level : float
            Between 0 and 1.

        Returns
        -------
        frame, in the library of the data
            ``term``, ``column``, ``estimate``, ``ci_low``, ``ci_high``. An end is infinite where
            the likelihood stays flat, or can't be computed so far out. They are not valid after a
            selection on the same rows.

        Raises
        ------
        OptionError
            If an argument is not allowed, or ``"profile"`` has no intervals: for more than two
            classes without an order, gamma and negative binomial models, and robust errors
            (clusters, sampling weights).
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
        found = self._terms()
        row = {"n": found.whole.n, "n_dropped": self.n_dropped, "events": found.n_events}
        row |= {name: self.statistics.get(name, np.nan) for name in _STATISTICS}
        return in_library(pd.DataFrame([row]), self.library)

    def tables_of_paper(self) -> tuple[SummaryContent, SummaryContent | None]:
        """The table of a paper, of ratios where there are any, and the tests of terms; None if a
        model without one of the terms can't be fitted."""
        content = self._with_ratios() if self.ratio else self._content()
        try:
            return content, self.drop1().summary().content
        except DataError:
            return content, None

    def _content(self) -> SummaryContent:
        table, named = self._readable(), self._named()
        rows = coefficients.table_rows(named, with_ratios=self.content.columns[1] != "Estimate")
        filled = coefficients.rows_with_references(table, self.references, rows)
        return replace(self.content, rows=filled)

    def _with_ratios(self) -> SummaryContent:
        """The summary with ratios in place of coefficients."""
        coefficients.exponentiated(self.table, self.ratio)  # an error if they are no ratios
        table = self._readable()
        shown = [
            (str(row.column), *coefficients.ratio_cells(row), p_text(row.p_value))  # type: ignore[arg-type]
            for row in self._named().itertuples(index=False)
        ]
        filled = coefficients.rows_with_references(table, self.references, shown)
        filled = tuple(
            (row[0], "1", *row[2:]) if row[0].endswith("(reference)") and not row[1] else row
            for row in filled
        )
        columns = ("Column", self.ratio.capitalize(), "95% interval", "P-value")
        return replace(self.content, columns=columns, rows=filled)

    def _readable(self) -> pd.DataFrame:
        """The table of coefficients, with differences between quartiles for splines."""
        return self.table if self.shown is None else self.shown

    def _named(self) -> pd.DataFrame:
        """The same with printed names of columns."""
        table = self._readable()
        return table.assign(column=[self.labels.get(name, name) for name in table["column"]])

    def _terms(self) -> tests.FittedTerms:
        if self.fitted is None:
            raise DataError(
                "Can't do this without the data of the fit, which are not in the file of a linear"
                " model.\n  Save the selection with `include_data=True`, load it and refit."
            )
        return self.fitted

    def __repr__(self) -> str:
        return f"<GlmFit of {self.n_used:,} rows, {self.n_dropped:,} dropped>"


def figure_of_coefficients(found: GlmFit) -> Rows | None:
    """The coefficients of a model that can be read; None without any."""
    return coefficient_figure(found._readable(), found.ratio, found._named()["column"].to_list())


def figures_of_splines(found: GlmFit) -> tuple[Figure, ...]:
    """The effects of numbers that have splines, as small figures."""
    if found.fitted is None or found.predictor is None:
        return ()
    return spline_figures(found.fitted, found.predictor.design)
