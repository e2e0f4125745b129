"""The result of a selection, with all that can be done with it.

Each method is a call of the room that does the work; the file is long for what they document.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import check_digits, check_flag, read_seed
from treeselect.arguments.paths import file_path
from treeselect.designs.modeldata import ModelData
from treeselect.designs.scoring import Scoring
from treeselect.engine.random import stream_seed
from treeselect.errors import ModelFileError, OptionError
from treeselect.resampling.asked_folds import in_own_groups, with_groups
from treeselect.resampling.assessing import assess
from treeselect.resampling.folds import Folds, Splitter
from treeselect.resampling.resampled import Scheme
from treeselect.running.checkpoint import read_checkpoint
from treeselect.running.machine import memory_is_told
from treeselect.running.parallel import Workers, check_n_jobs, workers_for
from treeselect.running.pieces import Course, Piece, check_on_piece

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.conditional import ConditionalImportance
    from treeselect.resampling.inference import Inference
    from treeselect.resampling.learning_curve import LearningCurve
    from treeselect.resampling.performance import Performance
    from treeselect.resampling.risk_groups import RiskGroups
    from treeselect.results.citation import Citation


from treeselect.results.readable import ReadableFit


@dataclass(frozen=True, slots=True)
class SelectionResult(ReadableFit):
    """Selected terms, the path that led to them, and the model refitted on them.

    Made by :func:`treeselect.select`; not changed by any of its methods. Its attributes are those
    of :class:`treeselect.resampling.fit.Fit`.
    """

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
            a multinomial logit, on formulaic's full-rank columns with an intercept; for times Cox's
            proportional hazards model, with a table of hazard ratios. Or an estimator of
            scikit-learn, for times of scikit-survival, which is cloned and fitted on formulaic's
            one-hot columns.
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
            For ``"glm"``: ``.result``, that of statsmodels (for times ``.result.phreg()`` is);
            ``.summary()``, ``.tidy()``, with ``exponentiate=True`` odds, rate or hazard ratios;
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
            If the linear model did not converge, its terms separate the classes, or its likelihood
            has no maximum.

        Notes
        -----
        Whole case weights are copies of rows for statsmodels, too (``freq_weights``), others are
        relative (``var_weights``, divided by their mean). Columns that are sums of others are left
        out, as in R, and named. An estimator gets missing numbers as they are if it says that it
        allows them; otherwise medians of the training rows stand in for them, with a column for
        each number that tells where.

        Cox's model has Efron's ties, the strata of the formula and late entries, and is fitted as
        R's ``coxph`` does it, case weights included: an event of weight 2 is one event, not two
        that tie. statsmodels' ``PHReg``, which takes no weights, has the same coefficients.
        scikit-survival's estimators get a structured array of ``event`` and ``time``; they can't be
        fitted where there are strata or late entries.
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
        checkpoint: str | os.PathLike[str] | None = None,
        on_piece: Callable[[Piece], object] | None = None,
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
            whole groups are in one part, the folds that choose `k` and the bags of the method keep
            them together, and standard errors are cluster-robust. The fit's by default. A column
            that is neither the fit's nor behind the terms needs `data`.
        checkpoint, on_piece : path, callable, optional
            As in :meth:`resample`; a piece is the selection of a split.
        data : frame or path, optional
            The data of the fit, needed if the model was loaded from a file without them.
        weights, offset : sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        Inference
            ``.tidy()``, ``.summary()``, ``.n_splits``. If it is stopped (Ctrl-C), of the splits
            that are finished, if these are two or more; ``.partial`` is True then.

        Raises
        ------
        OptionError
            If an argument is not allowed, or a part has too few rows or groups.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process can't be given its work.

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
        classes, a likelihood without a maximum, columns of a term that are sums of those of others,
        too few rows. The summary counts such splits.

        With groups, rows of one patient on both sides would make the second part a repetition of
        the first, and rows counted one by one would make its standard errors too small. These are
        cluster-robust [2]_ with t and F tests of G - 1 degrees of freedom for G groups, in all
        families; those of Cox's model are R's ``coxph(cluster=)`` times ``sqrt(G / (G - 1))``. They
        need many groups (50 or more to fit on), and more than the model has coefficients, with no
        column or level that occurs in one group alone: otherwise the split fails.

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
        from treeselect.resampling.inferring import infer

        course = self._course(n_jobs, checkpoint, on_piece)
        here, folds = self._in_groups(fold_groups, data, weights, offset)
        return infer(
            self,
            here,
            split=split,
            repeats=repeats,
            seed=self.seed if seed is None else read_seed(seed),
            gamma_min=gamma_min,
            level=level,
            folds=folds,
            course=course,
        )

    @memory_is_told()
    def _with_data(
        self, data: Any, weights: Sequence[float] | None, offset: Sequence[float] | None
    ) -> ModelData:
        """The rows of the fit, in its groups where these are known."""
        here = self.design.again(data, weights, offset)
        return in_own_groups(here, self.choice.folds, data)

    def _in_groups(
        self,
        fold_groups: Any,
        data: Any,
        weights: Sequence[float] | None,
        offset: Sequence[float] | None,
    ) -> tuple[ModelData, Folds]:
        """Rows and folds of the fit, in other groups if they are given."""
        here = self._with_data(data, weights, offset)
        return with_groups(here, self.choice.folds, fold_groups, data)

    # --- stability ---

    def resample(
        self,
        n: int = 100,
        *,
        scheme: Scheme = "bootstrap",
        k: int | None = None,
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
            Rows (or groups) with replacement; half of them; both halves of a split in turn.
        k : int, optional
            Units to select on each resample; the fit's by default (where the fit's tuning value
            was given, that value).
        path : bool or int
            Units up to which the path is followed on each resample, for ``stability.path()`` and
            ``stability.q_values()``; True for as many as q-values look at, at least `k`. False,
            the default, does not record it. Where it is followed `k` is a size of that path.
        seed : int, optional
            The fit's by default.
        n_jobs : int, optional
            The fit's by default; the answer does not depend on it.
        fold_groups : str or array, shape (n_rows,), optional
            Column or array, for example of patients or sites: whole groups are drawn in place of
            rows, each with all its rows, and so they are in the bags of the method. The fit's by
            default. A column that is neither the fit's nor behind the terms needs `data`.
        effects : bool
            Fit the model of each resample, too, for the intervals of :meth:`effects` and
            :meth:`interactions` and the bands of :meth:`shape`; summary, tables, report and model
            files then have them. It takes the time of one more forest, of forty predictions of each
            term for up to 1000 rows, and of up to 36 of each pair of the first ten for up to 200.
        checkpoint : path, optional
            Folder for what is finished, a small file for each resample; made if it is not there.
            A call that was killed or stopped goes on from there: the next one on the same data,
            with the same fit (give `select` a `seed`), takes the resamples that it finds, and ends
            with the numbers of a call that nobody disturbed. More resamples may be asked for than
            before, and several calls may share a folder. Files that are damaged or of others are
            not used, which a warning tells. If they can't be written, the call goes on.
        on_piece : callable, optional
            Called with a :class:`treeselect.running.pieces.Piece` after each resample, those from
            `checkpoint` included. What it raises ends the call; KeyboardInterrupt stops it as
            Ctrl-C does.
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
            If memory runs out, or a process can't be given its work.

        Notes
        -----
        If it is stopped (Ctrl-C), it returns what is finished, if these are two resamples or more
        (of complementary ones, pairs): ``.stability.partial`` is True then, and summary and report
        say so. Otherwise KeyboardInterrupt is raised, as ever.

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

        course = self._course(n_jobs, checkpoint, on_piece)
        own_seed = self.seed if seed is None else read_seed(seed)
        effects = check_flag("effects", effects) and bool(self.selected)
        here, folds = self._in_groups(fold_groups, data, weights, offset)
        method = self.chosen_method if k is None else self.chosen_method.tuned(None)
        known = dataclasses.replace(self, design=here)
        points = effect_points(known) if effects else None
        found, readings = assess(
            here.problem_for(method),
            method,
            here.row_weights,
            self.step.selected,
            n_resamples=n,
            k=self.k if k is None else k,
            scheme=scheme,
            path=path,
            seed=stream_seed(own_seed, "stability"),
            groups_name=folds.groups_name,
            probes=None if points is None else points.probes,
            grow=None if points is None else growing(self),
            course=course,
        )
        record = None if points is None else make_record(known, points, readings)
        return dataclasses.replace(self, resampled=found, effect_record=record)

    def coefficient_stability(
        self,
        n_jobs: int | None = None,
        *,
        fold_groups: str | Sequence[Any] | None = None,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> CoefficientStability:
        """Fit the linear model of what each resample selected, to that resample.

        How much of a coefficient, and of its uncertainty, is owed to the selection: the table that
        Heinze, Wallisch and Dunkler [1]_ recommend beside every selected model.

        Parameters
        ----------
        n_jobs : int, optional
            The fit's by default; the answer does not depend on it.
        fold_groups : array, shape (n_rows,), optional
            The groups of rows, if :meth:`resample` was given an array of them.
        data : frame or path, optional
            The data of the fit, needed if the model was loaded from a file without them.
        weights, offset : sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        CoefficientStability
            ``.tidy()``, ``.summary()``; for :meth:`report`, as `coefficients`.

        Raises
        ------
        StabilityError
            If there are no resamples yet, or the call that drew them was stopped.
        OptionError
            If an argument is not allowed, or groups are needed and not given.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process ends before its work is done or can't be given it.

        Notes
        -----
        The linear model is that of ``refit("glm")``, of the resample's rows and of the terms that
        were selected there. With b the coefficient on a resample, 0 where its term is not selected,
        and f that of the full model, which has all terms and is fitted to all rows:

        - RMSD ratio: ``sqrt(mean((b - f)^2))`` over all resamples, over the standard error of f
          (cluster-robust if the fit has `fold_groups`).
        - Relative conditional bias: ``mean(b) / f - 1`` over the resamples that selected the term.
        - Quantiles of b over all resamples.

        The full model is taken to be unbiased. Where it can't be fitted, as with more terms than
        rows, what is compared with it is missing. Halves of the rows serve as well as the
        bootstrap: an estimate on half of the rows is about as far from that on all of them.

        A level of a factor that a resample happens not to hold has no coefficient there; a
        resample whose linear model can't be fitted has none at all (classes that are separated,
        terms that can't be told apart). Both are counted, and not taken for 0.

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

        stability, name = self.stability, self.choice.folds.groups_name
        if fold_groups is None and stability.groups_name != name:
            if not isinstance(stability.groups_name, str):
                raise OptionError(
                    "`fold_groups` must be given: `resample()` was given an array of groups, which"
                    " are not kept.\n  Give the same again."
                )
            fold_groups = stability.groups_name
        here, _ = self._in_groups(fold_groups, data, weights, offset)
        return coefficient_stability(self, here, stability, self._workers(n_jobs))

    def _workers(self, n_jobs: object) -> Workers:
        """Those asked for, else those of the fit."""
        asked = check_n_jobs(n_jobs)
        return workers_for(self.n_jobs if asked is None else asked)

    def _course(
        self,
        n_jobs: object,
        checkpoint: object,
        on_piece: Callable[[Piece], object] | None,
    ) -> Course:
        """How pieces are done."""
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
        """How well the whole procedure predicts new rows: selection repeated inside each fold.

        In each fold the path, the choice of `k` by the rule of the fit (with folds of the training
        rows alone, if it needs any) and the model are made anew, and scored on the held-out rows.
        The fit is not changed.

        Parameters
        ----------
        folds, repeats : int, splitter or array of int; int
            As in :func:`treeselect.select`: how rows are held out to be predicted.
        fold_groups : str or array, shape (n_rows,), optional
            Whole groups are held out; the fit's by default. A column that is neither the fit's nor
            behind the terms needs `data`. The selection in each fold, as in the fit, keeps the
            fit's own groups together, if it has any.
        inner_folds : int, splitter or array of int, optional
            Folds of the training rows that choose `k`; as in the fit by default. They keep the
            fit's groups together, too.
        scoring : str or callable, optional
            Score on the held-out rows; the fit's, which also chooses `k`, by default.
        seed : int, optional
            The fit's by default.
        n_jobs : int, optional
            The fit's by default; the answer does not depend on it.
        checkpoint, on_piece : path, callable, optional
            As in :meth:`resample`; a piece is a fold.
        data : frame or path, optional
            The data of the fit, needed if the model was loaded from a file without them.
        weights, offset : sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        Performance
            ``.mean``, ``.standard_error``, ``.tidy()``, ``.glance()``, ``.summary()``. If it is
            stopped (Ctrl-C), of the folds that are finished, if these are two or more; ``.partial``
            is True then.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the rows can't be split.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process can't be given its work.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
        >>> 0.7 < fit.performance(folds=3).mean < 0.8
        True
        """
        from treeselect.resampling.measuring import measure

        return measure(
            self,
            folds,
            repeats=repeats,
            fold_groups=fold_groups,
            inner_folds=inner_folds,
            scoring=scoring,
            seed=self.seed if seed is None else read_seed(seed),
            course=self._course(n_jobs, checkpoint, on_piece),
            data=data,
            weights=weights,
            offset=offset,
        )

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
        """What each term tells that the other selected ones do not, with a test on held-out rows.

        In each fold a forest is grown on the selected terms, and one more without each of them
        (leave-one-covariate-out [1]_); importance is what the score on the held-out rows loses.
        Factors and groups are left out whole. The model of the fit has no part in it.

        Parameters
        ----------
        folds : int, splitter or array of int
            As in :func:`treeselect.select`: how rows are held out to be predicted.
        repeats : int, optional
            How often so many folds are drawn, which makes the test less a matter of the draw; 5 by
            default where `folds` is a number, else 1.
        terms : str or sequence of str, optional
            Terms or groups to test. Those that are not selected are added to the selected ones
            instead. All selected ones by default.
        fold_groups : str or array, shape (n_rows,), optional
            Whole groups are held out; the fit's by default. A column that is neither the fit's nor
            behind the terms needs `data`.
        scoring : str or callable, optional
            Score on the held-out rows; the fit's by default.
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
        ConditionalImportance
            ``.tidy()``, ``.summary()``.

        Raises
        ------
        OptionError
            If an argument is not allowed, nothing is selected and `terms` is not given, or the
            rows can't be split.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process can't be given its work.

        Notes
        -----
        Intervals and one-sided p-values are those of the corrected resampled t test [2]_. They
        take the terms as given: of terms that were picked from many on the same rows importances
        are too large and p-values too small. :meth:`inference` tests on rows that the selection
        has not seen.

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
        from treeselect.resampling.leaving_out import leave_out

        return leave_out(
            self,
            folds,
            terms=terms,
            repeats=repeats,
            fold_groups=fold_groups,
            scoring=scoring,
            seed=self.seed if seed is None else read_seed(seed),
            workers=self._workers(n_jobs),
            data=data,
            weights=weights,
            offset=offset,
        )

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
        """Survival in groups of rows of rising predicted risk, and whether predictions agree with
        what happened.

        In each fold the model that predicts is refitted to the selected terms on the training rows
        (a forest where the fit itself predicts by a sparse forest), and tells the risk and the
        survival of the held-out rows. Groups are cut at the quantiles of these risks.

        Parameters
        ----------
        n_groups : int
            From 2 to 20. Rows of equal risk stay together, so that there may be fewer.
        horizon : float, optional
            Time at which predicted and observed survival are compared, above 0 and not after the
            last time under observation; the median time of the events by default.
        folds : int, splitter or array of int
            As in :func:`treeselect.select`: how rows are held out to be predicted.
        fold_groups : str or array, shape (n_rows,), optional
            Whole groups are held out; the fit's by default. A column that is neither the fit's nor
            behind the terms needs `data`.
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
        RiskGroups
            ``.tidy()``, the curves of Kaplan and Meier with the numbers at risk;
            ``.calibration()``, predicted and observed survival at the horizon; ``.summary()``.

        Raises
        ------
        OptionError
            If the response is not times until an event, an argument is not allowed, or the rows
            can't be split.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process can't be given its work.

        Notes
        -----
        The terms are taken as given. They were selected on all rows: where they were picked from
        many, the groups lie further apart than those of new rows would.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load_gbsg2()
        >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=2, seed=1)
        >>> fit.risk_groups(folds=3).calibration()["group"].to_list()
        ['low', 'middle', 'high']
        """
        from treeselect.results.risk import risk_groups_of

        return risk_groups_of(
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
        """Would more rows help? Score and stability of the whole selection by the number of rows.

        In each fold the selection, with the rule of the fit for `k`, is made anew from parts of the
        training rows, a smaller one within each larger one, and scored on the same held-out rows.
        The fit is not changed.

        Parameters
        ----------
        shares : sequence of float
            Of the training rows of each fold (of each class that share, and whole groups where
            there are any), rising, above 0, at most 1.
        folds, repeats : int, splitter or array of int; int
            As in :meth:`performance`.
        fold_groups : str or array, shape (n_rows,), optional
            As in :meth:`performance`.
        inner_folds : int, splitter or array of int, optional
            Folds of the rows of a part that choose `k`; as in the fit by default.
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
        LearningCurve
            ``.tidy()``, a row per share; ``.words``, what the last rows have brought.

        Raises
        ------
        OptionError
            If an argument is not allowed, the rows can't be split, or a part is too small.
        DataError
            If the data are needed and not given, or are not those of the fit.
        OutOfMemoryError, WorkerError
            If memory runs out, or a process ends before its work is done or can't be given it.

        Notes
        -----
        The stability index is that of the sets that the folds select. Parts of different folds have
        rows in common, and the more the larger they are, which alone makes their sets more alike.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> curve = fit.learning_curve([0.5, 1], folds=3)
        >>> list(curve.tidy()["rows"].round())
        [437.0, 873.0]
        """
        from treeselect.resampling.learning import learn

        n_jobs = check_n_jobs(n_jobs)
        return learn(
            self,
            shares,
            folds,
            repeats=repeats,
            fold_groups=fold_groups,
            inner_folds=inner_folds,
            seed=self.seed if seed is None else read_seed(seed),
            workers=self._workers(n_jobs),
            data=data,
            weights=weights,
            offset=offset,
        )

    # --- citation ---

    def citation(
        self,
        performance: Performance | None = None,
        *,
        data: Any = None,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> Citation:
        """What to write of this selection in a paper, and what to cite.

        Parameters
        ----------
        performance : Performance, optional
            What :meth:`performance` found, whose score then stands in the paragraph.
        data : frame or path, optional
            The data of the fit, for counts and the fingerprint if the model was loaded from a file
            without them.
        weights, offset : sequence of float, optional
            Case weights and offset that go with `data`, if the fit had arrays of them.

        Returns
        -------
        Citation
            Prints as text. ``.methods``, a paragraph with the numbers in it; ``.limitations``,
            those that apply to this fit; ``.references`` and ``.bibtex``; ``.call``, ``.seed``;
            ``.versions`` of the software that is installed now; ``.fingerprint`` of the data:
            SHA-256 of the response, the columns behind the candidate terms, case weights and
            offset, with their names, of the rows that are used, in their order. It is the same for
            any order of the columns, in any library, on any machine; None without the data.

        Raises
        ------
        OptionError
            If `performance` is not that of this fit, or weights or an offset do not fit.
        DataError
            If `data` are not those of the fit.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
        >>> found = fit.citation()
        >>> found.methods.split(". ")[1:3]
        ['The number of terms was fixed at 1', '1 term was selected: sex']
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
            ``"terms"``, the default: importances of the selected units, and with resamples their
            selection frequencies with intervals, and those of the most frequent other units.
            ``"path"``: score against the number of units. ``"importance"``: of the selected units.
            ``"stability"``: selection frequencies with their intervals. ``"correlation"``: how
            strongly selected terms go together in the data, by the absolute rank correlation of
            numbers, the correlation ratio of a number and a factor, and Cramer's V of two factors.
            ``"substitutes"``: what stood in for selected units on resamples without them.
            ``"shape"``: the effect of `term`, or a map of `term` and `other`.
            ``"interactions"``: sizes of the largest. ``"importance_path"``: importances against
            the number of units. ``"history"``: importances in the rounds of a method that decides
            by itself, with those of the shadows. ``"risk_groups"``: survival in the groups of
            :meth:`risk_groups`, with the numbers at risk, and what is predicted.
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
        >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=2, seed=1)
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
        coefficients: CoefficientStability | None = None,
        sections: Iterable[str] | None = None,
        digits: int | None = None,
    ) -> Path:
        """Write an HTML report: one file that opens without a network.

        On times until an event it shows :meth:`risk_groups`, for which the model is refitted in ten
        folds.

        Parameters
        ----------
        path : path
            File to write; replaced if it exists, whole or not at all.
        template : path, optional
            A jinja2 template of one's own, which extends ``templates/report.html.j2`` and chooses
            its sections, or is a copy of it; how is said in the first lines of that file.
        performance : Performance, optional
            What :meth:`performance` found, for a section of its own.
        coefficients : CoefficientStability, optional
            What :meth:`coefficient_stability` found, likewise.
        sections : list of str, optional
            Which sections follow the answer, in this order, such as
            ``["terms", "path", "stability"]``; by default all that have something to say. Their
            names are those of the blocks of ``templates/report.html.j2``; a name that is none is
            answered with a list. Not together with `template`.
        digits : int, optional
            As of :meth:`summary`, and significant digits of coefficients.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        OptionError
            If the file can't be written, there is no such template or section or the template
            can't be rendered, or `performance` or `coefficients` are not those of this fit.
        """
        from treeselect.printing import chosen_digits
        from treeselect.reports.pages import write_report

        own = None if template is None else file_path(template, name="template")
        with chosen_digits(check_digits(digits)):
            return write_report(self, file_path(path), own, performance, coefficients, sections)

    def __repr__(self) -> str:
        from treeselect.results.short import fit_lines

        return "\n".join(fit_lines(self))

    def _repr_html_(self) -> str:
        from treeselect.reports.notebook import fit_html

        return fit_html(self)
