"""From a result to plain data, ready to show: what the report says is decided here.

All numbers come from the result's own tables; this module chooses and words them.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from treeselect._version import __version__
from treeselect.reports.decided import DecisionsSection, decisions_section
from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.figures.dots import DotFigure, dot_figure
from treeselect.reports.figures.path import PathFigure, path_figure
from treeselect.reports.learned import LearnedSection, learned_section
from treeselect.reports.measured import PerformanceSection, performance_section
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, Table, enumeration, table_around
from treeselect.results.summary import rows_note, stability_notes, summarise
from treeselect.results.tables import glance_table, path_table, tidy_table

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance
    from treeselect.resampling.stability import Stability

_ALWAYS = 0.95
"""Frequency from which on the answer speaks of a unit as selected nearly always."""

_PACKAGES = ("numpy", "pandas", "numba", "formulaic", "scikit-learn", "statsmodels")


@dataclass(frozen=True, slots=True)
class StabilitySection:
    """Stability across resamples: figure, table, how it was assessed, and what it says."""

    lead: str
    figure: DotFigure
    table: Table
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that the page says.

    Attributes
    ----------
    title : str
    answer : tuple of str
        The answer in a sentence or three.
    facts : tuple of (str, str)
    terms : Table
        Selected terms.
    path : PathFigure
    path_score : str
        Name of the figure's score.
    path_notes : tuple of str
        How to read the figure.
    path_table : Table
    importance : BarFigure
    importance_note : str
        What the importances are shares of.
    learned : LearnedSection or None
        What the model has learned, if anything is selected.
    stability : StabilitySection or None
    performance : PerformanceSection or None
    decisions : DecisionsSection or None
        Of methods that decide by themselves.
    notes : tuple of str
    method : str
    paper : str
    options : tuple of (str, str)
    versions : tuple of (str, str)
    written : str
    """

    title: str
    answer: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    terms: Table
    path: PathFigure
    path_score: str
    path_notes: tuple[str, ...]
    path_table: Table
    importance: BarFigure
    importance_note: str
    learned: LearnedSection | None
    stability: StabilitySection | None
    performance: PerformanceSection | None
    decisions: DecisionsSection | None
    notes: tuple[str, ...]
    method: str
    paper: str
    options: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    written: str


def gather(
    result: Fit,
    *,
    written: str,
    versions: Mapping[str, str],
    performance: Performance | None = None,
) -> Report:
    """What the report on a result says.

    Parameters
    ----------
    result : Fit
    written : str
        Date and time of writing.
    versions : mapping of str to str
        Versions of the software, from :func:`software_versions`.
    performance : Performance, optional
        Of this result.

    Raises
    ------
    OptionError
        If `performance` is something else.
    """
    # First: it may be refused.
    measured = None if performance is None else performance_section(result, performance)
    summary = summarise(result)
    about_stability = stability_notes(result)
    about_rows = rows_note(result)
    return Report(
        title=f"Which terms predict {result.design.response.name}?",
        answer=_answer(result),
        facts=_facts(result, summary.facts),
        terms=_terms(result, summary.columns, summary.rows),
        path=_path_figure(result),
        path_score=result.design.response.family.score_name,
        path_notes=_path_notes(result),
        path_table=_path_table(result),
        importance=_importance(result),
        importance_note=result.model.importance_note,
        learned=learned_section(result) if result.selected else None,
        stability=(
            stability_section(result.resampled, about_stability) if result.resampled else None
        ),
        performance=measured,
        decisions=decisions_section(result),
        notes=tuple(
            note
            for note in summary.notes
            # Rows are among the facts here.
            if note not in about_stability and note != about_rows
        ),
        method=result.chosen_method.title,
        paper=result.chosen_method.paper,
        options=tuple((k, str(v)) for k, v in result.chosen_method.options().items()),
        versions=tuple(versions.items()),
        written=written,
    )


def software_versions() -> dict[str, str]:
    """Versions of treeselect, Python and the packages that have a part in the numbers."""
    versions = {"treeselect": __version__, "Python": platform.python_version()}
    return versions | {name: metadata.version(name) for name in _PACKAGES}


