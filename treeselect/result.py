"""The result of a selection: resampling, performance, inference, refitting, figures and reports.

Each method delegates to the room that does the work; the file is long because of its docstrings.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeselect.arguments.checks import (
    AUTO,
    check_count,
    check_digits,
    check_flag,
    check_rule,
    file_path,
    read_seed,
)
from treeselect.designs.modeldata import ModelData
from treeselect.designs.scoring import Scoring
from treeselect.engine.random import stream_seed
from treeselect.errors import ModelFileError, OptionError
from treeselect.resampling.assessing import assess
from treeselect.resampling.choosing import Choice, Procedure, n_shown
from treeselect.resampling.folds import Folds, Splitter, in_own_groups, with_groups
from treeselect.resampling.resampled import Scheme
from treeselect.running.machine import memory_errors
from treeselect.running.parallel import Workers, check_n_jobs, workers_for
from treeselect.running.pieces import Course, Piece, check_on_piece, read_checkpoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.conditional import ConditionalImportance, RiskGroups
    from treeselect.resampling.inference import Inference
    from treeselect.resampling.outer_folds import LearningCurve
    from treeselect.resampling.performance import Performance
    from treeselect.results.citation import Citation
    from treeselect.results.refitting import GlmFit


from treeselect.results.calls import step_text
from treeselect.results.readable import ReadableFit


@dataclass(frozen=True, slots=True)
class SelectionResult(ReadableFit):
    """Selected terms, the selection path, and the final model refitted to the selected terms.

    Returned by :func:`treeselect.select`. Its methods never modify it. Its attributes are those of
    :class:`treeselect.resampling.fit.Fit`.

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

    # --- other models ---

    def refit(
        self,
        model: Any = "forest",
        *,
        missing: Literal["drop", "indicator"] = "drop",
        ordered: Literal["treatment", "scores", "polynomial"] = "treatment",
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> Any:
        """Fit another model to the selected terms.

        Parameters
        ----------
        model : {"stack", "forest", "boosting", "glm"} or estimator
            ``"forest"``: a random forest of at most 200 trees, the final model of most methods.
            ``"stack"``: a penalised additive model of the family, with a spline of each number,
            plus a random forest of its residuals, as far as that lowers the out-of-bag error.
            ``"boosting"``: boosted trees of depth 2, 4 or 6 with shrinkage 0.1; depth and number
            of trees minimise the loss on held-out rows. ``"glm"``: the linear model of the family,
            fitted by statsmodels: least squares, a binomial or Poisson GLM, or a multinomial logit,
            on formulaic's full-rank columns with an intercept; for times to an event, Cox's
            proportional hazards model with a table of hazard ratios. Alternatively, an estimator
            from scikit-learn (for times to an event, from scikit-survival), which is cloned and
            fitted to formulaic's one-hot columns; ``lightgbm.DaskLGBMClassifier`` and
            ``DaskLGBMRegressor`` are fitted to all rows of `data`, a Dask frame, by the workers of
            its cluster.
        missing : {"drop", "indicator"}
            For ``"glm"``: a row with a missing value in a term is dropped, or a missing value is a
            level of a factor, and of a number it is replaced by the median, with an indicator
            ``missing(x)``.
        ordered : {"treatment", "scores", "polynomial"}
            Contrasts of ordered factors: differences from the first level; scores 1 to K; or
            orthogonal polynomials, R's default.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

        Returns
        -------
        SelectionResult
            For ``"stack"``, ``"forest"`` and ``"boosting"``: the same selection with this final
            model.
        GlmFit
            For ``"glm"``: ``.predict(new, se=True)``; ``.result``, the result of statsmodels (for
            times to an event, use ``.result.phreg()``); ``.summary()``; ``.tidy()``, with
            ``exponentiate=True`` odds, rate or hazard ratios; ``.n_dropped``, the number of rows
            excluded because a selected term is missing. Its p-values are not valid, because the
            terms were selected on the same rows: see :meth:`inference`. With `fold_groups`, the
            standard errors are cluster-robust.
        EstimatorFit
            For an estimator: ``.estimator``, ``.predict(new)``, ``.predict_proba(new)``,
            ``.encode(new)`` and ``.columns``.

        Raises
        ------
        OptionError
            If `model` is unknown, does not suit the response, or does not support the weights or
            the offset.
        DataError
            If the data are required but not given, or differ from the data of the fit; if the
            linear model can't be fitted; or if a partition of a Dask frame lacks a class.

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
        each number.

        Cox's model uses Efron's method for ties, the strata of the formula and delayed entry. It is
        fitted as by R's ``coxph``; copies that frequency weights count are tied events, while an
        event of another weight 2 is one event. statsmodels' ``PHReg``, which does not support
        weights, gives the same coefficients without them. scikit-survival's estimators receive a
        structured array of ``event`` and ``time``; they can't be fitted with strata or delayed
        entry.
        """
        from treeselect.results.refitting import refit

        here = self._with_data(data, weights, offset)
        found = refit(self, model, here, missing, ordered, data)
        if isinstance(found, SelectionResult):
            step = step_text(SelectionResult.refit, {"model": model})
            return dataclasses.replace(found, call=self.call.then(step))
        return found

    def inference(
        self,
        split: float = 0.5,
        repeats: int = 1,
        seed: int | None = None,
        gamma_min: float = 0.05,
        level: float = 0.95,
        n_jobs: int | None = None,
        *,
        missing: Literal["drop", "indicator"] = "drop",
        ordered: Literal["treatment", "scores", "polynomial"] = "treatment",
        fold_groups: str | Sequence[Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
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
        gamma_min : float
            Smallest quantile of the p-values used to aggregate several splits, above 0, below 1.
        level : float
            Confidence level of the intervals of one split, above 0 and below 1.
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        missing, ordered
            As in :meth:`refit`, within the rows for testing.
        fold_groups : str or array, shape (n_rows,), optional
            Column or array of clusters, for example patients or sites: a cluster is wholly in one
            part, the folds that choose `k` and the bags of the method keep it together, and
            standard errors are cluster-robust (default: as in the fit). A column that is
            neither the fit's nor behind the terms requires `data`.
        checkpoint, on_piece : path, callable, optional
            As in :meth:`resample`; a piece is the selection of a split.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

        Returns
        -------
        Inference
            ``.tidy()``, ``.summary()``, ``.n_splits``. If interrupted (Ctrl-C) after two or more
            splits, it describes the finished ones, and ``.partial`` is True.

        Raises
        ------
        OptionError
            If an argument is not allowed, or a part has too few rows or clusters.
        DataError
            If the data are required but not given, or differ from the data of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or work can't be passed to a process.

        Warns
        -----
        TreeselectWarning
            If the linear model of the terms of this fit drops more than 5% of the rows for missing
            values.

        Notes
        -----
        One split: the usual tests and intervals of the selected submodel, on rows that played no
        part in the selection; rows with missing values are excluded as in ``refit("glm")``.

        Several splits: [1]_. In each split b the p-value of an unselected term is 1; that of a
        selected term is the p-value of the Wald test (F test for least squares) of all its columns,
        times the number of selected terms, at most 1. With ``Q(gamma)`` the empirical
        gamma-quantile of ``p_b / gamma``, at most 1 (equation 2.2), the aggregated p-value is
        ``(1 - log(gamma_min)) * inf Q(gamma)`` over gamma in (gamma_min, 1), at most 1 (equation
        2.3). Rejecting at level alpha controls the family-wise error rate asymptotically if the
        linear model holds and the terms selected on each part include all relevant ones (theorem
        3.2). Several splits give no intervals; these would require inverting the test (Dezeure,
        Buehlmann, Meier and Meinshausen 2015, Statistical Science 30).

        If the linear model of a split can't be fitted (separated classes, a likelihood without a
        maximum, too few rows), all its p-values are 1. Columns that are linear combinations of
        preceding ones are dropped, as in R; a term that loses all its columns is not tested in that
        split (NaN in ``.splits``, 1 in the aggregation). The summary counts such splits.

        Splitting the rows of one cluster would make the parts dependent, and ignoring the clusters
        would make standard errors too small. Standard errors are therefore cluster-robust [2]_,
        with t and F tests on G - 1 degrees of freedom for G clusters, in all families; those of
        Cox's model are R's ``coxph(cluster=)`` times ``sqrt(G / (G - 1))``. They require many
        clusters (50 or more to fit on), more clusters than coefficients, and no column or level
        that occurs in one cluster only; otherwise the split fails.

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
        from treeselect.resampling.inference import infer

        given = dict(locals())
        course = self._course(n_jobs, checkpoint, on_piece)
        here, folds = self._in_groups(fold_groups, data, weights, offset)
        own_seed = self.seed if seed is None else read_seed(seed)
        return infer(
            self,
            here,
            split=split,
            repeats=repeats,
            seed=own_seed,
            gamma_min=gamma_min,
            level=level,
            folds=folds,
            course=course,
            missing=missing,
            ordered=ordered,
            call=self._then(SelectionResult.inference, given | {"seed": own_seed}),
        )

    @memory_errors()
    def _with_data(
        self, data: Any, weights: Sequence[float] | None, offset: Sequence[float] | None
    ) -> ModelData:
        """The rows of the fit, with its clusters if these are known."""
        here = self.design.again(data, weights, offset)
        return in_own_groups(here, self.choice.folds, data)

    def _in_groups(
        self,
        fold_groups: Any,
        data: Any,
        weights: Sequence[float] | None,
        offset: Sequence[float] | None,
    ) -> tuple[ModelData, Folds]:
        """Rows and folds of the fit, with other clusters if given."""
        here = self._with_data(data, weights, offset)
        return with_groups(here, self.choice.folds, fold_groups, data)

    # --- stability ---

    def resample(
        self,
        n: int = 100,
        *,
        scheme: Scheme | None = None,
        k: int | Literal["auto", "1se", "best"] | None = None,
        path: bool | int = False,
        seed: int | None = None,
        n_jobs: int | None = None,
        fold_groups: str | Sequence[Any] | None = None,
        effects: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
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
            Draw rows (or clusters) with replacement; half of them without; or both halves of each
            random split, with the same share of each class, or of the events. Default:
            ``"complementary"`` if tests choose `k`, which copies of rows would mislead; otherwise
            ``"bootstrap"``.
        k : int, "auto", "1se", "best", optional
            Number of terms (units, if there are groups) to select on each resample, or the rule
            that chooses it there. Default: ``"auto"`` if it chose the number of the fit, otherwise
            that number, or the tuning parameter of the fit.
        path : bool or int
            Size up to which to follow the path on each resample, for ``stability.path()`` and
            ``stability.q_values()``; True for the size that q-values use, at least `k`. By default
            the path is not recorded. If it is, `k` is a size on that path.
        seed : int, optional
            Default: as in the fit.
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        fold_groups : str or array, shape (n_rows,), optional
            Column or array of clusters, for example patients or sites: resamples, and the bags of
            the method, draw whole clusters (default: as in the fit). A column that is neither
            the fit's nor behind the terms requires `data`.
        effects : bool
            Also fit the final model on each resample, for the intervals of :meth:`effects` and
            :meth:`interactions` and the bands of :meth:`shape`; summary, tables, report and model
            files then include them. Per resample this costs one more forest, forty predictions of
            each term for up to 1000 rows, and up to 36 of each pair of the first ten terms for up
            to 200 rows.
        checkpoint : path, optional
            Folder for finished resamples, one small file each; created if necessary. After an
            interruption, calling again on the same data with the same fit (give `select` a `seed`)
            reuses these files and returns the same numbers as an uninterrupted call. The new call
            may request more resamples, and several calls may share a folder. Damaged and foreign
            files are ignored with a warning. If files can't be written, the call continues.
        on_piece : callable, optional
            Called with a :class:`treeselect.running.pieces.Piece` after each resample, including
            those from `checkpoint`. An exception that it raises ends the call; KeyboardInterrupt
            stops it as Ctrl-C does.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of int, sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

        Returns
        -------
        SelectionResult
            The same selection with :attr:`stability`.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        DataError
            If the data are required but not given, or differ from the data of the fit.
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
        from treeselect.results.effect_points import effect_points
        from treeselect.results.effects import make_record
        from treeselect.results.refitting import growing

        given = dict(locals())
        course = self._course(n_jobs, checkpoint, on_piece)
        own_seed = self.seed if seed is None else read_seed(seed)
        effects = check_flag("effects", effects) and bool(self.selected)
        here, folds = self._in_groups(fold_groups, data, weights, offset)
        method = self.chosen_method if k is None else self.chosen_method.tuned(None)
        choice = self._choice_on_resamples(k)
        usual: Scheme = "complementary" if choice.k == AUTO else "bootstrap"
        scheme = usual if scheme is None else scheme
        halves = choice.k == AUTO == self.choice.k and scheme == "complementary"
        known = dataclasses.replace(self, design=here)
        points = effect_points(known) if effects else None
        found, scores, readings = assess(
            Procedure(here.problem_for(method), method, here.row_weights, choice),
            self.step.selected,
            n_resamples=n,
            scheme=scheme,
            path=path,
            n_scored=n_shown(self.k, here.arrays.groups) if halves else 0,
            seed=stream_seed(own_seed, "stability"),
            groups_name=folds.groups_name,
            probes=None if points is None else points.probes,
            grow=None if points is None else growing(self),
            course=course,
        )
        record = None if points is None else make_record(known, points, readings)
        step = step_text(SelectionResult.resample, given | {"seed": own_seed})
        return dataclasses.replace(
            self,
            resampled=found,
            scores=self.scores if scores is None else scores,
            effect_record=record,
            call=self.call.then(step),
        )

    def _choice_on_resamples(self, k: Any) -> Choice:
        """How resamples choose their number of units."""
        if k is None and self.choice.k not in (None, AUTO):
            k = self.k
        if isinstance(k, str):
            check_rule(k)
        elif k is not None:
            k = check_count("k", k, least=0)
        return self.choice if k is None else dataclasses.replace(self.choice, k=k)

    def coefficient_stability(
        self,
        n_jobs: int | None = None,
        *,
        missing: Literal["drop", "indicator"] = "drop",
        ordered: Literal["treatment", "scores", "polynomial"] = "treatment",
        fold_groups: str | Sequence[Any] | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> CoefficientStability:
        """Refit the linear model on each resample, with the terms selected there.

        The table that Heinze, Wallisch and Dunkler [1]_ recommend with every selected model: how
        much of a coefficient, and of its uncertainty, is due to the selection.

        Parameters
        ----------
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        missing, ordered
            As in :meth:`refit`. What replaces a missing number is computed from all rows.
        fold_groups : array, shape (n_rows,), optional
            The clusters, if :meth:`resample` was given an array of them.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

        Returns
        -------
        CoefficientStability
            ``.tidy()``, ``.summary()``; may be passed to :meth:`report` as `coefficients`.

        Raises
        ------
        StabilityError
            If there are no resamples, or the call that drew them was interrupted.
        OptionError
            If an argument is not allowed, or clusters are required and not given.
        DataError
            If the data are required but not given, or differ from the data of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, a process ends prematurely, or work can't be passed to a process.

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
        >>> table = fit.resample(5).coefficient_stability().tidy()
        >>> table["column"].to_list()
        ['Intercept', 'sex', 'age']
        """
        from treeselect.resampling.coefficient_stability import coefficient_stability

        given = dict(locals())
        stability, name = self.stability, self.choice.folds.groups_name
        if fold_groups is None and stability.groups_name != name:
            if not isinstance(stability.groups_name, str):
                raise OptionError(
                    "`fold_groups` must be given: `resample()` was given an array of clusters,"
                    " which is not stored.\n  Give the same array again."
                )
            fold_groups = stability.groups_name
        here, _ = self._in_groups(fold_groups, data, weights, offset)
        workers = self._workers(n_jobs)
        found = coefficient_stability(self, here, stability, workers, missing, ordered)
        step = step_text(SelectionResult.coefficient_stability, given)
        return dataclasses.replace(found, call=self.call.whole + step)

    def _then(self, method: Callable[..., Any], given: Mapping[str, Any]) -> str:
        """The call of the fit with a step that leaves it unchanged."""
        return self.call.text + step_text(method, given)

    def _workers(self, n_jobs: object) -> Workers:
        """The requested number of workers, otherwise as in the fit."""
        asked = check_n_jobs(n_jobs)
        return workers_for(self.n_jobs if asked is None else asked)

    def _course(
        self,
        n_jobs: object,
        checkpoint: object,
        on_piece: Callable[[Piece], object] | None,
    ) -> Course:
        """How the pieces of a long call are run."""
        return Course(
            self._workers(n_jobs),
            self.progress,
            read_checkpoint(checkpoint),
            check_on_piece(on_piece),
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
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
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
            Clusters that are held out as a whole; by default as in the fit. A column that is
            neither the fit's nor behind the terms requires `data`. The selection in each fold, as
            in the fit, keeps the fit's own clusters together, if it has any.
        inner_folds : int, splitter or array of int, optional
            Folds of the training rows that choose `k`; by default as in the fit. They, too, keep
            the fit's clusters together.
        scoring : str or callable, optional
            Score on the held-out rows; by default as in the fit, which also chooses `k`.
        seed : int, optional
            Default: as in the fit.
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        checkpoint, on_piece : path, callable, optional
            As in :meth:`resample`; a piece is a fold.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

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
        DataError
            If the data are required but not given, or differ from the data of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or work can't be passed to a process.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
        >>> 0.7 < fit.performance(folds=3).mean < 0.8
        True
        """
        from treeselect.resampling.performance import measure

        given = dict(locals())
        own_seed = self.seed if seed is None else read_seed(seed)
        found = measure(
            self,
            folds,
            repeats=repeats,
            fold_groups=fold_groups,
            inner_folds=inner_folds,
            scoring=scoring,
            seed=own_seed,
            course=self._course(n_jobs, checkpoint, on_piece),
            data=data,
            weights=weights,
            offset=offset,
        )
        call = self._then(SelectionResult.performance, given | {"seed": own_seed})
        return dataclasses.replace(found, call=call)

    def conditional_importance(
        self,
        folds: int | Splitter | Sequence[int] = 5,
        *,
        terms: str | Sequence[str] | None = None,
        repeats: int | None = None,
        fold_groups: str | Sequence[Any] | None = None,
        scoring: Scoring = None,
        seed: int | None = None,
        n_jobs: int | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> ConditionalImportance:
        """Importance of each term given the other selected terms, tested on held-out rows.

        In each fold one forest is grown on the selected terms, and one without each of them
        (leave-one-covariate-out [1]_); importance is the loss of score on the held-out rows.
        Factors and groups are left out as a whole. The final model of the fit is not used.

        Parameters
        ----------
        folds : int, splitter or array of int
            Folds, given as in :func:`treeselect.select`.
        repeats : int, optional
            How often to repeat the folds, so that the test depends less on the random split; by
            default 5 if `folds` is a number, otherwise 1.
        terms : str or sequence of str, optional
            Terms or groups to test; by default all selected ones. An unselected one is instead
            added to the selected ones.
        fold_groups : str or array, shape (n_rows,), optional
            Clusters that are held out as a whole; by default as in the fit. A column that is
            neither the fit's nor behind the terms requires `data`.
        scoring : str or callable, optional
            Score on the held-out rows; by default as in the fit.
        seed : int, optional
            Default: as in the fit.
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

        Returns
        -------
        ConditionalImportance
            ``.tidy()``, ``.summary()``.

        Raises
        ------
        OptionError
            If an argument is not allowed, no term is selected and `terms` is not given, or the
            rows can't be split.
        DataError
            If the data are required but not given, or differ from the data of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or work can't be passed to a process.

        Notes
        -----
        Intervals and one-sided p-values come from the corrected resampled t test [2]_. They
        ignore the selection: for terms selected from many on the same rows, importances are too
        large and p-values anti-conservative. :meth:`inference` tests on rows that played no part
        in the selection.

        References
        ----------
        .. [1] J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani, L. Wasserman (2018).
           Distribution-free predictive inference for regression. JASA 113(523), section 6.
        .. [2] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
           52, 239-281.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=2, seed=1)
        >>> found = fit.conditional_importance(repeats=1).tidy().set_index("term")
        >>> bool(found.loc["sex", "p_value"] < 0.01)
        True
        """
        from treeselect.resampling.conditional import leave_out

        given = dict(locals())
        own_seed = self.seed if seed is None else read_seed(seed)
        found = leave_out(
            self,
            folds,
            terms=terms,
            repeats=repeats,
            fold_groups=fold_groups,
            scoring=scoring,
            seed=own_seed,
            workers=self._workers(n_jobs),
            data=data,
            weights=weights,
            offset=offset,
        )
        call = self._then(SelectionResult.conditional_importance, given | {"seed": own_seed})
        return dataclasses.replace(found, call=call)

    def risk_groups(
        self,
        n_groups: int = 3,
        horizon: float | None = None,
        folds: int | Splitter | Sequence[int] = 10,
        *,
        fold_groups: str | Sequence[Any] | None = None,
        seed: int | None = None,
        n_jobs: int | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> RiskGroups:
        """Survival in groups of increasing predicted risk, and calibration of predicted survival.

        In each fold the final model is refitted to the selected terms on the training rows (a
        random forest for a sparse forest) and predicts the risk and the survival
        of the held-out rows. Groups are cut at the quantiles of these risks.

        Parameters
        ----------
        n_groups : int
            From 2 to 20. Rows of equal risk stay together, so there may be fewer groups.
        horizon : float, optional
            Time at which predicted and observed survival are compared, above 0 and not after the
            end of follow-up; by default the median event time.
        folds : int, splitter or array of int
            Folds, given as in :func:`treeselect.select`.
        fold_groups : str or array, shape (n_rows,), optional
            Clusters that are held out as a whole; by default as in the fit. A column that is
            neither the fit's nor behind the terms requires `data`.
        seed : int, optional
            Default: as in the fit.
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

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
        DataError
            If the data are required but not given, or differ from the data of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or work can't be passed to a process.

        Notes
        -----
        The terms were selected on all rows, and the cross-validation does not repeat the selection:
        with many candidate terms the groups are further apart than they would be on new rows.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load_gbsg2()
        >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=2, seed=1)
        >>> fit.risk_groups(folds=3).calibration()["group"].to_list()
        ['low', 'middle', 'high']
        """
        from treeselect.results.risk import risk_groups_of

        given = dict(locals())
        found = risk_groups_of(
            self,
            n_groups,
            horizon,
            folds,
            fold_groups=fold_groups,
            seed=seed,
            workers=self._workers(n_jobs),
            data=data,
            weights=weights,
            offset=offset,
        )
        call = self._then(SelectionResult.risk_groups, given | {"seed": found.seed})
        return dataclasses.replace(found, call=call)

    def learning_curve(
        self,
        shares: Sequence[float] = (0.25, 0.5, 0.75, 1.0),
        folds: int | Splitter | Sequence[int] = 5,
        *,
        repeats: int = 1,
        fold_groups: str | Sequence[Any] | None = None,
        inner_folds: int | Splitter | Sequence[int] | None = None,
        seed: int | None = None,
        n_jobs: int | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> LearningCurve:
        """Learning curve: score and stability of the whole procedure by the number of rows.

        In each fold the selection, with the fit's rule for `k`, is repeated on nested subsets of
        the training rows and scored on the same held-out rows. The fit is not modified.

        Parameters
        ----------
        shares : sequence of float
            Shares of the training rows of each fold (stratified by class; whole clusters, if there
            are any), increasing, above 0, at most 1.
        folds, repeats : int, splitter or array of int; int
            As in :meth:`performance`.
        fold_groups : str or array, shape (n_rows,), optional
            As in :meth:`performance`.
        inner_folds : int, splitter or array of int, optional
            Folds of the rows of a subset that choose `k`; by default as in the fit.
        seed : int, optional
            Default: as in the fit.
        n_jobs : int, optional
            Default: as in the fit. Results do not depend on it.
        data : frame or path, optional
            The data of the fit, required if the model was loaded from a file without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

        Returns
        -------
        LearningCurve
            ``.tidy()``, one row per share; ``.words``, what the last increase in rows gained.

        Raises
        ------
        OptionError
            If an argument is not allowed, the rows can't be split, or a subset is too small.
        DataError
            If the data are required but not given, or differ from the data of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, a process ends prematurely, or work can't be passed to a process.

        Notes
        -----
        The stability index compares the sets selected in the folds. Subsets of different folds
        share rows, the more the larger they are, and this alone makes their sets more similar.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> curve = fit.learning_curve([0.5, 1], folds=3)
        >>> list(curve.tidy()["rows"].round())
        [437.0, 873.0]
        """
        from treeselect.resampling.outer_folds import learn

        given = dict(locals())
        own_seed = self.seed if seed is None else read_seed(seed)
        n_jobs = check_n_jobs(n_jobs)
        found = learn(
            self,
            shares,
            folds,
            repeats=repeats,
            fold_groups=fold_groups,
            inner_folds=inner_folds,
            seed=own_seed,
            workers=self._workers(n_jobs),
            data=data,
            weights=weights,
            offset=offset,
        )
        call = self._then(SelectionResult.learning_curve, given | {"seed": own_seed})
        return dataclasses.replace(found, call=call)

    # --- citation ---

    def citation(
        self,
        performance: Performance | None = None,
        *,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> Citation:
        """Methods paragraph, limitations and references for a paper.

        Parameters
        ----------
        performance : Performance, optional
            The result of :meth:`performance`, whose score is then reported.
        data : frame or path, optional
            The data of the fit, for counts and the fingerprint if the model was loaded from a file
            without data.
        weights, offset : sequence of float, optional
            Case weights and offset for `data`, if the fit was given them as arrays.

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
            If `performance` belongs to another fit, or weights or an offset do not match `data`.
        DataError
            If `data` differ from the data of the fit.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
        >>> found = fit.citation()
        >>> found.methods.split(". ")[1:3]
        ['The number of terms was fixed at 1', 'The selected term was sex']
        >>> print(found.bibtex.splitlines()[0])
        @manual{treeselect,
        """
        from treeselect.resampling.performance import Performance
        from treeselect.results.belonging import check_found
        from treeselect.results.citation import cite
        from treeselect.results.versions import software_versions

        if performance is not None:
            check_found(self, "performance", performance, Performance)
        known = self
        if data is not None or weights is not None or offset is not None:
            known = dataclasses.replace(self, design=self.design.again(data, weights, offset))
        return cite(known, software_versions(), performance)

    # --- file ---

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
        The file is a compressed zip archive of JSON and arrays and contains no code;
        ``treeselect.modelfile.file`` describes the format. ``trusted`` is never stored.
        """
        from treeselect.modelfile.file import save_result

        include_data = check_flag("include_data", include_data)
        target = file_path(path, error=ModelFileError)
        return save_result(self, target, include_data=include_data)

    # --- figures and report ---

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
            ``"terms"``, the default: importances of the selected terms and, if there are
            resamples, selection frequencies with intervals of these and of the most frequent other
            terms. ``"path"``: score by number of terms. ``"importance"``: importances of the
            selected terms. ``"stability"``: selection frequencies with intervals.
            ``"correlation"``: associations between the selected terms in the data, by the absolute
            rank correlation of two numbers, the correlation ratio of a number and a factor, and
            Cramer's V of two factors. ``"substitutes"``: which terms replaced a selected term on
            resamples without it. ``"shape"``: the effect of `term`, or a map of `term` and `other`.
            ``"interactions"``: sizes of the largest interactions. ``"importance_path"``:
            importances by number of terms. ``"history"``: importances of the terms and of the
            shadows in the rounds of Boruta. ``"risk_groups"``: survival in the groups of
            :meth:`risk_groups`, observed and predicted, with the numbers at risk. Where terms are
            grouped, a group counts as one.
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

        return plot(self, kind, term=term, other=other, ax=ax)

    def report(
        self,
        path: str | os.PathLike[str],
        template: str | os.PathLike[str] | None = None,
        *,
        performance: Performance | None = None,
        coefficients: CoefficientStability | None = None,
        linear: GlmFit | None = None,
        sections: Iterable[str] | None = None,
        digits: int | None = None,
    ) -> Path:
        """Write a report: one self-contained HTML file, or Markdown.

        For times to an event it includes :meth:`risk_groups`, which refits the final model in ten
        folds.

        Parameters
        ----------
        path : path
            File to write. An existing file is replaced atomically. With the suffix ``.md`` it is
            GitHub-flavoured Markdown, with the text and tables of the page and no figures.
        template : path, optional
            A jinja2 template that extends ``templates/report.html.j2`` and chooses its sections, or
            a modified copy of it; the first lines of that file explain how.
        performance : Performance, optional
            The result of :meth:`performance`, shown in its own section.
        coefficients : CoefficientStability, optional
            The result of :meth:`coefficient_stability`, shown in its own section.
        linear : GlmFit, optional
            The result of ``refit("glm")``, shown in its own section with tests of its terms.
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
            If the file can't be written or would be neither HTML nor Markdown (``.docx``,
            ``.pdf``), there is no such template or section or the template can't be rendered, or
            `performance`, `coefficients` or `linear` belong to another fit.
        """
        from treeselect.printing import chosen_digits
        from treeselect.reports.pages import write_report

        own = None if template is None else file_path(template, name="template")
        with chosen_digits(check_digits(digits)):
            return write_report(
                self, file_path(path), own, performance, coefficients, sections, linear
            )

    def __repr__(self) -> str:
        from treeselect.results.short import fit_lines

        return "\n".join(fit_lines(self))

    def _repr_html_(self) -> str:
        from treeselect.reports.notebook import fit_html

        return fit_html(self)
