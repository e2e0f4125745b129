"""Predictions of a fit: of frames in memory, and of data that are read in batches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import described, length
from treeselect.designs.weights import check_offset
from treeselect.engine.arrays import FloatArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.rounding import at_least, largest_in_row
from treeselect.errors import OptionError
from treeselect.frames.reading import Scan, frame_of_arrow, read_data, scan_of
from treeselect.frames.tables import as_column, as_frame
from treeselect.results.hazards import hazards_at, read_type
from treeselect.results.intervals import (
    QUANTILE,
    check_forest,
    interval_columns,
    quantile_columns,
    read_asked,
)
from treeselect.running.machine import memory_errors
from treeselect.running.parallel import workers_for

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

NO_EXTRAS: tuple[Sequence[float] | None, object, object] = (None, None, 0.95)
"""Neither quantiles nor an interval."""


def predict(
    fit: Fit,
    new: Any,
    type: str,
    offset: Sequence[float] | None,
    times: object,
    asked: tuple[Sequence[float] | None, object, object],
) -> Any:
    """See :meth:`SelectionResult.predict`; `asked` are quantiles, interval and level."""
    scan = scan_of(new)
    if scan is None:
        found = values_of(fit, new, type, offset, times, asked)
    else:
        found = _of_batches(fit, scan, type, offset, times, asked)
    if isinstance(found, dict):
        return as_frame(found, new)
    return as_column(found, fit.design.response.name, new)


def _of_batches(
    fit: Fit,
    scan: Scan,
    type: str,
    offset: Sequence[float] | None,
    times: object,
    asked: tuple[Sequence[float] | None, object, object],
) -> Any:
    """The same for data that are read in batches, of which only the columns needed are read."""
    if offset is not None and length(offset) != scan.n_rows:
        raise OptionError(
            f"`offset` must have one value per row of `new`, {scan.n_rows:,}.\n"
            f"  Found: {described(offset)}."
        )
    formula = fit.design.spec.formula  # strata of times are among its outcomes
    needed = {*fit.variables, *formula.hidden, *formula.outcome_variables}
    columns = [name for name in scan.columns if name in needed]
    columns = columns or scan.columns[:1]  # the constant model needs their lengths only
    parts: list[Any] = []
    for start, table in scan.batches(columns):
        own = None if offset is None else offset[start : start + table.num_rows]
        found = values_of(fit, frame_of_arrow(table), type, own, times, asked)
        # Numbers take a quarter of the memory in an array.
        if isinstance(found, dict):
            parts.append({name: np.asarray(values) for name, values in found.items()})
        else:
            parts.append(found if type == "class" else np.asarray(found))
    if not parts:
        empty = frame_of_arrow(scan.schema.empty_table())
        return values_of(fit, empty, type, offset, times, asked)
    if isinstance(parts[0], dict):
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return list(chain(*parts)) if type == "class" else np.concatenate(parts)


def values_of(
    fit: Fit,
    new: Any,
    type: str,
    offset: Sequence[float] | None,
    times: object,
    asked: tuple[Sequence[float] | None, object, object] = NO_EXTRAS,
) -> list[Any] | dict[str, list[float]]:
    at = read_type(fit, type, times, (QUANTILE,))
    shares, level = read_asked(type, *asked)
    response = fit.design.response
    frame = read_data(new)
    if shares is not None:
        check_forest(fit, f'type="{QUANTILE}"')
        binned, known = _binned(fit, frame, offset)
        return quantile_columns(fit, binned, known, shares)
    if level is not None:
        check_forest(fit, 'interval="prediction"')
    mean = _mean(fit, frame, offset)
    if level is not None:
        return interval_columns(fit, mean, level)
    if at is not None:
        return hazards_at(fit, type, frame, mean, at)
    if type == "class":
        chosen = largest_in_row(mean) if mean.ndim == 2 else at_least(mean, 0.5).astype(int)
        return [response.classes[i] for i in chosen]
    if mean.ndim == 2:
        shown = mean if type == "response" else response.family.link(mean)
        return {str(c): shown[:, k].tolist() for k, c in enumerate(response.classes)}
    values: list[Any] = (mean if type == "response" else response.family.link(mean)).tolist()
    return values


@memory_errors()
def _mean(fit: Fit, frame: pd.DataFrame, offset: Sequence[float] | None) -> FloatArray:
    binned, known = _binned(fit, frame, offset)
    if binned is None:
        return fit.model.without_trees(len(frame), known)
    return fit.model.predict_binned(binned, known, workers_for(fit.n_jobs).n_threads)


def _binned(
    fit: Fit, frame: pd.DataFrame, offset: Sequence[float] | None
) -> tuple[BinnedData | None, FloatArray | None]:
    """The columns of the final model, None if it has none, and the offset."""
    groups, known = fit.model.groups, fit.design.offset_of(frame, offset)
    check_offset(known, np.arange(len(frame)))
    if not groups.any():
        return None, known
    names = fit.design.arrays.groups.terms
    terms = [term for g in np.flatnonzero(groups) for term in names[g]]
    columns = fit.design.spec.encode(frame, terms)
    return fit.model.bin(fit.design.arrays, columns), known