def _answer(result: Fit) -> tuple[str, ...]:
    glance = glance_table(result).iloc[0]
    n_terms = len(result.design.spec.terms)
    response, method = result.design.response.name, result.chosen_method.title
    if not result.selected:
        return (f"Of {n_terms:,} terms, {method} keeps none for {response}.",)
    kept = f"{len(result.selected):,}" if len(result.selected) < n_terms else "all"
    sentences = [
        f"Of {n_terms:,} terms, {method} keeps {kept} for {response}:"
        f" {enumeration(result.selected)}."
    ]
    if np.isfinite(glance["cv_score"]):
        sentences.append(
            f"The cross-validated {glance['score']} is {glance['cv_score']:.3f} (standard error"
            f" {glance['cv_se']:.3f}), with the selection repeated inside each fold."
        )
    if result.resampled is not None:
        sentences.append(_stability_answer(result, result.resampled))
    return tuple(sentences)


def _stability_answer(result: Fit, stability: Stability) -> str:
    n = f"{stability.n_resamples:,}"
    free = stability.selected[:, stability.assessed]
    if not np.isfinite(stability.index):
        which = "every unit" if free.all() else "no unit"
        return f"Each of {n} resamples selected {which}, which tells nothing about stability."
    # What is kept by request is in every resample by request, too.
    frequency = dict(zip(stability.units, stability.frequency, strict=True))
    assessed = dict(zip(stability.units, stability.assessed, strict=True))
    found = [name for name in result.groups if assessed[name]]
    if not found:
        return f"The stability index on {n} resamples is {stability.index:.2f}."
    often = tuple(name for name in found if frequency[name] >= _ALWAYS)
    rarest = min(found, key=lambda name: frequency[name])
    parts = []
    if often:
        verb = "was" if len(often) == 1 else "were"
        parts.append(f"{enumeration(often)} {verb} selected on at least {_ALWAYS * 100:.0f} %")
    if len(often) < len(found):
        which = rarest if len(found) - len(often) == 1 else f"the least frequent, {rarest},"
        parts.append(f"{which} was selected on {frequency[rarest] * 100:.0f} %")
    return (
        f"Of {n} resamples of the {'groups' if stability.groups_name else 'rows'},"
        f" {'; '.join(parts)}."
        f" The stability index is {stability.index:.2f}."
    )


