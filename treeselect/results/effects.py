"""Effects of the selected terms: which way, how far, and how sure that is; as tables and words."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.rounding import falling
from treeselect.models.probing import ResampledReadings, read_model
from treeselect.printing import MOST_ROWS, SmallTable, significant
from treeselect.resampling.effects import (
    BY_LEVEL,
    DOWN,
    ENDS,
    JOINT,
    LEAST_RESAMPLES,
    MIXED,
    NONE,
    QUARTILES,
    RANGE,
    TOLERANCE,
    UP,
    EffectRecord,
    direction,
    effect_record,
)
from treeselect.results.curves import DOUBLED, LOG_HAZARD_RATIO
from treeselect.results.effect_points import Points, effect_points
from treeselect.results.interactions import interactions_of

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


_HEADS = ("Change", "2.5 to 97.5%")

_MOST_OF_TERM = 6
"""Steps of one term that are said; the others are in the table."""


def make_record(
    result: Fit, points: Points, resampled: Sequence[ResampledReadings] = ()
) -> EffectRecord:
    """Effects in the fit's model, with intervals from what the models of resamples say."""
    found = read_model(result.model, points.probes, result.design.problem)
    sizes = [len(probe.grid) for probe in points.probes.terms]
    parts = np.split(found.response, np.cumsum(sizes)[:-1]) if sizes else []
    directions = [
        tuple(_direction(along, is_factor, curve, probe.share) for curve in part.T)
        for along, is_factor, part, probe in zip(
            points.along, points.is_factor, parts, points.probes.terms, strict=True
        )
    ]
    record = effect_record(
        points.terms, directions, points.contrasts, points.ends, found.ends, sizes, resampled
    )
    if not resampled:
        return record
    pairs = interactions_of(result, points.probes.pairs, resampled)
    return dataclasses.replace(record, interactions=pairs)


def _direction(
    along: FloatArray | None, is_factor: bool, curve: FloatArray, share: FloatArray
) -> str:
    if along is None:
        return BY_LEVEL if is_factor else JOINT
    order = np.argsort(along, kind="stable")[: int((~np.isnan(along)).sum())]
    return direction(curve[order], share[order])


def record_of(result: Fit, most: int | None = None) -> EffectRecord:
    """The effects that are kept of a fit, else those of its model (of so many terms) without
    intervals."""
    if result.effect_record is not None:
        return result.effect_record
    if not result.selected:
        nothing = np.empty((0, len(_classes(result))))
        return effect_record((), (), (), np.empty((0, 2), dtype=np.int64), nothing, (), ())
    return make_record(result, effect_points(result, most))


