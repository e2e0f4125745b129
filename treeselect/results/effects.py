"""Effects of the selected terms: direction, size and intervals; as tables and in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect.designs.columns import TermSpec
from treeselect.designs.weights import quartiles
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.columns import MAX_BINS, OTHER
from treeselect.engine.rounding import PRECISION, at_least, falling, slack
from treeselect.errors import first_few, quoted
from treeselect.figures.shapes import MISSING, definite
from treeselect.models.probing import Probes, ResampledReadings, TermProbe, read_model
from treeselect.printing import MOST_ROWS as MOST_PRINTED
from treeselect.printing import SmallTable, signed, significant
from treeselect.resampling.fit import (
    DIRECTIONS,
    LEAST_RESAMPLES,
    NONE,
    STEPS,
    Contrast,
    EffectRecord,
    Fit,
)
from treeselect.results import shapes
from treeselect.results.curves import DOUBLED, LOG_HAZARD, level_text, probability_of, texts_apart
from treeselect.running.machine import warn

UP, DOWN, MIXED, FLAT, BY_LEVEL, JOINT = DIRECTIONS
QUARTILES, DECILES, RANGE, VALUES, LEVELS, _ = STEPS

MONOTONE = 0.9
"""Share of the variance of a curve that a monotone one must explain, so that it has a direction."""

ENDS = 0.025
"""Share of the rows at either end of a curve that is ignored for its direction."""

_MOST_OF_TERM = 6
"""Steps of one term that are printed; the others are in the table."""


def make_record(
    result: Fit, points: Points, resampled: Sequence[ResampledReadings] = ()
) -> EffectRecord:
    """Effects in the final model, with intervals from the models of resamples."""
    found = read_model(result.model, points.probes, result.design.problem)
    sizes = np.array([len(probe.grid) for probe in points.probes.terms], dtype=np.int64)
    directions: list[tuple[str, ...]] = []
    parts, shares = np.split(found.response, np.cumsum(sizes)[:-1]), points.probes.terms
    effect = steps(found.ends, points.ends)
    step_of = {own.term: change for own, change in zip(points.contrasts, effect, strict=True)}
    kinds = zip(parts, shares, points.along, points.is_factor, strict=True)
    for term, (part, probe, along, own) in enumerate(kinds):
        if along is None:
            directions.append((BY_LEVEL if own else JOINT,) * part.shape[1])
            continue
        order = np.argsort(along, kind="stable")[: int((~np.isnan(along)).sum())]
        outputs = zip(part[order].T, step_of[term], strict=True)
        directions.append(tuple(direction(one, probe.share[order], by) for one, by in outputs))
    changes = [steps(own.ends, points.ends) for own in resampled]
    low, high, count = shapes.intervals(shapes.stacked(changes, effect.shape))
    curves = shapes.stacked([own.curve for own in resampled], found.curve.shape)
    curve_low, curve_high, _ = shapes.intervals(curves)
    return EffectRecord(
        terms=points.terms,
        directions=tuple(directions),
        contrasts=points.contrasts,
        effect=effect,
        low=low,
        high=high,
        count=count.min(axis=1, initial=len(resampled)),
        curve_low=curve_low,
        curve_high=curve_high,
        curve_size=sizes,
        n_resamples=len(resampled),
    )


def direction(curve: FloatArray, share: FloatArray, change: float = np.nan) -> str:
    """ "up" if a rising curve explains 90% of the variance of a curve over the rows, "down" for a
    falling one, unless the `change` over the term's step points the other way, "flat" if it is
    constant, "mixed" otherwise; a fortieth of the rows at each end is ignored."""
    from scipy.optimize import isotonic_regression

    few = ENDS * share.sum()
    below, above = np.cumsum(share), np.cumsum(share[::-1])[::-1]
    inner = ~at_least(few, below) & ~at_least(few, above)
    curve, share = curve[inner], np.maximum(share[inner], 1e-300)
    if len(curve) == 0 or np.ptp(curve) <= slack(curve):
        return FLAT
    size = float(np.abs(curve - curve.mean()).max())
    curve = (curve - curve.mean()) / size
    total = float(share @ (curve - np.average(curve, weights=share)) ** 2)
    left = [
        float(share @ (curve - isotonic_regression(curve, weights=share, increasing=rises).x) ** 2)
        for rises in (True, False)
    ]
    rises = at_least(left[1], left[0])
    against = -change if rises else change
    if at_least(min(left), (1 - MONOTONE) * total) or against > PRECISION * size:
        return MIXED
    return UP if rises else DOWN


def steps(at_ends: FloatArray, ends: IntArray) -> FloatArray:
    """Value of each contrast, shape (n_contrasts, n_outputs); missing if there is none."""
    found = np.full((len(ends), at_ends.shape[1]), np.nan)
    there = ends[:, 0] >= 0
    found[there] = at_ends[ends[there, 1]] - at_ends[ends[there, 0]]
    return found


def effect_table(result: Fit, most: int | None = None) -> pd.DataFrame:
    """One row per step, and per class if there are several (see ``ModelView.effects``): of the
    stored effects, otherwise of those of the final model, without intervals."""
    record, classes = result.effect_record, _classes(result)
    if record is None and result.selected:
        record = make_record(result, effect_points(result, most))
    rows: list[tuple[Any, ...]] = []
    if record is not None:
        rows = [
            (
                record.terms[own.term],
                label,
                record.directions[own.term][k],
                own.step,
                *((None, None) if own.step == NONE else (own.start, own.end)),
                record.effect[i, k],
                record.low[i, k],
                record.high[i, k],
                int(record.count[i]),
            )
            for i, own in enumerate(record.contrasts)
            for k, label in enumerate(classes)
        ]
    columns = [
        "term", "class", "direction", "step", "from", "to", "effect", "low", "high", "n_resamples",
    ]  # fmt: skip
    types: dict[str, Any] = dict.fromkeys(("effect", "low", "high"), np.float64)
    types |= dict.fromkeys(("from", "to"), pd.Series(["text"]).dtype)
    types["n_resamples"] = np.int64
    frame = pd.DataFrame(rows, columns=columns).astype(types)
    return frame if len(classes) > 1 else frame.drop(columns="class")


def warn_of_few(found: pd.DataFrame) -> None:
    """Warn of terms without intervals because too few resamples selected them."""
    few = found[found["low"].isna() & (found["step"] != NONE)]
    if (found["n_resamples"] == 0).all() or few.empty:
        return
    counts = dict(zip(few["term"], few["n_resamples"], strict=True))
    each = first_few([f"{quoted(name)} ({n:,})" for name, n in counts.items()], 6)
    warn(
        f"Intervals are missing where fewer than {LEAST_RESAMPLES} resamples tell them: {each}."
        " Draw more, as by `fit.resample(200, effects=True)`."
    )


def _classes(result: Fit) -> list[str]:
    labels = result.design.response.classes
    return [str(label) for label in labels] if len(labels) > 2 else [""]


def main_effects(table: pd.DataFrame) -> pd.DataFrame:
    """For each term the step (and class) with the largest effect, to a known value if there is such
    a step; the index is the terms."""
    known = table["to"].ne(MISSING).fillna(True).astype(bool)
    table = table[known | ~known.groupby(table["term"]).transform("any")]
    places = [own.index[_by_size(own)[0]] for _, own in table.groupby("term", sort=False)]
    return table.loc[places].set_index("term")


def _by_size(own: pd.DataFrame) -> IntArray:
    """Places of rows, those with the largest effects first."""
    return falling(own["effect"].abs().fillna(-1.0).to_numpy())


# --- in words ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EffectCells:
    """An effect in words: a row of a table."""

    term: str
    step: str
    direction: str
    change: str = ""
    interval: str = ""


def effect_cells(table: pd.DataFrame) -> tuple[EffectCells, ...]:
    """Each step in words; of a term with many steps those with the largest effects."""
    largest = float(np.nanmax(np.abs([0.0, *table["effect"]])))
    digits = decimals(largest)
    found = []
    for term, own in table.groupby("term", sort=False):
        first = own.iloc[_by_size(own)[:_MOST_OF_TERM]]
        for row in first.to_dict("records"):
            of = f", on {row['class']}" if "class" in row else ""
            step = "" if row["step"] == NONE else f"{row['from']} to {row['to']}{of}"
            numbers = _numbers(row, digits)
            found.append(EffectCells(str(term), step, row["direction"], *numbers))
        if n_more := len(own) - len(first):
            more = f"{n_more:,} others, with smaller changes"
            more = "1 other, with a smaller change" if n_more == 1 else more
            found.append(EffectCells(str(term), more, ""))
    return tuple(found)


def _numbers(row: Mapping[Hashable, Any], digits: int) -> tuple[str, str]:
    if np.isnan(row["effect"]):
        return "", ""
    low, high = (signed(row[name], f",.{digits}f") for name in ("low", "high"))
    interval = "" if np.isnan(row["low"]) else f"{low} to {high}"
    return signed(row["effect"], f"+,.{digits}f"), interval


def decimals(largest: float, digits: int | None = None) -> int:
    """Decimals that give a number `digits` significant digits, by default those of an effect."""
    exponent = int(f"{largest:e}".partition("e")[2])
    digits = significant(3) if digits is None else digits
    return min(max(0, digits - 1 - exponent), 6 + digits)


def effect_tables(result: Fit) -> tuple[SmallTable, ...]:
    """The stored effects, for the summary."""
    if result.effect_record is None or not result.selected:
        return ()
    cells = effect_cells(effect_table(result))[:MOST_PRINTED]
    known = bool(interval_notes(result.effect_record))
    rows = tuple((_words(own), own.change, *[own.interval] * known) for own in cells)
    heads = f"Effect on {scale_of_effects(result)}", "Change", *["2.5 to 97.5%"] * known
    return (SmallTable(heads, rows),)


def _words(own: EffectCells) -> str:
    step = f", {own.step}" if own.step else ""
    return f"{own.term}{step}{': ' if own.direction else ''}{own.direction}"


def scale_of_effects(result: Fit) -> str:
    """The scale of effects for all classes, with its article."""
    response = result.design.response
    if len(_classes(result)) > 1:
        return "the class probabilities"
    if response.family.has_times:
        return definite(LOG_HAZARD)
    if result.design.offset_name is not False:
        return definite("linear predictor")
    classes = response.classes
    return definite(probability_of(result, str(classes[-1])) if classes else "mean response")


def effect_notes(result: Fit) -> list[str]:
    if result.effect_record is None or not result.selected:
        return []
    table = effect_table(result)
    return [meaning_of_effects(result, table), *interval_notes(result.effect_record)]


def meaning_of_effects(result: Fit, table: pd.DataFrame) -> str:
    """What an effect is, and what the words about it mean."""
    said = [
        f"Effects are changes in {scale_of_effects(result)} under the final model, averaged over"
        " the rows, when one term changes and the others keep their values. They"
        " describe the model and are not causal effects."
    ]
    if result.design.response.family.has_times:
        said.append(DOUBLED)
    steps, ways = set(table["step"]), set(table["direction"])
    if QUARTILES in steps:
        said.append("Numeric terms change from the lower to the upper quartile (observed values).")
    for step, words in (
        (DECILES, "first to the last decile, because the quartiles are equal"),
        (RANGE, "minimum to the maximum, because the deciles are equal"),
    ):
        if names := table.loc[table["step"] == step, "term"].unique().tolist():
            said.append(f"From the {words}: {', '.join(names)}.")
    if ways & {UP, DOWN, MIXED}:
        said.append(
            f"Up, down: a monotone curve explains {MONOTONE * 100:.0f}% of the variance of the"
            f" effect over the rows, without the outer {ENDS * 100:g}% at each end, and agrees"
            " in sign with the change; otherwise mixed."
        )
    if JOINT in ways:
        said.append("Joint: a term with several variables has no single direction.")
    return " ".join(said)


def interval_notes(record: EffectRecord | None) -> list[str]:
    if record is None or np.isnan(record.low).all():
        return []
    return [
        "Intervals of effects are the 2.5th and 97.5th percentiles over the models of the resamples"
        f" that selected the term, where at least {LEAST_RESAMPLES} did."
    ]


# --- the points at which effects are read --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Points:
    """Where effects are read, and what is read of them."""

    terms: tuple[str, ...]  # selected ones, most important first
    probes: Probes
    # of a term that goes along a number: its value at the points of the shape, NaN where it is
    # missing
    along: tuple[FloatArray | None, ...]
    is_factor: tuple[bool, ...]
    contrasts: tuple[Contrast, ...]
    # shape (n_contrasts, 2): where start and end of each stand among the ends of all terms; -1 if
    # there is no step
    ends: IntArray


class _Step(NamedTuple):
    """A step between two rows of the data, which stand for its ends."""

    name: str
    start: str = ""
    end: str = ""
    rows: tuple[int, ...] = ()


def effect_points(result: Fit, most: int | None = None) -> Points:
    """Where the effects of the selected terms are read, or of the most important of them."""
    sample = shapes.sample_rows(result, shapes.MOST_ROWS)
    weight, terms = result.design.weight.astype(np.float64), result.selected[:most]
    grids = [shapes.points_of(result, sample, term) for term in terms]
    found = [_steps(result, term, weight) for term in terms]
    end_rows = [[row for step in steps for row in step.rows] for _, steps in found]
    points = [np.array([*grid, *ends]) for (grid, _), ends in zip(grids, end_rows, strict=True)]
    rows = np.concatenate([sample.rows, *points]).astype(np.int64)
    first = len(sample.rows)
    probes, along = list[TermProbe](), list[FloatArray | None]()
    for term, (grid, share), own, (values, _) in zip(terms, grids, points, found, strict=True):
        at = np.arange(first, first + len(own))
        first += len(own)
        along.append(None if values is None else values[grid])
        probe = TermProbe(
            columns=shapes.columns_of(result, term),
            grid=at[: len(grid)],
            ends=at[len(grid) :],
            share=share,
            by_level=values is None,
        )
        probes.append(probe)
    own_weight = np.where(np.arange(len(rows)) < len(sample.rows), weight[rows], 0.0)
    n_ends = np.array([len(step.rows) for _, steps in found for step in steps], dtype=np.int64)
    until = np.cumsum(n_ends)
    return Points(
        terms=terms,
        probes=Probes(shapes.coded_rows(result, rows), rows, own_weight, tuple(probes)),
        along=tuple(along),
        is_factor=tuple(result.design.spec[t].kind == "factor" for t in terms),
        contrasts=tuple(
            Contrast(number, step.name, step.start, step.end)
            for number, (_, steps) in enumerate(found)
            for step in steps
        ),
        ends=np.where(n_ends[:, np.newaxis] > 0, until[:, np.newaxis] + [-2, -1], -1),
    )


def _steps(result: Fit, term: str, weight: FloatArray) -> tuple[FloatArray | None, list[_Step]]:
    """The number that a term goes along, of all rows, if there is one; and its steps."""
    spec, columns = result.design.spec[term], shapes.columns_of(result, term)
    own = [result.design.arrays.columns[j] for j in columns]
    if spec.kind == "factor":
        told = np.where(shapes.imputed_rows(result, term), 0.0, weight)
        return None, _level_steps(spec, own, told)
    values = shapes.number_behind(result, term, np.arange(len(weight)))
    if len(own) == 1 and (values is None or spec.kind == "logical"):
        values = own[0]
    if values is None:
        return None, [_Step(NONE)]
    known = ~np.isnan(values) & ~np.isnan(np.column_stack(own)).any(axis=1)
    values = np.where(known, values, np.nan)
    return values, [_number_step(values, known, weight, spec.kind == "logical")]


def _number_step(values: FloatArray, known: BoolArray, weight: FloatArray, is_bool: bool) -> _Step:
    """From the lower to the upper quartile; where these are the same, from the first to the last
    decile; of two values, and where these are the same, too, from the least to the largest."""
    own = values[known]
    distinct = np.unique(own)
    if len(distinct) < 2:
        return _Step(NONE)
    ends, name = (float(distinct[0]), float(distinct[-1])), VALUES if len(distinct) == 2 else RANGE
    for part, called in ((0.25, QUARTILES), (0.1, DECILES)) if len(distinct) > 2 else ():
        low, high = quartiles(own, weight[known], part)
        if low < high:
            ends, name = (low, high), called
            break
    start, end = (int(np.flatnonzero(known & (values == one))[0]) for one in ends)
    texts = [str(bool(end)) for end in ends] if is_bool else texts_apart(ends)
    return _Step(name, texts[0], texts[1], (start, end))


def _level_steps(spec: TermSpec, columns: list[AnyArray], weight: FloatArray) -> list[_Step]:
    """From the first level, the reference of linear models, to each of the others, of many the most
    frequent hundred, and to what is missing."""
    level = _level_numbers(columns)
    names = _level_names(spec)
    share = np.asarray(np.bincount(level + 1, weight, len(names) + 1), dtype=np.float64)
    known = np.flatnonzero(share[1:] > 0)
    order = known[falling(share[1:][known])]
    if not len(order) or (len(order) == 1 and share[0] == 0):
        return [_Step(NONE)]
    there = np.flatnonzero(weight > 0)[::-1]
    first = dict(zip((level[there] + 1).tolist(), there.tolist(), strict=True))
    reference = int(known[0])
    others = sorted(own for own in order[: shapes.MOST_LEVELS].tolist() if own != reference)
    others += [-1] if share[0] > 0 else []
    return [
        _Step(
            LEVELS,
            names[reference],
            names[other] if other >= 0 else MISSING,
            (first[reference + 1], first[other + 1]),
        )
        for other in others
    ]


def _level_numbers(columns: list[AnyArray]) -> IntArray:
    """Number of the level of each row, -1 where it is missing."""
    found = np.full(len(columns[0]), -1, dtype=np.int64)
    for i, column in enumerate(columns):
        inside = (column > 0) & (column != OTHER)
        found[inside] = i * MAX_BINS + column[inside].astype(np.int64) - 1
    return found


def _level_names(spec: TermSpec) -> list[str]:
    factors = [spec.factors[i].levels or () for i in spec.order]
    if spec.combinations is None:
        return [level_text(level) for level in factors[0]]
    return [
        ":".join(level_text(factors[i][at]) for i, at in enumerate(one))
        for one in spec.combinations
    ]
