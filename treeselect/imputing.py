"""``select_imputed()``, and what it returns, with all that can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from treeselect.algorithms.registry import method_text
from treeselect.arguments.checks import (
    USUAL_METHOD,
    USUAL_SIZE,
    check_digits,
    check_resamples,
    read_seed,
)
from treeselect.arguments.scalars import described, finite
from treeselect.designs.request import Request
from treeselect.engine.random import stream_seed
from treeselect.errors import MethodError, OptionError
from treeselect.frames.libraries import in_library, library_of
from treeselect.imputation.alike import check_alike, in_frame, read_frames
from treeselect.imputation.record import Imputed
from treeselect.printing.summary import Summarised
from treeselect.result import SelectionResult
from treeselect.results.calls import call_text
from treeselect.selection import select

if TYPE_CHECKING:
    from treeselect.imputation.pooled import PooledFit
    from treeselect.printing import Summary


def select_imputed(
    formula: str,
    frames: Sequence[Any],
    *,
    method: Any = USUAL_METHOD,
    k: int | Literal["1se", "best"] | None = USUAL_SIZE,
    least_share: float = 0.5,
    resamples: int = 0,
    seed: int | None = None,
    n_jobs: int | None = None,
    **arguments: Any,
) -> ImputedSelection:
    """Select on several imputed copies of the same data, and keep what enough of them select.

    :func:`treeselect.select` takes missing values as they are, and needs no imputation. Where a
    study is analysed on several imputed copies of its data, the selection should not depend on one
    of them.

    Parameters
    ----------
    formula : str
        As in :func:`treeselect.select`.
    frames : list of frames or paths
        At least two imputations of the same rows, with the same columns: tables or paths as in
        :func:`treeselect.select`. The response may be imputed, too; where it is left missing, and
        the row is not used, it must be so in all frames. Of mice's long format, less its rows with
        ``.imp`` 0, these are
        ``[part.drop(columns=[".imp", ".id"]) for _, part in long.groupby(".imp")]``.
    method, k, n_jobs
        As in :func:`treeselect.select`; a rule for `k` is applied to each frame.
    least_share : float
        Share of the imputations that must select a term, above 0, at most 1. Half of them or more
        is rule S2 of [1]_, all of them (1) S3, any of them (``1 / len(frames)``) S1. The paper
        prefers selection by pooled tests, which trees do not have.
    resamples : int
        Bootstrap resamples of each frame, from 2 to 100,000, to assess stability on; 0 for none.
        The rows are imputed first and drawn afterwards, other ones in each frame.
    seed : int, optional
        The same for each frame, so that selections differ by the imputed values alone, and not by
        the draws of the method; as in :func:`treeselect.select`.
    **arguments
        What else :func:`treeselect.select` takes, options of the method included. Arrays with one
        value per row (`weights`, `offset`, `folds`, `fold_groups`) hold for all frames.

    Returns
    -------
    ImputedSelection
        ``.selected``, ``.tidy()``, ``.glance()``, ``.pooled()``, ``.summary()``; ``.fits`` has the
        selection on each frame.

    Raises
    ------
    FormulaError
        If the formula can't be read, names what is not there, or would run code.
    DataError
        If a frame can't be used as it is, or differs from the first in its number of rows, its
        columns, the kind of a column behind the terms, the family or classes of the response, or
        the rows that have one.
    OptionError, MethodError
        If an argument, the method, or one of its options is not allowed.
    StabilityError
        If a resample holds only one value of the response.
    OutOfMemoryError, WorkerError
        If memory runs out, or a process ends before its work is done or can't be given it.

    Notes
    -----
    A frame where fewer than `k` units enter the path selects these, as it does in
    :func:`treeselect.select`; the summary tells which one.

    References
    ----------
    .. [1] A. M. Wood, I. R. White, P. Royston (2008). How should variable selection be performed
       with multiply imputed data? Statistics in Medicine 27, 3227-3246.

    Examples
    --------
    Three imputations of age, each from the known ages of passengers of the same class and sex. (A
    real imputation also uses the response and the other columns, as mice does.)

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
    frames = read_frames(frames)
    least_share = _check_share(least_share)
    resamples = check_resamples(resamples)
    seed = read_seed(seed)
    if "data" in arguments:
        raise MethodError("`data` must not be given.\n  `frames` are the data.")
    names = {field.name for field in fields(Request)}
    asked = {name: value for name, value in arguments.items() if name in names}
    n_rows, n_columns = check_alike(Request(formula, **asked), frames)
    fits = []
    for number, data in enumerate(frames):
        with in_frame(number, len(frames)):
            fit = select(formula, data, method=method, k=k, seed=seed, n_jobs=n_jobs, **arguments)
            if resamples and fit.k > 0:
                fit = fit.resample(resamples, seed=stream_seed(seed, "imputation", number))
                if fit.stability.partial:  # stopped: other frames have none to go with these
                    raise KeyboardInterrupt
        fits.append(fit)
    text = call_text(
        "select_imputed", formula, frames,
        {"method": method_text(method), "k": k, "resamples": resamples,
         **({} if least_share == 0.5 else {"least_share": least_share}), **arguments},
    )  # fmt: skip
    return ImputedSelection(
        fits=tuple(fits),
        least_share=least_share,
        resamples=resamples,
        call=text,
        data=f"{len(frames)} imputed frames of {n_rows:,} rows and {n_columns:,} columns",
        library=library_of(frames[0]),
    )


