"""The selection that ``select()`` returns.

Each method calls the module that does the work; the file is long because of their documentation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeselect.algorithms.method import check_final, model_words
from treeselect.arguments.checks import check_digits, check_flag, file_path, read_seed
from treeselect.coding import write_record
from treeselect.designs.problem import FinalModel
from treeselect.designs.scoring import Scoring
from treeselect.errors import ModelFileError
from treeselect.frames.tables import in_library, with_column
from treeselect.modelfile.saved import saved_fit
from treeselect.printing import Summarised, SummaryContent, chosen_digits
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Splitter
from treeselect.resampling.inference import Inference, infer
from treeselect.resampling.performance import Performance, measure
from treeselect.resampling.resampled import Scheme
from treeselect.resampling.stability import Stability
from treeselect.resampling.validation import Validation, validate
from treeselect.results.calls import step_text, with_step
from treeselect.results.fitting import fit_selection, resample, updated_arguments
from treeselect.results.predicting import Wanted, predict, values_of
from treeselect.results.summary import fit_lines, summarise
from treeselect.results.tables import glance_table, path_table, tidy_table
from treeselect.results.views import DataView, ModelView, SearchView
from treeselect.running.parallel import check_n_jobs, workers_for
from treeselect.running.pieces import Course, Piece, read_course

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.subgroups import Subgroups
    from treeselect.results.linear_model import GlmFit


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SelectionResult(Summarised):
    """Selected terms, the selection path, and the final model refitted to the selected terms.

    Returned by :func:`treeselect.select`. Its methods never modify it. What is known of the final
    model, of the search and of the data is in three views: :attr:`model`, :attr:`search` and
    :attr:`data`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> fit.k, len(fit.selected), fit.family
    (2, 2, 'binomial')
    >>> list(fit.tidy().columns[:4])
    ['term', 'group', 'selected', 'decision']
    >>> fit.predict(data.head(2)).between(0, 1).all()
    np.True_
    """

    _fit: Fit

    # --- the answer ---

    @property
    def selected(self) -> tuple[str, ...]:
        """Selected terms, most important first; the terms of a group in the user's order."""
        return self._fit.selected

    @property
    def groups(self) -> tuple[str, ...]:
        """Selected units, most important first."""
        return self._fit.groups

    @property
    def variables(self) -> tuple[str, ...]:
        """Columns of the data behind the selected terms."""
        return self._fit.variables

    @property
    def formula(self) -> str:
        """The selection as a formula: ``'survived ~ sex + pclass'``."""
        return self._fit.formula

    @property
    def k(self) -> int:
        """Number of selected units."""
        return self._fit.k

    @property
    def family(self) -> str:
        """``"gaussian"``, ``"binomial"``, ``"multinomial"``, ``"ordinal"``, ``"poisson"`` or
        ``"cox"``."""
        return self._fit.family

    @property
    def model(self) -> ModelView:
        """The final model: trees, importance, shapes, effects and interactions."""
        return ModelView(self._fit)

    @property
    def search(self) -> SearchView:
        """The search: method, call, seed, scores by size, exchanges, alternatives, citation."""
        return SearchView(self._fit)

    @property
    def stability(self) -> Stability:
        """Selections on resamples: ``.tidy()``, ``.index``, ``.index_ci``, ``.models()``,
        ``.pairs()``, ``.substitutes``, ``.pfer()``.

        Raises
        ------
        StabilityError
            If there are no resamples yet.
        """
        return self._fit.stability

    @property
    def data(self) -> DataView:
        """The data: encoded design, description of variables, associations."""
        return DataView(self._fit)

    def with_data(
        self,
        data: Any,
        *,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> SelectionResult:
        """The same selection with its data: for a model that was loaded without them, or for
        columns that no term uses.

        Parameters
        ----------
        data : frame or path
            The data of the fit.
        weights, offset : sequence of float, optional
            Case weights and offset, if the fit was given them as arrays.

        Returns
        -------
        SelectionResult

        Raises
        ------
        OptionError
            If weights or an offset are required and not given, or the reverse.
        DataError
            If `data` are not the data of the fit.

        Examples
        --------
        >>> import tempfile, treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = treeselect.load(fit.save(f"{folder}/fit.treeselect"))
        >>> again.with_data(data).resample(5).stability.n_resamples
        5
        """
        return SelectionResult(self._fit.with_data(data, weights, offset))

    # --- tables and words ---

    @property
    def path(self) -> Any:
        """The selection path, one row per step.

        Returns
        -------
        frame, in the library of the data
            ``k``; ``tuning``, the value of the tuning parameter (missing for a set that is not on
            the method's path); ``terms``, tuples of the names of terms (units, if there are
            groups), most important first; ``train_score`` of the method's own model on its training
            rows (out of bag for forests; of pruned sets that of the larger set; missing as
            ``tuning`` is), or, for refined sets and methods without a model, of a random forest (a
            stack if that is `model`) of the selected terms, out of bag; ``cv_score`` and ``cv_se``
            on held-out rows of folds or half-samples (missing without these); and, for best
            subsets, ``gap``, the optimality gap, which is 0 if the set is proved optimal.
        """
        return in_library(path_table(self._fit), self._fit.design.library)

    def tidy(self) -> Any:
        """One row per term: those of ``selected``, then the others by entry into the path.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``group``, its unit; ``selected``; ``decision``, ``"confirmed"``,
            ``"tentative"`` or ``"rejected"`` for methods that make decisions (``"boruta"``),
            otherwise missing; ``step``, the size at which it first enters the path (missing if it
            never does); ``importance`` of its unit in the final model (:attr:`importance
            <treeselect.results.views.ModelView.importance>`); ``cost`` of its unit alone;
            ``n_missing``, the number of rows in which the term is missing; with resamples,
            ``frequency``, ``ci_low`` and ``ci_high``.
        """
        return in_library(tidy_table(self._fit), self._fit.design.library)

    def glance(self) -> Any:
        """One row about the whole selection.

        Returns
        -------
        frame, in the library of the data
            ``n`` rows used, ``n_dropped``, ``p`` units, ``k``, ``method``, ``family``, ``tuning``,
            ``score`` (its name), ``train_score``, ``cv_score``, ``cv_se``, ``cv_full`` and
            ``cv_null``, the scores with all units and with none on the same held-out rows (missing
            without folds or half-samples; all scores stay as they were after :meth:`refit`),
            ``resamples``, ``stability``, ``stability_low``, ``stability_high``, ``seed``,
            ``events`` (float64; missing unless the response is a time to an event),
            ``n_not_drawn``, the rows in use that are not in the sample (see ``rows`` of
            :func:`treeselect.select`), and ``held_out_score``, the score of the final model on
            these (missing if there are none, or it was refitted).
        """
        return in_library(glance_table(self._fit), self._fit.design.library)

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
        kind = "class" if len(self._fit.design.response.classes) > 2 else "response"

        return with_column(
            data, "fitted", lambda frame: values_of(self._fit, frame, Wanted(kind, offset))
        )

    def _content(self) -> SummaryContent:
        return summarise(self._fit)

    # --- predictions and other models ---

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
        """Predict with the final model (:attr:`model`), or that of :meth:`refit`.

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
            Efron's baseline hazard [1]_ of the row's stratum times its relative risk.
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
        .. [1] B. Efron (1977). The efficiency of Cox's likelihood function for censored data.
           Journal of the American Statistical Association 72, 557-565.
        .. [2] N. Meinshausen (2006). Quantile regression forests. Journal of Machine Learning
           Research 7, 983-999.
        .. [3] U. Johansson, H. Bostrom, T. Lofstrom, H. Linusson (2014). Regression conformal
           prediction with random forests. Machine Learning 97, 155-176.
        .. [4] H. Zhang, J. Zimmerman, D. Nettleton, D. J. Nordman (2020). Random forest prediction
           intervals. The American Statistician 74, 392-406.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("gbsg2")
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
        asked = Wanted(type, offset, times, quantiles, interval, level)
        return predict(self._fit, new, asked)

    def refit(
        self,
        model: Any = "forest",
        *,
        missing: Literal["drop", "indicator"] = "drop",
        splines: int | Mapping[str, int] | None = None,
    ) -> Any:
        """Fit another model to the selected terms.

        Parameters
        ----------
        model : str or estimator
            ``"forest"``: a random forest of at most 200 trees, the final model of most methods.
            ``"stack"``: a penalised additive model of the family, with a spline of each number,
            plus a random forest of its residuals, as far as that lowers the out-of-bag error.
            ``"boosting"``: boosted trees of depth 2, 4 or 6 with shrinkage 0.1; depth and number
            of trees minimise the loss on held-out rows. ``"glm"``: the linear model of the family,
            fitted by statsmodels: least squares, a binomial or Poisson GLM, or a multinomial logit,
            on formulaic's full-rank columns with an intercept; for times to an event, Cox's
            proportional hazards model with a table of hazard ratios. ``"gam"``: the same with a
            restricted cubic spline of each number. ``"negative-binomial"``: counts whose variance
            is ``mu + mu^2 / theta``, theta by maximum likelihood (R: ``MASS::glm.nb``; tests
            estimate it anew in each model). ``"firth"``: two classes that terms may separate, by
            Firth's penalised likelihood (R: ``logistf``). ``"ordinal"``: ordered classes, numbers
            or an ordered categorical, in the order that the summary shows, by the proportional odds
            model (R: ``MASS::polr``). ``"gamma"``: numbers above 0, with the log link.
            Alternatively, an estimator of scikit-learn, not for times to an event, of which a copy
            is fitted to numbers and indicators of all levels but the first.
        missing : {"drop", "indicator"}
            For linear models: a row with a missing value in a term is dropped, or a missing value
            is a level of a factor; a factor in an expression, such as a coding ``C(x, contr.sum)``,
            is 0 in all columns of its terms, and a number is replaced by the median, both with an
            indicator ``missing(x)``.
        splines : int, or dict of int by term, optional
            Degrees of freedom, 2 to 6, of the restricted cubic spline of each selected number, or
            of some: ``{"age": 3}``; other numbers are linear. By default 3 with ``"gam"``, no
            splines with ``"glm"``. Knots, one more than degrees of freedom, are quantiles of the
            known values (Harrell 2015, Table 2.3), fewer where these coincide; numbers of fewer
            than 8 distinct values are linear. In a product, the numbers that are also terms alone
            have their splines (R: ``rcs(x, 4) * g``); the others are linear.

        Returns
        -------
        SelectionResult
            For ``"stack"``, ``"forest"``, ``"boosting"`` and an estimator: the same selection with
            this final model. ``.model.fitted.estimator`` is the fitted copy of an estimator.
        GlmFit
            For linear models: ``.predict(new, se=True)``; ``.result``, the result of statsmodels
            (for times to an event, of our Cox model); ``.summary()``; ``.tidy()``, with
            ``exponentiate=True`` odds, rate or hazard ratios; ``.n_dropped``, the number of rows
            excluded because a selected term is missing. Its p-values are not valid, because the
            terms were selected on the same rows: see :meth:`inference`. With `fold_groups`, the
            standard errors are cluster-robust.

        Raises
        ------
        OptionError
            If `model` is unknown, does not suit the response, or does not support the weights or
            the offset.
        DataError
            If the model was loaded without its data (see :meth:`SelectionResult.with_data`), or the
            linear model can't be fitted.

        Warns
        -----
        TreeselectWarning
            If the linear model did not converge, its terms separate the classes, or its likelihood
            has no maximum, or if it drops more than 5% of the rows for missing values.

        Notes
        -----
        Weights that are no frequencies are relative (statsmodels: ``var_weights``, divided by their
        mean). Counts that vary more than chance allows are quasi-Poisson. With `fold_groups`,
        errors are cluster-robust, or those of the model, with a warning, if there are too few
        clusters. Columns that are linear combinations of others are dropped, as in R, and named. An
        estimator receives missing numbers unchanged if its scikit-learn tags allow them; otherwise
        they are replaced by the medians of the training rows, with a missing-value indicator for
        each number. Rows are repeated as frequency weights say where it takes no
        ``sample_weight``.

        The columns of a spline are the number, ``age``, and ``age'``, ``age''`` of equation 2.25 of
        [1]_, as of ``rms::rcs`` in R; ``.formula`` gives the same model to formulaic, patsy and
        statsmodels. The printed table compares the quartiles of the number; ``.drop1()`` tests the
        spline against a straight line.

        Cox's model uses Efron's method for ties, the strata of the formula and delayed entry. It is
        fitted as by R's ``coxph``; copies that frequency weights count are tied events, while an
        event of another weight 2 is one event. statsmodels' ``PHReg``, which does not support
        weights, gives the same coefficients without them.

        References
        ----------
        .. [1] F. E. Harrell (2015). Regression Modeling Strategies, 2nd edition. Springer.
        """
        from treeselect.results.refitting import refit

        found = refit(self._fit, model, missing, splines)
        if not isinstance(found, Fit):
            return found
        step = step_text(SelectionResult.refit, {"model": model})
        return SelectionResult(replace(found, call=found.call.then(step)))

    def update(
        self, formula: str | None = None, *, data: Any = None, **changes: Any
    ) -> SelectionResult:
        """Repeat a selection with another formula or other arguments, as R's ``update()``.

        Parameters
        ----------
        formula : str, optional
            The new formula, in which ``.`` stands for the old right-hand side or, to the left of
            ``~``, for the old response: ``"~ . - age"``, ``". ~ . + x"``, ``"log(.) ~ ."``. The old
            right-hand side has all candidate terms of the fit and not only the selected ones; a dot
            in it stands for all other columns, an old response among them. None keeps the formula.
        data : frame or path, optional
            Other data; by default the object that was given to :func:`treeselect.select`, with its
            present values. A model from a file or an unpickled one needs it.
        **changes
            Arguments of :func:`treeselect.select` with new values: ``k=3``, ``seed=2``,
            ``method="rrf"``, ``keep=["sex"]``, ``n_trees=50``. All others, the seed among them, are
            those of the fit. A new `method` given by name keeps the options that it shares with the
            old one, except tuning parameters. A new `k` replaces a given tuning parameter, and the
            reverse. None restores the default of `weights`, `offset`, `groups`, `costs`, `keep`,
            `fold_groups`, `scoring` and `labels`.

        Returns
        -------
        SelectionResult
            Of a new call of :func:`treeselect.select`. Later steps such as ``resample()`` are not
            repeated; ``resamples=`` of the call is.

        Raises
        ------
        OptionError
            If the data or an argument are not known, or nothing changes.
        FormulaError
            If the formula can't be read.
        TreeselectError
            As in :func:`treeselect.select`.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age + fare", data.assign(fare=data["age"]),
        ...     method="mrmr", k=2, seed=1)
        >>> fit.update("~ . - fare", k=1).selected
        ('sex',)
        """
        return SelectionResult(fit_selection(*updated_arguments(self._fit, formula, data, changes)))

    # --- on other rows ---

    def resample(
        self,
        n: int = 100,
        *,
        scheme: Scheme | None = None,
        k: int | Literal["auto", "1se", "best"] | None = None,
        path: bool | int = False,
        seed: int | None = None,
        n_jobs: int | None = None,
        effects: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
    ) -> SelectionResult:
        """Repeat the selection on resamples of the rows.

        Parameters
        ----------
        n : int
            Number of resamples, 2 to 100,000.
        scheme : {"bootstrap", "subsample", "complementary"}
            Draw rows (or the clusters of the fit) with replacement; half of them without; or both
            halves of each random split, with the same share of each class, or of the events.
            Default: ``"complementary"`` if tests choose `k`, which copies of rows would mislead;
            otherwise ``"bootstrap"``.
        k : int, "auto", "1se", "best", optional
            Number of terms (units, if there are groups) to select on each resample, or the rule
            that chooses it there. Default: ``"auto"`` if it chose the number of the fit, otherwise
            that number, or the tuning parameter of the fit.
        path : bool or int
            Size up to which to follow the path on each resample, for ``stability.path()`` and
            ``stability.q_values()``; True for the size that q-values use, at least `k`. By default
            the path is not recorded. If it is, `k` is a size on that path.
        seed, n_jobs : int, optional
            Default: as in the fit. Results do not depend on `n_jobs`.
        effects : bool
            Also fit the final model on each resample, for the intervals of :meth:`effects
            <treeselect.results.views.ModelView.effects>` and the bands of :meth:`shape
            <treeselect.results.views.ModelView.shape>`; summary, tables, report and model files
            then include them. Per resample this costs one more model, and forty predictions of
            each term for up to 1000 rows.
        checkpoint : path, optional
            Folder for finished resamples, one small file each; created if necessary. After an
            interruption, calling again on the same data with the same fit (give `select` a `seed`)
            reuses these files and returns the same numbers as an uninterrupted call. The new call
            may request more resamples, and several calls may share a folder. Damaged files are
            ignored with a warning. If files can't be written, the call continues.
        on_piece : callable, optional
            Called with a :class:`treeselect.running.pieces.Piece` after each resample, including
            those from `checkpoint`. An exception that it raises ends the call; KeyboardInterrupt
            stops it as Ctrl-C does.

        Returns
        -------
        SelectionResult
            The same selection with :attr:`stability`.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        DataError
            If the model was loaded without its data (see :meth:`SelectionResult.with_data`).
        StabilityError
            If no term is selected and `k` is not given, or the response is constant on a resample.
        OutOfMemoryError, WorkerError
            If memory runs out, or work can't be passed to a process.

        Notes
        -----
        If interrupted (Ctrl-C) after two or more resamples (complementary pairs), it returns the
        finished ones: ``.stability.partial`` is True, and summary and report say so. Otherwise
        KeyboardInterrupt is raised.

        Examples
        --------
        >>> import tempfile
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> folder = tempfile.mkdtemp()
        >>> first = fit.resample(3, checkpoint=folder)
        >>> taken = []
        >>> more = fit.resample(
        ...     5, checkpoint=folder, on_piece=lambda piece: taken.append(piece.was_saved)
        ... )
        >>> taken
        [True, True, True, False, False]
        """
        course = self._course(n_jobs, checkpoint, on_piece)
        seed = self._fit.seed if seed is None else read_seed(seed)
        given: dict[str, Any] = {
            "k": k, "path": path, "seed": seed, "effects": effects,
        }  # fmt: skip
        found = resample(self._fit, n, scheme=scheme, **given, course=course)
        step = step_text(SelectionResult.resample, {"n": n, "scheme": scheme, **given})
        scores = found.scores
        stay = scores is not None and scores is self._fit.scores and scores.of_halves
        return SelectionResult(replace(found, call=self._fit.call.then(step, scores_stay=stay)))

    def performance(
        self,
        folds: int | Splitter | Sequence[int] = 5,
        *,
        repeats: int = 1,
        fold_groups: str | Sequence[Any] | None = None,
        scoring: Scoring = None,
        model: FinalModel | BaseEstimator | None = None,
        horizon: float | None = None,
        seed: int | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
    ) -> Performance:
        """Nested cross-validation: how well the whole procedure predicts new rows.

        In each fold the selection path, the choice of `k` by the rule of the fit (by inner
        cross-validation on the training rows, if the rule needs it) and the final model are
        repeated, and the model is scored on the held-out rows. The fit is not modified.

        Parameters
        ----------
        folds, repeats : int, splitter or array of int; int
            The outer folds, given as in :func:`treeselect.select`.
        fold_groups : str or array, shape (n_rows,), optional
            Clusters that are held out as a whole, such as sites; by default those of the fit. A
            column behind no term requires `data`. The selection in each fold keeps the fit's own
            clusters together, if it has any.
        scoring : str or callable, optional
            Score on the held-out rows; by default as in the fit, which also chooses `k`.
        model : {"stack", "forest", "boosting", "glm", "gam"} or estimator, optional
            What predicts the held-out rows, as in :func:`treeselect.select`; by default the final
            model of the fit. ``"glm"`` tells how well the linear model that is published predicts.
        horizon : float, optional
            For times to an event: the time by which the probability of the event is predicted, for
            :meth:`decision_curve <treeselect.resampling.performance.Performance.decision_curve>`;
            by default the median time of the events.
        seed, n_jobs : int, optional
            Default: as in the fit. Results do not depend on `n_jobs`.
        checkpoint, on_piece : path, callable, optional
            As in :meth:`resample`; a piece is a fold.

        Returns
        -------
        Performance
            ``.mean``, ``.standard_error``, ``.tidy()``, ``.glance()``, ``.summary()``. If
            interrupted (Ctrl-C) after two or more folds, it describes the finished ones, and
            ``.partial`` is True.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the rows can't be split.
        DataError, OutOfMemoryError, WorkerError
            As for :meth:`resample`.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
        >>> 0.7 < fit.performance(folds=3).mean < 0.8
        True
        """
        fit = self._fit
        seed = fit.seed if seed is None else read_seed(seed)
        given: dict[str, Any] = {
            "repeats": repeats, "fold_groups": fold_groups, "scoring": scoring,
            "horizon": horizon, "seed": seed,
        }  # fmt: skip
        if model is not None:
            check_final(fit.chosen_method, model)
            fit = replace(fit, design=fit.design.with_model(model))
        found = measure(fit, folds, **given, course=self._course(n_jobs, checkpoint, on_piece))
        if fit.design.model is not None and fit.final != self._fit.final:
            found = replace(found, model=model_words(fit.design.model, fit.design.response.family))
        told = {"folds": folds, "model": model, **given}
        return with_step(fit, found, SelectionResult.performance, told)

    def validate(
        self,
        n: int = 200,
        *,
        horizon: float | None = None,
        seed: int | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
    ) -> Validation:
        """The whole procedure on bootstrap samples: optimism, and instability of predictions.

        On each sample of the rows (or clusters), drawn with replacement, the selection, the choice
        of `k` by the rule of the fit and the final model are repeated. Each model predicts all rows
        of the fit.

        Parameters
        ----------
        n : int
            Number of bootstrap samples, 2 to 100,000; 200 or more are usual.
        horizon : float, optional
            For times to an event: the time by which the probability of the event is predicted; by
            default the median time of the events.
        seed, n_jobs : int, optional
            Default: as in the fit. Results do not depend on `n_jobs`.
        checkpoint, on_piece : path, callable, optional
            As in :meth:`resample`; a piece is a sample.

        Returns
        -------
        Validation
            ``.tidy()``, score and calibration corrected for optimism [1]_; ``.instability()``,
            ``.by()``, ``.calibration()`` and ``.plot()``, instability of the predictions [2]_;
            ``.summary()``. If interrupted (Ctrl-C) after two or more samples, it describes the
            finished ones, and ``.partial`` is True.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the response has more than two classes.
        StabilityError
            If the response is constant on a sample.
        DataError, OutOfMemoryError, WorkerError
            As for :meth:`resample`.

        Notes
        -----
        Calibration slope and intercept are those of a regression of the response on the linear
        predictor: the slope with a free intercept, the intercept with the slope fixed at 1. An
        offset, whose coefficient is known, has no part in the slope. For times to an event the
        slope is the coefficient of Cox's model, and the intercept the logarithm of the observed
        over the expected number of events.

        Optimism is small for a model that hardly adapts. A forest reproduces its own rows, and its
        corrected score is still optimistic: look at ``left_out``, or at :meth:`performance`. Tests
        that choose `k` take copies of a row in a sample as a cluster.

        References
        ----------
        .. [1] F. E. Harrell (2015). Regression Modeling Strategies, 2nd edition. Springer, section
           5.3.
        .. [2] R. D. Riley, G. S. Collins (2023). Stability of clinical prediction models developed
           using statistical or machine learning methods. Biometrical Journal 65, 2200302.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select(
        ...     "survived ~ sex + age", data, method="mrmr", k=1, seed=1, model="glm"
        ... )
        >>> found = fit.validate(10)
        >>> found.mean_error < 0.1
        True
        """
        fit, course = self._fit, self._course(n_jobs, checkpoint, on_piece)
        seed = fit.seed if seed is None else read_seed(seed)
        given: dict[str, Any] = {"n": n, "horizon": horizon, "seed": seed}
        found = validate(fit, **given, course=course)
        return with_step(fit, found, SelectionResult.validate, given)

    def inference(
        self,
        split: float = 0.5,
        repeats: int = 1,
        seed: int | None = None,
        level: float = 0.95,
        n_jobs: int | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
    ) -> Inference:
        """Valid p-values by sample splitting: select on one part of the rows, test on the other.

        The selection uses the method of this fit and its `k`, rule for `k` or tuning parameter. The
        linear model is that of ``refit("glm")``.

        Parameters
        ----------
        split : float
            Share of the rows (or clusters) to select on, above 0 and below 1; stratified by class
            as far as whole clusters allow.
        repeats : int
            Number of random splits, 1 to 10,000. One split gives coefficients with intervals;
            several give one aggregated p-value per term, which depends less on the random split.
        seed : int, optional
            Default: as in the fit.
        level : float
            Confidence level of the intervals of one split, above 0 and below 1.
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        checkpoint, on_piece : path, callable, optional
            As in :meth:`resample`; a piece is the selection of a split.

        Returns
        -------
        Inference
            ``.tidy()``, ``.summary()``, ``.n_splits``. If interrupted (Ctrl-C) after two or more
            splits, it describes the finished ones, and ``.partial`` is True.

        Raises
        ------
        OptionError
            If an argument is not allowed, or a part has too few rows or clusters.
        DataError, OutOfMemoryError, WorkerError
            As for :meth:`resample`.

        Warns
        -----
        TreeselectWarning
            If the linear model of the terms of this fit drops more than 5% of the rows for missing
            values.

        Notes
        -----
        ``fit.model.conditional_importance(None, given="all")`` tests each term without a split and
        without a linear model.

        One split: the usual tests and intervals of the selected submodel, on rows that played no
        part in the selection; rows with missing values are excluded as in ``refit("glm")``.

        Several splits: [1]_. In each split b the p-value of an unselected term is 1; that of a
        selected term is the p-value of the Wald test (F test for least squares) of all its columns,
        times the number of selected terms, at most 1. With ``Q(gamma)`` the empirical
        gamma-quantile of ``p_b / gamma``, at most 1 (equation 2.2), the aggregated p-value is
        ``(1 - log(0.05)) * inf Q(gamma)`` over gamma in (0.05, 1), at most 1 (equation 2.3).
        Rejecting at level alpha controls the family-wise error rate asymptotically if the
        linear model holds and the terms selected on each part include all relevant ones (theorem
        3.2). Several splits give no intervals; these would require inverting the test (Dezeure,
        Buehlmann, Meier and Meinshausen 2015, Statistical Science 30).

        If the linear model of a split can't be fitted (separated classes, a likelihood without a
        maximum, too few rows), all its p-values are 1. Columns that are linear combinations of
        preceding ones are dropped, as in R; a term that loses all its columns is not tested in that
        split (NaN in ``.splits``, 1 in the aggregation). The summary counts such splits.

        A cluster of the fit is wholly in one part. Cluster-robust standard errors [2]_ have t and F
        tests on G - 1 degrees of freedom for G clusters, in all families; those of Cox's model are
        R's ``coxph(cluster=)`` times ``sqrt(G / (G - 1))``. They require many clusters (50 or more
        to fit on), more clusters than coefficients, and no column or level that occurs in one
        cluster only; otherwise the split fails.

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
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
        >>> p_values = fit.inference(repeats=3).tidy().set_index("term")["p_value"]
        >>> bool(p_values["sex"] < 0.001)
        True
        """
        fit, course = self._fit, self._course(n_jobs, checkpoint, on_piece)
        given: dict[str, Any] = {
            "split": split, "repeats": repeats, "level": level,
            "seed": fit.seed if seed is None else read_seed(seed),
        }  # fmt: skip
        step = step_text(SelectionResult.inference, given)
        return infer(fit, **given, course=course, call=fit.call.text + step)

    def _course(self, n_jobs: object, checkpoint: object, on_piece: object) -> Course:
        """How the pieces of a long call are run."""
        asked = check_n_jobs(n_jobs)
        workers = workers_for(self._fit.n_jobs if asked is None else asked)
        return read_course(workers, self._fit.progress, checkpoint, on_piece)

    # --- file, figures and report ---

    def save(self, path: str | os.PathLike[str], include_data: bool = False) -> Path:
        """Write the model to one file, for :func:`treeselect.load`.

        Parameters
        ----------
        path : path
            File to write, with any suffix. An existing file is replaced atomically.
        include_data : bool
            Store the columns behind the terms, the response and the weights as well. Without them
            the file contains names of columns, levels of factors, bin edges and the trees.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        ModelFileError
            If the file can't be written (an existing file is then unchanged), or levels are neither
            text, numbers nor booleans.

        Notes
        -----
        The file is MessagePack in gzip and contains no code; ``treeselect.coding``
        describes the format. ``trusted`` is never stored.
        """
        include_data = check_flag("include_data", include_data)
        target = file_path(path, error=ModelFileError)
        write_record(target, lambda: saved_fit(self._fit, include_data=include_data))
        return target

    def plot(
        self,
        kind: str = "terms",
        *,
        term: str | None = None,
        other: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw one figure with matplotlib.

        Parameters
        ----------
        kind : str, optional
            ``"terms"``, the default: importances of the selected terms and, if there are resamples,
            selection frequencies with intervals of these and of the most frequent other terms.
            ``"path"``: score by number of terms. ``"importance"``: importances of the selected
            terms. ``"stability"``: selection frequencies with intervals. ``"correlation"``:
            associations between the selected terms in the data, the `measure` of :meth:`neighbours
            <treeselect.results.views.DataView.neighbours>`. ``"substitutes"``: which terms replaced
            a selected term on resamples without it. ``"shape"``: the effect of `term`, or a map of
            `term` and `other`.
            ``"interactions"``: sizes of the largest interactions. ``"risk_groups"``: survival in
            the groups of :meth:`risk_groups <treeselect.results.views.ModelView.risk_groups>`,
            observed and predicted, with the numbers at risk. Where terms are grouped, a group
            counts as one.
        term, other : str, optional
            Selected terms with one variable each, for ``"shape"``.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new pyplot figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        OptionError
            If `kind` is unknown, `term` or `other` do not suit it, or there is nothing to draw.
        StabilityError
            If ``"stability"`` or ``"substitutes"`` is requested and there are no resamples.
        DataError
            If the data are required and the model was saved without them.
        MissingPackageError
            If matplotlib is not installed; ``pip install "treeselect[plot]"`` installs it.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=2, seed=1)
        >>> ax = fit.plot("shape", term="age")  # doctest: +SKIP
        >>> ax.figure.savefig("age.png")  # doctest: +SKIP
        """
        from treeselect.reports.plots import plot

        return plot(self._fit, kind, term=term, other=other, ax=ax)

    def report(
        self,
        path: str | os.PathLike[str],
        template: str | os.PathLike[str] | None = None,
        *,
        performance: Performance | None = None,
        coefficients: CoefficientStability | None = None,
        linear: GlmFit | None = None,
        inference: Inference | None = None,
        validation: Validation | None = None,
        subgroups: Subgroups | None = None,
        sections: Iterable[str] | None = None,
        digits: int | None = None,
    ) -> Path:
        """Write a report: one self-contained HTML file, Markdown, or a document for Word.

        The page begins with the answer and a table of terms; all else is folded below its headings,
        and printed in full. For times to an event it includes :meth:`risk_groups
        <treeselect.results.views.ModelView.risk_groups>`, which refits the final model in ten
        folds.

        Parameters
        ----------
        path : path
            File to write. An existing file is replaced atomically. With the suffix ``.md`` it is
            GitHub-flavoured Markdown, with the text and tables of the page and no figures; with
            ``.docx`` a document for Word, with figures if matplotlib is installed.
        template : path, optional
            A jinja2 template that extends ``templates/report.html.j2`` and chooses its sections, or
            a modified copy of it; the first lines of that file explain how.
        performance : Performance, optional
            The result of :meth:`performance`, shown in its own section.
        coefficients : CoefficientStability, optional
            The result of :meth:`coefficient_stability
            <treeselect.results.views.ModelView.coefficient_stability>`, shown in its own section.
        linear : GlmFit, optional
            The result of ``refit("glm")``, shown in its own section with tests of its terms.
        inference : Inference, optional
            The result of :meth:`inference`, shown in its own section: p-values that account for the
            selection, as those of the linear model do not.
        validation : Validation, optional
            The result of :meth:`validate`, shown in its own section: optimism, and instability of
            the predictions.
        subgroups : Subgroups, optional
            The result of ``performance().by(column)``, shown in its own section.
        sections : list of str, optional
            The sections below the first screen, in this order, such as
            ``["terms", "path", "stability"]``; by default all that apply. Their names are those of
            the blocks of ``templates/report.html.j2``; an unknown name raises an error that lists
            them. Can't be combined with `template`.
        digits : int, optional
            As in :meth:`summary`; also significant digits of coefficients.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        OptionError
            If the file can't be written or has another suffix (``.pdf``), there is no such template
            or section or the template can't be rendered, or a result that is to be shown belongs to
            another fit.
        """
        from treeselect.reports.pages import write_report

        own = None if template is None else file_path(template, name="template")
        with chosen_digits(check_digits(digits)):
            return write_report(
                self._fit, file_path(path), own, sections,
                performance=performance, coefficients=coefficients, linear=linear,
                inference=inference, validation=validation, subgroups=subgroups,
            )  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join(fit_lines(self._fit))

    def _repr_html_(self) -> str:
        from treeselect.reports.pages import fit_html

        return fit_html(self._fit)
