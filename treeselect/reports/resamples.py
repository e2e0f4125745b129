"""Stability across resamples: frequencies, paths, sets, coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treeselect.figures.charts import UnitLines, line_figure
from treeselect.printing import cells, decimal_text, enumeration
from treeselect.reports import parts
from treeselect.reports.head import cards
from treeselect.resampling.coefficient_stability import COLUMNS, CoefficientStability
from treeselect.resampling.error_bounds import has_q_values
from treeselect.resampling.fit import Fit, noun
from treeselect.resampling.stability import BY_REQUEST, Stability
from treeselect.results.curves import frequency_lines
from treeselect.results.summary import stability_notes
from treeselect.results.tables import selected_first
from treeselect.results.verdict import could_vary, kept_units, sizes_words, verdict


def stability(material: parts.FitMaterial) -> parts.Section:
    """Selection frequencies, if there are resamples."""
    stability = material.fit.resampled
    if stability is None:
        why = " ".join(
            ["Not assessed, because there are no resamples.", *cards(material)[1].details]
        )
        return parts.Section("stability", _STABLE, lead=why, table=None)
    fit = material.fit
    said = [sentence for sentence in [verdict(fit, fit.stability)] if sentence]
    return stability_section(stability, [*said, *stability_notes(fit)], noun(fit, 1))


def stability_section(stability: Stability, sentences: Sequence[str], one: str) -> parts.Section:
    """Table of the selected and the most frequent other terms or units, with sentences."""
    kept, varied = kept_units(stability), could_vary(stability)
    tidy = stability.in_pandas.tidy()
    shown = selected_first(tidy, parts.MOST_UNITS, parts.MOST_ROWS).to_dict("records")
    rows, marks = [], []
    for row in shown:
        is_kept = row["term"] in kept
        frequency = BY_REQUEST if is_kept else decimal_text(row["frequency"], 2)
        mark = parts.frequency_mark(row) if varied and not is_kept else None
        rows.append((str(row["term"]), frequency, mark.text if mark else ""))
        marks.append(mark)
    inside = [bool(row["selected"]) for row in shown]
    table = parts.Table(
        (one.capitalize(), "Frequency", "95% interval"),
        tuple(rows),
        len(tidy) - len(shown),
        marks={1: tuple(marks)},
        outside=() if all(inside) else tuple(not own for own in inside),
    )
    return parts.Section(
        "stability",
        _STABLE,
        lead=_frequency_lead(stability, one),
        sentences=tuple(sentences),
        table=table.titled("Selection frequencies", "Frequencies as a table", on_paper=True),
    )


_STABLE = "Would another sample give the same selection?"


def _frequency_lead(stability: Stability, one: str) -> str:
    drawn = "clusters" if stability.groups_name else "rows"
    how = {
        "bootstrap": f"as many {drawn} as in the data, drawn with replacement",
        "subsample": f"half of the {drawn}, drawn without replacement",
        "complementary": f"random splits of the {drawn} into two halves, both used",
    }[stability.scheme]
    return (
        f"The selection was repeated on {stability.words} ({how}), with {sizes_words(stability)}"
        f" selected on each. Frequency: share of them that selected the {one}."
        + (
            f" In the table, the {one}s of the fit come first, with filled dots; hollow dots are"
            f" other {one}s, and lines are 95% intervals."
            if could_vary(stability)
            else ""
        )
    )


# --- selection frequencies along the path, and q-values -----------------------------------------


def stability_path(material: parts.FitMaterial) -> parts.Section | None:
    """Frequencies along the path; None if the resamples have no paths, or none selects a unit."""
    stability = material.fit.resampled
    if stability is None or stability.along is None:
        return None
    fit, nouns = material.fit, noun(material.fit)
    lines = frequency_lines(stability)
    if not lines.names:
        return None
    figure = None
    if len(lines.sizes) > 1:
        figure = replace(
            line_figure(lines, fit.k, noun(fit, 1)),
            key="stability-path",
            title=f"Selection frequency against number of {nouns}",
        )
    columns = (f"{nouns.capitalize()} (k)", *lines.names)
    table = parts.table_around(columns, lines.cells(), lines.sizes, fit.k)
    q_values = None
    if has_q_values(stability):
        columns_of_q: dict[str, cells.Cell] = {
            noun(fit, 1).capitalize(): "term",
            "Expected false positives": cells.number("efp", ".3g"),
            "q-value": cells.number("q_value", ".3g"),
            "Selected": cells.yes("selected"),
        }
        found = parts.listed(stability.in_pandas.q_values(), columns_of_q)
        q_values = found.titled("Expected false positives and q-values, smallest first")
    caption = f"Selection frequency by number of {nouns}"
    return parts.Section(
        "stability-path",
        "Stability along the path",
        sub=True,
        lead=_along_lead(fit, stability, lines, drawn=figure is not None),
        figure=figure,
        table=table.titled(caption, "Frequencies along the path as a table"),
        q_lead=_Q_LEAD.format(one=noun(fit, 1), many=nouns) if q_values else None,
        q_values=q_values,
    )


def _along_lead(fit: Fit, stability: Stability, lines: UnitLines, *, drawn: bool) -> str:
    nouns = noun(fit)
    lead = (
        f"Selection frequency of each {noun(fit, 1)} by number of {nouns} selected, over the same"
        f" {stability.words}. Where a path skips a number of {nouns}, the next larger set is cut to"
        " it."
    )
    if not drawn:
        return lead
    lead += f" The dashed vertical line marks the number of {nouns} in the fit, {fit.k:,}."
    if not all(lines.selected):
        lead += f" Dashed curves are {nouns} outside the selection."
    return lead


_Q_LEAD = (
    "Integrated path stability selection (Melikechi, Dunson and Miller 2025) over the first of"
    " these numbers of {many}: the expected number of false positives if a {one} and all above it"
    " are selected, and the q-value, the smallest false discovery rate at which the {one} is"
    " selected. The method assumes that no null {one} is selected with higher probability than a"
    " {one} drawn at random; near-duplicates of a {one} with signal violate this. At most 25 pairs"
    " of half-samples enter the calculation, because all are splits of the same rows."
)


# --- the sets that the resamples selected -------------------------------------------------------


def models(material: parts.FitMaterial) -> parts.Section | None:
    """The most frequent sets; None if there are no resamples."""
    stability = material.fit.resampled
    if stability is None:
        return None
    every = stability.in_pandas.models(None)
    shown = every[every["selected"] | (every.index < 10)]
    ranks = [f"{i + 1}, as the fit" if own else f"{i + 1}" for i, own in shown["selected"].items()]
    shown = shown.assign(rank=ranks)
    columns: list[tuple[str, cells.Cell]] = [
        ("Set", "rank"),
        ("Members", lambda row: enumeration(row["terms"] or ("none",), 20)),
        ("Frequency", cells.decimal("frequency", 3)),
        ("Resamples", cells.number("count", ",")),
        ("Cumulative", cells.decimal("cumulative", 3)),
        (noun(material.fit).capitalize(), cells.number("size", ",")),
    ]
    marks = {2: parts.bars(shown["frequency"].tolist())}
    table = parts.Table(*cells.table(shown, columns), stability.n_models - len(shown), marks)
    lead = (
        f"Number of {stability.words} that selected exactly each set of {noun(material.fit)}."
        " The set of the fit is listed if any resample selected it, whatever its rank."
    )
    return parts.Section(
        "models",
        "Sets selected by the resamples",
        sub=True,
        lead=lead,
        table=table.titled("Selected sets, most frequent first"),
    )


# --- how selection affects the coefficients of the linear model ---------------------------------


def coefficients(found: CoefficientStability) -> parts.Section:
    shown = found.printed.head(parts.MOST_ROWS)
    model = f"Linear model: {found.model}. " if found.model else ""
    lead = (
        f"{model}Fitted to {found.n_refitted:,} of {found.resamples}, each time to the terms"
        f" selected on the resample. Response: {found.response}."
    )
    table = parts.Table(*cells.table(shown, COLUMNS), len(found.table) - len(shown))
    return parts.Section(
        "coefficients",
        "How selection affects the coefficients",
        sub=True,
        lead=lead,
        table=table.titled("Coefficients on the resamples"),
        sentences=found.notes(),
    )
