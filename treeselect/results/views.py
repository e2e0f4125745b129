"""Views of a selection: its model, its search and its data.

Each method calls the module that does the work; the file is long because of their documentation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from treeselect.algorithms.method import Method
from treeselect.algorithms.task import Step
from treeselect.arguments.checks import read_seed
from treeselect.designs.modeldata import ModelData
from treeselect.designs.scoring import Scoring
from treeselect.engine.arrays import FloatArray
from treeselect.frames.tables import in_library
from treeselect.models.model import TreeModel, WeightedForest
from treeselect.resampling.coefficient_stability import CoefficientStability, coefficient_stability
from treeselect.resampling.conditional import ConditionalImportance, leave_out
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.resampling.fit import Fit, HeldOutScore
from treeselect.resampling.folds import Splitter
from treeselect.resampling.learning import LearningCurve, learn
from treeselect.resampling.performance import Performance
from treeselect.resampling.risk_groups import RiskGroups, group_by_risk
from treeselect.results.calls import check_found, step_text, with_step
from treeselect.results.checklist import Checklist, checklist
from treeselect.results.citation import Citation, cite
from treeselect.results.describing import describe_table, neighbour_table
from treeselect.results.effects import effect_table, warn_of_few
from treeselect.results.shapes import interaction_table, shape_table
from treeselect.results.tables import alternative_table, exchange_table, history_table, member_table
from treeselect.results.trees import importance_path_table, node_table, rules, tree_table
from treeselect.results.versions import software_versions
from treeselect.running.parallel import workers_for


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ModelView:
    """The final model of a selection: trees, importance, shapes and effects of its terms.

    It is ``fit.model``. The model is that of `model` in :func:`treeselect.select` or of
    :meth:`SelectionResult.refit`, by default a stack after exchange search, the sparse forest
    (``refit=None`` of ControlBurn), or a random forest of the selected terms. What needs the data
    raises a DataError if the model was saved without them.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=2, seed=1)
    >>> fit.model.effects()["term"].iloc[0]
    'sex'
    """

    _fit: Fit

    @property
    def fitted(self) -> TreeModel:
        """The model itself: ``.constant``, ``.trees``, ``.description``."""
        return self._fit.model

    @property
    def sparse(self) -> WeightedForest | None:
        """The sparse forest behind the selection, of ControlBurn; without the trees that use a
        unit which was cut or pruned from it. None for other methods."""
        return self._fit.subforest

    @property
    def importance(self) -> FloatArray:
        """Importance of each unit in the final model, shape (n_units,), summing to 1 (or 0): its
        share of what the note under the report's table of terms names, of a forest the out-of-bag
        gain, of a linear model the standard deviations of the parts of the linear predictor."""
        return self._fit.importance

    def members(self) -> Any:
        """The importance of each term in a selected group.

        Returns
        -------
        frame, in the library of the data
            One row per term of a group of several, most important first: ``group``, ``term``,
            ``importance``, its part of that of the group, and ``share``, in proportion to how much
            the predictions change (root mean square) when its values are permuted over the rows.
            Terms that carry the same information share it.

        Raises
        ------
        DataError
            If the data of the fit are not here.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select(
        ...     "survived ~ .", data, method="mrmr", k=1, seed=1, groups={"who": ["sex", "age"]}
        ... )
        >>> fit.model.members()["term"].to_list()
        ['sex', 'age']
        """
        return in_library(member_table(self._fit), self._fit.design.library)

    def trees(self) -> Any:
        """The trees of the selection: for ControlBurn the sparse forest, for other methods those of
        the final model, each of weight 1 or one over their number. The effect of each column in an
        additive model is a tree, too.

        Returns
        -------
        frame, in the library of the data
            One row per tree, by decreasing share: ``tree``, its number, from 1; ``weight``, above 0
            (problem 2 of the ControlBurn paper; in a random forest one over the number of trees);
            ``share``, weight times standard deviation of the tree's predictions, as a share of the
            sum over all trees; ``depth``; ``leaves``; ``terms``, tuple of the terms or units that
            it splits on, most important first.
        """
        return in_library(tree_table(self._fit), self._fit.design.library)

    def nodes(self) -> Any:
        """All nodes of the trees listed by :meth:`trees`.

        Returns
        -------
        frame, in the library of the data
            One row per node: ``tree`` and ``node`` (from 1), ``depth`` (0 for the root), ``term``
            and ``split`` (rows that satisfy it go left; missing in leaves), ``threshold`` (for
            numbers), ``missing`` (side to which missing values go), ``left`` and ``right`` (child
            nodes), ``gain``, ``n`` (rows of the tree's sample, with multiplicity) and ``value``
            before weighting, or ``value_1``, ``value_2``, ... for more than two classes. With
            ``refit=None`` the linear predictor is ``fitted.constant`` plus the weighted sum of
            values.

        Raises
        ------
        OptionError
            If no term is selected.
        """
        return in_library(node_table(self._fit), self._fit.design.library)

    def rules(self, tree: int = 1) -> str:
        """One tree as indented text.

        Parameters
        ----------
        tree : int
            Its number in :meth:`trees`, from 1.

        Raises
        ------
        OptionError
            If there is no such tree.
        """
        return rules(node_table(self._fit), tree)

    def shape(self, term: str, other: str | None = None) -> Any:
        """Shape of a selected term, or of two jointly: partial dependence of the final model.

        Parameters
        ----------
        term : str
        other : str, optional
            A second term, for a map of both.

        Returns
        -------
        frame, in the library of the data
            One row per grid point: at most 40 values of a number (12 of each of two, for pairs that
            occur), the 100 most frequent levels of a factor, missing values last. A column for each
            variable behind the term, or for the term itself if it is a product of numbers, named
            ``<name>_value`` if the name is taken by another column (trees bin numbers; the value
            is the mean of the rows in the bin); ``share`` of the rows in it, without those in which
            the term is imputed; ``mean``, the partial dependence over at most 1000 rows, and
            ``effect``, the centred partial dependence, with ``low`` and ``high`` if there are
            effects from resamples (pointwise percentiles as in :meth:`effects`); for two terms
            ``interaction``, the part that is not a sum of an effect of each (least squares). For
            more than two classes one column each, ``mean_<class>``.
            The scale is the linear predictor (for times to an event, the log hazard ratio; of
            several classes less its mean over these), and for random forests without an offset and
            proportional odds the mean response.

        Raises
        ------
        OptionError
            If a term is not selected.
        DataError
            If the model was saved without its data.

        Notes
        -----
        Partial dependence is defined as in Friedman (2001), section 8.2. For single-feature trees
        (``forest="single-feature"`` of ControlBurn with ``refit=None``) it is the shape function of
        the additive model itself.
        """
        return in_library(shape_table(self._fit, term, other), self._fit.design.library)

    def effects(self) -> Any:
        """Effects of the selected terms in the final model: direction, size and intervals.

        Returns
        -------
        frame, in the library of the data
            One row per step of a term, most important terms first; for more than two classes one
            row for each, in the column ``class``. ``term``; ``direction`` of its shape; ``step``,
            ``from`` and ``to`` (text), see the notes; ``effect``, the change in mean prediction
            over the rows (float64); ``low`` and ``high``, the 2.5th and 97.5th percentiles of this
            change over the models of the resamples (see ``effects`` of
            :meth:`SelectionResult.resample`), missing if fewer than 20 of them define it (with a
            TreeselectWarning); ``n_resamples``, how many do (int64).

        Raises
        ------
        DataError
            If the model was saved without its data, and without effects.

        Notes
        -----
        *Effects* are differences of partial dependence (Friedman 2001, section 8.2): the term takes
        first one value in all rows (at most 1000), then the other, while the other terms keep
        theirs. The scale is the response: the mean, or the probability of the positive
        class or of each class; with an offset the linear predictor; for times to an event the log
        hazard ratio. They describe the model and are not causal effects: associated terms are held
        fixed.

        *Steps* are ``"quartiles"``, from the lower to the upper quartile (observed values; for a
        number that is computed from one variable, such as a logarithm or a spline, of the variable;
        for a product of numbers, of the product); ``"values"``, from one to the other of two values
        (booleans included); ``"deciles"``, from the first to the last if the quartiles are equal;
        ``"range"``, from the minimum to the maximum if these are equal, too; ``"levels"``, from the
        first level of a factor, the reference of linear models unless contrasts name another, to
        each other level (at most the 100 most frequent) and to missing; ``"none"`` for terms with
        several variables that are neither a product of numbers nor a factor; see their
        :meth:`shape`.

        *Directions* of numbers refer to the shape at its points (at most 40, with about equal
        numbers of rows), ignoring missing values: ``"up"`` if a curve that never falls explains 90%
        of its variance over the rows, so that the steps of a forest are no turns, and the effect is
        not negative; ``"down"`` correspondingly; ``"flat"`` if it is constant; ``"mixed"``
        otherwise. Points at either end that hold at most 2.5% of the rows are ignored, so that
        single extreme rows do not decide.
        Factors have ``"by level"``, terms with several variables and no step ``"joint"``.

        *Intervals* hold the rows, the points and the steps fixed; only the model varies. They use
        the resamples that selected the term: for a rarely selected term they describe its effect
        given selection and are further from 0 the more its selection depends on a large effect. A
        resample does not count if it lacks a level or if the term is constant on it. Forests
        smooth: effects and intervals are closer to 0 than the quantities that they estimate, the
        more so the fewer the rows and the weaker the term (by a fifth in simulated data of 150
        rows).

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> table = fit.model.effects()
        >>> table[["term", "direction", "step", "from", "to"]].iloc[0].to_list()
        ['sex', 'down', 'values', '0', '1']
        >>> bool(table["effect"][0] < -0.4)
        True
        """
        table = effect_table(self._fit)
        if self._fit.effect_record is not None:
            warn_of_few(table)
        return in_library(table, self._fit.design.library)

    def interactions(self) -> Any:
        """Interaction of each pair of selected terms in the final model.

        Returns
        -------
        frame, in the library of the data
            One row per pair of the ten most important terms without a common variable, by
            decreasing size: ``term``, ``other``, ``strength``, from 0 (additive effects) to 1, on
            the scale of :meth:`shape` (effects that are additive in log odds are not additive in
            probabilities). ``size``, by which pairs are ranked, is the root mean square of the
            non-additive part, on the same scale: a pair with two small effects may have a large
            strength, which is a share, and still matter little.

        Raises
        ------
        DataError
            If the model was saved without its data.

        Notes
        -----
        The strength is the square root of the share of the variance of the pair's partial
        dependence that is not additive. It is the statistic H of Friedman and Popescu (2008),
        equation 44, with the least-squares additive effects (Hooker 2007) in place of the partial
        dependences, over the cells of a 6 x 6 grid weighted by their shares of the rows (at most
        200), so pairs of values that do not occur are ignored.
        """
        return in_library(interaction_table(self._fit), self._fit.design.library)

    def conditional_importance(
        self,
        folds: int | Splitter | Sequence[int] | None = 5,
        *,
        terms: str | Sequence[str] | None = None,
        given: Literal["selected", "all"] = "selected",
        repeats: int | None = None,
        scoring: Scoring = None,
        seed: int | None = None,
    ) -> ConditionalImportance:
        """Importance of each term given others: a test on all rows, and a loss on held-out rows.

        The hypothesis is that the response does not depend on the term given the other selected
        terms, or given all others of the formula. The test needs neither a linear model nor a split
        of the rows; of more than 20,000 it takes a sample. Beside it stands the loss of score
        without the term, by models (additive plus forest) with and without it
        (leave-one-covariate-out [1]_). Factors and groups are tested and left out as a whole. The
        final model of the fit is not used.

        Parameters
        ----------
        folds : int, splitter, array of int or None
            Folds, given as in :func:`treeselect.select`; None for tests without losses.
        terms : str or sequence of str, optional
            Terms or groups to test; by default all given ones. An unselected one is added to the
            selected ones.
        given : {"selected", "all"}
            What each term is tested beside: the other selected terms, or all others of the formula.
        repeats : int, optional
            How often to repeat the folds, so that losses depend less on the random split; by
            default 5 if `folds` is a number, otherwise 1.
        scoring : str or callable, optional
            Score on the held-out rows; by default as in the fit.
        seed : int, optional
            Default: as in the fit.

        Returns
        -------
        ConditionalImportance
            ``.tidy()``, ``.summary()``.

        Raises
        ------
        OptionError
            If an argument is not allowed, no term is selected and `terms` is not given, or the
            rows can't be split.
        DataError, OutOfMemoryError, WorkerError
            As for :meth:`SelectionResult.resample`.

        Notes
        -----
        *P-values* are of the generalised covariance measure [2]_. The response and functions of the
        term (slope, bends, levels) are predicted from the other terms by an additive model and a
        forest, for each row without it; if the hypothesis is true, the products of both residuals
        have mean 0, and their standardised sum is normal in the limit, provided that the product of
        the errors of both predictions vanishes faster than ``n ** -0.5``. Weights by the other
        terms find effects that change with them [3]_; the p-values of slopes and levels (weight
        0.5), bends (0.25) and such interactions (0.25) are combined by the Cauchy distribution. Of
        many levels, the directions in which products vary most are tested, one for each five rows
        or clusters. The residuals of times to an event are martingale residuals. A term is not
        found if others determine it, as a copy does, nor an effect of a group that is a product of
        its own members alone.

        *E-values* are mixtures of likelihood ratios of the same sums [4]_. Without dependence their
        mean is at most 1, under the same condition, so that 20 is reached with a probability of at
        most 0.05. From them, ``level`` is the lowest false discovery rate at which the closed e-BH
        procedure calls the term [5]_, for any dependence among the terms.

        *Intervals* of the loss come from the corrected resampled t test [6]_.

        With ``given="selected"`` the selection is ignored: for terms selected from many on the same
        rows, losses are too large and p-values anti-conservative. With ``given="all"`` it plays no
        part, so that the tests are valid after it; :meth:`SelectionResult.inference` tests on rows
        that played no part in the selection.

        References
        ----------
        .. [1] J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani, L. Wasserman (2018).
           Distribution-free predictive inference for regression. JASA 113(523), section 6.
        .. [2] R. D. Shah, J. Peters (2020). The hardness of conditional independence testing and
           the generalised covariance measure. Annals of Statistics 48(3), equation 3.
        .. [3] C. Scheidegger, J. Hoerrmann, P. Buehlmann (2022). The weighted generalised
           covariance measure. JMLR 23(273), section 3.
        .. [4] V. H. de la Pena, M. J. Klass, T. L. Lai (2004). Self-normalized processes. Annals of
           Probability 32(3A), 1902-1933.
        .. [5] Z. Xu, A. Solari, L. Fischer, R. de Heide, A. Ramdas, J. Goeman (2025). Bringing
           closure to false discovery rate control. arXiv:2509.02517.
        .. [6] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
           52, 239-281.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=2, seed=1)
        >>> found = fit.model.conditional_importance(None).tidy().set_index("term")
        >>> bool(found.loc["sex", "p_value"] < 0.01)
        True
        """
        fit = self._fit
        asked: dict[str, Any] = {
            "folds": folds, "terms": terms, "given": given, "repeats": repeats,
            "scoring": scoring,
            "seed": fit.seed if seed is None else read_seed(seed),
        }  # fmt: skip
        found = leave_out(fit, **asked, workers=workers_for(fit.n_jobs))
        return with_step(fit, found, ModelView.conditional_importance, asked, "model")

    def coefficient_stability(self) -> CoefficientStability:
        """Refit the linear model on each resample, with the terms selected there.

        The table that Heinze, Wallisch and Dunkler [1]_ recommend with every selected model: how
        much of a coefficient, and of its uncertainty, is due to the selection.

        Returns
        -------
        CoefficientStability
            ``.tidy()``, ``.summary()``; may be passed to :meth:`SelectionResult.report` as
            `coefficients`.

        Raises
        ------
        StabilityError
            If there are no resamples, or the call that drew them was interrupted.
        OptionError
            If clusters are required and not given.
        DataError, OutOfMemoryError, WorkerError
            As for :meth:`SelectionResult.resample`.

        Warns
        -----
        TreeselectWarning
            If the linear model of all terms drops more than 5% of the rows for missing values.

        Notes
        -----
        The linear model is that of ``refit("glm")``, fitted to the rows of the resample with the
        terms selected on it. With b the coefficient on a resample, 0 if its term is not selected,
        and f its counterpart in the full model, which has all terms and is fitted to all rows:

        - RMSD ratio: ``sqrt(mean((b - f)^2))`` over all resamples, divided by the standard error of
          f (cluster-robust if the fit has `fold_groups`).
        - Relative conditional bias: ``mean(b) / f - 1`` over the resamples that selected the term.
        - Quantiles of b over all resamples.

        The full model is taken to be unbiased. If it can't be fitted, as with more terms than rows,
        comparisons with it are missing. Half-samples serve as well as the bootstrap: estimates
        from half of the rows deviate about as much from the estimates from all rows.

        A factor level that is absent from a resample has no coefficient there, and a resample whose
        linear model can't be fitted (separated classes, collinear terms) has none. Both are
        counted, and not treated as 0.

        References
        ----------
        .. [1] G. Heinze, C. Wallisch, D. Dunkler (2018). Variable selection: A review and
           recommendations for the practicing statistician. Biometrical Journal 60, 431-449.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="stepwise", k=1, seed=1)
        >>> table = fit.resample(5).model.coefficient_stability().tidy()
        >>> table["column"].to_list()
        ['Intercept', 'sex', 'age']
        """
        fit, stability = self._fit, self._fit.stability
        found = coefficient_stability(fit, stability, workers_for(fit.n_jobs))
        step = step_text(ModelView.coefficient_stability, {}, "model")
        return dataclasses.replace(found, call=fit.call.whole + step)

    def risk_groups(
        self,
        n_groups: int = 3,
        horizon: float | None = None,
        folds: int | Splitter | Sequence[int] = 10,
        *,
        seed: int | None = None,
    ) -> RiskGroups:
        """Survival in groups of increasing predicted risk, and calibration of predicted survival.

        In each fold the final model is refitted to the selected terms on the training rows (a
        random forest for a sparse forest) and predicts the survival of the held-out rows. Groups
        are cut at the quantiles of the predicted risk of the event by the horizon.

        Parameters
        ----------
        n_groups : int
            From 2 to 20. Rows of equal risk stay together, so there may be fewer groups.
        horizon : float, optional
            Time at which predicted and observed survival are compared, above 0 and not after the
            end of follow-up; by default the median event time.
        folds : int, splitter or array of int
            Folds, given as in :func:`treeselect.select`.
        seed : int, optional
            Default: as in the fit.

        Returns
        -------
        RiskGroups
            ``.tidy()``, Kaplan-Meier curves with the numbers at risk;
            ``.calibration()``, predicted and observed survival at the horizon; ``.summary()``.

        Raises
        ------
        OptionError
            If the response is not a time to an event, an argument is not allowed, or the rows
            can't be split.
        DataError, OutOfMemoryError, WorkerError
            As for :meth:`SelectionResult.resample`.

        Notes
        -----
        The terms were selected on all rows, and the cross-validation does not repeat the selection:
        with many candidate terms the groups are further apart than they would be on new rows.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("gbsg2")
        >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=2, seed=1)
        >>> fit.model.risk_groups(folds=3).calibration()["group"].to_list()
        ['low', 'middle', 'high']
        """
        given: dict[str, Any] = {
            "n_groups": n_groups, "horizon": horizon, "folds": folds,
        }  # fmt: skip
        found = group_by_risk(self._fit, **given, seed=seed)
        told = {**given, "seed": found.seed}
        return with_step(self._fit, found, ModelView.risk_groups, told, "model")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SearchView:
    """How a selection came about: its path, scores by size, exchanges and alternatives.

    It is ``fit.search``.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
    >>> fit.search.method.name, len(fit.search.steps)
    ('importance', 2)
    """

    _fit: Fit

    @property
    def method(self) -> Method:
        """The method with its options."""
        return self._fit.chosen_method

    @property
    def call(self) -> str:
        """The call, with later steps, as it could be typed again."""
        return self._fit.call.whole

    @property
    def rule(self) -> str:
        """How the number of units was chosen, in words."""
        return self._fit.call.rule

    @property
    def seed(self) -> int:
        """The seed, given or drawn."""
        return self._fit.seed

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of this selection, sentence by sentence."""
        return self._fit.all_notes

    @property
    def steps(self) -> tuple[Step, ...]:
        """The path, as records of the method."""
        return self._fit.steps

    @property
    def step(self) -> Step:
        """The chosen step of the path."""
        return self._fit.step

    @property
    def scores(self) -> ScoreBySize | None:
        """Scores by size on rows that the search did not use: cross-validated ones if they chose
        the number of units, or those of half-samples; None if there are none."""
        return self._fit.scores

    @property
    def p_values(self) -> FloatArray | None:
        """By size, shape (n_tested,), for ``k="auto"``: of the hypothesis that no larger set
        predicts better, up to the size chosen; NaN for sizes not tested. None for other rules."""
        return self._fit.p_values

    @property
    def held_out(self) -> HeldOutScore | None:
        """Score of the final model on the rows that were not drawn; None if all rows were used, or
        after :meth:`SelectionResult.refit`. See `rows` of :func:`treeselect.select`."""
        return self._fit.held_out

    def importance_path(self) -> Any:
        """Importance of each unit at each step of the path.

        Returns
        -------
        frame, in the library of the data
            One row per step and unit that ever enters: ``k``, ``tuning``, ``term``, ``selected``,
            ``importance`` by the method's own measure (for exchange search and refined sets the
            increase in error without the unit, for ControlBurn the importance in the weighted
            trees), summing to 1 over the units of a step.
        """
        return in_library(importance_path_table(self._fit), self._fit.design.library)

    def history(self) -> Any:
        """The rounds of a method that makes decisions, such as Boruta.

        Returns
        -------
        frame, in the library of the data
            One row per round and unit: ``round``, from 1; ``term``, the unit; its final
            ``decision``; its ``importance`` in that round (missing after rejection); and the
            minimum, mean and maximum importance of the shadows, ``shadow_min``, ``shadow_mean`` and
            ``shadow_max``, at least 0. A unit that exceeds the maximum scores a hit.

        Raises
        ------
        OptionError
            If the method makes no decisions.
        """
        return in_library(history_table(self._fit), self._fit.design.library)

    def exchanges(self) -> Any:
        """The exchanges by which a search arrived at the selection.

        Returns
        -------
        frame, in the library of the data
            One row per exchange, in order; no rows if there was none: ``exchange``, its number,
            from 1 (int64); ``out`` and ``into``, the removed and the added unit (text);
            ``change``, the relative change in out-of-bag error (float64; -0.02 is a decrease by
            2%); ``change_se``, its standard error.

        Raises
        ------
        OptionError
            If no search ended with this set: the method makes none, or backward elimination or a
            cut to `k` reduced a larger set.

        Notes
        -----
        Both errors come from models with the same bags, so the change is a mean of differences
        over rows; its standard error is taken over rows, or over the clusters of `fold_groups`. It
        includes neither variation between sets of bags nor the fact that the exchange is the best
        of those tried. With `costs`, an exchange must lower the error per cost, and may raise the
        error itself.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> search = {"method": "exchange", "n_trees": 20}
        >>> fit = treeselect.select("survived ~ .", data, k=3, seed=1, **search)
        >>> list(fit.search.exchanges().columns)
        ['exchange', 'out', 'into', 'change', 'change_se']
        >>> bool((fit.search.exchanges()["change"] < 0).all())
        True
        """
        return in_library(exchange_table(self._fit), self._fit.design.library)

    def alternatives(self) -> Any:
        """Near-equivalent sets: sets of the selection's size that a search found about as good.

        Returns
        -------
        frame, in the library of the data
            One row per set whose out-of-bag error is at most one standard error above that of the
            selection, by increasing error, at most 50: ``terms``, tuple of its units, selected ones
            first; ``out`` and ``into``, tuples of the selected units that it lacks and of those
            that replace them; ``change``, the relative change in error from the selection
            (float64; 0.003 is higher by 0.3%; a negative value is lower, although the search did
            not adopt the set); ``change_se``, its standard error.

        Raises
        ------
        OptionError
            As for :meth:`exchanges`.

        Notes
        -----
        Sets that predict about equally well are called a Rashomon set [1]_. The table has only
        sets of one size that the search evaluated with all its trees (``step.trace.n_judged`` of
        them); others may be as good. The standard error refers to the mean difference over rows,
        or over the clusters of `fold_groups`, for one set of bags.

        References
        ----------
        .. [1] A. Fisher, C. Rudin, F. Dominici (2019). All Models are Wrong, but Many are Useful.
           Journal of Machine Learning Research 20(177).

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> search = {"method": "exchange", "n_trees": 20}
        >>> fit = treeselect.select("survived ~ .", data, k=3, seed=1, **search)
        >>> near = fit.search.alternatives()
        >>> bool((near["change"] <= near["change_se"]).all())
        True
        """
        return in_library(alternative_table(self._fit), self._fit.design.library)

    def learning_curve(
        self,
        shares: Sequence[float] = (0.25, 0.5, 0.75, 1.0),
        folds: int | Splitter | Sequence[int] = 5,
        *,
        repeats: int = 1,
        seed: int | None = None,
    ) -> LearningCurve:
        """Learning curve: score and stability of the whole procedure by the number of rows.

        In each fold the selection, with the fit's rule for `k`, is repeated on nested subsets of
        the training rows and scored on the same held-out rows. The fit is not modified.

        Parameters
        ----------
        shares : sequence of float
            Shares of the training rows of each fold (stratified by class; whole clusters, if there
            are any), increasing, above 0, at most 1.
        folds, repeats
            As in :meth:`SelectionResult.performance`.
        seed : int, optional
            Default: as in the fit.

        Returns
        -------
        LearningCurve
            ``.tidy()``, one row per share; ``.words``, what the last increase in rows gained;
            ``.rows_needed()``, how many rows would make the selection stable.

        Raises
        ------
        OptionError
            If an argument is not allowed, the rows can't be split, or a subset is too small.
        DataError, OutOfMemoryError, WorkerError
            As for :meth:`SelectionResult.resample`.

        Notes
        -----
        The stability index compares the sets selected in the folds. Subsets of different folds
        share rows, the more the larger they are, and this alone makes their sets more similar.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> curve = fit.search.learning_curve([0.5, 1], folds=3)
        >>> list(curve.tidy()["rows"].round())
        [437.0, 873.0]
        """
        fit = self._fit
        given: dict[str, Any] = {
            "shares": shares, "folds": folds, "repeats": repeats,
            "seed": fit.seed if seed is None else read_seed(seed),
        }  # fmt: skip
        found = learn(fit, **given, workers=workers_for(fit.n_jobs))
        return with_step(fit, found, SearchView.learning_curve, given, "search")

    def citation(self, performance: Performance | None = None) -> Citation:
        """Methods paragraph, limitations and references for a paper.

        Parameters
        ----------
        performance : Performance, optional
            The result of :meth:`SelectionResult.performance`, whose score is then reported.

        Returns
        -------
        Citation
            Prints as text. ``.methods``, a paragraph with the numbers of this fit;
            ``.limitations``, those that apply to it; ``.references`` and ``.bibtex``; ``.call`` and
            ``.seed``; ``.versions`` of the installed software; ``.fingerprint`` of the data, the
            SHA-256 hash of the response, the columns behind the candidate terms, case weights and
            offset, with their names, for the rows used, in their order. It does not depend on the
            order of the columns, the library or the machine; None without the data.

        Raises
        ------
        OptionError
            If `performance` belongs to another fit.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
        >>> found = fit.search.citation()
        >>> found.methods.split(". ")[1:3]
        ['The number of terms was fixed at 1', 'The selected term was sex']
        >>> print(found.bibtex.splitlines()[0])
        @manual{treeselect,
        """
        check_found(self._fit, "performance", performance)
        return cite(self._fit, software_versions(), performance)

    def checklist(self, performance: Performance | None = None) -> Checklist:
        """The TRIPOD+AI checklist of a prediction model, filled in as far as the fit knows.

        Parameters
        ----------
        performance : Performance, optional
            The result of :meth:`SelectionResult.performance`.

        Returns
        -------
        Checklist
            ``.summary()``, with ``as_docx()`` for Word; ``.tidy()``.

        Raises
        ------
        OptionError
            If `performance` belongs to another fit.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> len(fit.search.checklist().tidy())
        36
        """
        return checklist(self._fit, partial(self.citation, performance), performance)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DataView:
    """The data of a selection: the encoded terms, their description and associations.

    It is ``fit.data``. Without the data its tables raise a DataError.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
    >>> fit.data.design.rows.used
    1309
    """

    _fit: Fit

    @property
    def design(self) -> ModelData:
        """The encoded data: ``.model_matrix()``, ``.rows``, ``.response``, ``.spec``."""
        return self._fit.design

    def describe(self, variables: str | Sequence[str] | None = None) -> Any:
        """Description of the rows used, by variable and response: a baseline table ("table 1").

        Parameters
        ----------
        variables : str or sequence of str, optional
            Columns of the data behind any terms; by default those behind the selected terms. A
            computed term, such as ``log(x)``, or an interaction is described by its variables.

        Returns
        -------
        frame, in the library of the data
            For each variable one row of the kind ``"numbers"``, or one of the kind ``"level"`` for
            each level that occurs, and then one of the kind ``"missing"``, each for all rows and
            for each group of rows. ``variable``; ``kind``; ``level`` (text; missing for other
            kinds); ``group`` (missing for all rows; see the notes); ``selected``, whether a
            selected term uses the variable; ``n_group``, number of rows in the group (int64);
            ``n``, how many of them have a known number, the level, or a missing value (int64);
            ``share``, ``n`` as a share of the rows of the group, or, for a level, of those with a
            known value (float64); ``median``, ``q25`` and ``q75`` of numbers, otherwise missing
            (float64).

        Raises
        ------
        OptionError
            If there is no such variable behind the terms.
        DataError
            If the model was saved without its data.

        Notes
        -----
        *Groups* are the classes of the response (if there are more than five, the four most
        frequent and all others combined); for numbers and counts, thirds named by their minimum and
        maximum, of unequal size if values are tied; for times to an event ``"event"`` and
        ``"censored"``.

        *Numbers* with at most five distinct values, all integers, and those that a term treats as
        a factor are described by level. Quartiles are interpolated as in numpy and R by default.

        *Weights* that are frequencies count: a row of weight 3 counts as three. Other weights are
        ignored here. Rows with weight 0 or without a response are excluded.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> table = fit.data.describe("age")
        >>> table["kind"].unique().tolist(), table["group"].dropna().unique().tolist()
        (['numbers', 'missing'], ['0', '1'])
        >>> bool(table["median"][0] == data["age"].median())
        True
        """
        return in_library(describe_table(self._fit, variables), self._fit.design.library)

    def neighbours(self, term: str | None = None, most: int = 10) -> Any:
        """The terms most strongly associated with a term in the data, selected or not.

        Parameters
        ----------
        term : str, optional
            Any term of the formula; each selected term by default.
        most : int
            Number of neighbours of each term, 1 to 1,000,000.

        Returns
        -------
        frame, in the library of the data
            One row per pair, by decreasing association: ``term``; ``other``; ``measure``;
            ``association`` in [0, 1]; ``selected``, whether the other term is. The measure is the
            absolute rank correlation of two numbers, the correlation ratio of the ranks of a number
            and a factor, or Cramer's V of two factors; for terms with several columns, the largest
            over pairs of columns.

        Raises
        ------
        OptionError
            If there is no such term.
        DataError
            If the model was saved without its data.

        Notes
        -----
        These are associations in the data; ``fit.stability.substitutes`` lists the terms by which
        a selected term was replaced on resamples.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="importance", k=1, seed=1)
        >>> fit.data.neighbours("age", most=2)["other"].to_list()
        ['weight', 'pclass']
        """
        return in_library(neighbour_table(self._fit, term, most), self._fit.design.library)
