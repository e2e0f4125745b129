"""What a comparison of methods says in its printed summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.follow_up import follow_up_facts
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
from treeselect.resampling.nouns import noun_of
from treeselect.results.summary import options_text
from treeselect.running.pieces import stopped_note

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest

_NONE = "–"


def summarise_comparison(found: Contest) -> SummaryContent:
    """What the summary of a comparison says."""
    return SummaryContent(
        title="Comparison of methods: selection repeated inside each fold",
        facts=comparison_facts(found),
        columns=comparison_columns(found),
        rows=comparison_rows(found),
        notes=comparison_notes(found),
    )


def comparison_facts(found: Contest) -> tuple[tuple[str, str], ...]:
    """What was asked, and of what."""
    return (
        ("Call", found.call),
        ("Data", found.data),
        ("Family", found.family),
        *follow_up_facts(found.follow_up),
        ("Folds", f"{found.scheme}, the same for every method"),
        ("Compared at", _rule(found)),
        ("Score", f"{found.score_name} on held-out rows"),
        ("Seed", str(found.seed)),
    )


def span(counts: Sequence[int] | IntArray) -> str:
    """A count, or the least and the greatest of several: "80 to 81"."""
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _rule(found: Contest) -> str:
    sizes = [size for run in found.runs for size in found.choices(run)]
    if not sizes:
        return "the set that each method's tuning value leads to"
    if isinstance(found.rule, int):
        text = f"k = {found.rule}: the largest set of at most so many {_noun(found)}"
    else:
        name = "1 s.e. rule" if found.rule == "1se" else "best score"
        listed = sorted(set(sizes))
        whole = listed == list(range(listed[0], listed[-1] + 1))
        among = f"{listed[0]} to {listed[-1]}" if whole else ", ".join(map(str, listed))
        text = f"each method's own k by the {name}, of {among}"
    if any(run.sizes is None for run in found.runs):
        text += "; where a tuning value is given, the set that it leads to"
    return text


def comparison_columns(found: Contest) -> tuple[str, ...]:
    """Head of the table of methods."""
    columns = ["Method", "k"]
    columns += ["k (1 s.e.)"] if isinstance(found.rule, int) else []
    columns += [found.score_name, "s.e."]
    columns += ["Difference", "95% interval"] if len(found.runs) > 1 else []
    return (*columns, "Stability", "Seconds", *(["Front"] if len(found.runs) > 1 else []))


def comparison_rows(found: Contest) -> tuple[tuple[str, ...], ...]:
    """A row for each method, those of the best scores first."""
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
    """A size, or the mean size where none was asked for."""
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
    """ "3 terms", "all 7 terms, none left out", or "2.6 terms on average"; units where some hold
    several terms."""
    n_units = len(found.units)
    if not float(mean).is_integer():
        return f"{mean:.1f} {_noun(found)} on average"
    if mean == n_units:
        if n_units == 1:
            return f"the only {_noun(found, 1)}"
        return f"all {count_text(n_units)} {_noun(found)}, none left out"
    return f"{count_text(mean)} {_noun(found, mean)}"


def _noun(found: Contest, n: float = 2) -> str:
    return noun_of(found.terms_of_unit, n)


def _nothing_left_out(found: Contest) -> list[str]:
    """A sentence on methods that are compared where they select every unit."""
    table, n_units = found.ranked_table(), len(found.units)
    names = table.loc[table["n_selected"] == n_units, "method"].to_list()
    if not names or n_units == 1:
        return []
    verb = "is" if len(names) == 1 else "are"
    return [
        f"{enumeration(names)} {verb} compared with all {count_text(n_units)} {_noun(found)}, none"
        " left out."
    ]


def comparison_notes(found: Contest) -> tuple[str, ...]:
    """What a reader should know of these numbers."""
    n_folds = len(found.n_test)
    notes = [] if found.asked is None else [stopped_note(n_folds, found.asked, "folds")]
    notes += [found.score_words] if found.score_words else []
    notes += _nothing_left_out(found)
    if any(run.sizes is None for run in found.runs):
        notes.append(
            f"k in brackets: the mean number of {_noun(found)} that a tuning value leads to."
        )
    if isinstance(found.rule, str) and any(run.sizes for run in found.runs):
        notes.append(
            "The same folds chose k, so scores can be slightly optimistic, those of some methods"
            " more than others; `select(...).performance()` chooses it inside each fold."
        )
    if len(found.runs) > 1:
        notes += [
            f"Differences are from {found.best}, which has the best mean, paired by fold: corrected"
            " resampled t (Nadeau and Bengio 2003; p-values in `.differences()`), not adjusted for"
            " the number of methods nor for the choice of the best.",
            f"Front: no other method is at least as good in score, number of {_noun(found)} and"
            " stability, and better in one of them.",
        ]
    if found.difference_table()["p_value"].isna().any():
        notes.append(
            "No interval and no p-value where a difference is the same in every fold: what chance"
            " does is not seen there."
        )
    notes += [
        "Stability: Nogueira's index over the folds. Training sets of folds share rows, so it is"
        " higher than on new samples.",
        "Seconds: the whole path and the refitted model on one fold's training rows, median over"
        " the folds, by the clock.",
        "Terms, their number and the model of a fold come from its training rows alone. Levels of"
        " factors, bin edges and what transforms learn are those of all rows, without the"
        " response.",
    ]
    return (*notes, *method_notes(found), *found.notes)


def method_notes(found: Contest) -> tuple[str, ...]:
    """Which method each name stands for, with the options that are not the default."""
    return tuple(
        f"{run.label}: {', '.join(filter(None, (run.title, options_text(run.options))))}."
        for run in found.runs
    )
