"""How many terms: the score against their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.printing import decimal_text, enumeration, score_text
from treeselect.reports.figures.path import PathFigure, path_figure
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table, table_around
from treeselect.resampling.nouns import noun
from treeselect.results.summary import is_selected_on_its_rows
from treeselect.results.tables import beyond_path, path_table

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class PathSection:
    """The path.

    Attributes
    ----------
    notes : tuple of str
        How to read the figure.
    figure : PathFigure or None
        None where there are not two scores: a path of one step is a sentence.
    score : str
        Name of the figure's score.
    table : Table
    """

    notes: tuple[str, ...]
    figure: PathFigure | None
    score: str
    table: Table


def gather(material: FitMaterial) -> PathSection:
    """The path as figure and table."""
    fit = material.fit
    score = fit.design.response.family.score_name
    figure = _figure(fit)
    notes = _notes(fit) if figure is not None else _without_figure(fit)
    return PathSection(notes, figure, score, _table(fit))


def _notes(fit: Fit) -> tuple[str, ...]:
    marked = f"The dashed line marks the chosen number, {fit.k:,}"
    if fit.step.cut_from is not None:
        marked += (
            f". No model with exactly {fit.k:,} {noun(fit, fit.k)} lies on the path: the selection"
            f" was cut from the step with {fit.step.cut_from:,} {noun(fit)}, whose training score"
            " it shares"
        )
    return _what_score(fit), f"{marked}."


def _without_figure(fit: Fit) -> tuple[str, ...]:
    """For a path with one step, or with fewer than two scored steps."""
    if len(fit.steps) > 1:
        return ("There is no figure because fewer than two steps of the path have a score.",)
    (row,) = path_table(fit).to_dict("records")
    text = f"The path has one step, with {row['k']:,} {noun(fit, row['k'])}"
    if fit.step.cut_from is not None:
        text += f", cut to {fit.k:,}"
    score = row["train_score" if fit.scores is None else "cv_score"]
    if not np.isfinite(score):
        return (f"{text}; it has no score.",)
    has_error = np.isfinite(row["cv_se"])
    shown = (
        score_text(score, row["cv_se"], "standard error") if has_error else decimal_text(score, 3)
    )
    return f"{text}: {fit.design.response.family.score_name} {shown}.", _what_score(fit)


def _what_score(fit: Fit) -> str:
    """The rows on which the path is scored."""
    score = fit.design.response.family.score_name
    if fit.scores is None:
        first = (
            f"{score} of the method's model on its training rows. It tends to rise with every"
            f" added {noun(fit, 1)} and does not measure how well new rows are predicted."
        )
        if fit.chosen_method.tells_out_of_bag:
            first = f"Out-of-bag {score}: each row is predicted by the trees not grown on it."
            if is_selected_on_its_rows(fit):
                first += (
                    f" The {noun(fit)} were selected on all rows, so it is optimistic for new rows."
                )
    else:
        parts = "folds" if fit.scores.spared is None else "parts"
        parts = "halves" if fit.scores.of_halves else parts
        so = "" if fit.scores.of_halves else ", so the score at the chosen number is optimistic"
        first = (
            f"{score} on held-out rows: mean of {len(fit.scores.scores)} {parts} ± one standard"
            f" error. {fit.scores.chooser.capitalize()} chose the number of {noun(fit)}{so}."
        )
    return first


def _figure(fit: Fit) -> PathFigure | None:
    path = path_table(fit)
    validated = fit.scores is not None
    scores = path["cv_score" if validated else "train_score"]
    if scores.notna().sum() < 2:
        return None
    return path_figure(
        sizes=path["k"].to_list(),
        scores=scores.to_list(),
        errors=path["cv_se"].to_list() if validated else None,
        chosen=fit.k,
        bounds=fit.design.response.family.score_bounds,
        noun=noun(fit, 1),
        full=beyond_path(fit),
    )


def _table(fit: Fit) -> Table:
    validated = fit.scores is not None
    score = fit.design.response.family.score_name
    tuning = fit.chosen_method.tuning_name
    rows_of = "out of bag" if fit.chosen_method.tells_out_of_bag else "training"
    columns = [f"{noun(fit).capitalize()} (k)", tuning, f"{score}, {rows_of}"]
    columns += [f"{score}, {fit.scores.kind}", "s.e."] if fit.scores is not None else []
    columns += ["Selected"]
    rows = []
    for row in path_table(fit).to_dict("records"):
        penalty = "" if np.isnan(row["tuning"]) else f"{row['tuning']:.3g}".replace("inf", "∞")
        cells = [_size(row["k"], fit), penalty, decimal_text(row["train_score"], 3)]
        cells += (
            [decimal_text(row["cv_score"], 3), decimal_text(row["cv_se"], 3)] if validated else []
        )
        cells += [enumeration(row["terms"]) if row["terms"] else "none"]
        rows.append(tuple(cells))
    return table_around(columns, rows, [step.size for step in fit.steps], fit.k)


def _size(size: int, fit: Fit) -> str:
    if size == fit.k:
        return f"{size} (chosen)"
    return f"{size} (cut to {fit.k})" if size == fit.step.cut_from else str(size)