def _facts(result: Fit, facts: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The summary's facts with a row on rows after that on the data."""
    counts = result.design.rows
    rows = f"{counts.used:,} used"
    if counts.no_response:
        rows += f"; {counts.no_response:,} dropped because the response is missing"
    if counts.no_weight:
        rows += f"; {counts.no_weight:,} left out with weight 0"
    after = [name for name, _ in facts].index("Data") + 1
    return (*facts[:after], ("Rows", rows), *facts[after:])


def _terms(result: Fit, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Table:
    tidy = tidy_table(result)
    importance = tidy.loc[tidy["selected"], "importance"].head(len(rows)).to_numpy()
    largest = importance.max(initial=0.0) or 1.0
    return Table(
        columns,
        rows,
        len(result.selected) - len(rows),
        bar_column=columns.index("Importance"),
        bars=tuple(float(share) for share in importance / largest),
    )


def _path_notes(result: Fit) -> tuple[str, ...]:
    score = result.design.response.family.score_name
    if result.scores is None:
        first = (
            f"{score} of the method's own ensemble on its training rows: it tends to rise with"
            " every unit and does not tell how well new rows are predicted."
        )
        if result.chosen_method.scores_out_of_bag:
            first = (
                f"{score} of the method's own ensemble, each row predicted by the trees that have"
                " not seen it. The units were chosen on all rows, so it is optimistic for new ones."
            )
    else:
        first = (
            f"{score} on held-out rows, mean of {len(result.scores.scores)} folds, with one"
            " standard error to each side. The same folds chose the number of units, so the score"
            " at the chosen number can be slightly optimistic."
        )
    marked = f"The dashed line marks the chosen number, {result.k:,}"
    if result.step.cut_from is not None:
        marked += (
            ", which no step of the path has; the training score of the selection is that of the"
            f" step with {result.step.cut_from:,} units, from which it was cut"
        )
    return first, f"{marked}."


def _path_figure(result: Fit) -> PathFigure:
    path = path_table(result)
    validated = result.scores is not None
    return path_figure(
        sizes=path["k"].to_list(),
        scores=path["cv_score" if validated else "train_score"].to_list(),
        errors=path["cv_se"].to_list() if validated else None,
        chosen=result.k,
    )


def _path_table(result: Fit) -> Table:
    validated = result.scores is not None
    score = result.design.response.family.score_name
    tuning = result.chosen_method.tuning_name
    columns = ["Units (k)", tuning, f"{score}, training"]
    columns += [f"{score}, cross-validated", "s.e."] if validated else []
    columns += ["Terms"]
    rows = []
    for row in path_table(result).to_dict("records"):
        penalty = f"{row['tuning']:.3g}" if np.isfinite(row["tuning"]) else "∞"
        cells = [_size(row["k"], result), penalty, f"{row['train_score']:.3f}"]
        cells += [f"{row['cv_score']:.3f}", f"{row['cv_se']:.3f}"] if validated else []
        cells += [enumeration(row["terms"], 12) if row["terms"] else "none"]
        rows.append(tuple(cells))
    return table_around(columns, rows, [step.size for step in result.steps], result.k)


def _size(size: int, result: Fit) -> str:
    if size == result.k:
        return f"{size} (chosen)"
    return f"{size} (cut to {result.k})" if size == result.step.cut_from else str(size)


def _importance(result: Fit) -> BarFigure:
    units = result.groups[:MOST_UNITS]
    importance = dict(zip(result.design.arrays.groups.names, result.importance, strict=True))
    return bar_figure(
        names=units,
        values=[float(importance[name]) for name in units],
        more=len(result.groups) - len(units),
    )


def stability_section(stability: Stability, sentences: Sequence[str]) -> StabilitySection:
    """Figure and table of the most frequent units, with sentences on what they say."""
    kept = {u for u, free in zip(stability.units, stability.assessed, strict=True) if not free}
    tidy = stability.table()
    shown = tidy.head(MOST_UNITS)
    figure = dot_figure(
        names=shown["term"].to_list(),
        values=shown["frequency"].to_list(),
        lows=shown["ci_low"].to_list(),
        highs=shown["ci_high"].to_list(),
        filled=shown["selected"].to_list(),
        more=len(tidy) - len(shown),
    )
    rows = tuple(
        (
            str(row["term"]),
            f"{row['frequency']:.2f}",
            f"{row['ci_low']:.2f} to {row['ci_high']:.2f}",
            "always (keep)" if row["term"] in kept else "yes" if row["selected"] else "no",
        )
        for row in tidy.head(MOST_ROWS).to_dict("records")
    )
    columns = ("Unit", "Frequency", "95 % interval", "In the fit")
    table = Table(columns, rows, max(len(tidy) - MOST_ROWS, 0))
    return StabilitySection(_stability_lead(stability), figure, table, tuple(sentences))


def _stability_lead(stability: Stability) -> str:
    size = stability.selected.sum(axis=1)
    low, high = int(size.min()), int(size.max())
    sizes = (
        f"{low:,} unit{'' if low == high == 1 else 's'}"
        if low == high
        else f"{low:,} to {high:,} units"
    )
    drawn = "groups, each with all its rows," if stability.groups_name else "rows"
    how = {
        "bootstrap": f"as many {drawn} as there are, drawn with replacement",
        "subsample": f"half of the {drawn.removesuffix(',')}",
        "complementary": "the two halves of a split in turn",
    }[stability.scheme]
    return (
        f"How often each unit was selected when the selection was repeated on"
        f" {stability.words} ({how}), {sizes} on each; lines"
        " are 95 % intervals. Filled dots are in the selection above, hollow ones are not."
    )
