"""Cumulative incidence of competing events, from a fit of the cause-specific hazard of each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described
from treeselect.engine.arrays import FloatArray
from treeselect.engine.survival.times import EVENT
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.frames.reading import read_data
from treeselect.frames.tables import in_library
from treeselect.resampling.fit import Fit
from treeselect.results.predicting import Wanted, over_time, read_times, values_of

_MOST_CELLS = 2_000_000
"""Rows times times of events that are computed at once."""

_TAKEN = ("row", "time", "none")


def cumulative_incidence(fits: Mapping[str, Any], new: Any, times: float | Sequence[float]) -> Any:
    """Probability of each of several competing events by some times.

    Parameters
    ----------
    fits : dict of str to SelectionResult
        For each kind of event a fit to the same rows, in which all other kinds are censored:
        ``{"relapse": select('Surv(time, status == "relapse") ~ .', data), "death": ...}``.
    new : frame or path
        Rows to predict, with the columns of all fits.
    times : float or sequence of float

    Returns
    -------
    frame, in the library of the data of the first fit
        One row per row of `new` and time: ``row``, from 0; ``time``; a column for each kind of
        event, its cumulative incidence; ``none``, the probability of no event. Missing after the
        last time at which anyone in the stratum was under observation.

    Raises
    ------
    OptionError
        If there are fewer than two fits, one is not of times to an event, their times are not the
        same, or `times` are not allowed.
    DataError
        If an event is that of two fits.

    Notes
    -----
    Every time at which someone has an event takes from those who have had none the share that the
    cause-specific hazards of the row say, each event in proportion to its hazard, as R's
    ``survfit`` of a multi-state ``coxph``. The incidences and ``none`` sum to 1. One minus the
    ``"survival"`` that a single fit predicts is higher: it is, if the causes are independent, the
    probability in a world without the other events. What is selected and fitted are the hazards: a
    term of a hazard need not raise the incidence. Models of the incidence itself (Fine and Gray)
    are not fitted here, and scores, calibration and net benefit take other events for censoring.

    References
    ----------
    .. [1] H. Putter, M. Fiocco, R. B. Geskus (2007). Tutorial in biostatistics: Competing risks and
       multi-state models. Statistics in Medicine 26, 2389-2430.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("gbsg2")
    >>> data["kind"] = ["censored", "relapse"] * 343
    >>> data.loc[data["cens"] == 0, "kind"] = "censored"
    >>> data.loc[data["cens"].eq(1) & data["kind"].eq("censored"), "kind"] = "death"
    >>> fits = {
    ...     kind: treeselect.select(
    ...         f"Surv(time, kind == '{kind}') ~ age + pnodes", data, method="mrmr", k=1, seed=1
    ...     )
    ...     for kind in ("relapse", "death")
    ... }
    >>> found = treeselect.cumulative_incidence(fits, data.head(2), [365, 1095])
    >>> found.columns.to_list()
    ['row', 'time', 'relapse', 'death', 'none']
    """
    known = _read(fits)
    first = next(iter(known.values()))
    at = read_times(first, "survival", times)
    frame = read_data(new)
    causes = []
    for own in known.values():
        risk = np.asarray(values_of(own, frame, Wanted("response")), dtype=np.float64)
        causes.append(over_time(own, frame, risk, at))
    grid = np.unique(np.concatenate([baseline.time for baseline, *_ in causes]))
    grid = grid[grid <= at.max()]
    found = np.empty((len(known), len(frame), len(at)))
    step = max(_MOST_CELLS // max(len(grid), 1), 1)
    for start in range(0, len(frame), step):
        rows = slice(start, start + step)
        hazards = [own.cumulative_hazard(grid, s[rows], e[rows]) for own, s, e, _ in causes]
        place = np.searchsorted(grid, at, side="right")
        found[:, rows] = _incidence(np.array(hazards), place)
    found = np.where(np.all([seen for *_, seen in causes], axis=0), found, np.nan)
    table: dict[str, Any] = {"row": np.repeat(np.arange(len(frame)), len(at))}
    table["time"] = np.tile(at, len(frame))
    table |= {name: own.ravel() for name, own in zip(known, found, strict=True)}
    table["none"] = 1 - found.sum(axis=0).ravel()
    return in_library(pd.DataFrame(table), first.design.library)


def _incidence(hazards: FloatArray, place: Any) -> FloatArray:
    """Cumulative incidences, shape (n_causes, n_rows, n_times), from cumulative hazards at all
    times of events."""
    steps = np.diff(hazards, axis=2, prepend=0.0)
    total = steps.sum(axis=0)
    free = np.exp(-np.cumsum(total, axis=1))
    before = np.concatenate([np.ones((len(free), 1)), free[:, :-1]], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, steps / total, 0.0)
    grown = np.cumsum((before - free) * share, axis=2)
    return np.concatenate([np.zeros((*grown.shape[:2], 1)), grown], axis=2)[:, :, place]


def _read(fits: Any) -> dict[str, Fit]:
    """The fits, after checks that they are of competing events."""
    given = fits if isinstance(fits, Mapping) else {}
    held = {name: getattr(fit, "_fit", None) for name, fit in given.items()}
    known = {name: own for name, own in held.items() if isinstance(own, Fit) and own.baseline}
    names = [isinstance(name, str) and name not in _TAKEN for name in known]
    if len(known) < 2 or len(known) < len(given) or not all(names):
        raise OptionError(
            "`fits` must be a dictionary of two or more results of `select()` for times, by the"
            f" name of the event, which is not {listing(_TAKEN)}.\n  Found: {described(fits)}."
        )
    responses = {name: own.design.response for name, own in known.items()}
    spans = (own.follow_up for own in responses.values() if own.follow_up is not None)
    times = {", ".join(filter(None, (own.start, own.time))) for own in spans}
    if len(times) > 1:
        raise OptionError(f"`fits` must be of the same times.\n  Found: {listing(sorted(times))}.")
    for (one, a), (other, b) in itertools.combinations(responses.items(), 2):
        rows = np.intersect1d(a.rows, b.rows, return_indices=True)[1:]
        if len(a.y) and len(b.y) and (a.y[rows[0], EVENT] * b.y[rows[1], EVENT] > 0).any():
            raise DataError(
                "Each event must be that of one fit: in the others it is censored.\n  Found: rows"
                f" with an event in {quoted(one)} and in {quoted(other)}."
            )
    return known
