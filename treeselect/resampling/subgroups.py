"""Performance and calibration by subgroup of the held-out rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from treeselect import printing
from treeselect.arguments.checks import check_count, described, members, not_found
from treeselect.engine.arrays import IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least
from treeselect.engine.survival.times import EVENT, STOP
from treeselect.errors import OptionError, quoted
from treeselect.figures.axes import score_axis
from treeselect.figures.charts import interval_rows
from treeselect.figures.marks import Rows
from treeselect.figures.plotting import plotted
from treeselect.frames.values import Labels, read_column
from treeselect.models.linear.statistics import Recalibration
from treeselect.printing import cells
from treeselect.resampling.cross_validation import known_score, percentiles
from treeselect.resampling.fit import Source
from treeselect.resampling.held_out import HeldOut, calibration_table, mean_outcome, recalibration
from treeselect.resampling.records import Scored
from treeselect.running.machine import warn
from treeselect.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_GROUPS = 20

_N_DRAWS = 500
"""Bootstrap samples behind an interval of a score."""

FEWEST = 100
"""Cases below which a group is small."""


@dataclass(frozen=True, eq=False)
class Subgroups(printing.Summarised, Scored):
    """Performance and calibration of the held-out predictions by subgroup.

    Returned by :meth:`Performance.by <treeselect.resampling.performance.Performance.by>`.

    Attributes
    ----------
    score_name, score_words, scheme, call, seed, library
        As of :class:`treeselect.resampling.records.Scored`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=2, seed=1)
    >>> fit.performance(folds=3).by("sex").tidy()["n"].to_list()
    [466.0, 843.0]
    """

    table: pd.DataFrame
    held_out: tuple[HeldOut, ...]  # predictions of the rows of each group
    column: str  # name of the groups

    @property
    def small(self) -> tuple[str, ...]:
        """Groups with fewer than 100 cases, too few to judge calibration by."""
        return tuple(self.table.loc[self.table["cases"] < FEWEST, "group"])

    def tidy(self) -> Any:
        """One row per subgroup.

        Returns
        -------
        frame, in the library of the data
            ``group``; ``n``, number of rows; ``cases``, the smaller of the numbers of rows of the
            two classes, or the number of events by the horizon, or of rows; ``score`` of all
            held-out predictions of the group together, ``ci_low`` and ``ci_high``, its 95%
            interval; ``predicted`` and ``observed`` mean; ``slope`` and ``intercept`` of
            calibration with their 95% intervals, ``slope_low``, ``slope_high``, ``intercept_low``
            and ``intercept_high``. What is not known is missing: intercepts of times to an event;
            scores, slopes and intercepts of groups whose response does not vary; what is observed
            where follow-up ends before the horizon. Rows whose probability of the event is not
            known are in no group.
        """
        return self._frame(self.table)

    def calibration(self, n_groups: int = 5) -> Any:
        """Calibration within each subgroup: the frame of :meth:`Performance.calibration
        <treeselect.resampling.performance.Performance.calibration>` of each, with the subgroup in
        the column ``subgroup``.

        Parameters
        ----------
        n_groups : int
            Groups by prediction within each subgroup, from 2 to 100.

        Raises
        ------
        OptionError
            If `n_groups` is not allowed.
        """
        n_groups = check_count("n_groups", n_groups, least=2, most=100)
        parts = []
        for name, own in zip(self.table["group"], self.held_out, strict=True):
            rows = calibration_table(own, n_groups)
            rows.insert(0, "subgroup", pd.Series([name] * len(rows)))
            parts.append(rows)
        return self._frame(pd.concat(parts, ignore_index=True))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the score of each group with its interval, where it is known.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default new ones.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        OptionError
            If no group has a score.
        MissingPackageError
            If matplotlib is not installed.
        """
        drawn = subgroup_figure(self)
        return plotted(drawn, ax, (6.4, 1.2 + 0.36 * len(drawn.rows)))

    def _content(self) -> printing.SummaryContent:
        family, held = self.held_out[0].family, self.held_out[0]
        shares = ".3f" if family.has_classes or family.has_times else ",.4g"
        cases = "rows of the smaller class" if family.has_classes else "rows"
        if family.has_times:
            cases = f"events by {held.name} = {held.horizon:g}, which are predicted and observed"
        is_one = any(own.grouped and len(np.unique(own.unit)) == 1 for own in self.held_out)
        columns, rows = cells.table(
            self.table,
            [
                ("Group", "group"),
                ("Rows", cells.count("n")),
                ("Cases", cells.count("cases")),
                (self.score_name, cells.decimal("score", 3, "–")),
                ("95% interval", cells.interval("ci_low", "ci_high", places=3)),
                ("Predicted", cells.number("predicted", shares)),
                ("Observed", cells.number("observed", shares)),
                ("Slope", cells.decimal("slope", 2, "–")),
                ("95% interval", cells.interval("slope_low", "slope_high")),
            ],
        )
        small = ", ".join(self.small)
        caution = (
            f"Small groups, with fewer than {FEWEST} cases: {small}. Their scores and calibration"
            " are too uncertain to tell groups apart."
        )
        return printing.SummaryContent(
            title=f"Performance by {self.column}",
            facts=(("Folds", self.scheme), ("Seed", str(self.seed))),
            columns=columns,
            rows=rows,
            notes=(
                *filter(None, [self.score_words]),
                f"Cases: {cases}. Scores are of all held-out"
                " predictions of a group together, with intervals of"
                f" {_N_DRAWS} bootstrap samples of the {held.drawn_words}. A slope"
                " below 1 means predictions that are too extreme.",
                *((_ONE_CLUSTER,) if is_one else ()),
                *((_WEIGHTED,) if any(own.is_weighted for own in self.held_out) else ()),
                *((caution,) if small else ()),
            ),
        )

    def __repr__(self) -> str:
        return f"<Subgroups: {len(self.table)} of {shown(self.column)}>"


