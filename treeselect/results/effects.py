"""Effects of the selected terms: which way, how far, and how sure that is; as tables and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.models.probing import ResampledReadings, read_model
from treeselect.printing import MOST_ROWS, SmallTable
from treeselect.resampling.effects import (
    BY_LEVEL,
    FLAT,
    JOINT,
    LEAST_RESAMPLES,
    NONE,
    RANGE,
    TOLERANCE,
    EffectRecord,
    direction,
    effect_record,
)
from treeselect.results.effect_points import Points, effect_points

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


def make_record(
    result: Fit, points: Points, resampled: Sequence[ResampledReadings] = ()
) -> EffectRecord:
    """Effects in the fit's model, with intervals from what the models of resamples say."""
    found = read_model(result.model, points.probes, result.design.problem)
    sizes = [len(probe.grid) for probe in points.probes.terms]
    parts = np.split(found.response, np.cumsum(sizes)[:-1]) if sizes else []
    directions = [
        tuple(_direction(along, is_factor, curve) for curve in part.T)
        for along, is_factor, part in zip(points.along, points.is_factor, parts, strict=True)
    ]
    return effect_record(
        result.selected, directions, points.contrasts, points.ends, found.ends, sizes, resampled
    )


def _direction(along: FloatArray | None, is_factor: bool, curve: FloatArray) -> str:
    if along is None:
        return BY_LEVEL if is_factor else JOINT
    order = np.argsort(along, kind="stable")
    return direction(curve[order][: int((~np.isnan(along)).sum())])


def record_of(result: Fit) -> EffectRecord:
    """The effects that are kept of a fit, else those of its model without intervals."""
    if result.effect_record is not None:
        return result.effect_record
    if not result.selected:
        nothing = np.empty((0, len(_classes(result))))
        return effect_record((), (), (), np.empty((0, 2), dtype=np.int64), nothing, (), ())
    return make_record(result, effect_points(result))


def effect_table(result: Fit) -> pd.DataFrame:
    """One row per step, of more than two classes one for each (see ``SelectionResult.effects``)."""
    import pandas as pd

    record, classes = record_of(result), _classes(result)
    rows = [
        (
            record.terms[own.term],
            label,
            record.directions[own.term][k],
            own.step,
            own.start or None,
            own.end or None,
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


def main_effects(result: Fit, table: pd.DataFrame) -> pd.DataFrame:
    """Of each term the step with the largest effect, under the names of the terms."""
    size = table["effect"].abs().fillna(-1.0)
    return table.loc[size.groupby(table["term"], sort=False).idxmax()].set_index("term")
