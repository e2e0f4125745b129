"""Decisions by predicted risk: error rates at a threshold, and net benefit over many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described, numbers_in
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least
from treeselect.engine.survival.times import EVENT, START, STOP
from treeselect.errors import OptionError, quoted
from treeselect.figures.axes import nice_ticks, number_axis
from treeselect.figures.marks import Plane, Rule, Series
from treeselect.figures.plotting import plotted
from treeselect.printing import Summarised, SummaryContent, cells, decimal_text, number_text
from treeselect.resampling.held_out import HeldOut
from treeselect.resampling.records import OfFolds
from treeselect.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_USUAL = tuple(step / 100 for step in range(1, 100))
"""Thresholds by default."""

_N_DRAWS, _FEWEST_DRAWS, _MOST_WEIGHTS = 1000, 100, 20_000_000
"""Bootstrap samples behind an interval, and on long data as few as this, with so many weights in
all."""

_MOST_ROWS = 9
"""Thresholds in print."""

_DEEPEST = -0.1
"""Net benefit below which a figure does not reach."""


@dataclass(frozen=True, eq=False)
class DecisionCurve(Summarised, OfFolds):
    """Net benefit of treating the rows whose predicted risk reaches a threshold.

    Returned by :meth:`Performance.decision_curve
    <treeselect.resampling.performance.Performance.decision_curve>`.

    Attributes
    ----------
    scheme, call, seed, library
        As of :class:`treeselect.resampling.records.OfFolds`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
    >>> curve = fit.performance(folds=3).decision_curve([0.25, 0.5])
    >>> bool((curve.tidy()["gain"] > 0).any())
    True
    """

    table: pd.DataFrame
    event: str  # what is predicted, in words
    has_times: bool  # whether it is the event of a survival response by the horizon
    prevalence: float  # share of the rows with the event (by the horizon: Kaplan and Meier's)
    n_rows: int
    is_weighted: bool  # whether shares of rows are of their case weights
    n_left_out: int  # rows whose risk is not known
    n_draws: int  # bootstrap samples behind the intervals
    drawn: str  # what they consist of
    costs: tuple[float, float] | None  # of a false positive and of a false negative, as given

    @property
    def threshold(self) -> float | None:
        """The threshold that minimises the expected cost: the cost of a false positive, divided by
        the sum of both costs. None without costs."""
        return None if self.costs is None else _optimal(self.costs)

    def tidy(self) -> Any:
        """One row per threshold.

        Returns
        -------
        frame, in the library of the data
            ``threshold``; ``positive``, share of the rows whose risk reaches it; ``sensitivity``,
            ``specificity``, ``ppv`` and ``npv`` (missing if there are no such rows, or of times if
            none of them is followed up until the horizon); ``net_benefit`` with its 95% interval,
            ``ci_low`` and ``ci_high``; ``all``, the net benefit of treating all rows (that of
            treating none is 0); ``gain``, net benefit beyond the better of treating all and none,
            with its interval, ``gain_low`` and ``gain_high``.
        """
        return self._frame(self.table)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the net benefit of the model, with its interval, of treating all and of treating
        none.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default new ones.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If matplotlib is not installed.
        """
        return plotted(decision_figure(self), ax, (6.4, 4.0))

    def _content(self) -> SummaryContent:
        table, places, facts = self.table, _spread(len(self.table)), []
        if self.costs is not None and self.threshold is not None:
            at = int(np.argmin(np.abs(table["threshold"] - self.threshold)))
            places = sorted({*places, at})
            own = table.iloc[at]
            one, other = self.costs
            costs = f"costs of {one:g} (false positive) and {other:g} (false negative)"
            facts = [
                ("Threshold", f"{self.threshold:.4g}, least expected cost at {costs}"),
                ("At it", ", ".join(f"{a} {number_text(own[b], '.3f')}" for a, b in _RATES)),
            ]
        columns, rows = cells.table(
            table.iloc[places],
            [
                ("Threshold", cells.number("threshold", ".4g")),
                ("Sens.", cells.number("sensitivity", ".3f")),
                ("Spec.", cells.number("specificity", ".3f")),
                ("Net benefit", cells.decimal("net_benefit", 3, "unknown")),
                ("95% interval", cells.interval("ci_low", "ci_high", "", "unknown", places=3)),
                ("All", cells.decimal("all", 3, "unknown")),
                ("Gain", cells.decimal("gain", 3, "unknown", "+")),
                (
                    "95% interval",
                    cells.interval("gain_low", "gain_high", "", "unknown", places=3, sign="+"),
                ),
            ],
        )
        event = f"{self.event}, {decimal_text(self.prevalence, 3)} of {self.n_rows:,} rows"
        event += ", weighted by their case weights" * self.is_weighted
        n = self.n_left_out
        left_out = f"{n:,} row{' was' if n == 1 else 's were'} left out: the training rows"
        left_out += " have none of the same stratum, or its follow-up ends before."
        return SummaryContent(
            title="Decision curve of held-out rows",
            facts=(("Event", event), ("Folds", self.scheme), *facts, ("Seed", str(self.seed))),
            columns=columns,
            rows=rows,
            notes=(
                "Net benefit: true positives less false positives times threshold / (1 -"
                " threshold), as a share of all rows. Gain: net benefit less that of the better of"
                f" treating all and none. Intervals: {self.n_draws:,} bootstrap samples of the"
                f" {self.drawn}; models and predictions are held fixed.",
                *((_TIMES,) if self.has_times else ()),
                *((_ENDED,) if self.has_times and table["sensitivity"].isna().any() else ()),
                *((left_out,) if n else ()),
            ),
        )

    def __repr__(self) -> str:
        return f"<DecisionCurve: {len(self.table)} thresholds, {shown(self.event)}>"


