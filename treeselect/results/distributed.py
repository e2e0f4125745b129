"""LightGBM trained by the workers of a Dask cluster on all rows of a Dask frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.designs.encoding import DesignSpec, NewLevels
from treeselect.designs.modeldata import ModelData
from treeselect.designs.row_sample import outcomes, read_all
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.errors import DataError, OptionError, listing, quoted, said_by
from treeselect.frames.reading import is_dask, scan_of
from treeselect.frames.tables import Scanned
from treeselect.results.estimators import EstimatorFit, check_estimator, finite
from treeselect.running.machine import memory_errors

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

_KNOWN = ("DaskLGBMClassifier", "DaskLGBMRegressor")


def is_distributed(estimator: Any) -> bool:
    """Whether an estimator trains on collections of Dask."""
    rooms = {base.__module__ for base in type(estimator).__mro__}
    return bool(rooms & {"lightgbm.dask", "xgboost.dask"})


@memory_errors()
def refit_on_partitions(result: Fit, estimator: Any, data: ModelData, frame: Any) -> EstimatorFit:
    """Fit LightGBM to all rows of a Dask frame, where its workers hold them.

    Each partition is encoded by the worker that has it; the response of all rows comes here.

    Parameters
    ----------
    result : Fit
    estimator : lightgbm.DaskLGBMClassifier or lightgbm.DaskLGBMRegressor
        Only its parameters are used.
    data : ModelData
        The data of the fit.
    frame : dask.dataframe.DataFrame
        The same data.

    Raises
    ------
    OptionError
        If it is another estimator, does not suit the response, or fails; if the case weights are
        an array; or if `frame` is not a Dask frame.
    DataError
        If a partition lacks a class: LightGBM's workers would number the classes differently.
    """
    _check(estimator, data, frame)
    check_estimator(result, estimator, data)
    sizes = np.array(frame.map_partitions(len).compute(), dtype=np.int64)
    rows = _rows_by_partition(data, frame, sizes)
    names, _ = data.spec.one_hot_of(
        result.selected, data.spec.encode(data.sources.iloc[:1], result.selected)
    )
    # As in `resampling.confirming`: a level of rows that were not drawn is none of the levels.
    levels: NewLevels = "missing" if data.spec.new_levels == "missing" else "other"
    spec = dataclasses.replace(data.spec, new_levels=levels)
    columns = _columns(frame, rows, spec, result.selected, len(names))
    fitted = _trained(estimator, columns, rows, with_weights=data.weights is not False)
    return EstimatorFit(
        estimator=fitted,
        columns=tuple(names),
        terms=result.selected,
        imputer=None,
        notes=(
            "A missing label is 0 in all columns of its factor.",
            "Missing numbers are passed on: the estimator takes them.",
            f"Fitted to all {sum(len(part.place) for part in rows):,} rows by the workers of the"
            " Dask cluster.",
        ),
        spec=data.spec,
        response=data.response.name,
        classes=tuple(data.response.classes),
    )


def _check(estimator: Any, data: ModelData, frame: Any) -> None:
    name = type(estimator).__name__
    if name not in _KNOWN:
        raise OptionError(
            f"`model` must be one of {listing(_KNOWN)} of LightGBM to train on a Dask cluster.\n"
            f"  Found: {name}."
        )
    if not is_dask(frame):
        raise OptionError(
            f"`data` must be a Dask frame, on whose partitions {name} trains.\n"
            "  Pass the one that the terms were selected on, or use LightGBM's"
            f" {name.removeprefix('Dask')} on rows in memory."
        )
    if data.weights is True:
        raise OptionError(
            "`weights` must be a column of the Dask frame, not an array, for an estimator that"
            " trains on its partitions."
        )


# --- rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows in use of a partition: their number, places in it, responses and case weights."""

    number: int
    place: IntArray
    y: NDArray[Any]
    weight: WeightArray


def _rows_by_partition(data: ModelData, frame: Any, sizes: IntArray) -> list[_Part]:
    """The rows in use of each partition that has any."""
    parsed = data.spec.formula
    scan = scan_of(frame)
    assert scan is not None
    whole = outcomes(parsed, Scanned(scan), data.spec.na, parsed.hidden)
    given = data.weights if isinstance(data.weights, str) else None
    every, full = read_all(parsed, whole, given, data.weights_kind, data.response.family.name)
    y: NDArray[Any] = full.y
    if full.classes:
        y = np.array(full.classes)[full.y.astype(np.int64)]
    ends = np.cumsum(sizes)
    found = []
    for number, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        low, high = np.searchsorted(full.rows, [start, end])
        if low == high:
            continue
        own = full.rows[low:high]
        found.append(_Part(number, own - start, y[low:high], every.values[own]))
        absent = sorted(set(full.classes) - set(y[low:high].tolist()))
        if absent:
            raise DataError(
                "Each partition of `data` must have rows of all classes to train LightGBM on.\n"
                f"  Partition {number} has none of class {quoted(str(absent[0]))}: shuffle the"
                " rows, or make fewer partitions with `repartition`."
            )
    return found


# --- work of the cluster -------------------------------------------------------------------------


def _columns(
    frame: Any, rows: Sequence[_Part], spec: DesignSpec, terms: Sequence[str], width: int
) -> Any:
    """A Dask array of the encoded columns of the rows in use, a block per partition."""
    import dask.array as da
    from dask.delayed import delayed

    variables = list(dict.fromkeys(v for name in terms for v in spec[name].term.variables))
    parts = frame[variables].to_delayed()
    encode, known = delayed(_encoded, pure=False), delayed(spec)
    blocks = [
        da.from_delayed(
            encode(parts[own.number], own.place, known, tuple(terms)),
            shape=(len(own.place), width),
            dtype=np.float64,
        )
        for own in rows
    ]
    return da.concatenate(blocks, axis=0)


def _encoded(
    part: pd.DataFrame, place: IntArray, spec: DesignSpec, terms: Sequence[str]
) -> FloatArray:
    """Columns of some rows of a partition; runs on a worker."""
    return finite(spec.one_hot_of(terms, spec.encode(part.iloc[place], terms))[1])


def _trained(estimator: Any, columns: Any, rows: Sequence[_Part], *, with_weights: bool) -> Any:
    """The estimator of this machine that the cluster's workers trained."""
    import dask.array as da

    def spread(values: Sequence[NDArray[Any]]) -> Any:
        return da.from_array(np.concatenate(values), chunks=(tuple(map(len, values)),))

    extra = {"sample_weight": spread([part.weight for part in rows])} if with_weights else {}
    own = type(estimator)(**estimator.get_params(deep=False))  # a client can't be cloned
    try:
        return own.fit(columns, spread([part.y for part in rows]), **extra).to_local()
    except MemoryError:
        raise
    except Exception as error:  # code of others can fail in any way
        raise OptionError(
            "`model` must be an estimator that can be fitted to the selected columns.\n"
            f"  {type(estimator).__name__} says: {said_by(error)}"
        ) from error
