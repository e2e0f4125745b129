"""``select()``, which few terms of a formula predict the response; and ``load()`` of saved fits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from treeselect.arguments.checks import USUAL_METHOD, USUAL_SIZE, check_flag, file_path
from treeselect.coding import FORMAT, LINEAR_FORMAT, read_record
from treeselect.designs.problem import FinalModel
from treeselect.designs.scoring import Scoring
from treeselect.errors import FormulaError, ModelFileError, quoted, reason, said_by
from treeselect.modelfile.restored import restored
from treeselect.modelfile.saved import SavedFit
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Splitter
from treeselect.result import SelectionResult
from treeselect.results.fitting import fit_selection
from treeselect.results.linear_file import SavedLinear, linear_parts
from treeselect.results.linear_model import GlmFit
from treeselect.running.machine import warn

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from treeselect.imputing import ImputedSelection


@overload
def select(
    formula: str, data: list[Any] | tuple[Any, ...], **arguments: Any
) -> ImputedSelection: ...


@overload
def select(formula: str, data: Any, **arguments: Any) -> SelectionResult: ...


def select(
    formula: str,
    data: Any,
    *,
    method: Any = USUAL_METHOD,
    k: int | Literal["auto", "1se", "best"] | None = USUAL_SIZE,
    family: str = "auto",
    weights: str | Sequence[float] | None = None,
    offset: str | Sequence[float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Iterable[str] | str | None = None,
    monotone: Mapping[str, int] | None = None,
    model: FinalModel | BaseEstimator | None = None,
    resamples: int | None = None,
    folds: int | Splitter | Sequence[int] | None = None,
    fold_groups: str | Sequence[Any] | None = None,
    scoring: Scoring = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> SelectionResult | ImputedSelection:
    """Select the terms of a formula that are needed to predict the response.

    `method` orders the candidate terms along a selection path, `k` determines how many of them are
    selected, and a final model of the selected terms makes the predictions.

    Parameters
    ----------
    formula : str
        R formula: ``"y ~ . - id"``, ``"log(price) ~ C(zip) + age"``. Terms are selected, not
        columns: a factor enters or leaves the model as a whole. Right-censored times are
        ``"Surv(time, event) ~ ."``; rows under observation after ``start`` and up to ``stop`` are
        ``"Surv(start, stop, event) ~ ."``. The event is logical, 0 and 1, or a named level: in
        ``Surv(time, status == "dead")`` all other levels are censored. ``+ strata(site)`` gives
        each site, or each combination of several columns, its own baseline hazard; strata are not
        selected.
    data : frame, path, or list of these
        One row per observation: a pandas, polars (eager or lazy) or pyarrow table, a DuckDB
        relation, or the path of a file: CSV, Parquet, Feather, Stata, SPSS, SAS or Excel, as in
        :func:`treeselect.read`. Tables of results are in the same library. A folder of Parquet
        files, a pattern such as ``"folder/*.parquet"``, an Arrow dataset, a DuckDB relation and a
        Dask DataFrame are read in batches and may be larger than memory: see `rows`. Missing values
        are allowed in all columns; a row is dropped only if its response or stratum is missing.
        A list of frames is read as multiple imputations of the same rows, see the notes.
    method : str, method or selector
        A name in ``treeselect.methods()``: ``"exchange"``, ``"controlburn"``, ``"rrf"``,
        ``"grrf"``, ``"rboost"``, ``"gbfs"`` and the baselines; an object such as
        ``ControlBurn(forests=1)``; or a scikit-learn selector such as ``SelectKBest()``
        (:class:`treeselect.ForeignSelector` has the options).
    k : int, "auto", "1se", "best" or None
        Number of terms to select; a group of `groups` counts as one. ``"auto"``, the default, is
        the fewest terms such that no larger set is found to predict better, by tests that count the
        search; it may be 0. ``"1se"``, the default if `folds` or `repeats`
        are given, is the smallest number whose cross-validated score is within one standard error
        of the best score, ``"best"`` the number with the best score. All consider at most 30. None
        leaves the number to the tuning parameter of the method, and is implied if that is given. If
        no set on the path has the size, the next larger one is cut to it. Methods that determine
        the set themselves (``"boruta"`` and some scikit-learn selectors) do so by default; an
        integer `k` cuts it.
    family : {"auto", "gaussian", "binomial", "multinomial", "ordinal", "poisson", "cox"}
        ``"auto"`` treats text, logical values, categories and numbers that are all 0 or 1 as
        classes, two (binomial) or more (multinomial), and other numbers as gaussian; counts need
        ``"poisson"``. ``"ordinal"``: more than two classes in their order (numbers, or an ordered
        categorical). Scores and exchange search compare the probabilities of at most each class
        (ranked probability score, Epstein 1969); other methods ignore the order. The positive of
        two classes is `positive`, by default 1, True, the last category, or else the second in
        sorted order. A ``Surv()`` response is cox, with proportional hazards: methods use the
        partial likelihood (Efron's method for ties, weights as in R's ``coxph``, risk sets within
        strata) or its gradients, the martingale residuals; forests split these log-rank scores.
    weights : str or array of float, shape (n_rows,), optional
        Column or array of case weights, at least 0. A row of weight 0 is ignored. The column is
        excluded from ``.``. Weights that are all equal have no effect, unless `weights_kind` is
        ``"frequency"``. Parameters of transforms in the formula (a mean, knots) are estimated
        without weights other than frequencies.
    offset : str or array of float, shape (n_rows,), optional
        Column or array with a known component of the linear predictor, which is added and not
        selected. It is on the link scale: the scale of the response if that is gaussian, the log
        odds for two classes, the log of the exposure for counts, the log hazard for survival; more
        than two classes have none. Prediction needs it too. The column is excluded from ``.``.
    groups : dict of str to list of str, optional
        Terms (or variables) that enter and leave the model together, at one cost.
    costs : dict of str to float, optional
        Cost of a term, of a variable (once for all its terms) or of a group: 0, or from 1e-100 to
        1e100; 1 by default.
    keep : str or list of str, optional
        Terms, variables or groups that are forced in. They count towards `k`.
    monotone : dict of str to int, optional
        Terms with which predictions must not decrease (1) or must not increase (-1), whatever the
        known values of the other terms: ``{"age": 1, "dose": -1}``. The constraint is on the mean,
        the probability of the positive class, the rate, or the hazard. Terms must be numbers of one
        column. The trees of all methods and of the final model observe it; methods without trees
        ignore it in the selection. A split on the term must order the values of its children, whose
        mean bounds all values below it (the "basic" method of LightGBM). A missing value has no
        place in the order; an imputed one follows the others. More than two classes are refused.
    model : {"stack", "forest", "boosting", "glm", "gam"} or estimator, optional
        The final model of the selected terms: what predicts, and what the scores of sets,
        ``.performance()``, effects and the report are of. ``"forest"`` is a random forest,
        ``"stack"`` an additive model plus a forest of what it leaves, ``"boosting"`` gradient
        boosting. ``"glm"`` is the generalised linear model of ``.refit("glm")`` (for times, a Cox
        model), ``"gam"`` the same with restricted cubic splines of numbers ([2]_, equation 2.25:
        four knots at quantiles, three where these coincide); in both a missing number is the
        median, with an indicator, and a missing level is a level, so that every row has a
        prediction. An estimator of scikit-learn, or a pipeline of such, is fitted as a copy to the
        columns of ``"glm"``, not standardised; missing numbers are passed on if it takes them, and
        each ``random_state`` of None is set from the seed. A classifier needs ``predict_proba``;
        offsets and times to an event are refused. None is the method's own: of exchange search
        the stack, of most methods a forest. The selection path does not depend on it, the size only
        where scores choose it.
    resamples : int, optional
        Number of resamples to assess stability, 2 to 100,000; 0 for none: bootstrap resamples or,
        with ``k="auto"``, random halves of the rows in complementary pairs, which also score sets
        by size. Default: 20 halves with ``k="auto"``, otherwise none.
    folds : int, splitter or array of int, shape (n_rows,), optional
        Folds of the cross-validation behind ``"1se"`` and ``"best"``, which alone use them: a
        number of at least 2, with classes or events balanced over the folds (5 by default); a
        scikit-learn splitter such as ``TimeSeriesSplit()``; or the fold number of each row,
        negative for rows that are in every training set. A splitter receives the rows in use (known
        response, positive weight), numbered from 0 in order, and draws with `seed` if its
        ``random_state`` is None. On more than 20,000 rows, exchange search scores its sets on the
        rows that it spares, in parts of this number, unless a splitter or fold numbers are given
        (see its notes).
    fold_groups : str or array, shape (n_rows,), optional
        Column or array that identifies clusters of rows, such as patients or sites. No cluster is
        ever divided: its rows are never in both the training and the held-out rows of a fold, and
        bootstrap samples of trees, resamples and ``inference()`` draw whole clusters. Out-of-bag
        errors, by which the methods and the final forest choose their sizes, are then errors on
        other clusters; boosting stops by held-out clusters; standard errors over rows are computed
        from sums over clusters. For time series give blocks of time, such as months.
        ``folds=TimeSeriesSplit()`` alone prevents folds from using the future, but trees would
        still draw single rows from a correlated series. If such a splitter divides a block, the
        training rows of that block are left out. Each row in use needs a cluster, and there must be
        at least two. The column is excluded from ``.``.
    scoring : str or callable, optional
        Score on held-out rows; greater is better. None is the default of the family: R2, AUC, the
        proportion of deviance (of ordered classes, of the ranked probability score) explained, or
        Harrell's C. Otherwise it is the name of a scikit-learn scorer such as ``"neg_log_loss"``, a
        scorer made by ``make_scorer``, or a function ``scorer(y_true, prediction)``, which receives
        ``sample_weight`` if it accepts that. Classes are then numbered from 0, of two the positive
        one is 1; the prediction is the mean, the probability of class 1, or one column per class.

        For survival, ``y_true`` is a structured array with the fields ``event`` and ``time``, as in
        scikit-survival, and with ``start`` and ``stratum`` if the formula has them; the prediction
        is the relative risk. Scores by name are ``"harrell_c"``; ``"uno_c"``, concordance weighted
        by the inverse squared probability of being under observation, for the events before the
        time by which 90% of them occur; ``"integrated_brier"``, 1 - IBS / (IBS without terms) from
        the first event to that time, with Efron's hazard and the weights estimated from the
        training rows; and ``"cox_deviance"``, the proportion of the partial-likelihood deviance
        explained, with risk sets of the scored rows. ``"uno_c"`` and ``"integrated_brier"`` need
        rows without a start.
    seed : int, optional
        Seed of all randomness, 0 to 2**64 - 1. The same seed gives the same result for every
        `n_jobs` and every order of the columns. None draws a seed, which the summary reports.
    n_jobs : int, optional
        Number of processes for folds and resamples, counted as in joblib; None follows
        ``joblib.parallel_config``, and otherwise uses this process alone.
    **options
        Options of the method, for example ``n_trees=200``, and the arguments below.

    Other Parameters
    ----------------
    weights_kind : {"frequency", "sampling", "precision"}, optional
        ``"frequency"``: counts of identical rows. A weight of 2 stands for two observations, which
        `rows`, bootstrap samples, folds and resamples draw one by one: a table of counts gives the
        result of the rows that it counts. If the copies are of one observation, give its number as
        `fold_groups`, so that they stay together. More than a million observations, and four per
        row, are drawn in lots of equal rows.
        ``"sampling"``: inverse probabilities of selection, such as survey weights. Weights are
        relative, each row counts once wherever rows are counted (minimum leaf size, draws of
        resamples), and standard errors of linear models are robust. ``"precision"``: inverse
        variances; relative too, with model-based standard errors. None reads whole numbers with a
        mean of at most 10 as frequencies, whole numbers with a larger mean as sampling weights
        (with a TreeselectWarning), and other numbers as precision weights.
    repeats : int, optional
        Number of repeats of that cross-validation, 1 (the default) to 10,000, if `folds` is a
        number. Repeats are not independent: the standard error is the standard deviation over all
        folds of all repeats, divided by the square root of the number of folds in one repeat
        (Bengio and Grandvalet 2004).
    positive : class of the response, optional
        The positive one of two classes: probabilities, scores and odds ratios are of it.
    new_levels : {"error", "missing", "other"}
        How `predict` treats factor levels that are not in `data`.
    trusted : bool
        Allow any Python expression in the formula. Never set it for a formula from elsewhere.
    labels : dict of str to str, optional
        Labels of columns in summaries, reports, figures and tables for print:
        ``{"wbc": "White blood cells (10^9/l)"}``. The label of a term with several variables is
        composed of theirs; a term can have its own:
        ``{"log(wbc)": "White blood cells, log scale"}``. Frames, errors and the formula keep the
        names. None, or empty text, is no label. Labels in the data are used where none is given
        here: those of a pandas frame in ``data.attrs["labels"]`` or ``["variable_labels"]`` (a
        dictionary), also as read by ``read_spss`` or kept by pandas in a Parquet or Feather file,
        the metadata ``label`` of the fields of an Arrow table or file, and those of Stata, SPSS and
        SAS files.
    na : str, number, list or dict, optional
        Codes for missing values: ``na="?"``, ``na=[-9, "n/a"]``, or by column,
        ``na={"income": [8, 9], "smoker": "unknown"}``. Text is compared with text, without the
        blanks around it, and numbers with numbers. A column of text that holds nothing but numbers
        without its codes becomes numeric. The codes hold for new data, too.
    missing : {"level", "impute", "drop"}, optional
        What becomes of missing values of the candidate terms. ``"level"``: a missing label is a
        level, and a missing number may go to either side of a split. ``"impute"``: a missing value
        is the one expected from the other terms, see the notes. ``"drop"``: a row with a missing
        value has no part in any training, but is predicted and scored.
        ``compare([fit.update(missing=rule) for rule in ("level", "impute", "drop")])`` puts them
        side by side.
    rows : int, optional
        Most rows to select on, at least 20. Of more rows a sample of that size is drawn with
        `seed`, without replacement and in proportion to strata of the response: its classes, ten
        quantile groups of numbers, events of times; with `fold_groups`, whole clusters of about so
        many rows. Search, path and final model see the sample alone; levels of text and bins of
        numbers are those of all rows. ``.search.held_out`` is the score of the final model on the
        other rows, which had no part in the selection. None uses all rows in memory, and 200,000 of
        data that are read in batches (see `data`); ``docs/large_data`` says what this costs.
    progress : bool, optional
        Show progress on standard error; None shows it in a terminal only.

    Returns
    -------
    SelectionResult
        The selected terms are ``.selected``. ``.summary()`` prints the result, ``.report(path)``
        writes it as a page, ``.predict(new)`` uses the final model. ``.performance()`` gives the
        score by nested cross-validation, ``.resample(100)`` the stability of the selection.
    ImputedSelection
        For a list of frames: ``.selected``, ``.tidy()``, ``.glance()``, ``.pooled()``,
        ``.summary()``; ``.fits`` holds the selection on each frame.

    Raises
    ------
    FormulaError
        If the formula can't be read, names unknown columns, or would run code.
    DataError
        If the data can't be used as they are.
    OptionError, MethodError
        If an argument, the method, or one of its options is not allowed.
    StabilityError
        If the response is constant on a resample.
    OutOfMemoryError, WorkerError
        If memory runs out, or a process ends before its work is done or can't be given it.

    Notes
    -----
    *Imputation inside.* ``missing="impute"`` is regression imputation: numbers, as normal scores,
    and indicators of levels have a joint normal distribution, estimated by the EM algorithm ([3]_,
    section 11.2), and a missing value is the one expected from the known ones of its row. It is
    learned anew from the training rows of each fold, resample and bootstrap sample, and from no
    others. The response has no part in it, so that rows are treated in training as they are in
    prediction: where values may also be missing in new data, [4]_ found this preferable. The search
    uses all candidate terms; the final model, and ``predict``, the other selected terms alone. Each
    term counts as a variable of its own: ``log(x)`` is not computed from an imputed ``x``. Of a
    factor times a number, ``sex:log(x)``, what is missing is imputed, and then multiplied. Factors
    of more than 254 levels stay as they are, and all but the 20 most frequent levels count as one.
    There may be 400 numbers and levels in all.
    It is not multiple imputation: tests and intervals take imputed values for known ones, and
    values that are missing because of the response, or of themselves, leave a bias.
    ``refit("glm")`` and ``inference()`` have their own argument `missing`.

    *Imputed frames.* Missing values need no imputation here. If a study is analysed on several
    imputed copies of its data, its selection should not depend on one of them. Each frame is
    searched with the same seed, and the terms that at least half of the imputations select are
    selected: rule S2 of [1]_; :meth:`treeselect.imputing.ImputedSelection.with_share` gives the
    others. All frames must have the same columns, and a response that is missing in one must be
    missing in all. Arrays with one value per row apply to all frames. With `resamples`, which are
    none by default, rows are imputed first and resampled afterwards, independently in each frame.
    From mice's long format, without its rows with ``.imp`` 0, the frames are
    ``[part.drop(columns=[".imp", ".id"]) for _, part in long.groupby(".imp")]``.

    References
    ----------
    .. [1] A. M. Wood, I. R. White, P. Royston (2008). How should variable selection be performed
       with multiply imputed data? Statistics in Medicine 27, 3227-3246.
    .. [2] F. E. Harrell (2015). Regression Modeling Strategies, second edition. Springer.
    .. [3] R. J. A. Little, D. B. Rubin (2019). Statistical Analysis with Missing Data, third
       edition. Wiley.
    .. [4] R. Sisk, M. Sperrin, N. Peek, M. van Smeden, G. P. Martin (2023). Imputation and missing
       indicators for handling missing data in the development and deployment of clinical prediction
       models: A simulation study. Statistical Methods in Medical Research 32, 1461-1477.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, k=3, seed=1)
    >>> fit.k
    3
    >>> "sex" in fit.selected
    True
    """
    given = {
        "method": method, "k": k, "family": family, "weights": weights, "offset": offset,
        "groups": groups, "costs": costs, "keep": keep, "monotone": monotone, "model": model,
        "resamples": resamples, "folds": folds, "fold_groups": fold_groups, "scoring": scoring,
        "seed": seed, "n_jobs": n_jobs, **options,
    }  # fmt: skip
    if isinstance(data, list | tuple):
        from treeselect.imputing import select_imputed

        return select_imputed(data, formula, given)
    return SelectionResult(fit_selection(data, formula, given))


# --- from a model file to a result ----------------------------------------------------------------


def load(path: str | os.PathLike[str], *, trusted: bool = False) -> Any:
    """Load a model that was saved with :meth:`SelectionResult.save` or ``GlmFit.save``.

    Parameters
    ----------
    path : path
    trusted : bool
        Allow any Python expression in the model's formula. This is never stored: set it only for a
        file that you wrote yourself, with a formula that needs it.

    Returns
    -------
    SelectionResult or GlmFit
        What was saved; its predictions are identical. If the file does not hold the data, methods
        of a selection that need them work after :meth:`SelectionResult.with_data`; a linear model
        predicts and has its tables, but no tests of its terms.

    Raises
    ------
    ModelFileError
        If the file is missing, can't be read, is not a model file, is truncated, damaged or
        tampered with, or has another version. Nothing in a model file is run.
    FormulaError
        If its formula needs `trusted`.
    OptionError
        If `trusted` is not True or False.

    Examples
    --------
    >>> import tempfile, treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = treeselect.load(fit.save(f"{folder}/fit.treeselect"))
    >>> bool((again.predict(data) == fit.predict(data)).all())
    True
    """
    trusted = check_flag("trusted", trusted)
    found = _read(file_path(path, error=ModelFileError), trusted=trusted)
    if isinstance(found, GlmFit):
        return found
    lost = found.chosen_method.missing
    if lost is not None:
        warn(lost)
    return SelectionResult(found)


_KINDS: dict[str, type[Any]] = {FORMAT: SavedFit, LINEAR_FORMAT: SavedLinear}


def _read(path: Path, *, trusted: bool) -> Fit | GlmFit:
    try:
        found: Any = read_record(path, _KINDS)
        if isinstance(found, SavedLinear):
            return GlmFit(**linear_parts(found, trusted=trusted))
        return restored(found, trusted=trusted)
    except ModelFileError:
        raise
    except FormulaError as error:
        raise FormulaError(
            f"Can't load {quoted(path.name)}: its formula is not allowed.\n  {error}"
        ) from None
    except MemoryError as error:
        raise ModelFileError(f"Can't read {quoted(path.name)}.\n  {reason(error)}") from None
    except Exception as error:  # untrusted bytes can fail in any way
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it is not a model file, or it is damaged.\n"
            f"  {said_by(error)}"
        ) from None
