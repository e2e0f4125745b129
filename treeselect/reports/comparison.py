"""From a comparison to its page: what the page says is decided here.

All numbers come from the comparison's own tables; this module chooses and words them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from treeselect.comparison.lines import MOST_LINES, ScoreLine, score_lines
from treeselect.comparison.words import (
    comparison_columns,
    comparison_facts,
    comparison_notes,
    comparison_rows,
    difference_cells,
    method_notes,
    number,
    size_text,
)
from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.figures.differences import DifferenceFigure, difference_figure
from treeselect.reports.figures.labels import distinct
from treeselect.reports.figures.series import Series, SeriesFigure, series_figure
from treeselect.reports.gather import software_versions
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, Table, enumeration
from treeselect.reports.render import render, time_of_writing, write_page
from treeselect.results.summary import options_text

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest, Run

TEMPLATE = "comparison.html.j2"

_MOST_TERMS = 30


@dataclass(frozen=True, slots=True)
class SeriesSection:
    """Lines over the number of units, how to read them, and their numbers."""

    lead: str
    figure: SeriesFigure
    table: Table


@dataclass(frozen=True, slots=True)
class DifferenceSection:
    """Paired differences from the best method."""

    lead: str
    figure: DifferenceFigure
    table: Table


@dataclass(frozen=True, slots=True)
class Share:
    """A cell of the matrix of terms: a share of the folds as text and as number."""

    text: str
    share: float


@dataclass(frozen=True, slots=True)
class TermMatrix:
    """Terms by methods.

    Attributes
    ----------
    lead : str
    methods : tuple of (str, str)
        Whole names and what fits into the head of a column.
    upright : bool
        Whether the heads of the columns are turned, as they would not fit side by side.
    rows : tuple of (str, tuple of Share)
    more : int
        Terms that were left out.
    """

    lead: str
    methods: tuple[tuple[str, str], ...]
    upright: bool
    rows: tuple[tuple[str, tuple[Share, ...]], ...]
    more: int


@dataclass(frozen=True, slots=True)
class MethodPaper:
    """A method with its options and its paper."""

    label: str
    title: str
    options: str
    paper: str


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """All that the page says.

    Attributes
    ----------
    title : str
    answer : tuple of str
        The answer in a sentence or three.
    facts : tuple of (str, str)
    methods : Table
    score : str
        Name of the score.
    scores : SeriesSection
    differences : DifferenceSection or None
        None for one method.
    stability : SeriesSection or None
        None where it is not defined anywhere.
    seconds : BarFigure
    terms : TermMatrix or None
        None if nothing was selected.
    notes : tuple of str
    papers : tuple of MethodPaper
    versions : tuple of (str, str)
    written : str
    """

    title: str
    answer: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    methods: Table
    score: str
    scores: SeriesSection
    differences: DifferenceSection | None
    stability: SeriesSection | None
    seconds: BarFigure
    terms: TermMatrix | None
    notes: tuple[str, ...]
    papers: tuple[MethodPaper, ...]
    versions: tuple[tuple[str, str], ...]
    written: str


def write_comparison(found: Contest, path: Path, template: Path | None = None) -> Path:
    """Write the report on a comparison; the file appears whole or not at all.

    Raises
    ------
    OptionError
        If the file can't be written, or there is no such template.
    """

    def page() -> str:
        report = gather_comparison(found, written=time_of_writing(), versions=software_versions())
        return render(report, template, standard=TEMPLATE)

    return write_page(path, page)


def gather_comparison(
    found: Contest, *, written: str, versions: Mapping[str, str]
) -> ComparisonReport:
    """What the report on a comparison says.

    Parameters
    ----------
    found : Contest
    written : str
        Date and time of writing.
    versions : mapping of str to str
        Versions of the software.
    """
    glance = found.ranked_table()
    differences = found.difference_table()
    lines = score_lines(found)
    about_methods = method_notes(found)
    single = len(found.runs) == 1
    return ComparisonReport(
        title=(
            f"How well does {found.best} select for {found.response}?"
            if single
            else f"Which method selects best for {found.response}?"
        ),
        answer=_answer(found, glance, differences),
        facts=_facts(found),
        methods=_methods(found, glance),
        score=found.score_name,
        scores=_scores(found, lines),
        differences=None if single else _differences(found, differences),
        stability=_stability(found, lines),
        seconds=_seconds(glance),
        terms=_terms(found, glance["method"].tolist()),
        notes=tuple(note for note in comparison_notes(found) if note not in about_methods),
        papers=tuple(map(_paper, found.runs)),
        versions=tuple(versions.items()),
        written=written,
    )


# --- the answer --------------------------------------------------------------------------------


def _answer(found: Contest, glance: pd.DataFrame, differences: pd.DataFrame) -> tuple[str, ...]:
    best = glance.to_dict("records")[0]
    reached = (
        f"{best['score']:.3f} (standard error {best['standard_error']:.3f}) with"
        f" {_units(best['n_selected'])}"
    )
    score, response = found.score_name, found.response
    if len(glance) == 1:
        return (f"On held-out rows, {best['method']} reaches {score} {reached} for {response}.",)
    first = (
        f"Of {len(glance)} methods, {best['method']} has the best mean {score} for {response} on"
        f" held-out rows: {reached}."
    )
    return first, _told_apart(differences), *_front(glance)


def _units(mean: float) -> str:
    """ "3 units" or "2.6 units on average"."""
    if not float(mean).is_integer():
        return f"{mean:.1f} units on average"
    return f"{mean:.0f} unit{'' if mean == 1 else 's'}"


def _told_apart(differences: pd.DataFrame) -> str:
    """Which methods the intervals tell from the best."""
    less = differences["ci_high"] < 0
    alike = tuple(differences.loc[~less, "method"])
    worse = tuple(differences.loc[less, "method"])
    if not worse:
        return "The 95 % intervals of the paired differences tell no other method from it."
    verb = "scores" if len(worse) == 1 else "score"
    if not alike:
        which = enumeration(worse) if len(worse) == 1 else "all others"
        return f"By the 95 % intervals of the paired differences, {which} {verb} less."
    return (
        f"The 95 % intervals of the paired differences do not tell {enumeration(alike)} from it;"
        f" {enumeration(worse)} {verb} less."
    )


def _front(glance: pd.DataFrame) -> tuple[str, ...]:
    """Which methods no other beats in everything, the smallest and the most stable of them."""
    front = glance[glance["front"]]
    names = tuple(front["method"])
    what = "the front of score, number of units and stability"
    if not names:
        return ()
    if len(names) == 1:
        return (f"{names[0]} alone is on {what}.",)
    fewest, most = front["n_selected"].min(), front["stability"].max()
    small = tuple(front.loc[front["n_selected"] == fewest, "method"])
    stable = tuple(front.loc[front["stability"] == most, "method"])
    count = f"{fewest:.0f}" if float(fewest).is_integer() else f"{fewest:.1f}"
    verb = "selects" if len(small) == 1 else "select"
    text = f"On {what} are {enumeration(names)}:"
    text += f" {enumeration(small)} {verb} the fewest units ({count})"
    if stable:
        verb = "is" if len(stable) == 1 else "are"
        who = f" and {verb}" if stable == small else f", {enumeration(stable)} {verb}"
        text += f"{who} the most stable ({most:.2f})"
    return (f"{text}.",)


# --- tables and figures ------------------------------------------------------------------------


def _facts(found: Contest) -> tuple[tuple[str, str], ...]:
    """The summary's facts with a row on rows after that on the data."""
    facts = comparison_facts(found)
    rows = f"{_span(found.n_train)} in training, {_span(found.n_test)} held out in each fold"
    after = [name for name, _ in facts].index("Data") + 1
    return (*facts[:after], ("Rows", rows), *facts[after:])


