"""The printed summary of a comparison of methods."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.problem import noun_of
from treeselect.designs.survival import follow_up_facts
from treeselect.engine.arrays import IntArray
from treeselect.printing import (
    SummaryContent,
    count_text,
    decimal_form,
    decimal_text,
    enumeration,
    error_text,
    interval_text,
    p_text,
    plain_score,
)
from treeselect.results.calls import unshown_note
from treeselect.results.summary import options_text
from treeselect.running.pieces import stopped_note

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.comparison.record import Contest

_NONE = "–"


def summarise_comparison(found: Contest) -> SummaryContent:
    """Content of the summary of a comparison."""
    return SummaryContent(
        title="Comparison of methods: selection repeated inside each fold",
        facts=comparison_facts(found),
        columns=comparison_columns(found),
        rows=comparison_rows(found),
        notes=comparison_notes(found),
    )


def comparison_facts(found: Contest) -> tuple[tuple[str, str], ...]:
    """The call, the data and the scheme of the comparison."""
    return (
        ("Call", found.call),
        ("Data", found.data),
        ("Family", found.family),
        *follow_up_facts(found.follow_up),
        *found.weights_facts,
        ("Folds", f"{found.scheme}, the same for every method"),
        ("Compared at", _rule(found)),
        ("Score", f"{found.score_name} on held-out rows"),
        ("Seed", str(found.seed)),
    )


def span(counts: Sequence[int] | IntArray) -> str:
    """A count, or the smallest and the largest of several: "80 to 81"."""
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _rule(found: Contest) -> str:
    sizes = [size for run in found.runs for size in found.choices(run)]
    if not sizes:
        return "the set at each method's given tuning parameter"
    if isinstance(found.rule, int):
        text = f"k = {found.rule}: the largest set of at most {units_text(found.rule, found)}"
    else:
        name = "1 s.e. rule" if found.rule == "1se" else "best score"
        listed = sorted(set(sizes))
        whole = listed == list(range(listed[0], listed[-1] + 1))
        among = f"{listed[0]} to {listed[-1]}" if whole else ", ".join(map(str, listed))
        text = f"each method's own k by the {name}, from {among}"
    if any(run.sizes is None for run in found.runs):
        text += "; with a given tuning parameter, the set at that value"
    return text


def comparison_columns(found: Contest) -> tuple[str, ...]:
    """Head of the table of methods."""
    columns = ["Method", "k"]
    columns += ["k (1 s.e.)"] if isinstance(found.rule, int) else []
    columns += [found.score_name, "s.e."]
    columns += ["Difference", "95% interval"] if len(found.runs) > 1 else []
    return (*columns, "Stability", "Seconds", *(["Front"] if len(found.runs) > 1 else []))


def comparison_rows(found: Contest) -> tuple[tuple[str, ...], ...]:
    """A row for each method, the best score first."""
    table = found.ranked_table()
    against = found.difference_table().set_index("method").to_dict("index")
    rows = []
    for row in table.to_dict("records"):
        cells = [str(row["method"]), size_text(row["k"], row["n_selected"])]
        cells += [size_text(row["k_1se"], np.nan)] if isinstance(found.rule, int) else []
        cells += [plain_score(row["score"]), error_text(row["standard_error"])]
        if len(found.runs) > 1:
            other = against.get(row["method"])
            cells += ("reference", "") if other is None else difference_cells(other)[:2]
        cells += [decimal_text(row["stability"], 2, missing="–"), f"{row['seconds']:.2g}"]
        cells += ["yes" if row["front"] else "no"] if len(found.runs) > 1 else []
        rows.append(tuple(cells))
    return tuple(rows)


def size_text(k: object, mean: float) -> str:
    """A size, or the mean size in parentheses if no size was requested."""
    import pandas as pd

    if pd.isna(k):  # type: ignore[call-overload]
        return _NONE if np.isnan(mean) else f"({mean:.1f})"
    return str(k)


def difference_cells(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    """A difference with its interval and its p-value."""
    return (
        decimal_text(row["difference"], 3, "+"),
        interval_text(row["ci_low"], row["ci_high"], decimal_form(3, "+")),
        p_text(row["p_value"]),
    )


def units_text(mean: float, found: Contest) -> str:
    """ "3 terms", "all 7 terms" or "2.6 terms on average"; units where there are groups."""
    n_units = len(found.units)
    if not float(mean).is_integer():
        return f"{mean:.1f} {_noun(found)} on average"
    if mean == n_units:
        if n_units == 1:
            return f"the only {_noun(found, 1)}"
        return f"all {count_text(n_units)} {_noun(found)}"
    return f"{count_text(mean)} {_noun(found, mean)}"


def _noun(found: Contest, n: float = 2) -> str:
    return noun_of(found.terms_of_unit, n)


def _nothing_left_out(found: Contest) -> list[str]:
    """A sentence on methods that select every unit at the size at which they are compared."""
    table, n_units = found.ranked_table(), len(found.units)
    names = table.loc[table["n_selected"] == n_units, "method"].to_list()
    if not names or n_units == 1:
        return []
    verb = "selects" if len(names) == 1 else "select"
    return [
        f"{enumeration(names)} {verb} all {count_text(n_units)} {_noun(found)} where compared, so"
        " nothing is left out."
    ]


def _reference_models(found: Contest) -> list[str]:
    """A sentence on the scores of the null and the full model."""
    rows = found.reference_table().to_dict("records")
    if not rows:
        return []
    null, full = (
        f"{plain_score(row['score'])} (s.e. {error_text(row['standard_error'])})" for row in rows
    )
    n_units = len(found.units)
    return [
        f"Reference models: {found.score_name} is {null} for the null model, without terms, and"
        f" {full} for the full model, a random forest on {units_text(n_units, found)}, on the same"
        " folds. They are not methods and do not count in differences or the Pareto front."
        if len(found.runs) > 1
        else f"Reference models: {found.score_name} is {null} for the null model, without terms,"
        f" and {full} for the full model, a random forest on {units_text(n_units, found)}, on the"
        " same folds."
    ]


def comparison_notes(found: Contest) -> tuple[str, ...]:
    """Notes on these numbers."""
    n_folds = len(found.n_test)
    notes = [] if found.asked is None else [stopped_note(n_folds, found.asked, "folds")]
    notes += [found.score_words] if found.score_words else []
    notes += _reference_models(found)
    notes += _nothing_left_out(found)
    if any(run.sizes is None for run in found.runs):
        notes.append(
            f"k in parentheses: mean number of {_noun(found)} selected at a given tuning parameter."
        )
    if isinstance(found.rule, str) and any(run.sizes for run in found.runs):
        notes.append(
            "The same folds chose k, so scores are optimistic, for some methods more than for"
            " others; `select(...).performance()`, which chooses k inside each fold, tells by how"
            " much."
        )
    if len(found.runs) > 1:
        notes += [
            f"Differences are from {found.best}, which has the best mean score, and paired by fold:"
            " corrected resampled t (Nadeau and Bengio 2003; p-values in `.differences()`), not"
            " adjusted for the number of methods or for the choice of the best.",
            f"Pareto front: no other method is at least as good in score, number of {_noun(found)}"
            " and stability, and better in one of them.",
        ]
    if found.difference_table()["p_value"].isna().any():
        notes.append(
            "A difference that is the same in every fold has no interval and no p-value: its"
            " variance cannot be estimated."
        )
    notes += [
        "Stability: Nogueira's index over the folds. Training sets share rows, so the index is"
        " higher than over independent samples.",
        "Seconds: wall-clock time of the whole selection path and the refitted model on the"
        " training rows of a fold, median over the folds.",
        "In each fold, selection and refitting use the training rows only. Factor levels, bin edges"
        " and the parameters of transforms come from all rows, without the response.",
    ]
    return (*notes, *method_notes(found), *unshown_note(found.unshown), *found.notes)


def method_notes(found: Contest) -> tuple[str, ...]:
    """The method behind each name, with its non-default options."""
    return tuple(
        f"{run.label}: {', '.join(filter(None, (run.title, options_text(run.options))))}."
        for run in found.runs
    )


# --- the verdict of a comparison: which methods differ from the best, and the Pareto front -------


@dataclass(frozen=True, slots=True)
class Verdict:
    """Methods by the intervals of their differences and by the Pareto front, best score first."""

    # Methods that do not differ detectably from the best: the interval is not below 0
    alike: tuple[str, ...]
    worse: tuple[str, ...]  # methods that are worse than the best: the interval is below 0
    # Methods that no other dominates in score, number of units and stability
    front: tuple[str, ...]
    fewest: float  # smallest mean number of units on the front; NaN if the front is empty
    smallest: tuple[str, ...]  # methods on the front with that number
    highest: float  # highest stability on the front; NaN if none is defined
    stablest: tuple[str, ...]  # methods on the front with that stability


def verdict(ranked: pd.DataFrame, differences: pd.DataFrame) -> Verdict:
    """The verdict that follows from the tables of a comparison."""
    less = differences["ci_high"] < 0
    front = ranked[ranked["front"]]
    fewest, highest = front["n_selected"].min(), front["stability"].max()
    return Verdict(
        alike=tuple(differences.loc[~less, "method"]),
        worse=tuple(differences.loc[less, "method"]),
        front=tuple(front["method"]),
        fewest=float(fewest),
        smallest=tuple(front.loc[front["n_selected"] == fewest, "method"]),
        highest=float(highest),
        stablest=tuple(front.loc[front["stability"] == highest, "method"]),
    )


# --- score against number of units, by method: the data of figures of a comparison ---------------

MOST_LINES = 8
"""Largest number of methods in a figure with lines: colours and marks distinguish this many."""


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """A method at one size."""

    size: float  # the requested size; the mean number of units if a tuning parameter determines it
    score: float  # mean over the folds, and its standard error
    error: float
    stability: float  # NaN if it is not defined
    compared: bool  # whether the method is compared at this size


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A method over its sizes; a single point if it has one size."""

    method: str
    size: str  # size at which it is compared, as text: "3", or "(2.6)" for a mean number of units
    points: tuple[ScorePoint, ...]


def score_lines(found: Contest, most: int | None = None) -> tuple[ScoreLine, ...]:
    """Methods over their sizes, the best score first.

    Sizes at which no fold selects anything are omitted, unless the method is compared there: the
    constant model is the same for all methods, and scores far lower.
    """
    compared = found.ranked_table()
    curves = dict(list(found.curve_table().groupby("method", sort=False)))
    rows = compared.to_dict("records")[:most]
    return tuple(_line(row, curves[row["method"]]) for row in rows)


def _line(compared: Mapping[Hashable, Any], curve: pd.DataFrame) -> ScoreLine:
    import pandas as pd

    own = bool(curve["k"].isna().all())
    points = [
        ScorePoint(
            size=float(row["n_selected"] if own else row["k"]),
            score=row["score"],
            error=row["standard_error"],
            stability=row["stability"],
            compared=own or row["k"] == compared["k"],
        )
        for row in curve.to_dict("records")
        if row["n_selected"] > 0 or pd.isna(row["k"]) or row["k"] == compared["k"]
    ]
    size = size_text(compared["k"], compared["n_selected"])
    return ScoreLine(str(compared["method"]), size, tuple(points))
