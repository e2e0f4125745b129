"""Sections of the report on a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from treeselect.comparison.methods import (
    ScoreLine,
    method_notes,
    noun_in,
    size_text,
    told_apart,
    units_text,
)
from treeselect.comparison.record import Contest, difference_cells
from treeselect.figures import charts
from treeselect.figures.axes import distinct
from treeselect.figures.marks import Plane, Rows, Series
from treeselect.printing import decimal_text, enumeration, error_text, plain_score
from treeselect.printing.numbers import span
from treeselect.reports import parts
from treeselect.results.summary import options_text


def answer(material: parts.ContestMaterial) -> tuple[str, ...]:
    """Which method is best, and which do not differ detectably."""
    found, ranked = material.found, material.ranked
    best = ranked.to_dict("records")[0]
    reached = (
        f"{plain_score(best['score'])}"
        f" (standard error {error_text(best['standard_error'])}), using"
        f" {units_text(best['n_selected'], found)}"
    )
    score, response = found.score_name, found.response
    if len(ranked) == 1:
        return (
            f"{best['method']} predicts {response} on held-out rows with a mean {score} of"
            f" {reached}.",
        )
    same = ranked.loc[ranked["score"] == best["score"], "method"].tolist()[1:]
    tied = (
        f"; {enumeration(same)} {'has' if len(same) == 1 else 'have'} the same mean" if same else ""
    )
    first = (
        f"Of {len(ranked)} methods, {best['method']} has the best mean {score} for predicting"
        f" {response} on held-out rows: {reached}{tied}."
    )
    alike, worse = told_apart(material.differences)
    verb = "scores" if len(worse) == 1 else "score"
    if not worse:
        verdict = "no other method differs detectably"
    elif not alike:
        which = enumeration(worse) if len(worse) == 1 else "all other methods"
        verdict = f"{which} {verb} lower"
    else:
        does = "does" if len(alike) == 1 else "do"
        verdict = f"{enumeration(alike)} {does} not differ detectably from it;"
        verdict += f" {enumeration(worse)} {verb} lower"
    return first, f"By the 95% intervals of the paired differences, {verdict}."


# --- three facts below the answer: the best score, the most stable method, and the rows ---------


def cards(material: parts.ContestMaterial) -> tuple[parts.Card, ...]:
    found = material.found
    rows = f"{span(found.n_train + found.n_left_out + found.n_test)} rows"
    split = f"{span(found.n_train)} in training, {span(found.n_test)} held out"
    events = "" if found.follow_up is None else f"{found.follow_up.n_events:,} events."
    data = parts.Card.of("Data", rows, events, f"{found.scheme}: {split}.")
    best = material.ranked.to_dict("records")[0]
    score = parts.Card.of(
        f"Best {found.score_name}" if len(found.runs) > 1 else found.score_name,
        plain_score(best["score"]),
        f"{best['method']} with {units_text(best['n_selected'], found)}; standard error"
        f" {error_text(best['standard_error'])} over {len(found.n_test):,} folds.",
        found.score_words,
    )
    return score, _stability_card(material), data


def _stability_card(material: parts.ContestMaterial) -> parts.Card:
    ranked = material.ranked
    known = ranked[np.isfinite(ranked["stability"])]
    if known.empty:
        return parts.Card(
            "Stability",
            "Not defined",
            (f"Every fold selected all {noun_in(material.found)} that it could, or none.",),
        )
    most = known["stability"].max()
    who = known.loc[known["stability"] == most, "method"].tolist()
    several = len(ranked) > 1
    return parts.Card.of(
        "Most stable" if several else "Stability",
        decimal_text(most, 2),
        f"{enumeration(who)}." if several else "",
        f"Nogueira's index over {len(material.found.n_test):,} folds (1: identical selections; 0:"
        " no better than chance).",
    )


# --- paired differences from the best method ----------------------------------------------------


def differences(material: parts.ContestMaterial) -> parts.Section | None:
    """Differences from the best, smallest first; None for a single method."""
    found = material.found
    if len(found.runs) == 1:
        return None
    table = material.differences.sort_values("difference", ascending=False, kind="stable")
    rows = [
        (str(row["method"]), size_text(row["k"], np.nan), *difference_cells(row))
        for row in table.to_dict("records")
    ]
    lead = (
        f"{found.score_name} of each method minus {found.score_name} of {found.best}, paired by"
        " fold: mean and 95% interval. Filled dots: the interval excludes 0."
    )
    listed = parts.first_rows(("Method", "k", "Difference", "95% interval", "p"), rows)
    return parts.Section(
        "differences",
        "Paired differences",
        lead=lead,
        figure=difference_rows(material),
        table=listed.titled("Differences from the best method", "Differences as a table"),
    )


def difference_rows(material: parts.ContestMaterial) -> Rows:
    table = material.differences.sort_values("difference", ascending=False, kind="stable")
    shown = table.head(parts.MOST_UNITS)
    spans = shown[["difference", "ci_low", "ci_high"]].itertuples(index=False, name=None)
    return charts.difference_figure(shown["method"].tolist(), list(spans), len(table) - len(shown))


# --- the methods, best score first --------------------------------------------------------------


def methods(material: parts.ContestMaterial) -> parts.Section:
    columns, rows = material.summary.columns, material.summary.rows
    bars = tuple(  # None where stability is undefined
        parts.Mark(float(np.clip(value, 0.0, 1.0))) if np.isfinite(value) else None
        for value in material.ranked["stability"].tolist()
    )
    table = replace(parts.first_rows(columns, rows), marks={columns.index("Stability"): bars})
    caption = "Methods, best score first (columns are explained in the notes)"
    return parts.Section("methods", "Methods", table=table.titled(caption))


# --- score against the number of terms ----------------------------------------------------------


def scores(material: parts.ContestMaterial) -> parts.Section:
    found, lines = material.found, material.lines
    lead = (
        f"{found.score_name} on held-out rows: mean over the folds ± one standard error. Bars at"
        " the same size are drawn side by side. A ring marks the size at which a method is"
        " compared."
    )
    if any(run.sizes is None for run in found.runs):
        nouns = noun_in(found)
        lead += (
            f" A method with a given tuning parameter is one point, at its mean number of {nouns}."
        )
    if any(0 in (run.sizes or ()) for run in found.runs):
        lead += " The constant model, with nothing selected in any fold, is omitted."
    table = _table_by_size(found, lines)
    return parts.Section(
        "scores",
        f"Score against number of {noun_in(found)}",
        lead=lead,
        figure=score_lines_figure(material),
        table=table.titled(f"{found.score_name} by size (standard error)", "Scores as a table"),
    )


def score_lines_figure(material: parts.ContestMaterial) -> Plane:
    found, lines = material.found, material.lines
    shown = [_series(line, i) for i, line in enumerate(lines[: charts.MOST_LINES])]
    figure = charts.score_figure(
        shown,
        len(lines) - len(shown),
        what=found.score_name,
        noun=noun_in(found, 1),
        bounds=found.score_bounds,
    )
    return replace(
        figure, key="score-lines", title=f"{found.score_name} against number of {noun_in(found)}"
    )


# --- the terms that each method selected --------------------------------------------------------

_MOST_TERMS = 30


def terms(material: parts.ContestMaterial) -> parts.Section:
    """Share of folds in which each method selected each term."""
    table, methods = material.found.in_pandas.terms(), material.ranked["method"].tolist()
    if table.empty:
        said = "No method selected any term at the size at which it is compared."
        return parts.Section("terms", "Selected terms", lead=said)
    shares = table.pivot(index="term", columns="method", values="frequency")
    order = list(dict.fromkeys(table["term"]))
    shown = order[:_MOST_TERMS]
    found = shares.loc[shown, methods]
    rows = tuple(
        (term, *(decimal_text(share, 2) for share in own))
        for term, own in zip(shown, found.to_numpy().tolist(), strict=True)
    )
    lead = (
        "Share of folds in which each method selected each term, at the size at which the method is"
        " compared. Terms are ordered by their frequency over all methods."
    )
    table = parts.Table(
        columns=("Term", *distinct(methods, 11.0)),
        rows=rows,
        more=len(order) - len(shown),
        marks={
            i: tuple(map(parts.Mark, found[method])) for i, method in enumerate(methods, start=1)
        },
    )
    caption = "Share of folds that selected each term"
    return parts.Section("terms", "Selected terms", lead=lead, table=table.titled(caption))


# --- settings of the comparison, and its data ---------------------------------------------------


def asked(material: parts.ContestMaterial) -> parts.Section:
    """The summary's facts, with the numbers of rows after the data."""
    found, facts = material.found, material.summary.facts
    rows = f"{span(found.n_train)} in training, {span(found.n_test)} held out in each fold"
    after = [name for name, _ in facts].index("Data") + 1
    facts = (*facts[:after], ("Rows", rows), *facts[after:])
    return parts.Section("asked", "Settings", facts=parts.Facts(facts))


