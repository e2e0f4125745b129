"""Sample splitting: one part of the rows for selection, a linear model on the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from treeselect.arguments.checks import SCORE_RULES
from treeselect.brief import brief
from treeselect.designs.modeldata import ModelData
from treeselect.designs.row_sample import labels_of
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import DataError, OptionError, TreeselectError, said_by
from treeselect.models.linear.coefficients import Reference, reference_levels, wald_test
from treeselect.models.linear.data import LinearData, independent_columns, linear_data
from treeselect.models.linear.fit import LinearFit, fit_linear, with_infinite
from treeselect.resampling.choosing import Procedure
from treeselect.resampling.folds import Split, part_rows, split_rows

_FEWEST_ROWS, _FEWEST_EVENTS, _FEWEST_OF_CLASS = 10, 5, 2
"""Least numbers in each part: of rows of a numeric response, of events, of rows of each class."""

_MOST_DRAWS = 20
"""Largest number of draws of whole clusters until both parts have enough rows and classes."""


def draw_parts(asked: Procedure, split: float, seeds: Sequence[int]) -> list[Split]:
    """The rows for selection (``train``) and for testing (``test``), by seed."""
    if asked.weights.groups is not None:
        return [_draw_groups(asked, split, seed) for seed in seeds]
    # Without clusters, every draw has the same number of rows of each class in each part.
    parts = [Split(*part_rows(asked.problem, asked.weights, split, seed)) for seed in seeds]
    _check_rows(asked, split, parts[0])
    return parts


def _draw_groups(asked: Procedure, split: float, seed: int) -> Split:
    """The first draw of whole clusters whose parts are large enough. The draw depends on rows and
    classes only, not on the columns, so tests on the second part remain valid."""
    for number in range(_MOST_DRAWS):
        own = seed if number == 0 else stream_seed(seed, "parts", number)
        parts = Split(*part_rows(asked.problem, asked.weights, split, own))
        try:
            _check_rows(asked, split, parts)
            _check_folds(asked.on(parts.train), seed)
        except OptionError as error:
            why = error
        else:
            return parts
    raise why


def _check_folds(asked: Procedure, seed: int) -> None:
    """Raise an OptionError if the first part can't be split into the folds that choose `k`."""
    if asked.choice.k not in SCORE_RULES:
        return
    try:
        own = stream_seed(seed, "cross-validation")  # as `choose` draws them
        split_rows(asked.problem, asked.weights, asked.choice.folds, own)
    except OptionError as error:
        said = " ".join(str(error).split())
        raise OptionError(
            "`split` must leave enough clusters for selection in folds: give a larger one, or an"
            f" integer `k`.\n  Found, in the last of {_MOST_DRAWS} draws of whole clusters: {said}"
        ) from None


def _check_rows(asked: Procedure, split: float, parts: Split) -> None:
    """Raise an OptionError if a part has too few rows, rows of a class or rows with an event."""
    problem, _, weights, choice = asked
    folds, times, rows = choice.folds.folds, problem.family.has_times, weights.rows
    strata, labels = [rows], labels_of(problem, rows)
    if labels is not None:  # all classes, or the rows with an event
        strata = [rows[labels == own] for own in ([1] if times else np.unique(labels))]
    n_folds = folds if isinstance(folds, int) and choice.k in SCORE_RULES else 0
    least, of = _FEWEST_ROWS, ""
    if problem.family.has_classes:
        least, of = _FEWEST_OF_CLASS, " of each class"
    elif times:
        least, of = _FEWEST_EVENTS, " with an event"
    whole = "" if weights.groups is None else ", in whole clusters"
    in_folds = f" in {n_folds} folds" if n_folds else ""
    merge = ", or merge the rarest class with another" if problem.family.n_classes > 2 else ""
    sides = (
        (parts.train, max(least, n_folds), f"for selection{in_folds}"),
        (parts.test, least, "for testing"),
    )
    for side, needed, why in sides:
        fewest = min(int(np.isin(own, side).sum()) for own in strata)
        if fewest < needed:
            raise OptionError(
                f"`split` must leave at least {needed} rows{of} {why}{whole}.\n"
                f"  Found: {fewest}, with `split={split:g}` of"
                f" {sum(len(own) for own in strata):,} {'events' if times else 'rows'}. Give a"
                f" {'larger' if side is parts.train else 'smaller'} `split`{merge}."
            )