def effect_table(result: Fit, most: int | None = None) -> pd.DataFrame:
    """One row per step, of more than two classes one for each (see ``SelectionResult.effects``)."""
    import pandas as pd

    record, classes = record_of(result, most), _classes(result)
    rows = [
        (
            record.terms[own.term],
            label,
            record.directions[own.term][k],
            own.step,
            None if own.step == NONE else own.start,
            None if own.step == NONE else own.end,
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
    frame = pd.DataFrame(rows, columns=columns)
    for name in ("effect", "low", "high"):
        frame[name] = frame[name].astype("float64")
    for name in ("from", "to"):
        frame[name] = frame[name].astype(pd.Series(["text"]).dtype)
    frame["n_resamples"] = frame["n_resamples"].astype("int64")
    return frame if len(classes) > 1 else frame.drop(columns="class")


def _classes(result: Fit) -> list[str]:
    labels = result.design.response.classes
    return [str(label) for label in labels] if len(labels) > 2 else [""]


def main_effects(table: pd.DataFrame) -> pd.DataFrame:
    """Of each term the step (and class) with the largest effect, under the names of the terms."""
    places = [own.index[_by_size(own)[0]] for _, own in table.groupby("term", sort=False)]
    return table.loc[places].set_index("term")


def _by_size(own: pd.DataFrame) -> IntArray:
    """Places of rows, those with the largest effects first."""
    return falling(own["effect"].abs().fillna(-1.0).to_numpy())


# --- in words ----------------------------------------------------------------------------------


def effect_columns(result: Fit, terms: list[str]) -> dict[str, Any]:
    """Columns of ``tidy()``, where effects are kept: missing for terms that are not selected."""
    import pandas as pd

    if result.effect_record is None:
        return {}
    table = effect_table(result)
    main = main_effects(table) if len(table) else table.set_index("term")
    said = pd.Series([_step_words(row) for row in main.to_dict("records")], main.index, object)
    text = pd.Series(["text"]).dtype
    return {
        "direction": main["direction"].reindex(terms).astype(text).array,
        "effect_of": said.reindex(terms).astype(text).array,
        "effect": main["effect"].reindex(terms).to_numpy(),
        "effect_low": main["low"].reindex(terms).to_numpy(),
        "effect_high": main["high"].reindex(terms).to_numpy(),
    }


def _step_words(row: Mapping[Hashable, Any]) -> str | None:
    """A step in words, with the class of more than two."""
    if row["step"] == NONE:
        return None
    of = f", on {row['class']}" if "class" in row else ""
    return f"{row['from']} to {row['to']}{of}"


def response_scale(result: Fit, label: str = "") -> str:
    """What effects are changes of."""
    classes = result.design.response.classes
    if result.design.response.family.has_times:
        return LOG_HAZARD_RATIO
    if result.design.offset_name is not False:
        return "linear predictor"
    return f"probability of {label or classes[-1]}" if classes else "mean response"


@dataclass(frozen=True, slots=True)
class EffectCells:
    """An effect in words: a row of a table."""

    term: str
    step: str
    direction: str
    change: str = ""
    interval: str = ""


def effect_cells(table: pd.DataFrame) -> tuple[EffectCells, ...]:
    """Each step in words; of factors with many levels, and of classes, those with the largest
    effects."""
    largest = float(np.nanmax(np.abs([0.0, *table["effect"]])))
    digits = decimals(largest)
    found = []
    for term, own in table.groupby("term", sort=False):
        first = own.iloc[_by_size(own)[:_MOST_OF_TERM]]
        for row in first.to_dict("records"):
            cells = EffectCells(
                str(term), _step_words(row) or "", row["direction"], *_numbers(row, digits)
            )
            found.append(cells)
        if len(own) > len(first):
            more = f"{len(own) - len(first):,} with smaller changes, see `.effects()`"
            found.append(EffectCells(str(term), more, ""))
    return tuple(found)


def _numbers(row: Mapping[Hashable, Any], digits: int) -> tuple[str, str]:
    if np.isnan(row["effect"]):
        return "", ""
    low, high = (f"{round(row[name], digits) + 0.0:,.{digits}f}" for name in ("low", "high"))
    interval = "" if np.isnan(row["low"]) else f"{low} to {high}"
    return f"{round(row['effect'], digits) + 0.0:+,.{digits}f}", interval


def decimals(largest: float, digits: int | None = None) -> int:
    """Decimals that give a number so many digits, by default those of an effect."""
    exponent = int(f"{largest:e}".partition("e")[2])
    digits = significant(3) if digits is None else digits
    return min(max(0, digits - 1 - exponent), 6 + digits)


def effect_tables(result: Fit) -> tuple[SmallTable, ...]:
    """The effects that are kept, for the summary."""
    if result.effect_record is None or not result.selected:
        return ()
    cells = effect_cells(effect_table(result))[:MOST_ROWS]
    rows = tuple((_words(own), own.change, own.interval) for own in cells)
    return (SmallTable((f"Effect on the {scale_of_effects(result)}", *_HEADS), rows),)


def _words(own: EffectCells) -> str:
    step = f", {own.step}" if own.step else ""
    return f"{own.term}{step}{': ' if own.direction else ''}{own.direction}"


def scale_of_effects(result: Fit) -> str:
    """What effects are changes of, for all classes."""
    many = len(_classes(result)) > 1
    return "probability of a class" if many else response_scale(result)


def effect_notes(result: Fit) -> list[str]:
    """What the numbers of the effects are, where they are kept."""
    if result.effect_record is None or not result.selected:
        return []
    table = effect_table(result)
    return [meaning_of_effects(result, table), *interval_notes(result.effect_record)]


def meaning_of_effects(result: Fit, table: pd.DataFrame) -> str:
    """What an effect is, and what the words about it mean."""
    said = [
        f"Effects are changes of the {scale_of_effects(result)} that the model predicts, in the"
        " mean over the rows, when a term takes another value and the others keep theirs: those"
        " of the model, not what would happen if somebody changed the value."
    ]
    if result.design.response.family.has_times:
        said.append(DOUBLED)
    steps, ways = set(table["step"]), set(table["direction"])
    if QUARTILES in steps:
        said.append("Steps of numbers go from the lower to the upper quartile.")
    if RANGE in steps:
        names = table.loc[table["step"] == RANGE, "term"].unique()
        said.append(
            "From the least to the largest value, because the quartiles are the same:"
            f" {', '.join(names)}."
        )
    if ways & {UP, DOWN, MIXED}:
        said.append(
            "Up or down: the shape never goes back by more than"
            f" {TOLERANCE * 100:.0f}% of its way, the {ENDS * 100:g}% of the rows at either end"
            " aside; else mixed."
        )
    if JOINT in ways:
        said.append("Joint: a term of several variables, with no single direction.")
    return " ".join(said)


def interval_notes(record: EffectRecord | None) -> list[str]:
    """What intervals are, if there are any."""
    if record is None or np.isnan(record.low).all():
        return []
    return [
        "Intervals of effects are percentiles 2.5 and 97.5 of the same effects in the models of the"
        f" resamples that selected the term, where at least {LEAST_RESAMPLES} did."
    ]