# --- what a reader should know about the comparison ---------------------------------------------


def notes(material: parts.ContestMaterial) -> parts.Section | None:
    """The summary's notes, except those on the methods, which stand with their papers."""
    about_methods = method_notes(material.found)
    return parts.notes_section(
        [note for note in material.summary.notes if note not in about_methods]
    )


# --- methods, papers and software ---------------------------------------------------------------


def software(material: parts.ContestMaterial) -> parts.Section:
    """The methods with their papers, and the versions of the software."""
    versions = ", ".join(f"{name} {value}" for name, value in material.versions.items())
    return parts.Section(
        "papers",
        "Methods, papers and software",
        papers=parts.Facts(
            (
                run.label,
                f"{run.title}, {options_text(run.options) or 'default options'}. {run.paper}",
            )
            for run in material.found.runs
        ),
        versions=f"{versions}. Written {material.written}.",
    )


# --- scores of methods by size: as lines, and as a table ----------------------------------------


def _series(line: ScoreLine, i: int) -> Series:
    """The scores of a method by number of terms, with error bars if there are any."""
    table, ends = line.curve, dict[str, Any]()
    if table["standard_error"].notna().any():
        low, high = (table["score"] + sign * table["standard_error"] for sign in (-1, 1))
        ends = {"low": low.to_list(), "high": high.to_list()}
    x, y, ringed = (table[name].to_list() for name in ("size", "score", "compared"))
    return Series(x=x, y=y, name=line.method, colour=i, mark=i, ringed=ringed, **ends)


def _table_by_size(found: Contest, lines: Sequence[ScoreLine]) -> parts.Table:
    """A row for each size, and one for a given tuning parameter; a column for each method."""
    curves = found.in_pandas.curves()
    sizes = sorted({int(k) for k in curves["k"].dropna()})
    cells = {
        (row["method"], None if pd.isna(row["k"]) else int(row["k"])): (
            f"{decimal_text(row['score'], 3)} ({decimal_text(row['standard_error'], 3)})"
        )
        for row in curves.to_dict("records")
    }
    names = [line.method for line in lines]
    rows = [(str(size), *(cells.get((name, size), "") for name in names)) for size in sizes]
    if any((name, None) in cells for name in names):
        rows.append(("given", *(cells.get((name, None), "") for name in names)))
    columns = (f"{noun_in(found).capitalize()} (k)", *distinct(names, 12.0))
    return parts.first_rows(columns, rows)
