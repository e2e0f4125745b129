"""The path: decisions, scores by size, alternatives, importances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treeselect.engine.arrays import BoolArray
from treeselect.figures.charts import dot_figure, path_figure
from treeselect.figures.marks import Plane
from treeselect.printing import cells, decimal_text, enumeration, p_text
from treeselect.reports import parts
from treeselect.resampling.choosing import LEVEL, level_words
from treeselect.resampling.fit import Fit, noun
from treeselect.results import tables
from treeselect.results.refitting import at_set


def path(material: parts.FitMaterial) -> parts.Section:
    fit = material.fit
    figure, n_first = score_path(fit), fit.steps[0].size
    if figure is None and len(fit.steps) > 1:
        notes = ["There is no figure because fewer than two steps of the path have a score."]
    elif figure is None:
        notes = [f"The path has one step, with {n_first:,} {noun(fit, n_first)}.", _what_score(fit)]
    else:
        marked = f"The dashed line marks the chosen number, {fit.k:,}"
        if fit.step.cut_from is not None:
            marked += (
                f". No model with exactly {fit.k:,} {noun(fit, fit.k)} lies on the path: the"
                f" selection was cut from the step with {fit.step.cut_from:,} {noun(fit)}, whose"
                " training score it shares"
            )
        notes = [_what_score(fit), f"{marked}."]
    return parts.Section(
        "path",
        f"How many {noun(fit)}?",
        lead=" ".join(notes),
        figure=figure,
        table=_path_table(fit).titled("Selection path", "Path as a table", on_paper=True),
    )


def _what_score(fit: Fit) -> str:
    """The rows on which the path is scored."""
    score = fit.design.response.family.score_name
    if fit.scores is not None:
        over = "folds" if fit.scores.spared is None else "parts"
        over = "halves" if fit.scores.of_halves else over
        so = ", so the score at the chosen number is optimistic" if fit.scores_flatter else ""
        return (
            f"{score} on held-out rows: mean of {len(fit.scores.scores)} {over} ± one standard"
            f" error. {fit.scores.chooser.capitalize()} chose the number of {noun(fit)}{so}."
        )
    before = fit.chosen_method.scored_before
    if not fit.chosen_method.tells_out_of_bag:
        return (
            f"{score} of the method's model on its training rows{before}. It tends to rise with"
            f" every added {noun(fit, 1)} and does not measure how well new rows are predicted."
        )
    so = f" The {noun(fit)} were selected on the same rows, so it is optimistic for new rows."
    said = f"Out-of-bag {score}{before}: each row is predicted without it."
    return said + so if fit.leaves_out and fit.is_chosen else said


def score_path(fit: Fit) -> Plane | None:
    """Score against size; None for fewer than two scores."""
    path = tables.path_table(fit)
    validated = fit.scores is not None
    scores = path["cv_score" if validated else "train_score"]
    if scores.notna().sum() < 2:
        return None
    return path_figure(
        sizes=path["k"].to_list(),
        scores=scores.to_list(),
        errors=path["cv_se"].to_list() if validated else None,
        chosen=fit.k,
        score=fit.design.response.family.score_name,
        bounds=fit.design.response.family.score_bounds,
        noun=noun(fit, 1),
        full=tables.beyond_path(fit),
    )


def _path_table(fit: Fit) -> parts.Table:
    validated = fit.scores is not None
    score = fit.design.response.family.score_name
    tuning = fit.chosen_method.tuning_name
    rows_of = "out of bag" if fit.chosen_method.tells_out_of_bag else "training"
    columns = [f"{noun(fit).capitalize()} (k)", tuning, f"{score}, {rows_of}"]
    columns += [f"{score}, {fit.scores.kind}", "s.e."] if fit.scores is not None else []
    columns += ["Selected"]
    rows = []
    for row in tables.path_table(fit).to_dict("records"):
        penalty = "" if np.isnan(row["tuning"]) else f"{row['tuning']:.3g}".replace("inf", "∞")
        size = str(row["k"])
        size += f" (cut to {fit.k})" * (row["k"] == fit.step.cut_from)
        size += " (chosen)" * (row["k"] == fit.k)
        cells = [size, penalty, decimal_text(row["train_score"], 3, missing="–")]
        cells += (
            [decimal_text(row["cv_score"], 3), decimal_text(row["cv_se"], 3)] if validated else []
        )
        cells += [enumeration(row["terms"]) if row["terms"] else "none"]
        rows.append(tuple(cells))
    return parts.table_around(columns, rows, [step.size for step in fit.steps], fit.k)


# --- other numbers of units, and other sets ------------------------------------------------------

_REACH = 2
"""Sizes on each side of the chosen one that can be looked at."""

_SETS = 3
"""Other sets of the chosen size, the nearest."""


def with_others(
    material: parts.FitMaterial, table_of: Callable[[parts.FitMaterial], parts.Table]
) -> parts.Table | parts.Choices:
    """The table of the selection, beside those of the sizes next to it on the path and of the
    nearest sets of its own size; alone without the data, or if the page is `whole`."""
    fit, own = material.fit, table_of(material)
    if material.whole or not fit.design.has_data:
        return own
    sizes, sets = _other_sizes(fit), _other_sets(fit)
    if not sizes and not sets:
        return own
    before = sum(selected.sum() < fit.k for _, _, selected in sizes)
    labels, said, others = map(list, zip(*sizes, *sets, strict=True))
    tables = []
    for selected in others:
        other, model = at_set(fit, selected)
        table = table_of(parts.FitMaterial(other, is_look=True))
        tables.append(table.titled(f"Importance and effects in {model}"))
    labels.insert(before, f"{fit.k:,}, selected")
    said.insert(before, "")
    tables.insert(before, own)
    legend = f"Number of {noun(fit)}{', or another set' if sets else ''}"
    return parts.Choices(legend, tuple(labels), tuple(said), tuple(tables), before)


_Other = tuple[str, str, BoolArray]
"""A set: its label, what is said of it, and its units, shape (n_groups,)."""


def _other_sizes(fit: Fit) -> list[_Other]:
    path = tables.path_table(fit).drop_duplicates("k", keep="last").set_index("k").sort_index()
    own, score = path["cv_score"].get(fit.k, np.nan), fit.design.response.family.score_name
    steps = {step.size: step for step in fit.steps}
    found: list[_Other] = []
    for size in path.index[np.abs(path.index - fit.k) <= _REACH]:
        if size in (0, fit.k):
            continue
        row, said = path.loc[size], []
        if fit.scores is not None and np.isfinite([row["cv_score"], own]).all():
            said.append(
                f"With {size:,} {noun(fit, size)}, {score} is {decimal_text(row['cv_score'], 3)}"
                f" (s.e. {decimal_text(row['cv_se'], 3)}) {fit.scores.kind}, that of the selection"
                f" {decimal_text(own, 3)}."
            )
        if fit.p_values is not None and np.isfinite(fit.p_values[size : size + 1]).any():
            p_value = p_text(fit.p_values[size]).replace("<", "< ")
            better = "was" if fit.p_values[size] <= LEVEL else "was not"
            equals = "" if p_value.startswith("<") else "= "
            said.append(
                f"A larger set {better} found to predict better"
                f" (p {equals}{p_value}{level_words(fit.p_values[size])})."
            )
        found.append((f"{size:,}", " ".join(said), steps[size].selected))
    return found


def _other_sets(fit: Fit) -> list[_Other]:
    if fit.step.trace is None:
        return []
    names = np.array(fit.design.arrays.groups.names, dtype=object)
    near = tables.alternative_table(fit).head(_SETS)["terms"]
    rows = zip(tables.rival_rows(fit, _SETS), near, strict=True)
    return [
        (
            label,
            f"Its out-of-bag error differs by {change}% (s.e. {error}) from that of the selection.",
            np.isin(names, units),
        )
        for (label, change, error), units in rows
    ]


# --- decisions of a method that tests each unit -------------------------------------------------


def decisions(material: parts.FitMaterial) -> parts.Section | None:
    """The decisions; None for a method that makes none, or if all units are constant."""
    fit = material.fit
    if fit.step.decisions is None or not len(fit.step.decisions.history):
        return None
    found, bar = tables.decision_table(fit)
    competed = found[found["rounds"] > 0]  # constant units have no importance
    shown = competed.head(parts.MOST_UNITS)
    figure = dot_figure(
        names=shown["term"].to_list(),
        spans=list(shown[["median", "low", "high"]].itertuples(index=False, name=None)),
        filled=[unit in fit.groups for unit in shown["term"]],
        more=len(competed) - len(shown),
        mark=("best shadow", bar),
    )
    one = noun(fit, 1)
    table = parts.listed(
        found,
        {
            one.capitalize(): "term",
            "Decision": "decision",
            "Hits": cells.number("hits", ","),
            "Rounds": cells.number("rounds", ","),
            "Importance, median": cells.decimal("median", 2, "–"),
            "Middle 90%": cells.interval("low", "high"),
        },
    )
    n_rounds = len(fit.step.decisions.history)
    lead = (
        f"In each of {n_rounds:,} rounds, every {one} not yet rejected competed with shuffled"
        f" copies of the {noun(fit)}, called shadows. A {one} scores a hit in a round if it is more"
        f" important than the best shadow. {noun(fit).capitalize()} with more hits than expected by"
        " chance are confirmed, those with fewer are rejected, and the others are tentative. Dots"
        f" are medians over the rounds in which the {one} competed, filled if it is selected; lines"
        " extend from the 5th to the 95th percentile. The dashed line is the median importance of"
        f" the best shadow, {decimal_text(bar, 2)}."
    )
    title = f"Importance of the {noun(fit)} over the rounds"
    figure = replace(figure, key="rounds", title=title)
    return parts.Section(
        "decisions",
        "Decisions",
        lead=lead,
        figure=figure,
        table=table.titled(f"Decisions on all {noun(fit)}", "Decisions as a table"),
    )


# --- the exchanges of the search, and near-equivalent sets --------------------------------------

MOST_SETS = 10


def search(material: parts.FitMaterial) -> parts.Section | None:
    """Exchanges and near-equivalent sets; None without a search, or if it found neither."""
    fit = material.fit
    notes = tuple(tables.search_notes(fit, MOST_SETS))
    if fit.step.trace is None or not notes:
        return None
    trace = fit.step.trace
    exchanges = _search_table("Exchange", tables.exchange_rows(fit), len(trace.exchanges))
    rivals = _search_table("The selection with", tables.rival_rows(fit, MOST_SETS), trace.n_rivals)
    return parts.Section(
        "search",
        "Alternative sets",
        lead=" ".join(notes),
        rivals=rivals and rivals.titled("Near-equivalent sets, smallest error first"),
        head=parts.Heading("Exchanges") if exchanges else None,
        exchanges=exchanges and exchanges.titled("Exchanges that led to the selection, in order"),
    )


def _search_table(head: str, rows: tuple[tuple[str, ...], ...], n: int) -> parts.Table | None:
    return parts.Table((head, *tables.HEADS), rows, n - len(rows)) if rows else None
