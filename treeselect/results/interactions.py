"""How far the effects of two terms depend on each other, and how sure that is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeselect.models.probing import PairProbes, PairTerm, ResampledReadings, read_strengths
from treeselect.printing import decimal_text, interval_text, significant_text
from treeselect.resampling.fit import (
    LEAST_RESAMPLES,
    InteractionRecord,
    interaction_record,
)
from treeselect.results.shapes import coded_rows, columns_of, grid_rows, sample_rows

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

_MOST_TERMS = 10
_MOST_POINTS = 6
_MOST_ROWS = 200
"""The strengths of all pairs take n (n - 1) / 2 grids: these are coarse, of the first terms."""


def pair_points(result: Fit) -> PairProbes:
    """Where the strengths of all pairs of the first terms are read.

    Raises
    ------
    DataError
        If the model was saved without its data.
    """
    sample = sample_rows(result, _MOST_ROWS)
    terms = result.selected[:_MOST_TERMS]
    rows, probes = [sample.rows], []
    first = len(sample.rows)
    for term in terms:
        grid, place = grid_rows(sample, term, _MOST_POINTS)
        probes.append(
            PairTerm(
                columns=columns_of(result, term),
                grid=np.arange(first, first + len(grid)),
                place=place,
                by_level=result.design.spec[term].kind == "factor",
            )
        )
        rows.append(grid)
        first += len(grid)
    every = np.concatenate(rows)
    pairs = tuple((terms.index(a), terms.index(b)) for a, b in _pairs_of(result))
    return PairProbes(coded_rows(result, every), every, sample.weight, tuple(probes), pairs)


def _pairs_of(result: Fit) -> list[tuple[str, str]]:
    """Pairs of the first terms; of terms with a variable in common neither can change alone."""
    spec = result.design.spec
    return [
        (a, b)
        for a, b in itertools.combinations(result.selected[:_MOST_TERMS], 2)
        if set(spec[a].term.variables).isdisjoint(spec[b].term.variables)
    ]


def interactions_of(
    result: Fit, probes: PairProbes, resampled: Sequence[ResampledReadings]
) -> InteractionRecord:
    """Strengths in the fit's model, with intervals from what the models of resamples say."""
    return interaction_record(
        _pairs_of(result),
        read_strengths(result.model, probes),
        [own.strengths for own in resampled],
    )


def interaction_table(result: Fit) -> pd.DataFrame:
    """One row per pair of terms (see ``SelectionResult.interactions``)."""
    import pandas as pd

    record = _record_of(result)
    frame = pd.DataFrame(
        {
            "term": [pair[0] for pair in record.pairs],
            "other": [pair[1] for pair in record.pairs],
            "strength": record.strength,
            "low": record.low,
            "high": record.high,
            "size": record.size,
            "n_resamples": record.count,
        }
    )
    return frame.sort_values("size", ascending=False, kind="stable", ignore_index=True)


def are_kept(result: Fit) -> bool:
    """Whether strengths are known without the data."""
    return _kept(result) is not None


def _kept(result: Fit) -> InteractionRecord | None:
    return None if result.effect_record is None else result.effect_record.interactions


def _record_of(result: Fit) -> InteractionRecord:
    """What is kept of the fit, else what its model says."""
    kept = _kept(result)
    if kept is not None:
        return kept
    if len(result.selected) < 2:
        return interaction_record((), np.empty((0, 2)), ())
    return interactions_of(result, pair_points(result), ())


def strength_texts(table: pd.DataFrame) -> list[str]:
    """Size and strength of each pair in words, with the interval where there is one."""
    return [
        f"{significant_text(row['size'], 3)}, strength {decimal_text(row['strength'], 2)}"
        + ("" if np.isnan(row["low"]) else f" ({interval_text(row['low'], row['high'])})")
        for row in table.to_dict("records")
    ]


def interval_note(table: pd.DataFrame) -> str:
    """What intervals of strengths are; empty if there are none."""
    if table["low"].isna().all():
        return ""
    return (
        "In brackets percentiles 2.5 and 97.5 of the strength in the models of the resamples that"
        " selected both terms, in which both vary and no level is missing at which it is read,"
        f" where there are at least {LEAST_RESAMPLES}."
    )