def _span(counts: Sequence[int] | np.ndarray) -> str:
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _methods(found: Contest, glance: pd.DataFrame) -> Table:
    columns, rows = comparison_columns(found), comparison_rows(found)
    return Table(
        columns,
        rows[:MOST_ROWS],
        max(len(rows) - MOST_ROWS, 0),
        bar_column=columns.index("Stability"),
        bars=tuple(float(np.clip(s, 0.0, 1.0)) for s in glance["stability"].fillna(0.0)),
    )


def _scores(found: Contest, lines: Sequence[ScoreLine]) -> SeriesSection:
    shown = [
        _series(line, i, [p.score for p in line.points], [p.error for p in line.points])
        for i, line in enumerate(lines[:MOST_LINES])
    ]
    lead = (
        f"{found.score_name} on held-out rows, mean over the folds, with one standard error to each"
        " side; bars stand side by side where sizes are the same. A ring marks the size at which a"
        " method is compared."
    )
    if any(run.sizes is None for run in found.runs):
        lead += " A method whose tuning value is given is one point, at its mean number of units."
    if any(0 in (run.sizes or ()) for run in found.runs):
        lead += " Sizes at which no fold selects anything are left out: the constant model."
    table = _by_size(found, lines, lambda row: f"{row['score']:.3f} ({row['standard_error']:.3f})")
    return SeriesSection(lead, series_figure(shown, len(lines) - len(shown)), table)