# --- the linear model of one split ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SplitFit:
    """Selection and tests of one split."""

    selected: tuple[str, ...]  # terms selected on the first part
    # Unadjusted p-values of the joint test of each selected term on the second part; 1 if there is
    # no linear model, NaN if no column of the term is left
    p_values: dict[str, float]
    fit: LinearFit | None  # the linear model on the second part; None if it failed
    failure: str  # why it failed, in a sentence; empty if it did not
    n_dropped: int  # rows of the second part with a missing value in a selected term
    # Selected terms with columns that are dropped because they are linear combinations of columns
    # of preceding terms
    aliased: tuple[str, ...] = ()
    references: Mapping[str, Reference] = field(default_factory=dict)  # levels of factors, by term

    __repr__ = brief

    def adjusted(self, term: str) -> float:
        """P-value of a term, times the number of terms tested, at most 1."""
        p_value = self.p_values.get(term, 1.0)
        return 1.0 if np.isnan(p_value) else min(1.0, p_value * max(len(self.selected), 1))


def fit_part(data: ModelData, terms: tuple[str, ...] | None, rows: IntArray) -> SplitFit:
    """Fit the linear model of some terms on some rows, and test each of them."""
    if terms is None:
        why = "The response is constant in the rows for selection."
        return SplitFit((), {}, None, why, 0)
    n_dropped = 0
    with why_not() as reasons:
        full = here = linear_data(data, terms, rows, data.row_weights.groups)
        n_dropped = here.n_dropped
        aliased: dict[str, int] = {}
        if len(here.y) > here.matrix.shape[1]:
            here, aliased = _without_sums(here, terms)
        response = data.response
        fit = fit_linear(here, response.family.name, response.name, response.classes)
        if fit.problems:
            raise DataError(fit.problems[0])
        own = {t: fit.of_term(t) for t in terms if t in here.term_of}
        known = {t: wald_test(fit, tested)[1] for t, tested in own.items()}
        if not np.isfinite(list(known.values())).all():
            raise DataError("The tests can't be computed.")
        fit = with_infinite(fit)
        p_values = {term: known.get(term, float("nan")) for term in terms}
        seen = reference_levels(data, full)
        return SplitFit(terms, p_values, fit, "", n_dropped, tuple(aliased), seen)
    return SplitFit(terms, dict.fromkeys(terms, 1.0), None, reasons[0], n_dropped)


@contextmanager
def why_not() -> Iterator[list[str]]:
    """Collects why a linear model can't be fitted, unless an option is wrong."""
    reasons: list[str] = []
    try:
        yield reasons
    except OptionError:
        raise
    except (TreeselectError, np.linalg.LinAlgError) as error:
        reasons.append(said_by(error))


def _without_sums(data: LinearData, terms: Sequence[str]) -> tuple[LinearData, dict[str, int]]:
    """The same without columns that are linear combinations of preceding ones, as in R; and terms
    that lose columns because of other terms, with their number."""
    matrix, term_of = data.compared, np.array(data.term_of, dtype=object)
    free = independent_columns(matrix)
    if free.all():
        return data, {}
    aliased = {}
    inside = ~np.isin(term_of, list(terms))  # the intercept
    for term in terms:
        own = term_of == term
        alone = independent_columns(matrix[:, inside | own])[own[inside | own]]
        lost = int(alone.sum()) - int((free & own).sum())
        if lost:
            aliased[term] = lost
    return data.of_columns(free), aliased


_LEAST_QUANTILE = 0.05
"""Quantiles of the p-values above this one are looked at."""


def aggregate_p_values(p_values: FloatArray) -> FloatArray:
    """One p-value per term from those of several splits, shape (n_splits, n_terms), by equations
    2.2 and 2.3 of Meinshausen, Meier and Buehlmann (2009); ``Q(gamma)`` is smallest at ``k /
    B``."""
    n = len(p_values)
    k = np.arange(1, n + 1)
    looked_at = k / n > _LEAST_QUANTILE * (1 + 1e-12)
    quantiles = np.sort(p_values, axis=0)[looked_at] * (n / k[looked_at])[:, np.newaxis]
    least = np.minimum(quantiles.min(axis=0), 1.0)
    return np.asarray(np.minimum((1 - np.log(_LEAST_QUANTILE)) * least, 1.0))
