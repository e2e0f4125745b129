"""What figures of a model show, whoever draws them: shapes of terms as curves, importances along
the path as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from treeselect.figures.axes import number_text
from treeselect.figures.charts import MOST_LINES, UnitLines
from treeselect.figures.marks import Tiles
from treeselect.figures.shapes import MISSING, Curve, CurvePoint
from treeselect.resampling.fit import Fit
from treeselect.resampling.held_out import quantile_groups
from treeselect.resampling.stability import Stability
from treeselect.results.shapes import output_names, shape_table, value_column

_MOST_STEPS = 20
"""Points of the curve of a number; with more values each is a mean."""

MOST_LEVELS = 12
"""Levels of a factor in a figure: the most frequent ones."""

LOG_HAZARD = "log hazard"
"""The scale of effects on times to an event."""

DOUBLED = "A change of +0.69 doubles the hazard, one of -0.69 halves it."
"""What changes on that scale mean."""


def has_curve(result: Fit, term: str) -> bool:
    """Whether a term has exactly one variable behind it."""
    return len(result.design.spec[term].term.variables) == 1


def curves(result: Fit, term: str) -> tuple[Curve, ...]:
    """Curves of a selected term with one variable: one, or for more than two classes one for each,
    the one that varies most first, whose order levels have in all."""
    shape = shape_table(result, term, None)
    variable = result.design.spec[term].term.variables[0]
    is_number = takes_numbers(result, term)
    labels: list[str | None] = [str(c) for c in result.design.response.classes]
    labels = labels if len(labels) > 2 else [None]
    ends_of = dict(zip(labels, output_names(result), strict=True))  # of columns
    effects = {c: shape[f"effect{end}"].to_numpy() for c, end in ends_of.items()}
    share = shape["share"].to_numpy()
    values = shape[value_column(result, variable)]
    labels.sort(key=lambda c: -float(share @ effects[c] ** 2))
    found: list[Curve] = []
    word = result.design.word_for(variable)
    for label in labels:
        band = _band(shape, ends_of[label])
        rows = zip(values, values.isna(), share, effects[label], band, strict=True)
        points = []
        for value, lost, part, effect, ends in rows:
            number = float(value) if is_number and not lost else None
            known = level_text(value) if number is None else value_text(number)
            text = MISSING if lost else known
            points.append(CurvePoint(number, text, float(part), float(effect), bool(lost), *ends))
        if is_number:
            points = _averaged(points)
        if not found:
            order = _in_order(points, is_number)
        shown, scale = tuple(points[i] for i in order), scale_of(result, label)
        n_levels = (result.design.spec[term].n_occurring or 0) + any(p.is_missing for p in points)
        n_more = max(len(points), n_levels) - len(shown)
        found.append(Curve(term, word, is_number, scale, shown, n_more, label or ""))
    return tuple(found)


CurveRow = tuple[Curve, ...]
"""Curves of several terms, all of one class if there are more than two."""


def curve_rows(result: Fit, terms: Sequence[str], most: int) -> tuple[CurveRow, ...]:
    """Curves of terms with one variable each: one row, or one for each of at most so many classes,
    in their order; of more classes, that whose effects vary most."""
    found = [curve for term in terms for curve in curves(result, term)]
    labels = dict.fromkeys(["", *map(str, result.design.response.classes)])
    each = (tuple(own for own in found if own.of_class == label) for label in labels)
    rows = tuple(row for row in each if row)
    if len(rows) > most:
        return (max(rows, key=lambda row: sum(curve.variance for curve in row)),)
    return rows


def takes_numbers(result: Fit, term: str) -> bool:
    """Whether a term is a function of one number, and no factor."""
    spec = result.design.spec
    variable = spec[term].term.variables[0]
    return spec.schema[variable] == "number" and spec[term].kind != "factor"


def scale_of(result: Fit, label: str | None = None) -> str:
    """Scale of the model's effects, for one of more than two classes by its label."""
    classes = result.design.response.classes
    if result.design.response.family.has_times:
        return LOG_HAZARD
    if result.model.is_link and label is not None:
        return f"linear predictor of {label}"
    if result.model.is_link and result.design.offset_name is not False:
        return "linear predictor"
    if result.family == "poisson" and result.model.is_link:
        return "log mean"
    if result.model.is_link and classes:
        return f"log odds of {result.design.response.name} = {classes[-1]}"
    if classes:
        return probability_of(result, str(classes[-1]) if label is None else label)
    return "mean response"


def probability_of(result: Fit, label: str) -> str:
    """ "P(survived = 1)", the probability of a class."""
    return f"P({result.design.response.name} = {label})"


def of_all_classes(scale: str) -> str:
    """The scale of one class, for all of them."""
    return "the class probabilities" if scale.startswith("P(") else "the linear predictors"


def value_text(value: Any) -> str:
    """A number or a level as text; "missing" for what is not known."""
    if value is None or value != value or type(value).__name__ == "NAType":
        return MISSING
    return number_text(float(value)) if isinstance(value, float | np.floating) else str(value)


def level_text(level: Any) -> str:
    """A level as text, in quotation marks if it is called as what is not known."""
    text = value_text(level)
    return f'"{text}"' if text == MISSING else text


