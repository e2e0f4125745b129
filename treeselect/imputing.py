"""``select()`` on several imputed frames, and the selection that it returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import check_resamples, described, finite, read_seed
from treeselect.designs.preparing import Request
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError
from treeselect.frames.tables import library_of
from treeselect.imputation.record import Imputed, check_alike, in_frame, summarise_imputed
from treeselect.printing import Summarised
from treeselect.result import SelectionResult
from treeselect.results.calls import call_text, once
from treeselect.results.fitting import ARGUMENTS, fit_selection

if TYPE_CHECKING:
    from treeselect.imputation.pooled import PooledFit
    from treeselect.printing import SummaryContent


def select_imputed(
    frames: Sequence[Any], formula: str, options: Mapping[str, Any]
) -> ImputedSelection:
    """Select on each frame; `options` are arguments of ``select()`` and of the method."""
    resamples = 0 if options["resamples"] is None else check_resamples(options["resamples"])
    seed = read_seed(options["seed"])
    given = {**options, "resamples": 0, "seed": seed, "keep": once(options["keep"])}
    names = {field.name for field in dataclasses.fields(Request)}
    asked = {name: value for name, value in given.items() if name in names}
    n_rows, n_columns = check_alike(Request(formula, **asked), frames)
    records = []
    for number, data in enumerate(frames):
        with in_frame(number, len(frames)):
            fit = fit_selection(data, formula, given)
            if resamples and fit.k > 0:
                drawn = stream_seed(seed, "imputation", number)
                fit = SelectionResult(fit).resample(resamples, seed=drawn)._fit
                if fit.stability.partial:  # stopped: the other frames have no resamples
                    raise KeyboardInterrupt
        records.append(fit)
    arguments = {**given, "formula": formula, "resamples": resamples or None}
    typed = call_text("select", list(frames), arguments, ARGUMENTS)
    return ImputedSelection(
        records=tuple(records),
        least_share=0.5,
        resamples=resamples,
        call=typed.text,
        unshown=typed.unshown,
        data=f"{len(frames)} imputed frames of {n_rows:,} rows and {n_columns:,} columns",
        library=library_of(frames[0]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ImputedSelection(Summarised, Imputed):
    """Selection over multiply imputed data: the terms that enough imputations selected.

    Returned by :func:`treeselect.select` for a list of frames. Its attributes are those of
    :class:`treeselect.imputation.record.Imputed`.

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
    >>> found = treeselect.select(
    ...     "survived ~ .", frames, method="importance", k=3, n_trees=50, seed=1
    ... )
    >>> sorted(found.selected)
    ['age', 'pclass', 'sex']
    >>> table = found.pooled().tidy().set_index("column")
    >>> bool(table.loc["age", "fmi"] > table.loc["sex[T.male]", "fmi"])
    True
    """

    @property
    def fits(self) -> tuple[SelectionResult, ...]:
        """The selection on each frame, all with the same seed."""
        return tuple(map(SelectionResult, self.records))

    def with_share(self, share: float) -> ImputedSelection:
        """The same with another rule for the terms that are selected.

        Parameters
        ----------
        share : float
            Share of the imputations that must select a term, above 0 and at most 1. At least half,
            which :func:`treeselect.select` uses, is rule S2 of [1]_, all (1) is S3, and any
            (``1 / n_imputations``) is S1. The paper prefers selection by pooled tests, which trees
            do not have.

        Returns
        -------
        ImputedSelection

        Raises
        ------
        OptionError
            If `share` is not allowed.

        References
        ----------
        .. [1] A. M. Wood, I. R. White, P. Royston (2008). How should variable selection be
           performed with multiply imputed data? Statistics in Medicine 27, 3227-3246.
        """
        found = finite(share)
        if found is None or not 0 < found <= 1:
            raise OptionError(
                "`share` must be a number above 0 and at most 1: the share of the imputations that"
                f" must select a term.\n  Found: {described(share)}."
            )
        return dataclasses.replace(self, least_share=float(found))

    def pooled(self) -> PooledFit:
        """The linear model of the selected terms in each frame, pooled by Rubin's rules.

        Returns
        -------
        PooledFit
            ``.tidy()``, ``.summary()``, ``.predict(new, se=True)``; ``.results`` holds the
            statsmodels fit to each frame. The model is that of ``refit("glm")``. Its p-values are
            not valid, because the terms were selected on the same rows.

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

    def _content(self) -> SummaryContent:
        return summarise_imputed(self)

    def __repr__(self) -> str:
        return (
            f"<ImputedSelection {self.formula!r}, method {self.records[0].method!r},"
            f" {self.n_imputations} imputations>"
        )