def subgroup_figure(found: Subgroups) -> Rows:
    """Scores with their intervals."""
    table = found.table[found.table["score"].notna()]
    if not len(table):
        raise OptionError("There is nothing to plot: the response varies in no group.")
    ends = table[["score", "ci_low", "ci_high"]].ffill(axis=1)  # alone if it has no interval
    spans = list(ends.itertuples(index=False, name=None))
    halves = [max(at - low, high - at) for at, low, high in spans]
    axis = score_axis(table["score"].to_list(), halves, found.held_out[0].family.score_bounds)
    texts = [
        f"{printing.decimal_text(at, 3)}"
        f" ({printing.interval_text(low, high, printing.decimal_form(3))})"
        for at, low, high in spans
    ]
    names = [f"{found.column} = {group}" for group in table["group"]]
    head = f"{found.score_name} (95% interval)"
    return interval_rows(names, spans, texts, axis.named(head))


_OWN_ROWS = " The training rows are here the held-out rows of the group."
_WEIGHTED = "Rows and cases are counted; all else is weighted by the case weights."
_ONE_CLUSTER = "Where a group is one cluster, its intervals are of its rows."


# --- the groups ----------------------------------------------------------------------------------


def by_subgroup(
    held: HeldOut, column: Any, source: Source, *, labels: Mapping[str, str], seed: int, **told: Any
) -> Subgroups:
    """See :meth:`Performance.by`; other fields of the record are `told`."""
    if held.predicted.ndim > 1:
        raise OptionError(
            "`by()` needs numbers, counts, two classes, or times to an event.\n"
            f"  Found: {len(held.classes)} classes."
        )
    held = held.with_risks
    names, group = read_subgroups(column, source, held.row)
    parts = [held.only(np.flatnonzero(group == g)) for g in range(len(names))]
    draw, words = stream_seed(seed, "subgroups"), held.family.score_words
    rows = [{"group": name, **_row(own, draw)} for name, own in zip(names, parts, strict=True)]
    found = Subgroups(
        table=pd.DataFrame(rows).astype({"group": pd.Series(["text"]).dtype}),
        held_out=tuple(parts),
        column=labels.get(column, column) if isinstance(column, str) else "subgroup",
        score_name=held.family.score_name,
        score_words=words if held.family.score_after is None else f"{words}{_OWN_ROWS}".strip(),
        seed=seed,
        **told,
    )
    if found.small:
        warn(
            f"Some subgroups have fewer than {FEWEST} cases, too few to judge calibration by.\n"
            f"  Found: {', '.join(map(quoted, found.small))}."
        )
    return found