def _series(line: ScoreLine, i: int, values: Sequence[float], errors: Sequence[float]) -> Series:
    return Series(
        line.method,
        i,
        tuple(p.size for p in line.points),
        tuple(values),
        tuple(errors),
        tuple(p.compared for p in line.points),
    )


def _by_size(
    found: Contest, lines: Sequence[ScoreLine], text: Callable[[Mapping[Hashable, Any]], str]
) -> Table:
    """A row for each size and a column for each method; last the sets of given tuning values."""
    curves = found.curve_table()
    sizes = sorted({int(k) for k in curves["k"].dropna()})
    cells = {
        (row["method"], None if pd.isna(row["k"]) else int(row["k"])): text(row)
        for row in curves.to_dict("records")
    }
    names = [line.method for line in lines]
    rows = [(str(size), *(cells.get((name, size), "") for name in names)) for size in sizes]
    if any((name, None) in cells for name in names):
        rows.append(("given", *(cells.get((name, None), "") for name in names)))
    columns = ("Units (k)", *distinct(names, 12.0))
    return Table(columns, tuple(rows[:MOST_ROWS]), max(len(rows) - MOST_ROWS, 0))


def _differences(found: Contest, table: pd.DataFrame) -> DifferenceSection:
    table = table.sort_values("difference", ascending=False, kind="stable")
    shown = table.head(MOST_UNITS)
    figure = difference_figure(
        shown["method"].tolist(),
        shown["difference"].tolist(),
        shown["ci_low"].tolist(),
        shown["ci_high"].tolist(),
        len(table) - len(shown),
    )
    rows = tuple(
        (
            str(row["method"]),
            size_text(row["k"], np.nan),
            *difference_cells(row),
        )
        for row in table.head(MOST_ROWS).to_dict("records")
    )
    columns = ("Method", "k", "Difference", "95 % interval", "p")
    lead = (
        f"{found.score_name} of each method less that of {found.best}, fold by fold: mean and 95 %"
        " interval. Filled dots are those whose interval leaves out 0."
    )
    return DifferenceSection(lead, figure, Table(columns, rows, max(len(table) - MOST_ROWS, 0)))


def _stability(found: Contest, lines: Sequence[ScoreLine]) -> SeriesSection | None:
    shown = [
        _series(line, i, [p.stability for p in line.points], [np.nan] * len(line.points))
        for i, line in enumerate(lines[:MOST_LINES])
        if any(np.isfinite(p.stability) for p in line.points)
    ]
    if not shown:
        return None
    lead = (
        "Nogueira's index over the folds: 1 is the same selection in each, 0 is chance. It is not"
        " defined where every fold selects all units or none."
    )
    table = _by_size(found, lines, lambda row: number(row["stability"], ".2f"))
    figure = series_figure(shown, max(len(lines) - MOST_LINES, 0), cover=(0.0, 1.0))
    return SeriesSection(lead, figure, table)


def _seconds(glance: pd.DataFrame) -> BarFigure:
    shown = glance.head(MOST_UNITS)
    return bar_figure(
        shown["method"].tolist(),
        shown["seconds"].tolist(),
        len(glance) - len(shown),
        texts=[f"{seconds:.2g} s" for seconds in shown["seconds"]],
    )


def _terms(found: Contest, methods: Sequence[str]) -> TermMatrix | None:
    """Share of the folds in which each method selected each term, where it is compared."""
    table = found.term_table()
    if table.empty:
        return None
    shares = table.pivot(index="term", columns="method", values="frequency")
    order = list(dict.fromkeys(table["term"]))
    shown = order[:_MOST_TERMS]
    rows = tuple(
        (term, tuple(_share(float(shares.loc[term, method])) for method in methods))
        for term in shown
    )
    labels = distinct(list(methods), 11.0)
    lead = (
        "Share of the folds in which each method selected each term, where the method is compared."
        " The most frequent terms over all methods are first."
    )
    return TermMatrix(
        lead=lead,
        methods=tuple(zip(methods, labels, strict=True)),
        upright=len(labels) > 6,
        rows=rows,
        more=len(order) - len(shown),
    )


def _share(share: float) -> Share:
    return Share(f"{share:.2f}" if share else "0", share)


def _paper(run: Run) -> MethodPaper:
    options = options_text(run.options) or "default options"
    return MethodPaper(run.label, run.title, options, run.paper)
