"""What can be read from a selection: tables, trees, shapes, predictions.

Each method is a call of the module that does the work; the file is long for what they document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treeselect.arguments.checks import check_choice, check_digits
from treeselect.designs.weights import check_offset
from treeselect.engine.arrays import FloatArray
from treeselect.engine.rounding import at_least, largest_in_row
from treeselect.errors import (
    OptionError,
    quoted,
)
from treeselect.frames.libraries import as_column, as_frame, in_library, with_column
from treeselect.frames.reading import read_data
from treeselect.results.describing import describe_table
from treeselect.results.effects import effect_table
from treeselect.results.hazards import HAZARD_TYPES, hazards_at, read_times
from treeselect.results.inside import importance_path_table, node_table, tree_table
from treeselect.results.interactions import interaction_table
from treeselect.results.neighbours import neighbour_table
from treeselect.results.searched import alternative_table, exchange_table
from treeselect.results.shapes import shape_table
from treeselect.results.tables import glance_table, history_table, path_table, tidy_table
from treeselect.results.trees import rules
from treeselect.running.machine import memory_is_told
from treeselect.running.parallel import workers_for

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.printing import Summary


from treeselect.resampling.fit import Fit

PREDICTION_TYPES = ("response", "link", "class", *HAZARD_TYPES)

_AS_IN_R = {"lp": "link", "risk": "response", "expected": "cumulative_hazard"}


@dataclass(frozen=True, slots=True)
class ReadableFit(Fit):
    """A selection with its tables and predictions."""

    # --- tables ---

    @property
    def path(self) -> Any:
        """The path, one row per step.

        Returns
        -------
        frame, in the library of the data
            ``k``; ``tuning``, the value of the tuning parameter; ``terms``, tuples of unit names,
            most important first; ``train_score`` of the method's own ensemble on its training
            rows (out of bag for forests), of refined sets and of methods without an ensemble that
            of a forest on the units, out of bag; ``cv_score`` and ``cv_se`` of the refitted model
            on held-out rows (missing where no cross-validation was needed); and, of best subsets,
            ``gap``, the optimality gap: 0 where it is proved that no other set is better.
        """
        return in_library(path_table(self), self.design.library)

    def tidy(self) -> Any:
        """One row per term: selected terms first, then by their entry into the path.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``group``, its unit; ``selected``; ``decision``, ``"confirmed"``,
            ``"tentative"`` or ``"rejected"`` by methods that decide by themselves (``"boruta"``),
            missing for others; ``step``, the size of the path's step at
            which it first was in (missing if never); ``importance`` of the unit in the model that
            predicts (:attr:`importance`); ``cost`` of the unit alone; and, if there are resamples,
            ``frequency``, ``ci_low``, ``ci_high``; and, if effects were read on them,
            ``direction``, and of the step (and class) of the term whose effect is largest
            ``effect_of``, in words, ``effect``, ``effect_low`` and ``effect_high`` (see
            :meth:`effects`).
        """
        return in_library(tidy_table(self), self.design.library)

    def glance(self) -> Any:
        """One row about the whole selection.

        Returns
        -------
        frame, in the library of the data
            ``n`` rows used, ``n_dropped``, ``p`` units, ``k``, ``method``, ``family``, ``tuning``,
            ``score`` (its name), ``train_score``, ``cv_score``, ``cv_se``, ``resamples``,
            ``stability``, ``stability_low``, ``stability_high``, ``seed``, and ``events``, which is
            missing where the response is no times until an event (float64).
        """
        return in_library(glance_table(self), self.design.library)

    def augment(self, data: Any, offset: Sequence[float] | None = None) -> Any:
        """Data plus fitted values.

        Parameters
        ----------
        data : frame or path
            The training data or new ones, in any library.
        offset : sequence of float, optional
            As in :meth:`predict`.

        Returns
        -------
        frame
            A copy, in the library of `data`, with the column ``fitted`` (:meth:`predict` on the
            response's scale; of more than two classes the most probable one), in the same order
            and of the same length.

        Raises
        ------
        OptionError
            If there is a column ``fitted`` already.
        """
        kind = "class" if len(self.design.response.classes) > 2 else "response"

        def fitted(frame: Any) -> list[Any]:
            values = self._predict(frame, kind, offset, None)
            assert isinstance(values, list)
            return values

        return with_column(data, "fitted", fitted)

    def summary(self, *, digits: int | None = None) -> Summary:
        """Printed summary.

        Parameters
        ----------
        digits : int, optional
            Decimals of scores, importances, selection frequencies and stability indices, with their
            errors, differences and intervals, and significant digits of the largest effect, whose
            decimals the others have. From 1 to 10; by default each kind of number has its own.

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
        """The trees behind the selection: of ControlBurn the sparse forest, of other methods the
        refitted forest, or after ``refit("boosting")`` the boosted trees, each of weight 1.

        Returns
        -------
        frame, in the library of the data
            One row per tree, by falling share: ``tree``, its number, from 1; ``weight``, above 0
            (problem 2 of the ControlBurn paper), of a forest one over the number of trees;
            ``share``, how much it moves the prediction, as a share of all (weight times standard
            deviation of its predictions); ``depth``; ``leaves``; ``terms``, tuple of the units
            that it splits on, most important first.
        """
        return in_library(tree_table(self), self.design.library)

    def nodes(self) -> Any:
        """All nodes of the trees that :meth:`trees` lists.

        Returns
        -------
        frame, in the library of the data
            One row per node: ``tree`` and ``node`` (from 1), ``depth`` (of the root 0), ``term``
            and ``split`` (a row that meets it goes left; missing in leaves), ``threshold`` (of
            numbers), ``missing`` (side that missing values go to), ``left`` and ``right`` (nodes),
            ``gain``, ``n`` (rows of the tree's sample, counting copies) and ``value``, not yet
            weighted, or ``value_1``, ``value_2``, ... for more than two classes. With
            ``refit=None`` the linear predictor is ``model.constant`` plus the sum of weights times
            values.

        Raises
        ------
        OptionError
            If nothing is selected.
        """
        return in_library(node_table(self), self.design.library)

    def rules(self, tree: int = 1) -> str:
        """One tree of :meth:`trees`, by its number there, as indented text.

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
            One row per step and unit that is ever in: ``k``, ``tuning``, ``term``, ``selected``,
            ``importance`` by the method's own measure (of exchange search and refined sets the rise
            of the error without the unit, of ControlBurn in the weighted trees), summing to 1 over
            the units of a step.
        """
        return in_library(importance_path_table(self), self.design.library)

    def history(self) -> Any:
        """How a method that decides by itself came to its decisions, round by round.

        Returns
        -------
        frame, in the library of the data
            One row per round and unit: ``round``, from 1; ``term``, the unit; ``decision`` in the
            end; ``importance`` in that round (missing once it was rejected); and the least, mean
            and greatest importance of the shadows, ``shadow_min``, ``shadow_mean``,
            ``shadow_max``. What is more important than the greatest has a hit.

        Raises
        ------
        OptionError
            If the method makes no decisions.
        """
        return in_library(history_table(self), self.design.library)

    def exchanges(self) -> Any:
        """The exchanges by which a search came to the selection.

        Returns
        -------
        frame, in the library of the data
            One row per exchange, in their order, none if nothing was exchanged: ``exchange``, its
            number, from 1 (int64); ``out`` and ``into``, the units that went and came (text);
            ``change`` of the out-of-bag error, as a share of what it was before the exchange
            (float64; -0.02: it fell by 2%); ``change_se``, its standard error.

        Raises
        ------
        OptionError
            If no search found this set: the method makes none, or the set is what the backward
            pass, or a cut to `k`, has left of a larger one.

        Notes
        -----
        Both errors are those of forests with the same bags, so that the change is a mean of
        differences of rows; the standard error is that of this mean, over rows, or over the groups
        of `fold_groups`. What other bags would change is not in it, nor that the exchange is the
        best of those that were tried. Where terms have `costs`, an exchange must lower the error
        per price, and may raise the error itself.

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
        """The sets of the selection's size that a search found nearly as good.

        Returns
        -------
        frame, in the library of the data
            One row per set whose out-of-bag error is at most one standard error higher than that
            of the selection, the least error first, at most 50: ``terms``, tuple of its units, the
            selected ones first; ``out`` and ``into``, tuples of the selected units that it lacks
            and of those in their place; ``change`` of the error, as a share of that of the
            selection (float64; 0.003: higher by 0.3%; below 0: lower, though the search did not
            take the set); ``change_se``, its standard error.

        Raises
        ------
        OptionError
            As of :meth:`exchanges`.

        Notes
        -----
        Sets that predict equally well are called predictively equivalent, or the Rashomon set
        [1]_. These are those of one size among the sets that the search judged with all of its
        trees (``step.trace.n_judged`` in number), not among all that exist: others may be as good.
        The standard error is that of the mean difference over rows, or over the groups of
        `fold_groups`, for one set of bags.

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
        """Shape function of a selected term, or of two together: partial dependence of the model
        that predicts.

        Parameters
        ----------
        term : str
        other : str, optional
            A second term, for a map of both.

        Returns
        -------
        frame, in the library of the data
            One row per point of a grid: at most 40 values of a number (12 of each of two, of those
            pairs that occur), all levels of a factor up to 100, what is missing last. A column for
            each variable behind the term, or for the term itself where it is a product of numbers,
            ``<name>_value`` if its name is that of another column (of a number, whose values trees
            see in bins, the mean of the rows in the bin of the point); ``share`` of the rows there;
            ``mean``, the model's mean value over at most 1000 rows when the term has that value,
            and ``effect``, the same about its mean, with ``low`` and ``high`` if there are effects
            from resamples (percentiles as in :meth:`effects`, point by point); for two terms
            ``interaction``, what is beyond the best sum of an effect of each. Of more than two
            classes a column for each, ``mean_<class>``. A forest gives the mean response, the
            sparse forest, boosted trees (and a forest with an offset) the linear predictor; of
            times until an event all models give logarithms of hazard ratios.

        Raises
        ------
        OptionError
            If a term is not selected.
        DataError
            If the model was saved without its data.

        Notes
        -----
        Partial dependence is that of Friedman (2001), section 8.2. Of single-feature trees
        (``forest="single-feature"`` of ControlBurn with ``refit=None``) it is the shape function of
        the additive model itself.
        """
        return in_library(shape_table(self, term, other), self.design.library)

    def effects(self) -> Any:
        """Which way each selected term goes in the model that predicts, how far, and how sure that
        is.

        Returns
        -------
        frame, in the library of the data
            One row per step of a term, most important terms first; of more than two classes one for
            each, in the column ``class``. ``term``; ``direction`` of its whole shape, see the
            notes; ``step``, ``from`` and ``to``, see the notes, as text; ``effect``, the change of
            the mean prediction over the rows (float64); ``low`` and ``high``, the 2.5th and 97.5th
            percentile of the same change in the models of the resamples, if there are any (see
            ``effects`` of :meth:`resample`) and at least 20 know it, else missing; ``n_resamples``,
            how many do (int64).

        Raises
        ------
        DataError
            If the model was saved without its data, and without effects.

        Notes
        -----
        *Effects* are differences of partial dependence (Friedman 2001, section 8.2): the term takes
        one value in all rows (at most 1000), then the other, while the other terms keep theirs. The
        scale is that of the response: mean response, probability of the positive class or of each
        class; with an offset the linear predictor; of times until an event the logarithm of the
        hazard ratio. They describe the model, and are not what would happen if somebody changed the
        value: other terms that go along with it stay.

        *Steps* are ``"quartiles"``, from the lower to the upper one of the rows (values that occur;
        a term of one variable in several columns, such as a spline, goes by its variable, a
        product of numbers by the product); ``"values"``, from one to the other of two (truth
        values, too); ``"range"``, from the least to the largest, where the quartiles are the same
        value; ``"levels"``, from the most frequent level of a factor to each other one (of many the
        100 most frequent) and to what is missing; ``"none"`` for terms of several variables that
        are neither a product of numbers nor a factor, whose :meth:`shape` tells more.

        *Directions* of numbers go by the shape, at its points (at most 40, about as many rows at
        each), without what is missing: ``"up"`` if it falls nowhere, from any point to any later
        one, by more than a tenth of its largest rise; ``"down"`` the other way about; ``"flat"`` if
        it does not move at all; ``"mixed"`` otherwise. Points at either end have no say if there
        are at most 2.5% of the rows up to there: a single extreme row is no direction. Factors
        have ``"by level"``, terms of several variables without a step ``"joint"``.

        *Intervals* hold the rows, the points and the steps fixed; only the model differs. They are
        of the resamples that selected the term: of one that is seldom selected they tell how it is
        used when it is, and the more often it is selected where its effect is large, the further
        they are from 0. A resample knows nothing of a level that it does not hold, or of a term
        that does not vary there. Forests smooth: their effects, and with them the intervals, are
        nearer to 0 than what they estimate, the more so the fewer the rows and the weaker the term
        (by a fifth in simulated data of 150 rows).

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
        return in_library(effect_table(self), self.design.library)

    def interactions(self) -> Any:
        """Strength of the interaction of each pair of selected terms in the model that predicts.

        Returns
        -------
        frame, in the library of the data
            One row per pair of the ten most important terms that have no variable in common,
            the largest first: ``term``, ``other``, ``strength``, from 0 (the effects of the two add
            up) to 1, on the scale of :meth:`shape`: probabilities of effects that add up in
            log-odds do not add up. After :meth:`SelectionResult.resample` with ``effects=True``
            ``low`` and ``high`` are its 2.5 and 97.5 percentiles in the models of the resamples, at
            the same points over the same rows, and ``n_resamples`` tells of how many: those that
            selected both terms, in which both vary and no level is missing that is a point of the
            grid. Of fewer than 20 there is no interval; without such resamples `n_resamples` is 0.
            ``size``, by which they are ranked, is the root mean square of what no sum of two
            effects has, on the same scale: a pair of which both effects are small can be strong,
            as a share, and matter little.

        Raises
        ------
        DataError
            If the model was saved without its data and has no strengths from resamples.

        Notes
        -----
        The strength is the root of the share of the variance of the pair's partial dependence that
        no sum of two effects has. It is the statistic H of Friedman and Popescu (2008), equation
        44, with the best two effects by least squares (Hooker 2007) in place of the partial
        dependences, over the cells of a 6 x 6 grid with the shares of their rows; so pairs of
        values that do not occur have no part in it.
        """
        return in_library(interaction_table(self), self.design.library)

    def neighbours(self, term: str | None = None, most: int = 10) -> Any:
        """The terms that go together with a term in the data, whether they are selected or not.

        Parameters
        ----------
        term : str, optional
            Any term of the formula; each selected term by default.
        most : int
            How many to list for each, 1 to 1,000,000.

        Returns
        -------
        frame, in the library of the data
            One row per pair, the strongest first: ``term``; ``other``; ``measure``; ``association``
            in [0, 1]; ``selected``, whether the other is. The measure is the absolute rank
            correlation of two numbers, the correlation ratio of a number and a factor, Cramer's V
            of two factors; of terms with several columns the strongest of their columns.

        Raises
        ------
        OptionError
            If there is no such term.
        DataError
            If the model was saved without its data.

        Notes
        -----
        This is the data's side; ``fit.stability.substitutes`` tells which terms in fact took the
        place of a selected one.

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
        """The rows that were used, variable by variable and by their response: what a baseline
        table ("table 1") shows.

        Parameters
        ----------
        variables : str or sequence of str, optional
            Columns of the data behind any terms; by default those behind the selected terms. A
            computed term, such as ``log(x)``, or an interaction is described by its variables.

        Returns
        -------
        frame, in the library of the data
            For each variable rows of the kind ``"numbers"`` (one), or ``"level"`` (one for each
            that occurs), and then of the kind ``"missing"`` (one), each for all rows and for each
            group of them. ``variable``; ``kind``; ``level``, as text, missing for other kinds;
            ``group``, missing for all rows, see the notes; ``selected``, whether a selected term
            reads the variable; ``n_group``, rows of the group (int64); ``n``, those of them that
            have a known number, the level, or a missing value (int64); ``share``, of a level ``n``
            as a share of the rows with a known value, else of all rows of the group (float64);
            ``median``, ``q25`` and ``q75`` of numbers, else missing (float64).

        Raises
        ------
        OptionError
            If there is no such variable behind the terms.
        DataError
            If the model was saved without its data.

        Notes
        -----
        *Groups* are the classes of the response (of more than five the four most frequent, and the
        others together); of numbers and counts thirds, named by their least and largest value,
        which are not of one size where values repeat; of times ``"event"`` and ``"censored"``.

        *Numbers* with at most five different values, all whole, and those that a term takes as a
        factor are described by level. Quartiles are interpolated as numpy and R do by default.

        *Weights* that are whole numbers are copies: a row of weight 3 counts as three. Other
        weights do not count here, nor do rows with a weight of 0 or without a response.

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
        type: Literal["response", "link", "class", "survival", "cumulative_hazard"] = "response",
        offset: Sequence[float] | None = None,
        times: float | Sequence[float] | None = None,
    ) -> Any:
        """Predict from the selected terms: by the forest refitted on them, the sparse forest
        (``refit=None`` of ControlBurn), or boosted trees (:meth:`refit`).

        Parameters
        ----------
        new : frame or path
            Must hold the columns behind the selected terms (:attr:`variables`); others are not
            looked at.
        type : {"response", "link", "class", "survival", "cumulative_hazard"}
            The mean (for two classes the probability of the positive one, for more a column with
            the probability of each; of times until an event the relative risk, in units of the
            baseline hazard), its linear predictor (log-odds; logarithms of the probabilities, of
            the mean count or of the relative risk), or the most probable class. Of times also the
            probability of no event until each of `times`, or the cumulative hazard there:
            Breslow's baseline hazard [1]_ of the row's stratum times its relative risk.
        offset : sequence of float, optional
            One value per row, needed if the fit had an array of them. If it had a column, `new`
            must have that column.
        times : float or sequence of float, optional
            Different numbers of at least 0, in the unit of the response's times; needed for
            ``"survival"`` and ``"cumulative_hazard"``, and only there.

        Returns
        -------
        series, or frame with a column for each of more than two classes, or for each time
            Of the length of `new`, in its library, with its index if it has one. Survival and
            hazards are missing after the last time at which anybody of the row's stratum was under
            observation in the data of the fit.

        Raises
        ------
        OptionError
            If `type` is not allowed, or ``"class"`` for a response without classes, or `times` are
            needed and not given, or given and not needed.
        NewDataError
            If `new` does not match the data of the fit.

        References
        ----------
        .. [1] N. E. Breslow (1972). Discussion of the paper by D. R. Cox. Journal of the Royal
           Statistical Society, Series B 34, 216-217.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load_gbsg2()
        >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=2, seed=1)
        >>> fit.predict(data.head(2), type="survival", times=[365, 1000]).columns.to_list()
        ['365', '1000']
        """
        found = self._predict(new, type, offset, times)
        if isinstance(found, dict):
            return as_frame(found, new)
        return as_column(found, self.design.response.name, new)

    def _predict(
        self, new: Any, type: str, offset: Sequence[float] | None, times: object
    ) -> list[Any] | dict[str, list[float]]:
        check_choice("type", type, PREDICTION_TYPES, _AS_IN_R)
        response = self.design.response
        if type == "class" and not response.classes:
            raise OptionError(
                f'`type="class"` needs a response with classes.\n'
                f"  Found: family {quoted(self.family)}."
            )
        if times is not None and type not in HAZARD_TYPES:
            raise OptionError(
                f"`times` must be left out for `type={type!r}`.\n"
                '  Use `type="survival"` or `type="cumulative_hazard"` for predictions at times.'
            )
        at = read_times(self, type, times) if type in HAZARD_TYPES else None
        frame = read_data(new)
        mean = self._predict_mean(frame, offset)
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

    @memory_is_told()
    def _predict_mean(self, frame: pd.DataFrame, offset: Sequence[float] | None) -> FloatArray:
        groups, known = self.model.groups, self.design.offset_of(frame, offset)
        check_offset(known, np.arange(len(frame)))
        if not groups.any():
            return self.model.without_trees(len(frame), known)
        names = self.design.arrays.groups.terms
        terms = [term for g in np.flatnonzero(groups) for term in names[g]]
        columns = self.design.spec.encode(frame, terms)
        binned = self.model.bin(self.design.arrays, columns)
        return self.model.predict_binned(binned, known, workers_for(self.n_jobs).n_threads)
