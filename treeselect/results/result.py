"""The result of a selection."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treeselect.algorithms.shared.base import Model, SelectionMethod, Step, shares, without_tuning
from treeselect.arguments.checks import check_choice, check_flag, read_seed
from treeselect.arguments.paths import file_path
from treeselect.designs.modeldata import ModelData
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import check_offset
from treeselect.engine.arrays import FloatArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, falling, largest_in_row
from treeselect.errors import (
    ModelFileError,
    NotBuiltError,
    OptionError,
    StabilityError,
    quoted,
)
from treeselect.frames.libraries import as_column, as_frame, in_library, with_column
from treeselect.frames.reading import read_data
from treeselect.models.weighted import WeightedForest
from treeselect.resampling.choosing import Choice, ScoreBySize, skipped_sizes
from treeselect.resampling.folds import Folds, Splitter, with_groups
from treeselect.resampling.stability import Scheme, Stability, assess
from treeselect.results.inside import importance_path_table, node_table, tree_table
from treeselect.results.neighbours import Associations, neighbour_table
from treeselect.results.shapes import interaction_table, shape_table
from treeselect.results.tables import glance_table, history_table, path_table, tidy_table
from treeselect.results.trees import rules
from treeselect.running.machine import memory_is_told
from treeselect.running.parallel import check_n_jobs, engine_threads

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from treeselect.printing import Summary
    from treeselect.resampling.inference import Inference
    from treeselect.resampling.performance import Performance

PREDICTION_TYPES = ("response", "link", "class")


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked, in words.

    Attributes
    ----------
    text : str
        The call as it could be typed again.
    data : str
        Name and size of the data.
    rule : str
        How the number of units was chosen.
    """

    text: str
    data: str
    rule: str


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """Selected terms, the path that led to them, and the model refitted on them.

    Made by :func:`treeselect.select`; not changed by any of its methods.

    Attributes
    ----------
    design : ModelData
        The encoded data.
    call : Call
    chosen_method : SelectionMethod
        The method with its options.
    steps : tuple of Step
        The path.
    step : Step
        The chosen one.
    scores : ScoreBySize or None
        Cross-validated scores by size, if the number of units was chosen by them.
    model : Model
        Predicts from the selected units.
    seed : int
    notes : tuple of str
        What a reader should know of this selection.
    choice : Choice
        How the number of units is chosen: what was asked, for :meth:`performance`.
    """

    design: ModelData
    call: Call
    chosen_method: SelectionMethod
    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None
    model: Model
    seed: int
    n_jobs: int | None
    progress: bool | None
    notes: tuple[str, ...]
    resampled: Stability | None = None
    choice: Choice = field(default_factory=Choice)

    # --- the answer ---

    @property
    def groups(self) -> tuple[str, ...]:
        """Selected units, most important first."""
        names = self.design.arrays.groups.names
        selected = np.flatnonzero(self.step.selected)
        return tuple(names[g] for g in selected[falling(self.importance[selected])])

    @property
    def importance(self) -> FloatArray:
        """Importance of each unit in the model that predicts, shape (n_groups,), summing to 1 (or
        0): its share of the unpenalised gain of a forest, or of what the trees of the sparse forest
        move (each shared by gain)."""
        return shares(self.model.importance)

    @property
    def selected(self) -> tuple[str, ...]:
        """Selected terms, most important first; the terms of a group in the user's order."""
        return self.design.terms_of(self.groups)

    @property
    def variables(self) -> tuple[str, ...]:
        """Columns of the data behind the selected terms."""
        found = (v for name in self.selected for v in self.design.spec[name].term.variables)
        return tuple(dict.fromkeys(found))

    @property
    def formula(self) -> str:
        """The selection as a formula: ``'survived ~ sex + pclass'``."""
        terms = [self.design.spec[name].term.text for name in self.selected]
        response = self.design.spec.formula.response.text
        return f"{response} ~ {' + '.join(terms) or '1'}"

    @property
    def family(self) -> str:
        """``"gaussian"``, ``"binomial"``, ``"multinomial"`` or ``"poisson"``."""
        return self.design.response.family.name

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.chosen_method.name

    @property
    def k(self) -> int:
        """Number of selected units."""
        return self.step.size

    @property
    def subforest(self) -> WeightedForest | None:
        """The sparse forest behind the selection, of ControlBurn; without the trees that use a
        unit which was cut or pruned from it."""
        if isinstance(self.model, WeightedForest):
            return self.model
        found = self.step.ensemble
        return None if found is None else found.within(self.step.selected)

    @property
    def skipped_sizes(self) -> tuple[int, ...]:
        """Numbers of units, between those of the first and the last step of the path, that no
        step has: a tree that enters may bring several units."""
        return tuple(skipped_sizes(self.steps))

    # --- tables ---

    @property
    def path(self) -> Any:
        """The path, one row per step.

        Returns
        -------
        frame, in the library of the data
            ``k``; ``tuning``, the value of the tuning parameter; ``terms``, tuples of unit names,
            most important first; ``train_score`` of the method's own ensemble on its training
            rows (out of bag for forests); ``cv_score`` and ``cv_se`` of the refitted model on
            held-out rows (missing where no cross-validation was needed); and, of best subsets,
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
            ``frequency``, ``ci_low``, ``ci_high``.
        """
        return in_library(tidy_table(self), self.design.library)

    def glance(self) -> Any:
        """One row about the whole selection.

        Returns
        -------
        frame, in the library of the data
            ``n`` rows used, ``n_dropped``, ``p`` units, ``k``, ``method``, ``family``, ``tuning``,
            ``score`` (its name), ``train_score``, ``cv_score``, ``cv_se``, ``resamples``,
            ``stability``, ``stability_low``, ``stability_high``, ``seed``.
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
            values = self._predict(frame, kind, offset)
            assert isinstance(values, list)
            return values

        return with_column(data, "fitted", fitted)

    def summary(self) -> Summary:
        """Printed summary.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, and HTML in notebooks.
        """
        from treeselect.printing import Summary
        from treeselect.results.summary import summarise

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
        """The regularisation path: importance of each unit at each step.

        Returns
        -------
        frame, in the library of the data
            One row per step and unit that is ever in: ``k``, ``tuning``, ``term``, ``selected``,
            ``importance`` in the method's own ensemble (of ControlBurn in the weighted trees),
            summing to 1 over the units of a step.
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
            ``<name>_value`` if its name is that of another column (of a number the mean of the rows
            that stand for the point); ``share`` of the rows there; ``mean``, the model's mean value
            over at most 1000 rows when the term has that value, and ``effect``, the same about its
            mean; for two terms ``interaction``, what is beyond the best sum of an effect of each.
            Of more than two classes a column for each, ``mean_<class>``. A forest gives the mean
            response, the sparse forest (and a forest with an offset) the linear predictor.

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

    def interactions(self) -> Any:
        """Strength of the interaction of each pair of selected terms in the model that predicts.

        Returns
        -------
        frame, in the library of the data
            One row per pair of the ten most important terms, strongest first: ``term``, ``other``,
            ``strength``, from 0 (the effects of the two add up) to 1, on the scale of
            :meth:`shape`: probabilities of effects that add up in log-odds do not add up.

        Raises
        ------
        DataError
            If the model was saved without its data.

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
        >>> fit = treeselect.select("survived ~ .", data, k=1, seed=1, forests=1, n_trees=10)
        >>> fit.neighbours("age", most=2)["other"].to_list()
        ['weight', 'pclass']
        """
        return in_library(neighbour_table(self, term, most), self.design.library)

    # --- prediction ---

    def predict(
        self,
        new: Any,
        type: Literal["response", "link", "class"] = "response",
        offset: Sequence[float] | None = None,
    ) -> Any:
        """Predict from the selected terms: by the forest refitted on them, the sparse forest
        (``refit=None`` of ControlBurn), or boosted trees (:meth:`refit`).

        Parameters
        ----------
        new : frame or path
            Must hold the columns behind the selected terms (:attr:`variables`); others are not
            looked at.
        type : {"response", "link", "class"}
            The mean (for two classes the probability of the positive one, for more a column with
            the probability of each), its linear predictor (log-odds; logarithms of the
            probabilities or of the mean count), or the most probable class.
        offset : sequence of float, optional
            One value per row, needed if the fit had an array of them. If it had a column, `new`
            must have that column.

        Returns
        -------
        series, or frame with a column for each of more than two classes
            Of the length of `new`, in its library, with its index if it has one.

        Raises
        ------
        OptionError
            If `type` is not allowed, or ``"class"`` for a numeric response.
        NewDataError
            If `new` does not match the data of the fit.
        """
        found = self._predict(new, type, offset)
        if isinstance(found, dict):
            return as_frame(found, new)
        return as_column(found, self.design.response.name, new)

    def _predict(
        self, new: Any, type: str, offset: Sequence[float] | None
    ) -> list[Any] | dict[str, list[float]]:
        check_choice("type", type, PREDICTION_TYPES)
        response = self.design.response
        if type == "class" and not response.classes:
            raise OptionError(
                f'`type="class"` needs a response with classes.\n'
                f"  Found: family {quoted(self.family)}."
            )
        mean = self._predict_mean(read_data(new), offset)
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
        return self.model.predict_binned(binned, known, engine_threads(self.n_jobs))

    # --- other models ---

    def refit(
        self,
        model: Any = "forest",
        *,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> Any:
        """Fit another model to the selected terms.

        Parameters
        ----------
        model : {"forest", "boosting", "glm"} or estimator
            ``"forest"``: the forest of 200 trees that most methods predict with. ``"boosting"``:
            boosted trees of depth 2, 4 or 6 and shrinkage 0.1, whose depth and number have the
            lowest loss on rows that are held out. ``"glm"``: the
            linear model of the family, by statsmodels: least squares, a binomial or Poisson GLM, or
            a multinomial logit, on formulaic's full-rank columns with an intercept. Or an estimator
            of scikit-learn, which is cloned and fitted on formulaic's one-hot columns.
        data : frame or path, optional
            The data of the fit, needed if the model was loaded from a file without them.
        weights, offset : sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        SelectionResult
            For ``"forest"`` and ``"boosting"``: the same selection, which predicts with those
            trees.
        GlmFit
            For ``"glm"``: ``.result``, that of statsmodels; ``.summary()``, ``.tidy()``;
            ``.n_dropped``, the rows left out because a selected term is missing there. Its p-values
            are not valid, as the terms were selected on the same rows: see :meth:`inference`. Nor
            are its standard errors cluster-robust where the fit has `fold_groups`, as those of
            :meth:`inference` are: the summary says so.
        EstimatorFit
            For an estimator: ``.estimator``, ``.predict(new)``, ``.encode(new)`` and ``.columns``.

        Raises
        ------
        OptionError
            If `model` is unknown, no fit for the response, or can't take the weights or the offset.
        DataError
            If the data are needed and not given, or are not those of the fit; or if the linear
            model can't be fitted.

        Warns
        -----
        TreeselectWarning
            If the linear model did not converge, or its terms separate the classes.

        Notes
        -----
        Whole case weights are copies of rows for statsmodels, too (``freq_weights``), others are
        relative (``var_weights``, divided by their mean). Columns that are sums of others are left
        out, as in R, and named. An estimator gets missing numbers as they are if it says that it
        allows them; otherwise medians of the training rows stand in for them, with a column for
        each number that tells where.
        """
        from treeselect.results.refitting import refit

        return refit(self, model, self._with_data(data, weights, offset))

    def inference(
        self,
        split: float = 0.5,
        repeats: int = 1,
        seed: int | None = None,
        gamma_min: float = 0.05,
        level: float = 0.95,
        n_jobs: int | None = None,
        *,
        fold_groups: str | Sequence[Any] | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> Inference:
        """Honest p-values: select on one part of the rows, fit the linear model on the other.

        The selection is that of this fit: its method, and its number of units, rule or tuning
        value. The linear model is that of ``refit("glm")``.

        Parameters
        ----------
        split : float
            Share of the rows (or groups) to select on, above 0 and below 1; of each class that
            share, as far as whole groups allow.
        repeats : int
            Number of random splits, 1 to 10,000. One split gives coefficients with intervals;
            several give one p-value per term that does not depend on the luck of a split.
        seed : int, optional
            The fit's by default.
        gamma_min : float
            Least quantile of the p-values of several splits that is looked at, above 0, below 1.
        level : float
            Of the intervals of one split, above 0 and below 1.
        n_jobs : int, optional
            The fit's by default; the answer does not depend on it.
        fold_groups : str or array, shape (n_rows,), optional
            Column or array, for example of patients or sites, whose rows may depend on each other:
            whole groups are in one part, the folds that choose `k` keep them together, and standard
            errors are cluster-robust. The fit's by default. A column that is neither the fit's nor
            behind the terms needs `data`.
        data : frame or path, optional
            The data of the fit, needed if the model was loaded from a file without them.
        weights, offset : sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        Inference
            ``.tidy()``, ``.summary()``, ``.n_splits``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or a part has too few rows or groups.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process ends before its work is done or can't be given it.

        Notes
        -----
        One split: ordinary tests and intervals of the submodel that was selected, on rows that the
        selection has not seen; missing values leave rows out as in ``refit("glm")``.

        Several: [1]_. In each split b the p-value of a term is 1 if it is not selected, else that
        of the Wald (for least squares F) test of all its columns, times the number of selected
        terms, at most 1. With ``Q(gamma)`` the empirical gamma-quantile of ``p_b / gamma``, at most
        1 (equation 2.2), the p-value is ``(1 - log(gamma_min)) * inf Q(gamma)`` over gamma in
        (gamma_min, 1), at most 1 (equation 2.3). Rejecting at level alpha keeps the chance of any
        false rejection below alpha if the linear model holds and the terms that are selected on a
        part include all those that matter (theorem 3.2, for large samples). Intervals are not
        given for several splits: they would come from inverting that test only (Dezeure,
        Buehlmann, Meier and Meinshausen 2015, Statistical Science 30).

        A split counts as p = 1 for all terms if its linear model can't be fitted: separated
        classes, columns of a term that are sums of those of others, too few rows. The summary
        counts such splits.

        With groups, rows of one patient on both sides would make the second part a repetition of
        the first, and rows counted one by one would make its standard errors too small. These are
        cluster-robust [2]_ with t and F tests of G - 1 degrees of freedom for G groups, in all
        families. They need many groups (50 or more to fit on), and more than the model has
        coefficients, with no column or level that occurs in one group alone: otherwise the split
        fails.

        References
        ----------
        .. [1] N. Meinshausen, L. Meier, P. Buehlmann (2009). p-values for high-dimensional
           regression. Journal of the American Statistical Association 104, 1671-1681.
        .. [2] A. C. Cameron, D. L. Miller (2015). A Practitioner's Guide to Cluster-Robust
           Inference. Journal of Human Resources 50, 317-372.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age + sibsp", data, k=1, seed=1, forests=1)
        >>> p_values = fit.inference(repeats=3).tidy().set_index("term")["p_value"]
        >>> bool(p_values["sex"] < 0.001)
        True
        """
        from treeselect.resampling.inference import infer

        n_jobs = check_n_jobs(n_jobs)
        here = self._with_data(data, weights, offset)
        return infer(
            self,
            here,
            split=split,
            repeats=repeats,
            seed=self.seed if seed is None else read_seed(seed),
            gamma_min=gamma_min,
            level=level,
            folds=self._folds_by(fold_groups, here, data),
            n_jobs=self.n_jobs if n_jobs is None else n_jobs,
        )

    @memory_is_told()
    def _with_data(
        self, data: Any, weights: Sequence[float] | None, offset: Sequence[float] | None
    ) -> ModelData:
        return self.design.again(data, weights, offset)

    # --- stability ---

    def resample(
        self,
        n: int = 100,
        *,
        scheme: Scheme = "bootstrap",
        k: int | None = None,
        seed: int | None = None,
        n_jobs: int | None = None,
        fold_groups: str | Sequence[Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> SelectionResult:
        """Repeat the selection on resamples of the rows.

        Parameters
        ----------
        n : int
            Number of resamples, 2 to 100,000.
        scheme : {"bootstrap", "subsample", "complementary"}
            Rows (or groups) with replacement; half of them; both halves of a split in turn.
        k : int, optional
            Units to select on each resample; the fit's by default (where the fit's tuning value
            was given, that value).
        seed : int, optional
            The fit's by default.
        n_jobs : int, optional
            The fit's by default; the answer does not depend on it.
        fold_groups : str or array, shape (n_rows,), optional
            Column or array, for example of patients or sites: whole groups are drawn in place of
            rows, each with all its rows. The fit's by default. A column that is neither the fit's
            nor behind the terms needs `data`.
        checkpoint : path, optional
            Not built yet.
        data : frame or path, optional
            The data of the fit, needed if the model was loaded from a file without them.
        weights, offset : sequence of int, sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        SelectionResult
            The same selection with :attr:`stability`.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        DataError
            If the data are needed and not given, or are not those of the fit.
        StabilityError
            If the selection is empty, or a resample holds only one value of the response.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process ends before its work is done or can't be given it.
        """
        if checkpoint is not None:
            raise NotBuiltError("`checkpoint` is not built yet.\n  Leave it out.")
        n_jobs = check_n_jobs(n_jobs)
        own_seed = self.seed if seed is None else read_seed(seed)
        here = self._with_data(data, weights, offset)
        method = self.chosen_method if k is None else without_tuning(self.chosen_method)
        found = assess(
            here.problem_for(method),
            method,
            here.weight,
            self.step.selected,
            n_resamples=n,
            k=self.k if k is None else k,
            scheme=scheme,
            seed=stream_seed(own_seed, "stability"),
            folds=self._folds_by(fold_groups, here, data),
            n_jobs=self.n_jobs if n_jobs is None else n_jobs,
            progress=self.progress,
        )
        return dataclasses.replace(self, resampled=found)

    def _folds_by(self, fold_groups: Any, here: ModelData, data: Any) -> Folds:
        """The folds of the fit, with other groups if they are given."""
        if fold_groups is None and self.choice.folds.groups_name is False:
            return self.choice.folds
        frame = here.all_rows() if data is None else read_data(data)
        return with_groups(self.choice.folds, fold_groups, frame, here.response.rows)

    @property
    def stability(self) -> Stability:
        """Selections on resamples: ``.tidy()``, ``.index``, ``.index_ci``, ``.substitutes``,
        ``.pfer()``, ``.threshold()``.

        Raises
        ------
        StabilityError
            If there are no resamples yet.
        """
        if self.resampled is None:
            raise StabilityError(
                "Can't tell the stability without resamples.\n"
                "  Use `fit = fit.resample(100)`, or `select(..., resamples=100)`."
            )
        measured = Associations(self.design).units if self.design.has_data else None
        return dataclasses.replace(
            self.resampled, library=self.design.library, association=measured
        )

    # --- performance ---

    def performance(
        self,
        folds: int | Splitter | Sequence[int] = 5,
        *,
        repeats: int = 1,
        fold_groups: str | Sequence[Any] | None = None,
        inner_folds: int | Splitter | Sequence[int] | None = None,
        scoring: Scoring = None,
        seed: int | None = None,
        n_jobs: int | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> Performance:
        """How well the whole procedure predicts new rows: selection repeated inside each fold.

        In each fold the path, the choice of `k` by the rule of the fit (with folds of the training
        rows alone, if it needs any) and the model are made anew, and scored on the held-out rows.
        The fit is not changed.

        Parameters
        ----------
        folds, repeats : int, splitter or array of int; int
            As in :func:`treeselect.select`: how rows are held out to be predicted.
        fold_groups : str or array, shape (n_rows,), optional
            As in :func:`treeselect.select`; the fit's by default. A column that is neither the
            fit's nor behind the terms needs `data`.
        inner_folds : int, splitter or array of int, optional
            Folds of the training rows that choose `k`; as in the fit by default. They keep the
            fit's groups together, too.
        scoring : str or callable, optional
            Score on the held-out rows; the fit's, which also chooses `k`, by default.
        seed : int, optional
            The fit's by default.
        n_jobs : int, optional
            The fit's by default; the answer does not depend on it.
        data : frame or path, optional
            The data of the fit, needed if the model was loaded from a file without them.
        weights, offset : sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        Performance
            ``.mean``, ``.standard_error``, ``.tidy()``, ``.glance()``, ``.summary()``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the rows can't be split.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process ends before its work is done or can't be given it.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age + parch", data, k=1, seed=1, forests=1)
        >>> 0.7 < fit.performance(folds=3).mean < 0.8
        True
        """
        from treeselect.resampling.performance import measure

        n_jobs = check_n_jobs(n_jobs)
        return measure(
            self,
            folds,
            repeats=repeats,
            fold_groups=fold_groups,
            inner_folds=inner_folds,
            scoring=scoring,
            seed=self.seed if seed is None else read_seed(seed),
            n_jobs=n_jobs,
            data=data,
            weights=weights,
            offset=offset,
        )

    # --- file ---

    def save(self, path: str | os.PathLike[str], include_data: bool = False) -> Path:
        """Write the model to one file, for :func:`treeselect.load`.

        Parameters
        ----------
        path : path
            File to write; replaced if it exists, whole or not at all. The name may end in anything.
        include_data : bool
            Put the columns behind the terms, the response and the weights into the file. Without
            them it holds names of columns, levels of factors, bin edges and the trees.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        ModelFileError
            If the file can't be written, in which case an older one is as it was, or levels are
            neither text, numbers nor truth values.

        Notes
        -----
        A zip of JSON and arrays without code; ``treeselect.modelfile.file`` describes it.
        ``trusted`` is never stored.
        """
        from treeselect.modelfile.file import save_result

        include_data = check_flag("include_data", include_data)
        target = file_path(path, error=ModelFileError)
        return save_result(self, target, include_data=include_data)

    # --- figures and report ---

    def plot(
        self,
        kind: str,
        *,
        term: str | None = None,
        other: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw one figure with matplotlib.

        Parameters
        ----------
        kind : str
            ``"path"``: score against the number of units. ``"importance"``: of the selected units.
            ``"stability"``: selection frequencies with their intervals. ``"correlation"``: how
            strongly selected terms go together in the data, by the absolute rank correlation of
            numbers, the correlation ratio of a number and a factor, and Cramer's V of two factors.
            ``"substitutes"``: what stood in for selected units on resamples without them.
            ``"shape"``: the effect of `term`, or a map of `term` and `other`.
            ``"interactions"``: strengths of all pairs. ``"importance_path"``: importances against
            the number of units. ``"history"``: importances in the rounds of a method that decides
            by itself, with those of the shadows.
        term, other : str, optional
            Selected terms with one variable behind each, for ``"shape"``.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        OptionError
            If `kind` is unknown, `term` or `other` do not fit it, or there is nothing to draw.
        StabilityError
            If ``"stability"`` or ``"substitutes"`` is asked for and there are no resamples.
        DataError
            If the data are needed and the model was saved without them.
        MissingPackageError
            If matplotlib is not installed: it comes with ``pip install "treeselect[plot]"``.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age + parch", data, k=2, seed=1, forests=1)
        >>> ax = fit.plot("shape", term="age")  # doctest: +SKIP
        >>> ax.figure.savefig("age.png")  # doctest: +SKIP
        """
        from treeselect.reports.plots.selection import plot

        return plot(self, kind, term=term, other=other, ax=ax)

    def report(
        self,
        path: str | os.PathLike[str],
        template: str | os.PathLike[str] | None = None,
        *,
        performance: Performance | None = None,
    ) -> Path:
        """Write an HTML report: one file that opens without a network.

        Parameters
        ----------
        path : path
            File to write; replaced if it exists, whole or not at all.
        template : path, optional
            A jinja2 template of one's own; ``templates/report.html.j2`` is the model to copy.
        performance : Performance, optional
            What :meth:`performance` found, for a section of its own.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        OptionError
            If the file can't be written, there is no such template or it can't be rendered, or
            `performance` is not that of this fit.
        """
        from treeselect.reports.render import write_report

        own = None if template is None else file_path(template, name="template")
        return write_report(self, file_path(path), own, performance)

    def __repr__(self) -> str:
        return f"<SelectionResult {self.formula!r}, method {self.method!r}, k = {self.k}>"