def _row(held: HeldOut, seed: int) -> dict[str, float]:
    family, mass, risk = held.family, held.mass, held.risk
    rows = held.counts
    n = cases = float(rows.sum())
    if family.has_times:
        risk = held.hazard
        cases = float(rows @ (held.y[:, EVENT] * at_least(held.horizon, held.y[:, STOP])))
    elif family.has_classes:
        cases = min(float(rows @ held.y), float(rows @ (1 - held.y)))
    drawn = [known_score(family, held.y, risk, m, m) for m in held.drawn(_N_DRAWS, seed)]
    low, high = percentiles(drawn, (0.025, 0.975))
    known = recalibration(held)
    names = [name for name in Recalibration._fields if name != "regression"]
    return {
        "n": n,
        "cases": cases,
        "score": known_score(family, held.y, risk, mass, mass),
        "ci_low": low,
        "ci_high": high,
        "predicted": float(np.average(held.risk, weights=mass)),
        "observed": mean_outcome(held.y, mass, held.horizon),
        **{name: float("nan") if known is None else getattr(known, name) for name in names},
    }


def read_subgroups(column: Any, source: Source, rows: IntArray) -> tuple[list[str], IntArray]:
    """Names of groups, and the group of each row; missing values are a group of their own."""
    name = column if isinstance(column, str) else "column"
    if isinstance(column, str):
        if source.data is None:
            raise OptionError(
                "`column` must have one value per row of the data: a copy of a result does not hold"
                f" the data.\n  Found: {quoted(column)}."
            )
        own = source.behind
        frame = own if own is not None and column in own else source.frame()
        if column not in frame:
            raise not_found(column, "column", list(frame.columns), "columns")
        series = frame[column]
    else:
        listed = members(column)
        if listed is None or len(listed) != source.n_rows:
            found = described(column) if listed is None else f"{len(listed):,} values"
            raise OptionError(
                "`column` must be the name of a column, or have one value per row of the data,"
                f" {source.n_rows:,}.\n  Found: {found}."
            )
        if isinstance(column, pd.Series) and isinstance(source.data, pd.DataFrame):
            labels = source.data.index
            both_unique = labels.is_unique and column.index.is_unique
            if both_unique and labels.isin(column.index).all():
                column = column.reindex(labels)
        is_known = isinstance(column, pd.Series | pd.Categorical)
        series = pd.Series(column if is_known else listed).reset_index(drop=True)
    if isinstance(series.dtype, pd.IntervalDtype):
        series = series.astype("category")
    read = read_column(series.iloc[rows], name)
    if isinstance(read, Labels):
        last = len(read.levels)
        present, codes = np.unique(np.where(read.codes < 0, last, read.codes), return_inverse=True)
        levels = [str(level) for level in read.levels]
        levels.append("(missing)" if "missing" in levels else "missing")
        names = [levels[code] for code in present]
    else:
        values, codes = np.unique(read.values, return_inverse=True)
        form = (lambda value: str(bool(value))) if read.is_bool else "{:.15g}".format
        names = ["missing" if np.isnan(value) else form(value) for value in values]
    if len(names) > _MOST_GROUPS:
        raise OptionError(
            f"`column` must have at most {_MOST_GROUPS} distinct values.\n"
            f"  Found: {len(names):,}. Cut numbers into groups, for example by `pandas.cut`."
        )
    return names, codes.astype(np.int64)