def _check_share(least_share: object) -> float:
    found = finite(least_share)
    if found is None or not 0 < found <= 1:
        raise OptionError(
            "`least_share` must be a number above 0, at most 1: the share of the imputations that"
            f" must select a term.\n  Found: {described(least_share)}."
        )
    return float(found)


@dataclass(frozen=True, slots=True)
class ImputedSelection(Summarised, Imputed):
    """Selections on imputed frames, and the terms that enough of them selected.

    Made by :func:`treeselect.select_imputed`. Its attributes are those of
    :class:`treeselect.imputation.record.Imputed`.
    """

    fits: tuple[SelectionResult, ...]

    def tidy(self) -> Any:
        """One row per term, those of the most imputations first.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``group``, the unit that it belongs to; ``selected``, by enough imputations;
            ``imputations`` that selected it, and their ``share``; mean ``importance``, 0 in the
            others. With resamples ``frequency``, the share of all resamples of all imputations,
            ``ci_low`` and ``ci_high``, its 95% interval: Wilson's with as many independent
            resamples as tell as much as those in clusters, the frames (see
            :func:`treeselect.resampling.agreement.clustered_interval`). An imputation that
            selected nothing was not resampled, and is not in the frequency.
        """
        return in_library(self.tidy_table(), self.library)

    def glance(self) -> Any:
        """One row about the whole.

        Returns
        -------
        frame, in the library of the data
            ``n`` and ``n_dropped`` rows of a frame; ``p`` units; ``imputations``, ``least_share``;
            ``k`` units that are kept, ``k_min`` and ``k_max`` of a single imputation; ``distinct``
            sets; ``method``, ``family``; ``index``, Nogueira's of the imputations; ``resamples`` of
            all of them together, ``resample_index``; ``seed``.
        """
        return in_library(self.glance_table(), self.library)

    def pooled(self) -> PooledFit:
        """The linear model of the selected terms in each frame, pooled by Rubin's rules.

        Returns
        -------
        PooledFit
            ``.tidy()``, ``.summary()``; ``.results`` has the fit of statsmodels to each frame. The
            model is that of ``refit("glm")``. Its p-values are not valid, as the terms were
            selected on the same rows.

        Raises
        ------
        DataError
            If the linear model can't be fitted to a frame, has other coefficients there (a level
            that one imputation lacks), or if the frames still lack values, and not in the same
            rows.
        OptionError
            If statsmodels can't take the weights.

        Warns
        -----
        TreeselectWarning
            If the linear model of a frame did not converge, or its terms separate the classes.

        Notes
        -----
        See :func:`treeselect.models.pooling.pool`. Degrees of freedom are those of Barnard and
        Rubin (1999) for least squares; the other models have normal tests of complete data, and
        those of Rubin (1987). (R's mice takes the residual degrees of freedom for these, too,
        unless it is told ``dfcom = Inf``.)
        """
        from treeselect.imputation.pooled import pool_glm

        return pool_glm(self)

    def summary(self, *, digits: int | None = None) -> Summary:
        """Printed summary.

        Parameters
        ----------
        digits : int, optional
            Decimals of importances, frequencies and stability indices, with their intervals. From 1
            to 10; by default each kind of number has its own.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, ``as_markdown()``, ``as_gt()``, and HTML
            in notebooks.
        """
        from treeselect.imputation.words import summarise_imputed
        from treeselect.printing import Summary, chosen_digits

        with chosen_digits(check_digits(digits)):
            return Summary(summarise_imputed(self))

    def __repr__(self) -> str:
        return (
            f"<ImputedSelection {self.formula!r}, method {self.fits[0].method!r},"
            f" {self.n_imputations} imputations>"
        )
