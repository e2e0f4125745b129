"""What can be read from a selection: tables, trees, shapes, predictions.

Each method delegates to the module that does the work; the file is long because of its docstrings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treeselect.arguments.checks import check_digits, described, length
from treeselect.designs.weights import check_offset
from treeselect.engine.arrays import FloatArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.rounding import at_least, largest_in_row
from treeselect.errors import OptionError
from treeselect.frames.reading import Scan, frame_of_arrow, read_data, scan_of
from treeselect.frames.tables import as_column, as_frame, in_library, with_column
from treeselect.results.describing import describe_table
from treeselect.results.effects import effect_table, warn_of_few
from treeselect.results.hazards import hazards_at, read_type
from treeselect.results.inside import importance_path_table, node_table, tree_table
from treeselect.results.interactions import interaction_table
from treeselect.results.intervals import (
    QUANTILE,
    check_forest,
    interval_columns,
    quantile_columns,
    read_asked,
)
from treeselect.results.neighbours import neighbour_table
from treeselect.results.searched import alternative_table, exchange_table
from treeselect.results.shapes import shape_table
from treeselect.results.tables import glance_table, history_table, path_table, tidy_table
from treeselect.results.trees import rules
from treeselect.running.machine import memory_errors
from treeselect.running.parallel import workers_for

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.printing import Summary


from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class ReadableFit(Fit):
    """A selection with its tables and predictions."""

    # --- tables ---

    @property
    def path(self) -> Any:
        """The selection path, one row per step.

        Returns
        -------
        frame, in the library of the data
            ``k``; ``tuning``, the value of the tuning parameter; ``terms``, tuples of the names of
            terms (units, if there are groups), most important first; ``train_score`` of the
            method's own ensemble on its training rows (out of bag for forests), or, for refined
            sets and methods without an ensemble, of a random forest on the selected terms, out of
            bag; ``cv_score`` and ``cv_se`` of the final model on held-out rows (missing if there
            was no cross-validation); and, for best subsets, ``gap``, the optimality gap, which is 0
            if the set is proved optimal.
        """
        return in_library(path_table(self), self.design.library)

    def tidy(self) -> Any:
        """One row per term: selected terms first, then by entry into the path.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``group``, its unit; ``selected``; ``decision``, ``"confirmed"``,
            ``"tentative"`` or ``"rejected"`` for methods that make decisions (``"boruta"``),
            otherwise missing; ``step``, the size at which it first enters the path (missing if it
            never does); ``importance`` of its unit in the final model (:attr:`importance`);
            ``cost`` of its unit alone; ``n_missing``, the number of rows in which the term is
            missing (missing if an old model file does not have it); with resamples, ``frequency``,
            ``ci_low`` and ``ci_high``; with effects on resamples, ``direction`` and, for the step
            (and class) with the largest effect, ``effect_of`` (the step in words), ``effect``,
            ``effect_low`` and ``effect_high`` (see :meth:`effects`).
        """
        return in_library(tidy_table(self), self.design.library)

    def glance(self) -> Any:
        """One row about the whole selection.

        Returns
        -------
        frame, in the library of the data
            ``n`` rows used, ``n_dropped``, ``p`` units, ``k``, ``method``, ``family``, ``tuning``,
            ``score`` (its name), ``train_score``, ``cv_score``, ``cv_se``, ``cv_full`` and
            ``cv_null``, the scores with all units and with none on the same held-out rows (missing
            if there was no cross-validation), ``resamples``, ``stability``, ``stability_low``,
            ``stability_high``, ``seed``, ``events`` (float64; missing unless the response is a time
            to an event), ``n_not_drawn``, the rows in use that are not in the sample (see ``rows``
            of :func:`treeselect.select`), and ``held_out_score``, the score of the final model on
            these (missing if there are none).
        """
        return in_library(glance_table(self), self.design.library)

    def augment(self, data: Any, offset: Sequence[float] | None = None) -> Any:
        """Data plus fitted values.

        Parameters
        ----------
        data : frame or path
            The training data or new data, in any library.
        offset : sequence of float, optional
            As in :meth:`predict`.

        Returns
        -------
        frame
            A copy of `data`, in its library and order, with the column ``fitted``:
            :meth:`predict` on the response scale or, for more than two classes, the most probable
            class.

        Raises
        ------
        OptionError
            If `data` already has a column ``fitted``.
        """
        kind = "class" if len(self.design.response.classes) > 2 else "response"

        def fitted(frame: Any) -> list[Any]:
            values = self._predict(frame, kind, offset, None, (None, None, 0.95))
            assert isinstance(values, list)
            return values

        return with_column(data, "fitted", fitted)

    def summary(self, *, digits: int | None = None) -> Summary:
        """Printed summary.

        Parameters
        ----------
        digits : int, optional
            Decimals of scores, importances, selection frequencies and stability indices, including
            their errors, differences and intervals, and significant digits of the largest effect,
            which set the decimals of all effects. From 1 to 10; by default each kind of number has
            its own.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, ``as_markdown()``, ``as_gt()``, and HTML
            in notebooks.
        """
        from treeselect.printing import Summary, chosen_digits
        from treeselect.results.summary import summarise

        with chosen_digits(check_digits(digits)):
            return Summary(summarise(self))

    # --- inside ---

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
        return in_library(tree_table(self), self.design.library)

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
            ``refit=None`` the linear predictor is ``model.constant`` plus the weighted sum of
            values.

        Raises
        ------
        OptionError
            If no term is selected.
        """
        return in_library(node_table(self), self.design.library)

    def rules(self, tree: int = 1) -> str:
        """One tree as indented text.

        Parameters
        ----------
        tree : int
            Its number in :meth:`trees`, from 1.

        Returns
        -------
        str

        Raises
        ------
        OptionError
            If there is no such tree.
        """
        return rules(node_table(self), tree)

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
        return in_library(importance_path_table(self), self.design.library)

    def history(self) -> Any:
        """The rounds of a method that makes decisions, such as Boruta.

        Returns
        -------
        frame, in the library of the data
            One row per round and unit: ``round``, from 1; ``term``, the unit; its final
            ``decision``; its ``importance`` in that round (missing after rejection); and the
            minimum, mean and maximum importance of the shadows, ``shadow_min``, ``shadow_mean`` and
            ``shadow_max``. A unit that exceeds the maximum scores a hit.

        Raises
        ------
        OptionError
            If the method makes no decisions.
        """
        return in_library(history_table(self), self.design.library)

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
        Both errors come from forests with the same bags, so the change is a mean of differences
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
        >>> list(fit.exchanges().columns)
        ['exchange', 'out', 'into', 'change', 'change_se']
        >>> bool((fit.exchanges()["change"] < 0).all())
        True
        """
        return in_library(exchange_table(self), self.design.library)

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
        >>> near = fit.alternatives()
        >>> bool((near["change"] <= near["change_se"]).all())
        True
        """
        return in_library(alternative_table(self), self.design.library)

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
            occur), at most 100 levels of a factor, missing values last. A column for each variable
            behind the term, or for the term itself if it is a product of numbers, named
            ``<name>_value`` if the name is taken by another column (trees bin numbers; the value
            is the mean of the rows in the bin); ``share`` of the rows in it; ``mean``, the partial
            dependence over at most 1000 rows, and ``effect``, the centred partial dependence, with
            ``low`` and ``high`` if there are effects from resamples (pointwise percentiles as in
            :meth:`effects`); for two terms ``interaction``, the part that is not a sum of an effect
            of each (least squares). For more than two classes one column each, ``mean_<class>``.
            The scale is the linear predictor (for times to an event, the log hazard ratio), and for
            random forests without an offset the mean response.

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
        return in_library(shape_table(self, term, other), self.design.library)

    def effects(self) -> Any:
        """Effects of the selected terms in the final model: direction, size and intervals.

        Returns
        -------
        frame, in the library of the data
            One row per step of a term, most important terms first; for more than two classes one
            row for each, in the column ``class``. ``term``; ``direction`` of its shape; ``step``,
            ``from`` and ``to`` (text), see the notes; ``effect``, the change in mean prediction
            over the rows (float64); ``low`` and ``high``, the 2.5th and 97.5th percentiles of this
            change over the models of the resamples (see ``effects`` of :meth:`resample`), missing
            if fewer than 20 of them define it (with a TreeselectWarning); ``n_resamples``, how
            many do (int64).

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
        term with one variable and several columns, such as a spline, of the variable; for a product
        of numbers, of the product); ``"values"``, from one to the other of two values (booleans
        included); ``"range"``, from the minimum to the maximum if the quartiles are equal;
        ``"levels"``, from the most frequent level of a factor to each other level (at most the 100
        most frequent) and to missing; ``"none"`` for terms with several variables that are neither
        a product of numbers nor a factor; see their :meth:`shape`.

        *Directions* of numbers refer to the shape at its points (at most 40, with about equal
        numbers of rows), ignoring missing values: ``"up"`` if it never falls, from any point to any
        later one, by more than a tenth of its largest rise; ``"down"`` correspondingly; ``"flat"``
        if it is constant; ``"mixed"`` otherwise. Points at either end that hold at most 2.5% of the
        rows are ignored, so that single extreme rows do not decide. Factors have ``"by level"``,
        terms with several variables and no step ``"joint"``.

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
        >>> table = fit.effects()
        >>> table[["term", "direction", "step", "from", "to"]].iloc[0].to_list()
        ['sex', 'down', 'values', '0', '1']
        >>> bool(table["effect"][0] < -0.4)
        True
        """
        table = effect_table(self)
        if self.effect_record is not None:
            warn_of_few(table, stacklevel=2)
        return in_library(table, self.design.library)

    def interactions(self) -> Any:
        """Interaction of each pair of selected terms in the final model.

        Returns
        -------
        frame, in the library of the data
            One row per pair of the ten most important terms without a common variable, by
            decreasing size: ``term``, ``other``, ``strength``, from 0 (additive effects) to 1, on
            the scale of :meth:`shape` (effects that are additive in log odds are not additive in
            probabilities). After :meth:`SelectionResult.resample` with ``effects=True``, ``low``
            and ``high`` are its 2.5th and 97.5th percentiles over the models of the resamples, at
            the same points and rows, and ``n_resamples`` is their number: those that selected both
            terms, on which both vary and no level of the grid is absent. Fewer than 20 give no
            interval (with a TreeselectWarning); without such resamples `n_resamples` is 0.
            ``size``, by which pairs are ranked, is the root mean square of the non-additive part,
            on the same scale: a pair with two small effects may have a large strength, which is a
            share, and still matter little.

        Raises
        ------
        DataError
            If the model was saved without its data and has no strengths from resamples.

        Notes
        -----
        The strength is the square root of the share of the variance of the pair's partial
        dependence that is not additive. It is the statistic H of Friedman and Popescu (2008),
        equation 44, with the least-squares additive effects (Hooker 2007) in place of the partial
        dependences, over the cells of a 6 x 6 grid weighted by their shares of the rows, so pairs
        of values that do not occur are ignored.
        """
        table = interaction_table(self)
        warn_of_few(table, stacklevel=2)
        return in_library(table, self.design.library)

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
            absolute rank correlation of two numbers, the correlation ratio of a number and a
            factor, or Cramer's V of two factors; for terms with several columns, the largest over
            pairs of columns.

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
        >>> fit.neighbours("age", most=2)["other"].to_list()
        ['weight', 'pclass']
        """
        return in_library(neighbour_table(self, term, most), self.design.library)

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

        *Weights* that are integers are frequencies: a row of weight 3 counts as three. Other
        weights are ignored here. Rows with weight 0 or without a response are excluded.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> table = fit.describe("age")
        >>> table["kind"].unique().tolist(), table["group"].dropna().unique().tolist()
        (['numbers', 'missing'], ['0', '1'])
        >>> bool(table["median"][0] == data["age"].median())
        True
        """
        return in_library(describe_table(self, variables), self.design.library)

    # --- prediction ---

    def predict(
        self,
        new: Any,
        type: Literal[
            "response", "link", "class", "quantile", "survival", "cumulative_hazard"
        ] = "response",
        offset: Sequence[float] | None = None,
        times: float | Sequence[float] | None = None,
        *,
        quantiles: Sequence[float] | None = None,
        interval: Literal["prediction"] | None = None,
        level: float = 0.95,
    ) -> Any:
        """Predict with the final model: the random forest refitted to the selected terms, the
        sparse forest (``refit=None`` of ControlBurn), or that of :meth:`refit`.

        Parameters
        ----------
        new : frame or path
            Must have the columns behind the selected terms (:attr:`variables`); other columns are
            ignored. Data that are read in batches, such as a folder of Parquet files (see `data` of
            :func:`treeselect.select`), need memory for a batch and the predictions.
        type : {"response", "link", "class", "quantile", "survival", "cumulative_hazard"}
            The mean (for two classes the probability of the positive class, for more a column with
            the probability of each; for times to an event the relative risk, a multiple of the
            baseline hazard), the linear predictor (log odds; the logarithm of the probabilities, of
            the mean count or of the relative risk), or the most probable class. For times to an
            event also the probability of no event until each of `times`, or the cumulative hazard:
            Breslow's baseline hazard [1]_ of the row's stratum times its relative risk.
        offset : sequence of float, optional
            One value per row, required if the fit was given an array. If it was given a column,
            `new` must have that column.
        times : float or sequence of float, optional
            Distinct non-negative numbers, in the unit of the response; required for ``"survival"``
            and ``"cumulative_hazard"``, and not allowed otherwise.
        quantiles : sequence of float, optional
            For ``type="quantile"``: increasing numbers between 0 and 1, by default 0.05, 0.5 and
            0.95. Quantiles of a numeric response are those of the rows of the fit in the leaves of
            a random forest of the selected terms, each leaf with total weight 1 (quantile
            regression forest [2]_).
            Monotone constraints are on means and need not hold for quantiles.
        interval : {"prediction"}, optional
            A prediction interval around the mean of a numeric response: the predictions plus
            quantiles of the out-of-bag residuals of the final model, a split-conformal interval in
            which out-of-bag predictions replace a calibration set [3]_ [4]_. Its width is the
            same for all rows. With `fold_groups`, the bags never divide a cluster, and residuals
            are those of other clusters.
        level : float
            Nominal coverage of the interval, above 0 and below 1. The coverage is an average over
            new rows from the distribution of the data.

        Returns
        -------
        series, or frame with a column for each of more than two classes, for each time or quantile,
        or with ``fit``, ``low`` and ``high`` for an interval
            As long as `new`, in its library, with its index if it has one. Survival and hazards are
            missing beyond the end of follow-up of the row's stratum in the data of the fit.

        Raises
        ------
        OptionError
            If `type` is not allowed, or is ``"class"`` for a response without classes, or `times`
            are required and not given, or given and not allowed. For quantiles and intervals also
            if the response is not numeric, and for intervals if the final model has no out-of-bag
            predictions.
        DataError
            For quantiles and intervals of a model that was loaded without its data.
        NewDataError
            If `new` does not match the data of the fit.

        References
        ----------
        .. [1] N. E. Breslow (1972). Discussion of the paper by D. R. Cox. Journal of the Royal
           Statistical Society, Series B 34, 216-217.
        .. [2] N. Meinshausen (2006). Quantile regression forests. Journal of Machine Learning
           Research 7, 983-999.
        .. [3] U. Johansson, H. Bostrom, T. Lofstrom, H. Linusson (2014). Regression conformal
           prediction with random forests. Machine Learning 97, 155-176.
        .. [4] H. Zhang, J. Zimmerman, D. Nettleton, D. J. Nordman (2020). Random forest prediction
           intervals. The American Statistician 74, 392-406.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load_gbsg2()
        >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=2, seed=1)
        >>> fit.predict(data.head(2), type="survival", times=[365, 1000]).columns.to_list()
        ['365', '1000']
        >>> data = treeselect.datasets.load("bodyfat")
        >>> fit = treeselect.select("siri ~ age + abdomen", data, method="rrf", k=2, seed=1)
        >>> fit.predict(data.head(2), interval="prediction").columns.to_list()
        ['fit', 'low', 'high']
        >>> fit.predict(data.head(2), type="quantile", quantiles=[0.1, 0.9]).columns.to_list()
        ['0.1', '0.9']
        """
        asked = (quantiles, interval, level)
        scan = scan_of(new)
        if scan is None:
            found = self._predict(new, type, offset, times, asked)
        else:
            found = self._predict_batches(scan, type, offset, times, asked)
        if isinstance(found, dict):
            return as_frame(found, new)
        return as_column(found, self.design.response.name, new)

    def _predict_batches(
        self,
        scan: Scan,
        type: str,
        offset: Sequence[float] | None,
        times: object,
        asked: tuple[Sequence[float] | None, object, object],
    ) -> Any:
        """The same for data that are read in batches, of which only the columns needed are read."""
        if offset is not None and length(offset) != scan.n_rows:
            raise OptionError(
                f"`offset` must have one value per row of `new`, {scan.n_rows:,}.\n"
                f"  Found: {described(offset)}."
            )
        formula = self.design.spec.formula  # strata of times are among its outcomes
        needed = {*self.variables, *formula.hidden, *formula.outcome_variables}
        columns = [name for name in scan.columns if name in needed]
        columns = columns or scan.columns[:1]  # the constant model needs their lengths only
        parts: list[Any] = []
        for start, table in scan.batches(columns):
            own = None if offset is None else offset[start : start + table.num_rows]
            found = self._predict(frame_of_arrow(table), type, own, times, asked)
            # Numbers take a quarter of the memory in an array.
            if isinstance(found, dict):
                parts.append({name: np.asarray(values) for name, values in found.items()})
            else:
                parts.append(found if type == "class" else np.asarray(found))
        if not parts:
            empty = frame_of_arrow(scan.schema.empty_table())
            return self._predict(empty, type, offset, times, asked)
        if isinstance(parts[0], dict):
            return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return list(chain(*parts)) if type == "class" else np.concatenate(parts)

    def _predict(
        self,
        new: Any,
        type: str,
        offset: Sequence[float] | None,
        times: object,
        asked: tuple[Sequence[float] | None, object, object] = (None, None, 0.95),
    ) -> list[Any] | dict[str, list[float]]:
        at = read_type(self, type, times, (QUANTILE,))
        shares, level = read_asked(type, *asked)
        response = self.design.response
        frame = read_data(new)
        if shares is not None:
            check_forest(self, f'type="{QUANTILE}"')
            binned, known = self._binned(frame, offset)
            return quantile_columns(self, binned, known, shares)
        if level is not None:
            check_forest(self, 'interval="prediction"')
        mean = self._predict_mean(frame, offset)
        if level is not None:
            return interval_columns(self, mean, level)
        if at is not None:
            return hazards_at(self, type, frame, mean, at)
        if type == "class":
            chosen = largest_in_row(mean) if mean.ndim == 2 else at_least(mean, 0.5).astype(int)
            return [response.classes[i] for i in chosen]
        if mean.ndim == 2:
            shown = mean if type == "response" else response.family.link(mean)
            return {str(c): shown[:, k].tolist() for k, c in enumerate(response.classes)}
        values: list[Any] = (mean if type == "response" else response.family.link(mean)).tolist()
        return values

    @memory_errors()
    def _predict_mean(self, frame: pd.DataFrame, offset: Sequence[float] | None) -> FloatArray:
        binned, known = self._binned(frame, offset)
        if binned is None:
            return self.model.without_trees(len(frame), known)
        return self.model.predict_binned(binned, known, workers_for(self.n_jobs).n_threads)

    def _binned(
        self, frame: pd.DataFrame, offset: Sequence[float] | None
    ) -> tuple[BinnedData | None, FloatArray | None]:
        """The columns of the final model, None if it has none, and the offset."""
        groups, known = self.model.groups, self.design.offset_of(frame, offset)
        check_offset(known, np.arange(len(frame)))
        if not groups.any():
            return None, known
        names = self.design.arrays.groups.terms
        terms = [term for g in np.flatnonzero(groups) for term in names[g]]
        columns = self.design.spec.encode(frame, terms)
        return self.model.bin(self.design.arrays, columns), known