def decision_figure(curve: DecisionCurve) -> Plane:
    """The curve as marks."""
    found = curve.table
    x, all_ = found["threshold"].to_list(), found["all"].to_numpy()
    low, high = (found[name].to_numpy() for name in ("ci_low", "ci_high"))
    top = float(np.nanmax([*found["net_benefit"], *high, *all_, 0.02]))
    marked = [place in _spread(len(x)) for place in range(len(x))]

    def seen(values: Any) -> list[float]:
        return np.where(np.asarray(values) >= _DEEPEST, values, np.nan).tolist()

    model = Series(
        x=x, y=seen(found["net_benefit"]), low=np.maximum(low, _DEEPEST).tolist(),
        high=np.maximum(high, _DEEPEST).tolist(), band=True, name="model", colour=0,
        marked=marked, mark=0,
    )  # fmt: skip
    every = Series(x=x, y=seen(all_), name="treat all", colour=1, stroke=1, marked=marked, mark=1)
    none = Series(
        x=x, y=[0.0] * len(x), name="treat none", colour=5, stroke=2, marked=marked, mark=2
    )
    told = found[["threshold", "net_benefit", "all"]].iloc[_spread(len(x))]
    said = "; ".join(
        f"at threshold {at:g} net benefit {number_text(own, '.3f', 'unknown')}, treating all"
        f" {every:.3f}"
        for at, own, every in told.to_numpy().tolist()
    )
    ends = nice_ticks(min(x), max(x))
    chosen = () if curve.threshold is None else (Rule(curve.threshold),)
    return Plane(
        key="decision-curve",
        title="Decision curve",
        text=said,
        x=number_axis(ends).named(f"threshold of P({curve.event})"),
        y=number_axis(nice_ticks(_DEEPEST, top)).named("net benefit"),
        series=[model, every, none],
        rules=chosen,
        legend="above",
    )


def _optimal(costs: tuple[float, float]) -> float:
    false_positive, false_negative = costs
    return false_positive / (false_positive + false_negative)


