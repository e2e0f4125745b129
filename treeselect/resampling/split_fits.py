"""The linear model of one split, on the rows that did not select its terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from treeselect.designs.gaps import WAYS_OUT
from treeselect.designs.labels import shown_names
from treeselect.designs.linear_coding import LinearCoding, coded_words
from treeselect.designs.modeldata import ModelData
from treeselect.engine.arrays import IntArray
from treeselect.errors import DataError, OptionError, TreeselectError, listing, said_by
from treeselect.models.coefficients import term_p_value
from treeselect.models.independence import independent_columns
from treeselect.models.linear import fit_linear
from treeselect.models.linear_data import LinearData, linear_data
from treeselect.resampling.inference import SplitFit


def fit_part(
    data: ModelData, terms: tuple[str, ...] | None, rows: IntArray, coding: LinearCoding
) -> SplitFit:
    """Fit the linear model of some terms on some rows, and test each of them."""
    if terms is None:
        why = "The response is constant in the rows for selection."
        return SplitFit((), {}, None, why, 0, 0)
    n_fitted = n_dropped = 0
    try:
        here = linear_data(data, terms, rows, data.row_weights.groups, coding)
        n_fitted, n_dropped = len(here.y), here.n_dropped
        aliased: dict[str, int] = {}
        if n_fitted > here.matrix.shape[1]:
            here, aliased = _without_sums(here, terms)
        response = data.response
        fit = fit_linear(here, response.family.name, response.name, response.classes)
        if fit.problems:
            raise DataError(fit.problems[0])
        has_columns = set(here.term_of) | (set(terms) - aliased.keys())
        p_values = {
            term: term_p_value(fit, term) if term in has_columns else float("nan") for term in terms
        }
        tested = [p for term, p in p_values.items() if term in has_columns]
        if not np.isfinite(tested).all():
            raise DataError("The tests can't be computed.")
    except OptionError:
        raise
    except (TreeselectError, np.linalg.LinAlgError) as error:
        why = said_by(error)
        return SplitFit(terms, dict.fromkeys(terms, 1.0), None, why, n_fitted, n_dropped)
    return SplitFit(terms, p_values, fit, "", n_fitted, n_dropped, tuple(aliased))


def _without_sums(data: LinearData, terms: Sequence[str]) -> tuple[LinearData, dict[str, int]]:
    """The same without columns that are linear combinations of preceding ones, as in R.

    Returns
    -------
    data : LinearData
    aliased : dict of str to int
        Terms that lose columns because of other terms, and how many. Columns that are collinear
        within their own term and the intercept do not count: the joint test of a term is the same
        whichever of them is dropped, and its degrees of freedom are the loss of rank without the
        term.
    """
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


def split_notes(
    data: ModelData, splits: Sequence[SplitFit], coding: LinearCoding
) -> tuple[str, ...]:
    """Notes on aliased columns, missing values and ordered factors."""
    labels, notes = shown_names(data), []
    counts = Counter(name for split in splits for name in split.aliased)
    untested = Counter(
        name for split in splits for name, p in split.p_values.items() if np.isnan(p)
    )
    if counts:
        n = sum(bool(split.aliased) for split in splits)
        where = "" if len(splits) == 1 else f" in {n} of {len(splits)} splits"
        names = (f"{labels.get(name, name)}{_times(counts[name], splits)}" for name in counts)
        notes.append(
            f"Columns of {listing(names)} are linear combinations of columns of preceding terms"
            f"{where} and are dropped, as in R: an effect that they share with these is"
            " attributed to the preceding terms."
        )
    if untested:
        names = (f"{labels.get(name, name)}{_times(untested[name], splits)}" for name in untested)
        notes.append(f"Not tested (NA), as no column is left: {listing(names)}.")
    selected = tuple(dict.fromkeys(name for split in splits for name in split.selected))
    if coding.missing == "drop" and any(split.n_dropped for split in splits):
        notes.append(f"Rows with missing values are dropped. {WAYS_OUT}")
    if coding.missing == "indicator":
        notes.append(
            "Missing values are a level of a factor; for a number they are replaced by the median"
            " of the rows for testing, with an indicator that is tested with the term."
        )
    return (*notes, *coded_words(data.sources, data.spec.terms, selected, coding))


def _times(n: int, splits: Sequence[SplitFit]) -> str:
    return "" if len(splits) == 1 else f" ({n:,})"
