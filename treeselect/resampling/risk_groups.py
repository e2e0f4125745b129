"""Held-out rows grouped by predicted risk, with their observed survival."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from treeselect.algorithms.method import named_model
from treeselect.arguments.checks import check_count, described, numbers_in, read_seed
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import weighted_median
from treeselect.engine.survival.curves import SurvivalCurve
from treeselect.engine.survival.times import EVENT, START, STOP
from treeselect.errors import OptionError, quoted
from treeselect.printing import Summarised, SummaryContent, cells
from treeselect.resampling import held_out
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Split, Splitter
from treeselect.resampling.outer_folds import outer_folds
from treeselect.resampling.records import OfFolds
from treeselect.running.parallel import run_all, workers_for


@dataclass(frozen=True, eq=False)
class RiskGroups(Summarised, OfFolds):
    """Groups of held-out rows by predicted risk, with their survival curves.

    Attributes
    ----------
    curves : tuple of SurvivalCurve
        Kaplan-Meier estimate of each group.
    horizon : float
        The time at which predicted and observed survival are compared.
    scheme, call, seed, library
        As of :class:`treeselect.resampling.records.OfFolds`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("gbsg2")
    >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=2, seed=1)
    >>> found = fit.model.risk_groups()
    >>> list(found.names)
    ['low', 'middle', 'high']
    """

    names: tuple[str, ...]
    curves: tuple[SurvivalCurve, ...]
    n_rows: Any  # (n_groups,), as `risk` and `predicted`, from the lowest risk to the highest
    n_events: Any
    risk: FloatArray
    horizon: float
    predicted: FloatArray
    time: str  # name or label of the times
    # of each group (3, n_rows): start and end of observation, and weight
    spans: tuple[FloatArray, ...]
    n_left_out: int = 0  # rows whose survival is not known: see `held_out.survival_at`

    def tidy(self) -> Any:
        """The survival curves: one row per group and distinct end of a row.

        Returns
        -------
        frame, in the library of the data
            ``group``, from the lowest risk to the highest; ``time``; ``at_risk``, number of rows
            (or their total weight) at risk just before it; ``events`` and ``censored`` at that
            time; ``survival``; ``ci_low`` and ``ci_high``, a pointwise 95% interval computed on the
            scale of ``log(-log(survival))``.
        """
        names = ("time", "at_risk", "events", "censored", "survival", "lower", "upper")
        parts = [
            pd.DataFrame({"group": group} | {name: getattr(curve, name) for name in names})
            for group, curve in zip(self.names, self.curves, strict=True)
        ]
        table = pd.concat(parts, ignore_index=True)
        return self._frame(table.rename(columns={"lower": "ci_low", "upper": "ci_high"}))

    def at(self, times: Sequence[float]) -> Any:
        """The survival curves at given times, with the numbers at risk.

        Parameters
        ----------
        times : sequence of float
            At least 0.

        Returns
        -------
        frame, in the library of the data
            One row per group and time: ``group``; ``time``; ``at_risk``, number of rows (or their
            total weight) under observation just before it, and at 0 those under observation from
            the start; ``survival``, ``ci_low`` and ``ci_high`` as in :meth:`tidy`, missing beyond
            the last time of a group unless its survival has reached 0.

        Raises
        ------
        OptionError
            If the times are not allowed.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("gbsg2")
        >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=2, seed=1)
        >>> found = fit.model.risk_groups(n_groups=2, folds=3).at([0, 365])
        >>> found["survival"].round(2).to_list()[::2]
        [1.0, 1.0]
        """
        at = np.array(numbers_in(times, lambda time: time >= 0))
        if not len(at):
            raise OptionError(
                f"`times` must be one or more numbers of at least 0.\n  Found: {described(times)}."
            )
        survival, low, high = held_out.survival_steps(self.curves, at)
        names = pd.Series(self.names, dtype=pd.Series(["text"]).dtype)
        table = {
            "group": names.repeat(len(at)).array, "time": np.tile(at, len(self.names)),
            "at_risk": np.concatenate([_at_risk(own, at) for own in self.spans]),
            "survival": survival.ravel(), "ci_low": low.ravel(), "ci_high": high.ravel(),
        }  # fmt: skip
        return self._frame(pd.DataFrame(table))

    def calibration(self) -> Any:
        """Predicted and observed survival at the horizon, one row per group.

        Returns
        -------
        frame, in the library of the data
            ``group``; ``n``, number of rows; ``events``, number of events; ``relative_risk``, the
            median cumulative hazard by :attr:`horizon`, relative to that of all rows;
            ``predicted``, mean predicted survival there; ``observed``, the Kaplan-Meier estimate;
            ``ci_low`` and ``ci_high``, its 95% interval, missing where the estimate is 0 or 1. With
            clusters (`fold_groups`), and with weights that are not copies of rows, errors are
            robust, as those of R's ``survfit(cluster=)``, and quantiles are of t; a group within a
            single cluster has the interval of its rows.
        """
        observed, low, high = self.observed()
        names = pd.Series(list(self.names), dtype=pd.Series(["text"]).dtype)
        table = {
            "group": names, "n": self.n_rows, "events": self.n_events, "relative_risk": self.risk,
            "predicted": self.predicted, "observed": observed, "ci_low": low, "ci_high": high,
        }  # fmt: skip
        return self._frame(pd.DataFrame(table))

    def observed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Observed survival of each group at the horizon with its 95% interval limits; missing
        beyond the last time of the group."""
        survival, low, high = held_out.survival_steps(self.curves, np.array([self.horizon]))
        return survival[:, 0], low[:, 0], high[:, 0]

    def _content(self) -> SummaryContent:
        columns, rows = cells.table(
            self.in_pandas.calibration(),
            [
                ("Group", "group"),
                ("Rows", cells.count("n")),
                ("Events", cells.count("events")),
                ("Relative risk", cells.decimal("relative_risk", 2, "unknown")),
                ("Predicted", cells.decimal("predicted", 3)),
                ("Observed", cells.decimal("observed", 3, "unknown")),
                ("95% interval", cells.interval("ci_low", "ci_high", "", "unknown", places=3)),
            ],
        )
        n = self.n_left_out
        rows_were, folds = ("row was", "its fold") if n == 1 else ("rows were", "their folds")
        left_out = (
            f"{n:,} {rows_were} left out: the training rows of {folds} include none of the same"
            " stratum, or nobody of it is followed until the horizon, and a baseline hazard is"
            " estimated from its own stratum alone."
        )
        return SummaryContent(
            title=f"Risk groups: survival at {self.time} = {self.horizon:g}",
            facts=(("Call", self.call), ("Folds", self.scheme), ("Seed", str(self.seed))),
            columns=columns,
            rows=rows,
            notes=(
                "Risk and survival of the rows of each fold are predicted by a model refitted to"
                " the selected terms on the other rows. Groups are cut at quantiles of the"
                " predicted risk of the event by the horizon.",
                *((_CHOSEN,) if self.is_chosen else ()),
                "Relative risk: median cumulative hazard by the horizon, relative to that of all"
                " rows. Predicted: mean predicted survival at the horizon. Observed: Kaplan-Meier"
                " estimate with its pointwise 95% interval.",
                *((left_out,) if n else ()),
            ),
        )

    def __repr__(self) -> str:
        return f"<RiskGroups: {', '.join(self.names)}; {self.scheme}>"


