"""Performance, and checks on held-out rows: discrimination and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from treeselect.figures.charts import level_figure
from treeselect.models.linear.statistics import Recalibration
from treeselect.printing import cells, count_text, decimal_text, signed
from treeselect.reports.parts import Facts, FitMaterial, Picture, Section, Table, first_rows, listed
from treeselect.resampling import held_out
from treeselect.resampling.decisions import DecisionCurve, decision_figure
from treeselect.resampling.held_out_figures import (
    N_GROUPS,
    calibration_figure,
    group_dots,
    roc_figure,
)
from treeselect.resampling.performance import Performance
from treeselect.resampling.subgroups import Subgroups, subgroup_figure
from treeselect.resampling.validation import Validation, validation_figure
from treeselect.results.effects import decimals


def checks(material: FitMaterial) -> Section | None:
    """Checks of the predictions of ``performance()``; None if the user did not supply it. Risk
    groups of times to an event are a separate section."""
    if material.performance is None:
        return None
    held, name = material.performance.held_out, material.fit.design.response.name
    if held.event is not None or len(held.classes) == 2:
        return _risks(held, material.performance.decision_curve())
    return _classes(held, name) if held.classes else _numbers(held)


def _section(
    held: held_out.HeldOut,
    pictures: Sequence[Picture],
    sentences: Sequence[str],
    *folded: Table,
    lead: str = "",
    opened: tuple[Table, ...] = (),
) -> Section:
    return Section(
        "checks",
        "Checks on held-out rows",
        lead=(
            f"Each of {held.n_rows:,} rows is predicted when held out, in"
            f" {len(set(held.fold.tolist())):,} folds, by a model selected and fitted without it."
            f"{lead}"
        ),
        opened=opened,
        pictures=_keyed("check", pictures),
        sentences=(*sentences, *_cautions(held)),
        folded=tuple(replace(table, fold=table.caption) for table in folded),
    )


def _keyed(name: str, pictures: Sequence[Picture]) -> tuple[Picture, ...]:
    """Pictures whose figures have their titles, and keys on the page."""
    return tuple(
        replace(own, figure=replace(own.figure, key=f"{name}-{i + 1}", title=own.title))
        for i, own in enumerate(pictures)
    )


# --- what the response is -----------------------------------------------------------------------


def _risks(held: held_out.HeldOut, decisions: DecisionCurve) -> Section:
    """Of two classes, and of times to an event."""
    event, found = decisions.event, held_out.calibration_table(held, N_GROUPS)
    content = decisions.summary().content
    if held.event is not None:
        how = ", by Kaplan and Meier's estimate, with 95% intervals"
        caption, first = f"Calibration: {event}", []
        said = content.notes
    else:
        how, caption = _WILSON, f"Calibration of P({event})"
        first = [Picture("ROC curve", f"Over all cut-offs of P({event}).", roc_figure(held))]
        together, by_fold = held_out.areas(held, 1)
        said = (
            f"The area under the curve is {decimal_text(together, 3)} with the predictions of all"
            " folds pooled; the mean of the areas within folds, which compare only rows of the same"
            f" fold, is {decimal_text(by_fold, 3)}.",
            *_recalibration_words(held_out.recalibration(held)),
        )
    words = _calibration_words(found, event, how)
    net_benefit = (
        "True positives less weighted false positives, with 95% intervals, if rows are treated from"
        " a threshold of their predicted probability on."
    )
    figure = replace(decision_figure(decisions), form="square")
    return _section(
        held,
        [
            *first,
            Picture("Calibration", words, calibration_figure(held)),
            Picture("Net benefit", net_benefit, figure),
        ],
        said,
        _shares_table(found).titled(caption),
        Table(content.columns, content.rows).titled(f"Error rates and net benefit: {event}"),
    )


def _numbers(held: held_out.HeldOut) -> Section:
    found = held_out.calibration_table(held, N_GROUPS)
    text = "predicted {:,.4g}: residual {:,.3g}{}"
    right = level_figure(
        group_dots(found, text, "residual", "residual_low", "residual_high"),
        ("mean prediction", "observed minus predicted"),
    )
    columns: dict[str, cells.Cell] = {
        "Group": "group",
        "Rows": cells.count("n"),
        "Predicted": cells.number("predicted", ",.4g"),
        "Observed": cells.number("observed", ",.4g"),
        "95% interval": cells.interval("ci_low", "ci_high", ",.3g"),
        "Residual": cells.number("residual", ",.3g"),
        "10 to 90%": cells.interval("residual_low", "residual_high", ",.3g"),
    }
    return _section(
        held,
        [
            Picture(
                "Observed against predicted",
                f"Means in {_groups_words(found)} of increasing predictions, with 95% intervals for"
                " the observed mean. Perfect calibration is the diagonal.",
                calibration_figure(held),
            ),
            Picture(
                "Residuals",
                "Mean residuals of the same groups; lines extend from the 10th to the 90th"
                " percentile of the residuals in the group.",
                right,
            ),
        ],
        _recalibration_words(held_out.recalibration(held)),
        listed(found, columns).titled("Observed and predicted means by group"),
    )


def _classes(held: held_out.HeldOut, name: str) -> Section:
    found = held_out.calibration_table(held, N_GROUPS)
    by_class = held_out.per_class_table(held)
    order = by_class["n"].to_numpy().argsort(kind="stable")[::-1][:6]
    first = [held.classes[number] for number in sorted(order)]
    pictures = [
        Picture(
            f"{name} = {label}",
            "" if i else _calibration_words(found, "the class", _WILSON),
            calibration_figure(held, label),
        )
        for i, label in enumerate(first)
    ]
    several = len(held.classes) > len(first)
    which = f"the {len(first)} most frequent" if several else "each"
    caption = "Recall, precision and area by class; rows are assigned to their most probable class"
    columns: dict[str, cells.Cell] = {
        "Class": "class",
        "Rows": cells.count("n"),
        "Recall": cells.number("recall", ".3f"),
        "Precision": cells.number("precision", ".3f"),
        "Area": cells.decimal("area", 3, "–"),
    }
    shown = [listed(by_class, columns).titled(caption)]
    if not several:
        caption = "Confusion matrix: observed class by most probable class"
        counts = held_out.confusion_table(held)["n"].to_numpy().reshape(len(first), len(first))
        rows = tuple(
            (str(label), *map(count_text, own))
            for label, own in zip(held.classes, counts, strict=True)
        )
        heads = ("Observed", *(f"predicted {label}" for label in held.classes))
        shown.insert(0, Table(heads, rows).titled(caption))
    said = (
        "Recall: share of the rows of a class that are assigned to it. Precision: share of the"
        " rows assigned to a class that belong to it. Area: under the ROC curve of the class"
        " against the others, with the predictions of all folds pooled."
    )
    return _section(
        held,
        pictures,
        [said],
        _shares_table(found).titled("Calibration of the classes"),
        lead=f" The figures show calibration for {which}{' classes' if several else ' class'}.",
        opened=tuple(shown),
    )


# --- words --------------------------------------------------------------------------------------


def _groups_words(found: pd.DataFrame) -> str:
    n = int(found["group"].max())
    return f"{n:,} groups" if n > 1 else "one group"


_WILSON = ", with 95% Wilson intervals"


def _calibration_words(found: pd.DataFrame, what: str, how: str) -> str:
    return (
        f"Observed share of {what} in {_groups_words(found)} of increasing predicted"
        f" probability{how}. Perfect calibration is the diagonal."
    )


def _recalibration_words(found: Recalibration | None) -> list[str]:
    """Slope and intercept, if known, with their interpretation."""
    if found is None:
        return []
    said = ["The calibration slope could not be estimated."]
    if np.isfinite(found.slope):
        at, low, high = (signed(end, ",.2f") for end in found[:3])
        said = [
            f"Calibration slope {at} ({low} to {high}) by {found.regression}: below 1, predictions"
            " are too extreme; above 1, they vary too little."
        ]
    if np.isfinite(found.intercept):
        ends = found[3:6]
        form = f",.{decimals(max(map(abs, ends)), digits=3)}f"
        at, low, high = (signed(end, form) for end in ends)
        said.append(
            f"Calibration in the large (the intercept with the slope fixed at 1) {at} ({low} to"
            f" {high}): below 0, predictions are too high on average; above 0, too low."
        )
    return said


def _cautions(held: held_out.HeldOut) -> list[str]:
    said = []
    if held.times.max() > 1:
        said.append(
            "Rows held out several times are down-weighted, so that intervals correspond to the"
            " actual number of rows."
        )
    if held.is_weighted:
        said.append("Rows are weighted by their case weights.")
    return said


# --- figures and tables -------------------------------------------------------------------------


def _shares_table(found: pd.DataFrame) -> Table:
    several = "class" in found and found["class"].nunique() > 1
    return listed(
        found,
        {
            **({"Class": "class"} if several else {}),
            "Group": "group",
            "Rows": cells.count("n"),
            "Predicted": cells.number("predicted", ".3f"),
            "Observed": cells.number("observed", ".3f"),
            "95% interval": cells.interval("ci_low", "ci_high", ".3f"),
        },
    )


# --- subgroups, and the procedure on bootstrap samples ------------------------------------------


def subgroups(found: Subgroups) -> Section:
    content = found.summary().content
    figure = None
    if found.table["score"].notna().any():
        figure = replace(subgroup_figure(found), key="subgroups", title=content.title)
        figure = replace(figure, rows=[replace(row, aside="") for row in figure.rows])
    return Section(
        "subgroups",
        content.title,
        sub=True,
        lead=f"Each row was predicted by a model of other rows: {found.scheme}.",
        figure=figure,
        table=first_rows(content.columns, content.rows).titled(content.title),
        sentences=content.notes,
    )


def validation(found: Validation) -> Section:
    content = found.summary().content
    spread = "Central 95% of the predictions of a row, by the models of the samples"
    pictures = [
        Picture(
            "Instability of predictions",
            f"{spread}, against the prediction by the fit. On the diagonal all models agree.",
            validation_figure(found, "predictions"),
        ),
        Picture(
            "Calibration by each model",
            "On all rows: of the fit, with dots, and of the models of the samples, dashed.",
            validation_figure(found, "calibration"),
        ),
    ]
    return Section(
        "validation",
        "Optimism and instability, by the bootstrap",
        sub=True,
        lead=(
            f"Selection, choice of k and final model were repeated on {found.n_samples:,} bootstrap"
            f" samples {found.scheme}. Each model was measured on the rows drawn, on all rows, and"
            " on those left out."
        ),
        facts=Facts(fact for fact in content.facts if fact[0] not in ("Call", "Samples", "Seed")),
        table=first_rows(content.columns, content.rows).titled("Optimism of each measure"),
        pictures=_keyed("validation", pictures),
        sentences=content.notes,
    )


# --- performance by nested cross-validation -----------------------------------------------------


def performance(found: Performance) -> Section:
    content = found.summary().content
    return Section(
        "performance",
        "Performance: nested cross-validation",
        lead=(
            f"{found.score_name} {found.words} on held-out rows, mean of {len(found.scores):,}"
            " folds. The whole selection was repeated in each fold: neither the terms nor their"
            " number was chosen on the held-out rows."
        ),
        facts=Facts(fact for fact in content.facts if fact[0] != "Call"),
        table=first_rows(content.columns, content.rows).titled(
            "Scores of the folds", "Fold by fold"
        ),
        sentences=content.notes,
    )
