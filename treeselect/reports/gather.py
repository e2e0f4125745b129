"""From a result to plain data, ready to show: what the report says is decided here.

All numbers come from the result's own tables; this module chooses and words them.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from treeselect._version import __version__
from treeselect.reports.figures import (
    BarFigure,
    DotFigure,
    PathFigure,
    bar_figure,
    dot_figure,
    path_figure,
)
from treeselect.summary import stability_notes, summarise

if TYPE_CHECKING:
    from treeselect.results import SelectionResult

MOST_UNITS = 30
"""Units in a figure; more are counted."""

MOST_ROWS = 50
"""Rows in a table; more are counted."""

_PACKAGES = ("numpy", "pandas", "numba", "formulaic", "scikit-learn", "statsmodels")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuple of str
        The first cell of each row is its head.
    more : int
        Rows that were left out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class StabilitySection:
    """Stability across resamples: figure, table and sentences."""

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
    path_label : str
        What the figure's score is.
    path_table : Table
    importance : BarFigure
    stability : StabilitySection or None
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
    path_label: str
    path_table: Table
    importance: BarFigure
    stability: StabilitySection | None
    notes: tuple[str, ...]
    method: str
    paper: str
    options: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    written: str


def gather(result: SelectionResult, *, written: str, versions: Mapping[str, str]) -> Report:
    """What the report on a result says.

    Parameters
    ----------
    result : SelectionResult
    written : str
        Date and time of writing.
    versions : mapping of str to str
        Versions of the software, from :func:`software_versions`.
    """
    summary = summarise(result)
    about_stability = stability_notes(result)
    return Report(
        title=f"Which terms predict {result.design.response.name}?",
        answer=_answer(result),
        facts=summary.facts,
        terms=Table(summary.columns, summary.rows, len(result.selected) - len(summary.rows)),
        path=_path_figure(result),
        path_label=_path_label(result),
        path_table=_path_table(result),
        importance=_importance(result),
        stability=_stability(result, about_stability),
        notes=tuple(note for note in summary.notes if note not in about_stability),
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


def enumeration(names: tuple[str, ...], most: int = 8) -> str:
    """Names in a sentence: "a, b and c"."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _answer(result: SelectionResult) -> tuple[str, ...]:
    glance = result.glance().iloc[0]
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
            f"A forest on the selected terms reaches a cross-validated {glance['score']} of"
            f" {glance['cv_score']:.3f} (standard error {glance['cv_se']:.3f}); the selection was"
            " repeated inside each fold."
        )
    if result.resampled is not None:
        n = result.resampled.n_resamples
        frequency = dict(zip(result.resampled.units, result.resampled.frequency, strict=True))
        always = tuple(name for name in result.groups if frequency[name] >= 0.95)
        text = f"On {n} resamples of the data"
        text += (
            f", {enumeration(always)} {'was' if len(always) == 1 else 'were'} selected at least"
            " 95 % of the time"
            if always
            else ", no term was selected 95 % of the time"
        )
        if np.isfinite(glance["stability"]):
            text += f"; the stability index is {glance['stability']:.2f}"
        sentences.append(f"{text}.")
    return tuple(sentences)


def _path_label(result: SelectionResult) -> str:
    score = result.design.response.family.score_name
    if result.scores is None:
        return f"{score} on the training rows"
    return f"{score}, {len(result.scores.scores)}-fold cross-validation (bars: one standard error)"


def _path_figure(result: SelectionResult) -> PathFigure:
    path = result.path
    validated = result.scores is not None
    return path_figure(
        sizes=path["k"].to_list(),
        scores=path["cv_score" if validated else "train_score"].to_list(),
        errors=path["cv_se"].to_list() if validated else None,
        chosen=result.k,
    )


def _path_table(result: SelectionResult) -> Table:
    validated = result.scores is not None
    score = result.design.response.family.score_name
    tuning = result.chosen_method.tuning_name
    columns = ["Units (k)", tuning, f"{score}, training"]
    columns += [f"{score}, cross-validated", "s.e."] if validated else []
    columns += ["Terms"]
    rows = []
    for row in result.path.to_dict("records"):
        penalty = f"{row['tuning']:.3g}" if np.isfinite(row["tuning"]) else "∞"
        cells = [str(row["k"]), penalty, f"{row['train_score']:.3f}"]
        cells += [f"{row['cv_score']:.3f}", f"{row['cv_se']:.3f}"] if validated else []
        cells += [enumeration(row["terms"], 12) if row["terms"] else "none"]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows[:MOST_ROWS]), max(len(rows) - MOST_ROWS, 0))


def _importance(result: SelectionResult) -> BarFigure:
    units = result.groups[:MOST_UNITS]
    importance = dict(zip(result.design.arrays.groups.names, result.importance, strict=True))
    return bar_figure(
        names=units,
        values=[float(importance[name]) for name in units],
        more=len(result.groups) - len(units),
    )


def _stability(result: SelectionResult, sentences: list[str]) -> StabilitySection | None:
    if result.resampled is None:
        return None
    tidy = result.resampled.tidy()
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
            "yes" if row["selected"] else "no",
        )
        for row in tidy.head(MOST_ROWS).to_dict("records")
    )
    columns = ("Unit", "Frequency", "95 % interval", "In the fit")
    table = Table(columns, rows, max(len(tidy) - MOST_ROWS, 0))
    return StabilitySection(figure, table, tuple(sentences))