def texts_apart(values: Sequence[float]) -> list[str]:
    """Different numbers in as few digits as tell them apart."""
    texts = [value_text(value) for value in values]
    for digits in range(5, 18):
        if len(set(texts)) == len(texts):
            break
        texts = [f"{value:.{digits}g}" for value in values]
    return texts


def _averaged(points: list[CurvePoint]) -> list[CurvePoint]:
    """Means over neighbouring values of a number with many, each over a twentieth of the rows or
    one value: trees jump from value to value by chance."""
    known = [p for p in points if p.value is not None]
    if len(known) <= _MOST_STEPS:
        return points
    parts = [(p.share, p.value, p.effect, p.low, p.high) for p in known]
    share, *values = np.array(parts, dtype=np.float64).T  # None is not a number
    found = []
    for own in quantile_groups(values[0], share, _MOST_STEPS):
        means = (float(np.average(one[own], weights=share[own])) for one in values)
        value, effect, low, high = means
        ends = (low, high) if low == low else ()
        total = float(share[own].sum())
        found.append(CurvePoint(value, value_text(value), total, effect, False, *ends))
    return [*found, *(p for p in points if p.value is None)]


def _band(shape: pd.DataFrame, name: str) -> list[tuple[float | None, float | None]]:
    """Low and high at each point, None where they are not known."""
    if f"low{name}" not in shape:
        return [(None, None)] * len(shape)
    ends = shape[[f"low{name}", f"high{name}"]].to_numpy().tolist()
    return [(None, None) if low != low else (low, high) for low, high in ends]


def _in_order(points: Sequence[CurvePoint], is_number: bool) -> list[int]:
    """Values that rise, or the most frequent levels by falling effect."""
    if is_number:
        keys = [(p.is_missing, p.value or 0.0) for p in points]
        return sorted(range(len(points)), key=keys.__getitem__)
    kept = sorted(range(len(points)), key=lambda i: -points[i].share)[:MOST_LEVELS]
    return sorted(kept, key=lambda i: (points[i].is_missing, -points[i].effect))


def frequency_lines(stability: Stability, most: int = MOST_LINES) -> UnitLines:
    """Selection frequencies of at most so many units, if the paths of the resamples were followed:
    units of the fit first, then the most frequent."""
    path, fitted = stability.along, stability.fitted
    assert path is not None
    frequency, order = path.frequency, path.order(stability.units, fitted)
    shown = order[:most]
    return UnitLines(
        sizes=tuple(int(k) for k in path.sizes),
        names=tuple(stability.units[g] for g in shown),
        values=tuple(tuple(frequency[:, g].tolist()) for g in shown),
        selected=tuple(bool(fitted[g]) for g in shown),
        more=len(order) - len(shown),
    )


# --- maps of two terms ---------------------------------------------------------------------------


def shape_map(result: Fit, term: str, other: str) -> Tiles:
    """The map of two selected terms with one variable each: the mean response at each pair of
    values that occurs, of more than two classes that of the class that varies most. Numbers rise,
    levels stand in their order, missing values last."""
    table = shape_table(result, term, other)
    x, x_names = _places(result, table, term)
    y, y_names = _places(result, table, other)
    share, classes = table["share"].to_numpy(), result.design.response.classes
    of_outputs = table[[f"mean{end}" for end in output_names(result)]].to_numpy()
    centred = of_outputs - share @ of_outputs / share.sum()
    shown = int(np.argmax(share @ centred**2))  # of several classes the one that varies most
    label = str(classes[shown]) if len(classes) > 2 else None
    values = np.full((len(y_names), len(x_names)), np.nan)
    values[y, x] = of_outputs[:, shown]
    columns = (result.design.spec[t].term.variables[0] for t in (term, other))
    x_label, y_label = map(result.design.word_for, columns)
    return Tiles(
        head=f"{term} and {other}; grey: not in the data", x=x_names, y=y_names, values=values,
        labels=(x_label, y_label), scale=scale_of(result, label),
    )  # fmt: skip


def _places(result: Fit, table: pd.DataFrame, term: str) -> tuple[list[int], tuple[str, ...]]:
    """Place of each row on the axis of a term, and the names of all places; missing ones last."""
    values = table[value_column(result, result.design.spec[term].term.variables[0])]
    missing = values.isna().to_numpy()
    if takes_numbers(result, term):
        ranks = values.to_numpy(dtype=np.float64, na_value=np.nan)
        texts = [value_text(None if np.isnan(v) else float(v)) for v in ranks]
    else:
        texts = [
            MISSING if lost else level_text(v) for v, lost in zip(values, missing, strict=True)
        ]
        levels = result.design.spec[term].factors[0].levels or (False, True)
        order = {level_text(level): i for i, level in enumerate(levels)}
        ranks = np.array([order.get(text, len(order)) for text in texts], dtype=np.float64)
    keys = list(zip(missing.tolist(), np.where(missing, 0.0, ranks).tolist(), strict=True))
    names = dict(zip(keys, texts, strict=True))
    places = {key: i for i, key in enumerate(sorted(names))}
    return [places[key] for key in keys], tuple(names[key] for key in sorted(names))