_CHOSEN = (
    "The terms were selected on all rows, including those held out here, so the groups are further"
    " apart than for new rows, above all with many candidate terms."
)


def _at_risk(spans: FloatArray, at: FloatArray) -> FloatArray:
    """Total weight of rows under observation just before each time; at 0, from time 0 on."""
    start, stop, weight = (values[:, None] for values in spans)
    return np.asarray((weight * (((start < at) | (start <= 0) & (at == 0)) & (at <= stop))).sum(0))


# --- risks of held-out rows, predicted by models that were fitted without them -------------------

_NAMES = {2: ("low", "high"), 3: ("low", "middle", "high")}


def group_by_risk(
    result: Fit,
    n_groups: int = 3,
    horizon: float | None = None,
    folds: int | Splitter | Sequence[int] = 10,
    *,
    seed: int | None = None,
) -> RiskGroups:
    """See :meth:`ModelView.risk_groups`; figures show what it gives by default."""
    seed = result.seed if seed is None else read_seed(seed)
    known = result.design.response.follow_up
    if known is None:
        raise OptionError(
            "Risk groups need a survival response, `Surv(time, event)`.\n"
            f"  Found: family {quoted(result.family)}."
        )
    n_groups = check_count("n_groups", n_groups, least=2, most=20)
    outer = outer_folds(result, folds, repeats=1, seed=stream_seed(seed, "risk"))
    here, problem, weight = outer.here, outer.here.problem, outer.weights.values
    at = held_out.read_horizon(horizon, here, weight)
    calls = [
        (problem, outer.weights, split, result.step.selected, at, stream_seed(seed, "risk"))
        for split in outer.splits
    ]
    found = run_all(_held_out, calls, workers_for(result.n_jobs), "Folds", result.progress)
    tests, risk, survival = zip(*found, strict=True)
    every = held_out.gather_held_out(
        here, tests, risk, range(len(tests)), here.response.family, blocks=outer.weights.blocks,
        event=[1 - own for own in survival], horizon=at,
    )  # fmt: skip
    rated = every.with_risks
    groups = held_out.quantile_groups(rated.hazard, rated.mass, n_groups)
    members = [rated.only(own) for own in groups]
    middle = weighted_median(rated.hazard, rated.mass) or np.nan
    return RiskGroups(
        names=_NAMES.get(len(members), tuple(str(g + 1) for g in range(len(members)))),
        curves=tuple(map(held_out.observed_curve, members)),
        n_rows=np.array([round(float(own.counts.sum())) for own in members]),
        n_events=np.array([round(float(own.counts @ own.y[:, EVENT])) for own in members]),
        risk=np.array([weighted_median(own.hazard, own.mass) / middle for own in members]),
        horizon=at,
        predicted=np.array([1 - np.average(own.risk, weights=own.mass) for own in members]),
        time=every.name,
        n_left_out=round(float(every.counts.sum() - rated.counts.sum())),
        spans=tuple(np.stack([*own.y[:, [START, STOP]].T, own.mass]) for own in members),
        **outer.told(result, seed),
    )


def _held_out(
    problem: Problem,
    weights: RowWeights,
    split: Split,
    selected: BoolArray,
    horizon: float,
    seed: int,
    *,
    n_threads: int = 1,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Held-out rows, their relative risks, and their survival at the horizon if it is known."""
    train, test = split.weights(weights)
    training = dataclasses.replace(problem, wants_scores=False)
    name = problem.model or "forest"
    model = named_model(name, training, train, selected, seed=seed, n_threads=n_threads)
    risk = model.predict(problem, n_threads)
    survival = held_out.survival_at(problem, train.values, risk, horizon)
    return test.rows, risk[test.rows], survival[test.rows]
