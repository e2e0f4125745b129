"""The linear model of a selection: coefficients, tests, tables and figures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from treeselect.arguments.checks import check_flag, file_path, read_seed
from treeselect.designs.linear import LinearCoding, knots_words, spline_texts, warn_of_gaps
from treeselect.designs.modeldata import ModelData, data_fingerprint
from treeselect.designs.preparing import shown_names
from treeselect.errors import ModelFileError, OptionError
from treeselect.figures.marks import Figure, Rows
from treeselect.figures.plotting import need_matplotlib, plotted
from treeselect.frames.tables import in_library
from treeselect.modelfile.coding import LINEAR_FORMAT, write_record
from treeselect.models.linear import coefficients
from treeselect.models.linear.regression_table import InPapers, OfTable, response_words
from treeselect.models.linear.statistics import fit_facts, fit_statistics
from treeselect.models.linear.tests import FittedTerms, fit_terms, fitted_terms
from treeselect.printing import Summarised, Summary, SummaryContent
from treeselect.resampling.fit import Fit
from treeselect.results import linear_notes
from treeselect.results.diagnostics import Diagnostics, diagnose
from treeselect.results.linear_figures import coefficient_figure, spline_figures, term_figure
from treeselect.results.linear_file import saved_linear
from treeselect.results.linear_predictor import (
    FORCED_IN,
    SELECTED_HERE,
    LinearPredictor,
    Predicting,
    TermTested,
    linear_predictor,
)
from treeselect.running.machine import warn

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NOT_VALID = (
    f"{SELECTED_HERE} Use `inference()`, which selects on one part of the rows and fits on the"
    " other."
)


@dataclass(frozen=True, slots=True)
class GlmFit(Summarised, coefficients.Tabled, Predicting, TermTested, InPapers):
    """A linear model of the selected terms.

    Attributes
    ----------
    result : statsmodels results, or CoxFit
        OLS, WLS, GLM or MNLogit results. For times to an event coefficients (``params``), their
        covariance (``cov_params()``), ``llf``, ``aic`` and ``bic``.
    n_used, n_dropped : int
        Complete cases, and rows excluded because a selected term is missing.
    left_out : tuple of str
        Columns dropped because they are linear combinations of others.
    content : SummaryContent
        Content of :meth:`summary`.
    table : pandas.DataFrame
        Content of :meth:`tidy`.
    library : str
        Library in which tables are returned.
    ratio : str
        What the exponential of a coefficient is, such as an odds ratio; may be empty.
    response : str
    formula : str
        Of the model, for formulaic, patsy and statsmodels; splines are ``cr(age, knots=...)``.
    statistics : dict of str to float
        Of the whole model: see :func:`treeselect.models.linear.statistics.fit_statistics`.
    labels : dict of str to str
        Labels of the columns that have one.
    fitted : FittedTerms
        The model as the tests of its terms use it.
    predictor : LinearPredictor
        What :meth:`predict` needs.
    fingerprint : str or None
        Of the data.
    seed : int
        Of the fit.
    references : dict of str to Reference
        Reference levels of factors, by term.
    shown : pandas.DataFrame or None
        The table as it is printed, with differences between quartiles for splines.

    Notes
    -----
    The package maketables puts it beside models from pyfixest, statsmodels and others:
    ``maketables.ETable([fit.refit("glm"), other])``, for Word, LaTeX, Typst and HTML. These tables
    have no significance stars, because the p-values are not valid after a selection on the same
    rows.

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
    content: SummaryContent
    table: pd.DataFrame
    library: str = "pandas"
    ratio: str = ""
    response: str = ""
    formula: str = ""
    statistics: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    fitted: FittedTerms | None = field(default=None, repr=False)
    predictor: LinearPredictor | None = None
    fingerprint: str | None = None
    seed: int = 0
    references: Mapping[str, coefficients.Reference] = field(default_factory=dict)
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
            the same rows. For more than two classes ``column`` begins with the class that is
            compared with the first.

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

    def summary(self, *, exponentiate: bool = False) -> Summary:
        """Printed summary, like R's ``summary(glm(...))``.

        Parameters
        ----------
        exponentiate : bool
            Whether the table has ratios as in :meth:`tidy`, with their intervals and p-values: the
            table of a paper.
        """
        check_flag("exponentiate", exponentiate)
        return Summary(self._with_ratios() if exponentiate else self.content)

    def _of_table(self) -> OfTable:
        assert self.predictor is not None
        found = self._terms()
        return found, self.predictor.design, found.terms, self._caution

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

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=2, seed=1)
        >>> axes = fit.refit("gam").plot("age")
        """
        need_matplotlib()
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
        return diagnose(self._terms(), self.predictor.design, folds, seed, self.library)

    def _column(self) -> coefficients.ModelColumn:
        return coefficients.ModelColumn(
            table=coefficients.coefficient_frame(self.table, has_tests=False),
            response=self.response,
            statistics={"N": self.n_used, **self.statistics, "selection": coefficients.SAME_ROWS},
            below=("N", "r2", "deviance", "aic", "selection"),
            errors="cluster-robust" if "Std. errors" in dict(self.content.facts) else "iid",
            labels=self.labels,
        )

    def __repr__(self) -> str:
        return f"<GlmFit of {self.n_used:,} rows, {self.n_dropped:,} dropped>"


def figure_of_coefficients(found: GlmFit) -> Rows | None:
    """The coefficients of a model that can be read; None without any."""
    table = found._readable()
    names = [found.labels.get(name, name) for name in map(str, table["column"])]
    return coefficient_figure(table, found.ratio, names)


def figures_of_splines(found: GlmFit) -> tuple[Figure, ...]:
    """The effects of numbers that have splines, as small figures."""
    if found.fitted is None or found.predictor is None:
        return ()
    return spline_figures(found.fitted, found.predictor.design)


def refit_glm(result: Fit, data: ModelData, coding: LinearCoding, call: str) -> GlmFit:
    """Fit the linear model of a selection to all complete cases, or to all rows."""
    if coding.missing == "drop":
        warn_of_gaps(data, result.selected, call)
    full, left_out, fit = fit_terms(data, result.selected, coding)
    if fit.problems:
        warn(" ".join(fit.problems))
    n_used, family = full.row_weights.n_observations, fit.family
    table, shown = coefficients.coefficient_table(fit), coefficients.readable(fit, full)
    rows = coefficients.coefficient_table(shown)
    printed = coefficients.in_print(data, rows)
    splines = full.splines
    references = coefficients.reference_levels(data, tuple(full.matrix.columns))
    groups_name = result.choice.folds.groups_name
    content = SummaryContent(
        title=f"{'Additive' if splines else 'Linear'} model of the selected terms",
        facts=(
            ("Call", f"{result.call.text}.{call}"),
            ("Formula", result.formula),
            ("Model", fit.model),
            ("Response", response_words(data, family)),
            *linear_notes.ordinal_facts(data, fit),
            *([("Knots", knots_words(splines, shown_names(data)))] if splines else []),
            ("Rows used", f"{n_used:,}"),
            ("Rows dropped", coefficients.dropped_words(full.n_dropped)),
            *data.weights_facts,
            *fit_facts(fit, family, are_copies=data.row_weights.are_copies),
            *(
                [("Std. errors", coefficients.error_words(groups_name, [fit]))]
                if fit.n_groups
                else []
            ),
            ("Seed", str(result.seed)),  # the selection can't be repeated from its call alone
        ),
        columns=coefficients.table_head(fit, 0.95),
        rows=coefficients.rows_with_references(
            rows, references, coefficients.table_rows(printed, shown)
        ),
        notes=(
            FORCED_IN if data.arrays.groups.keep.all() else NOT_VALID,
            *linear_notes.group_notes(groups_name, data, [fit]),
            *fit.problems,
            *linear_notes.spline_notes(splines),
            *coefficients.ratio_notes(shown, printed),
            *coefficients.few_events_notes([fit]),
            *(linear_notes.QUASI if fit.is_quasi else ()),
            *linear_notes.separation_notes(fit, family),
            *linear_notes.higher_class_note(family, has_aic=data.row_weights.are_copies),
            *coefficients.left_out_note(left_out, fit),
            *linear_notes.weight_notes(data, fit),
            *linear_notes.coding_notes(data, full, result.selected, coding),
            "`.predict(new, se=True)` predicts new data, with intervals.",
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
        ratio=fit.ratio,
        response=data.response.name,
        formula=data.spec.formula.text_of(result.selected, spline_texts(data, splines)),
        statistics=fit_statistics(fit, family, are_copies=data.row_weights.are_copies),
        labels=coefficients.changed_labels(rows, printed),
        fitted=fitted_terms(data, full, fit, content.facts[0][1], coding),
        predictor=linear_predictor(data, full, fit),
        fingerprint=data_fingerprint(data),
        seed=result.seed,
        references=references,
        shown=rows,
    )