def _spread(n: int) -> list[int]:
    """Places of at most so many thresholds, at equal distances."""
    every = 1 if n <= _MOST_ROWS else -(-n // (_MOST_ROWS + 1))
    return list(range(every - 1, n, every))[:_MOST_ROWS]


_TIMES = (
    "Of times to an event, the share with the event by the horizon is Kaplan and Meier's estimate,"
    " among the rows above and among those below the threshold."
)

_ENDED = (
    "What is unknown, or –: no row on one side of the threshold is followed up until the horizon."
)

_RATES = (("sensitivity",) * 2, ("specificity",) * 2, ("PPV", "ppv"), ("NPV", "npv"))


# --- the rates -----------------------------------------------------------------------------------


class _Rows:
    """Held-out rows by the number of thresholds that their risks reach."""

    def __init__(self, held: HeldOut, thresholds: FloatArray) -> None:
        self.held, self.n = held.with_risks, len(thresholds)
        self.mass = self.held.mass
        self.reached = np.zeros(len(self.mass), dtype=np.int64)
        for threshold in thresholds:
            self.reached += at_least(self.held.risk, threshold)
        self._y = self.held.y
        if held.family.has_times:
            stop = self._y[:, STOP]
            self._dies = (self._y[:, EVENT] > 0) & at_least(held.horizon, stop)
            self._times = np.unique(stop[self._dies])
            # A row is at risk at the times from the first on, and before the other.
            self._first = np.searchsorted(self._times, self._y[:, START], side="right")
            self._after = np.searchsorted(self._times, stop, side="right")

    def rates(self, mass: FloatArray, of_sets: Any, *, check: bool = False) -> FloatArray:
        """Shares with and without the event among rows that reach each threshold (`_above`) or do
        not (`_below`), shape (2, n + 1); with `check` missing where follow-up ends before the
        horizon."""
        n = of_sets(np.bincount(self.reached, mass, self.n + 1))
        if self._y.ndim == 1:
            events = of_sets(np.bincount(self.reached, mass * self._y, self.n + 1))
        else:
            events = n * self._events(mass, of_sets, check)
        return np.array([events, n - events]) / mass.sum()

    def _events(self, mass: FloatArray, of_sets: Any, check: bool) -> FloatArray:
        """Kaplan and Meier's estimate of the share with the event by the horizon."""
        shape = len(self._times) + 1, self.n + 1

        def at(place: IntArray, weight: FloatArray) -> FloatArray:
            cells = np.bincount(place * shape[1] + self.reached, weight, shape[0] * shape[1])
            return np.asarray(of_sets(cells.reshape(shape).T).T)

        at_risk = np.cumsum(at(self._first, mass) - at(self._after, mass), axis=0)[:-1]
        lost = at(np.maximum(self._after - 1, 0), np.where(self._dies, mass, 0.0))[:-1]
        gone = at_least(lost, at_risk)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(lost > 0, np.where(gone, 0.0, 1 - lost / at_risk), 1.0).prod(axis=0)
        if check:
            last = np.zeros(self.n + 1)
            np.maximum.at(last, self.reached, np.where(mass > 0, self._y[:, STOP], 0.0))
            last = of_sets(last, np.maximum)
            known = at_least(last, self.held.horizon) | (left == 0) | (last == 0)
            left = np.where(known, left, np.nan)
        return np.asarray(1 - left)


def _above(values: FloatArray, join: Any = np.add) -> FloatArray:
    """Of the rows that reach each threshold; the first is reached by all."""
    return np.asarray(join.accumulate(values[::-1])[::-1])


def _below(values: FloatArray, join: Any = np.add) -> FloatArray:
    """Of the rows that do not reach it."""
    found = join.accumulate(values)
    return np.concatenate([np.zeros_like(found[:1]), found[:-1]])


def rates_table(held: HeldOut, thresholds: Sequence[float]) -> pd.DataFrame:
    """``threshold``, ``positive``, ``sensitivity``, ``specificity``, ``ppv`` and ``npv`` of rising
    thresholds: see :meth:`DecisionCurve.tidy`."""
    at = np.array(thresholds, dtype=np.float64)
    rows = _Rows(held, at)
    true, false = rows.rates(rows.mass, _above, check=True)[:, 1:]
    missed, right = rows.rates(rows.mass, _below, check=True)[:, 1:]
    reached = _above(np.bincount(rows.reached, rows.mass, rows.n + 1).astype(np.float64))
    with np.errstate(invalid="ignore"):
        return pd.DataFrame({
            "threshold": at, "positive": reached[1:] / rows.mass.sum(),
            "sensitivity": true / (true + missed), "specificity": right / (right + false),
            "ppv": true / (true + false), "npv": right / (right + missed),
        })  # fmt: skip


def _benefits(rates: FloatArray, odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Net benefit of the model and of treating all."""
    return rates[0, 1:] - odds * rates[1, 1:], rates[0, 0] - odds * rates[1, 0]


# --- the curve -----------------------------------------------------------------------------------


def decide(
    held: HeldOut,
    thresholds: Sequence[float] | None = None,
    costs: Sequence[float] | None = None,
    *,
    scheme: str,
    seed: int,
    library: str = "pandas",
) -> DecisionCurve:
    """See :meth:`Performance.decision_curve`."""
    has_two = len(held.classes) == 2
    if not has_two and held.event is None:
        raise OptionError(
            "`decision_curve()` needs a response of two classes, or times to an event.\n"
            f"  Found: family {quoted(held.family.name)}."
        )
    paid = _read_costs(costs)
    at = sorted({*_read_thresholds(thresholds), *(() if paid is None else (_optimal(paid),))})
    odds = np.array(at) / (1 - np.array(at))
    rows = _Rows(held, np.array(at))
    rates = rows.rates(rows.mass, _above, check=True)
    own, every = _benefits(rates, odds)
    n_draws = max(min(_N_DRAWS, _MOST_WEIGHTS // len(rows.mass)), _FEWEST_DRAWS)
    drawn = np.empty((2, n_draws, len(at)))
    for i, mass in enumerate(rows.held.drawn(n_draws, stream_seed(seed, "decisions"))):
        model, all_ = _benefits(rows.rates(mass, _above), odds)
        drawn[:, i] = model, model - np.where(every > 0, all_, 0.0)
    drawn[:, :, np.isnan(own)] = np.nan
    (low, gain_low), (high, gain_high) = np.quantile(drawn, [0.025, 0.975], axis=1)
    table = rates_table(held, at)
    table = table.assign(net_benefit=own, ci_low=low, ci_high=high, all=every)
    table = table.assign(gain=own - np.maximum(every, 0.0), gain_low=gain_low, gain_high=gain_high)
    return DecisionCurve(
        table=table,
        event=held.event_words,
        has_times=not has_two,
        prevalence=float(rates[0, 0]),
        n_rows=rows.held.n_rows,
        is_weighted=held.is_weighted,
        n_left_out=held.n_rows - rows.held.n_rows,
        n_draws=n_draws,
        drawn=held.drawn_words,
        costs=paid,
        scheme=scheme,
        seed=seed,
        library=library,
    )


def _read_thresholds(given: object) -> Sequence[float]:
    """The thresholds; an OptionError unless they are between 0 and 1."""
    if given is None:
        return _USUAL
    known = numbers_in(given, lambda threshold: 0 < threshold < 1)
    if not known:
        raise OptionError(
            "`thresholds` must be one or more numbers above 0 and below 1.\n"
            f"  Found: {described(given)}."
        )
    return known


def _read_costs(given: object) -> tuple[float, float] | None:
    """The costs; an OptionError unless they are two numbers above 0."""
    if given is None:
        return None
    known = numbers_in(given, lambda cost: cost > 0)
    if len(known) == 2 and 0 < _optimal((known[0], known[1])) < 1:
        return known[0], known[1]
    raise OptionError(
        "`costs` must be two numbers above 0: of a false positive and of a false negative.\n"
        f"  Found: {described(given)}. A false negative nine times as bad: `costs=(1, 9)`."
    )
