"""``select_imputed()`` and the selection that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from treeselect.arguments.checks import (
    USUAL_METHOD,
    USUAL_SIZE,
    check_digits,
    check_resamples,
    described,
    finite,
    read_seed,
)
from treeselect.designs.preparing import Request
from treeselect.engine.random import stream_seed
from treeselect.errors import MethodError, OptionError
from treeselect.frames.tables import in_library, library_of
from treeselect.imputation.record import Imputed, check_alike, in_frame, read_frames
from treeselect.printing import Summarised
from treeselect.result import SelectionResult
from treeselect.results.calls import call_text, given_arguments
from treeselect.selection import select

if TYPE_CHECKING:
    from treeselect.imputation.pooled import PooledFit
    from treeselect.printing import Summary


def select_imputed(
    formula: str,
    frames: Sequence[Any],
    *,
    method: Any = USUAL_METHOD,
    k: int | Literal["auto", "1se", "best"] | None = USUAL_SIZE,
    least_share: float = 0.5,
    resamples: int = 0,
    seed: int | None = None,
    n_jobs: int | None = None,
    **arguments: Any,
) -> ImputedSelection:
    """Select terms on multiply imputed data: those that enough imputations select.

    :func:`treeselect.select` handles missing values directly and needs no imputation. If a study is
    analysed on several imputed copies of its data, its selection should not depend on one of them.

    Parameters
    ----------
    formula : str
        As in :func:`treeselect.select`.
    frames : list of frames or paths
        At least two imputations of the same rows, with the same columns: tables or paths as in
        :func:`treeselect.select`. The response may be imputed too; a row whose response stays
        missing is not used, and it must be missing in all frames. From mice's long format, without
        its rows with ``.imp`` 0, the frames are
        ``[part.drop(columns=[".imp", ".id"]) for _, part in long.groupby(".imp")]``.
    method, k, n_jobs
        As in :func:`treeselect.select`; a rule for `k` is applied to each frame.
    least_share : float
        Share of the imputations that must select a term, above 0 and at most 1. At least half is
        rule S2 of [1]_, all (1) is S3, and any (``1 / len(frames)``) is S1. The paper prefers
        selection by pooled tests, which trees do not have.
    resamples : int
        Number of resamples of each frame to assess stability, 2 to 100,000; 0 for none.
        Rows are imputed first and resampled afterwards, independently in each frame.
    seed : int, optional
        Seed as in :func:`treeselect.select`, the same for each frame, so that selections differ
        because of the imputed values and not because of the random draws of the method.
    **arguments
        Other arguments of :func:`treeselect.select`, including options of the method. Arrays with
        one value per row (`weights`, `offset`, `folds`, `fold_groups`) apply to all frames.

    Returns
    -------
    ImputedSelection
        ``.selected``, ``.tidy()``, ``.glance()``, ``.pooled()``, ``.summary()``; ``.fits`` holds
        the selection on each frame.

    Raises
    ------
    FormulaError
        If the formula can't be read, names unknown columns, or would run code.
    DataError
        If a frame can't be used as it is, or differs from the first in its number of rows, its
        columns, the kind of a column behind the terms, the family or classes of the response, or
        the rows that have a response.
    OptionError, MethodError
        If an argument, the method, or one of its options is not allowed.
    StabilityError
        If the response is constant on a resample.
    OutOfMemoryError, WorkerError
        If memory runs out, or a process ends before its work is done or can't be given it.

    Notes
    -----
    If fewer than `k` units enter the path on a frame, all of these are selected, as in
    :func:`treeselect.select`; the summary names the frame.

    References
    ----------
    .. [1] A. M. Wood, I. R. White, P. Royston (2008). How should variable selection be performed
       with multiply imputed data? Statistics in Medicine 27, 3227-3246.

    Examples
    --------
    Three imputations of age, each drawn from the known ages of passengers of the same class and
    sex. (A proper imputation also uses the response and the other columns, as mice does.)

    >>> import numpy as np
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic")[["survived", "pclass", "sex", "age", "parch"]]
    >>> def imputed(seed):
    ...     rng = np.random.default_rng(seed)
    ...     def draw(ages):
    ...         drawn = rng.choice(ages.dropna(), size=len(ages))
    ...         return ages.where(ages.notna(), drawn)
    ...     return data.assign(age=data.groupby(["pclass", "sex"])["age"].transform(draw))
    >>> frames = [imputed(seed) for seed in range(3)]
    >>> found = treeselect.select_imputed(
    ...     "survived ~ .", frames, method="importance", k=3, n_trees=50, seed=1
    ... )
    >>> sorted(found.selected)
    ['age', 'pclass', 'sex']
    >>> table = found.pooled().tidy().set_index("column")
    >>> bool(table.loc["age", "fmi"] > table.loc["sex[T.male]", "fmi"])
    True
    """
    given = dict(locals())
    frames = read_frames(frames)
    least_share = _check_share(least_share)
    resamples = check_resamples(resamples)
    seed = read_seed(seed)
    if "data" in arguments:
        raise MethodError("`data` must not be given: `frames` are the data.\n  Found: `data=`.")
    names = {field.name for field in fields(Request)}
    asked = {name: value for name, value in arguments.items() if name in names}
    n_rows, n_columns = check_alike(Request(formula, **asked), frames)
    fits = []
    for number, data in enumerate(frames):
        with in_frame(number, len(frames)):
            fit = select(
                formula, data, method=method, k=k, resamples=0, seed=seed, n_jobs=n_jobs,
                **arguments,
            )  # fmt: skip
            if resamples and fit.k > 0:
                fit = fit.resample(resamples, seed=stream_seed(seed, "imputation", number))
                if fit.stability.partial:  # stopped: the other frames have no resamples
                    raise KeyboardInterrupt
        fits.append(fit)
    typed = call_text(select_imputed, frames, given_arguments(given) | {"seed": seed})
    return ImputedSelection(
        fits=tuple(fits),
        least_share=least_share,
        resamples=resamples,
        call=typed.text,
        unshown=typed.unshown,
        data=f"{len(frames)} imputed frames of {n_rows:,} rows and {n_columns:,} columns",
        library=library_of(frames[0]),
    )


def _check_share(least_share: object) -> float:
    found = finite(least_share)
    if found is None or not 0 < found <= 1:
        raise OptionError(
            "`least_share` must be a number above 0 and at most 1: the share of the imputations"
            f" that must select a term.\n  Found: {described(least_share)}."
        )
    return float(found)


@dataclass(frozen=True, slots=True)
class ImputedSelection(Summarised, Imputed):
    """Selection over multiply imputed data: the terms that enough imputations selected.

    Returned by :func:`treeselect.select_imputed`. Its attributes are those of
    :class:`treeselect.imputation.record.Imputed`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic")
    >>> frames = [data.fillna({"age": age}) for age in (20.0, 30.0, 40.0)]
    >>> found = treeselect.select_imputed("survived ~ sex + age", frames, method="mrmr", k=1)
    >>> found.n_imputations
    3
    >>> found.selected
    ('sex',)
    """

    fits: tuple[SelectionResult, ...]

    def tidy(self) -> Any:
        """One row per term, those selected in the most imputations first.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``group``, its unit; ``selected``, whether enough imputations selected it;
            ``imputations`` that selected it, and their ``share``; mean ``importance``, with 0 for
            the other imputations. With resamples also ``frequency``, the share of all resamples of
            all imputations, and ``ci_low`` and ``ci_high``, its 95% interval: Wilson's interval
            with the effective number of independent resamples, each frame being a cluster (see
            :func:`treeselect.resampling.agreement.clustered_interval`). An imputation that selected
            nothing is not resampled, and does not count in the frequency.
        """
        return in_library(self.tidy_table(), self.library)

    def glance(self) -> Any:
        """One row for all imputations together.

        Returns
        -------
        frame, in the library of the data
            ``n`` and ``n_dropped``, rows used and dropped in each frame; ``p``, number of units;
            ``imputations``, ``least_share``; ``k``, number of units selected by enough imputations;
            ``k_min`` and ``k_max``, its range in single imputations; ``distinct``, number of
            different sets; ``method``, ``family``; ``index``, Nogueira's index over the
            imputations; ``resamples`` of all imputations together, and ``resample_index``, the
            index over them; ``seed``.
        """
        return in_library(self.glance_table(), self.library)

    def pooled(self) -> PooledFit:
        """The linear model of the selected terms in each frame, pooled by Rubin's rules.

        Returns
        -------
        PooledFit
            ``.tidy()``, ``.summary()``; ``.results`` holds the statsmodels fit to each frame. The
            model is that of ``refit("glm")``. Its p-values are not valid, because the terms were
            selected on the same rows.

        Raises
        ------
        DataError
            If the linear model can't be fitted to a frame or has other coefficients there (a level
            that one imputation lacks), or if frames have missing values in different rows.
        OptionError
            If statsmodels can't take the weights.

        Warns
        -----
        TreeselectWarning
            If the linear model of a frame does not converge, or its terms separate the classes.

        Notes
        -----
        See :func:`treeselect.models.linear.coefficients.pool`. Degrees of freedom are those of
        Barnard and Rubin (1999) for least squares. The other models have normal complete-data
        tests, and the degrees of freedom of Rubin (1987). (R's mice uses the residual degrees of
        freedom for these too, unless ``dfcom = Inf``.)
        """
        from treeselect.imputation.pooled import pool_glm

        return pool_glm(self)

    def summary(self, *, digits: int | None = None) -> Summary:
        """Printed summary.

        Parameters
        ----------
        digits : int, optional
            Decimals of importances, frequencies, stability indices and intervals, from 1 to 10. By
            default each kind of number has its own.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, ``as_markdown()``, ``as_gt()``, and HTML
            in notebooks.
        """
        from treeselect.imputation.record import summarise_imputed
        from treeselect.printing import Summary, chosen_digits

        with chosen_digits(check_digits(digits)):
            return Summary(summarise_imputed(self))

    def __repr__(self) -> str:
        return (
            f"<ImputedSelection {self.formula!r}, method {self.fits[0].method!r},"
            f" {self.n_imputations} imputations>"
        )
