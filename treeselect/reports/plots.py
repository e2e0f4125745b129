"""Single figures with matplotlib; all numbers come from the result's own tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_choice
from treeselect.arguments.scalars import described
from treeselect.engine.arrays import FloatArray
from treeselect.errors import OptionError, listing, quoted
from treeselect.reports.drawing import (
    ACCENT,
    COLOURS,
    GRID,
    INK,
    MARKS,
    SOFT,
    name_rows,
    need_matplotlib,
    new_axes,
    plain,
    short_names,
    whole_numbers,
)
from treeselect.reports.figures import spread
from treeselect.reports.panels import short_scale
from treeselect.results.curves import (
    Curve,
    curves,
    has_curve,
    importance_lines,
    number_text,
    scale_of,
    takes_numbers,
    value_text,
)
from treeselect.results.inside import association_table
from treeselect.results.shapes import (
    given_terms,
    interaction_table,
    selected_term,
    shape_table,
    value_column,
)
from treeselect.results.tables import history_table, path_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit

KINDS = (
    "path", "importance", "stability", "substitutes", "correlation", "shape", "interactions",
    "importance_path", "history",
)  # fmt: skip

_MOST_UNITS = 30
_MOST_LINES = 8
_MOST_CLASSES = 6
_MOST_NAMED = 18


def plot(
    result: Fit,
    kind: str,
    *,
    term: str | None = None,
    other: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one figure (see ``SelectionResult.plot``)."""
    check_choice("kind", kind, KINDS)
    if kind == "shape":
        _check_terms(result, term, other)
    else:
        for name, value in (("term", term), ("other", other)):
            if value is not None:
                raise OptionError(
                    f"`{name}` must not be given for {kind!r}.\n"
                    f"  Found: {described(value)}. It has a meaning for 'shape' only."
                )
    need_matplotlib()
    if kind == "shape":
        assert term is not None
        return _shape(result, term, ax) if other is None else _map(result, term, other, ax)
    return _DRAW[kind](result, ax)


def _check_terms(result: Fit, term: str | None, other: str | None) -> None:
    if term is None:
        raise OptionError(
            "`term` must be given for 'shape'.\n"
            f"  Selected: {listing(result.selected) or 'nothing'}."
        )
    terms = [selected_term(result, *named) for named in given_terms(term, other)]
    for name in terms:
        if not has_curve(result, name):
            variables = result.design.spec[name].term.variables
            raise OptionError(
                f"Can't plot the shape of {quoted(name)}: a picture shows one variable.\n"
                f"  Found: {listing(variables)}. `fit.shape({name!r})` has the numbers."
            )
    behind = {result.design.spec[name].term.variables[0] for name in terms}
    if len(behind) < len(terms):
        raise OptionError(
            f"`other` must have another variable than `term`.\n  Found: {listing(behind)} for both."
        )


# --- the result --------------------------------------------------------------------------------


def _path(result: Fit, ax: Axes | None) -> Axes:
    ax = new_axes(ax, 6.4, 4.0)
    table = path_table(result)
    validated = result.scores is not None
    score = table["cv_score" if validated else "train_score"]
    ax.errorbar(
        table["k"].to_numpy(),
        score.to_numpy(),
        yerr=table["cv_se"] if validated else None,
        color=ACCENT,
        marker="o",
        markersize=5,
        capsize=3,
    )
    chosen = (table["k"] == result.k).to_numpy()
    ax.plot(table["k"][chosen], score[chosen], "o", markersize=13, fillstyle="none", color=ACCENT)
    name = result.design.response.family.score_name
    rows = "out of bag" if result.chosen_method.scores_out_of_bag else "on the training rows"
    ax.set_ylabel(f"{name}, {'cross-validated' if validated else rows}")
    _over_sizes(ax, result)
    return ax


def _importance(result: Fit, ax: Axes | None) -> Axes:
    _need_terms(result, 1)
    units = result.groups[:_MOST_UNITS]
    ax = new_axes(ax, 6.4, 1.2 + 0.28 * len(units))
    importance = dict(zip(result.design.arrays.groups.names, result.importance, strict=True))
    values = [float(importance[name]) for name in units]
    bars = ax.barh(range(len(units)), values, height=0.65, color=ACCENT)
    ax.bar_label(bars, fmt="%.3f", padding=4, color=SOFT)
    name_rows(ax, units)
    ax.margins(x=0.12)
    ax.set_xlabel("importance")
    return ax


def _stability(result: Fit, ax: Axes | None) -> Axes:
    table = result.stability.table().head(_MOST_UNITS)
    ax = new_axes(ax, 6.4, 1.2 + 0.28 * len(table))
    rows = np.arange(len(table))
    ax.hlines(rows, table["ci_low"], table["ci_high"], color=ACCENT)
    for inside, fill in ((True, ACCENT), (False, "white")):
        shown = table["selected"].to_numpy() == inside
        label = "in the selection" if inside else "outside"
        ax.plot(
            table["frequency"][shown],
            rows[shown],
            "o",
            color=ACCENT,
            markerfacecolor=fill,
            label=label,
        )
    name_rows(ax, table["term"].to_list())
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel(f"frequency on {result.stability.n_resamples:,} resamples, with 95 % intervals")
    ax.legend(frameon=False, loc="best")
    return ax


def _substitutes(result: Fit, ax: Axes | None) -> Axes:
    table = result.stability.substitute_table().head(_MOST_UNITS)
    if table.empty:
        raise OptionError(
            "There is no substitute to plot.\n"
            "  No selected unit was missing on resamples that selected another in its stead."
        )
    ax = new_axes(ax, 6.8, 1.4 + 0.3 * len(table))
    rows = np.arange(len(table))
    ax.hlines(rows, 0, table["share"], color=GRID)
    ax.plot(table["share"], rows, "o", color=ACCENT, label="without it")
    beside = table["share_otherwise"].notna()
    if beside.any():
        ax.plot(
            table["share_otherwise"][beside],
            rows[beside],
            "o",
            color=ACCENT,
            markerfacecolor="white",
            label="with it",
        )
    pairs = zip(table["substitute"], table["term"], strict=True)
    name_rows(ax, [f"{other} for {term}" for other, term in pairs])
    for row, strength in zip(rows, table["association"], strict=True):
        if np.isfinite(strength):
            text = f"{strength:.2f}"
            ax.annotate(
                text, (1.02, row), xycoords=("axes fraction", "data"), va="center", color=SOFT
            )
    ax.set_title("association", loc="right", fontsize=9, color=SOFT)
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel("share of the resamples that selected the substitute")
    ax.legend(frameon=False, loc="best")
    return ax


def _importance_path(result: Fit, ax: Axes | None) -> Axes:
    found = importance_lines(result, _MOST_LINES)
    if not found.sizes:
        raise OptionError("There is no importance to plot.\n  No step of the path has any unit.")
    ax = new_axes(ax, 7.2, 4.2)
    for i, values in enumerate(found.values):
        first = max(int(np.flatnonzero(np.array(values) > 0)[0]) - 1, 0) if any(values) else 0
        ax.plot(
            found.sizes[first:],
            values[first:],
            color=COLOURS[i],
            marker=MARKS[i],
            markersize=5,
            markevery=max(1, len(values) // 20),
            linestyle="-" if found.selected[i] else "--",
        )
    highest = max(max(values) for values in found.values)
    ax.set_ylim(-0.02 * highest, 1.05 * highest)
    ends = [1000 * values[-1] / highest for values in found.values]
    heights = [height * highest / 1000 for height in spread(ends, 60.0, 0.0, 1000.0)]
    for i, name in enumerate(short_names(found.names, 14.0)):
        ax.annotate(
            name,
            (found.sizes[-1], found.values[i][-1]),
            xytext=(1.04, heights[i]),
            textcoords=("axes fraction", "data"),
            va="center",
            color=COLOURS[i],
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": COLOURS[i],
                "linewidth": 0.7,
                "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )
    ax.set_ylabel("importance")
    _over_sizes(ax, result)
    return ax


_DECIDED: dict[str, dict[str, Any]] = {
    "confirmed": {"color": COLOURS[2], "linewidth": 1.4},
    "tentative": {"color": COLOURS[1], "linewidth": 1.4, "linestyle": "--"},
    "rejected": {"color": "#aab1bd", "linewidth": 0.8},
}
_SHADOWS = {"shadow_max": "greatest", "shadow_mean": "mean", "shadow_min": "least"}


def _history(result: Fit, ax: Axes | None) -> Axes:
    """Importance in each round, as the authors' package draws it: one line for each unit and for
    the least, mean and greatest shadow."""
    table = history_table(result)
    values = table.pivot(index="round", columns="term", values="importance")
    decided = dict(zip(table["term"], table["decision"], strict=True))
    units = [str(unit) for unit in values]
    ax = new_axes(ax, 7.6, 4.6)
    for word, style in reversed(_DECIDED.items()):
        own = [unit for unit in units if decided[unit] == word]
        lines = [ax.plot(values.index, values[unit], **style)[0] for unit in own]
        if lines:
            lines[0].set_label(f"{word} ({len(own):,})")
    shadows = table.drop_duplicates("round").set_index("round")
    for column in _SHADOWS:
        line = ax.plot(shadows.index, shadows[column], color=INK, linewidth=0.9, linestyle=":")[0]
        if column == "shadow_max":
            line.set_label("shadows: least, mean, greatest")
    named = [unit for unit in units if decided[unit] != "rejected"]
    last = {unit: float(values[unit].dropna().iloc[-1]) for unit in named}
    shown = sorted(named, key=lambda unit: -last[unit])[:_MOST_NAMED]
    _name_ends(ax, shown, last, [_DECIDED[decided[unit]]["color"] for unit in shown])
    ax.set_xlabel("round")
    ax.set_ylabel(
        "importance" if len(shown) == len(named) else "importance (the largest are named)"
    )
    ax.set_xlim(1 if len(values) > 1 else 0.5, max(len(values), 1.5))
    whole_numbers(ax)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4)
    return ax


def _name_ends(
    ax: Axes, names: Sequence[str], ends: Mapping[str, float], colours: Sequence[object]
) -> None:
    """Names to the right of where lines end, apart from each other."""
    low, high = ax.get_ylim()
    at = [1000 * (ends[name] - low) / (high - low) for name in names]
    for name, text, place, colour in zip(
        names, short_names(names, 14.0), spread(at, 52.0, 0.0, 1000.0), colours, strict=True
    ):
        ax.annotate(
            text,
            (1.0, (ends[name] - low) / (high - low)),
            xycoords="axes fraction",
            xytext=(1.04, place / 1000),
            textcoords="axes fraction",
            va="center",
            color=str(colour),
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": str(colour), "linewidth": 0.7,
                        "relpos": (0, 0.5)},
        )  # fmt: skip


# --- pairs of terms ----------------------------------------------------------------------------


def _correlation(result: Fit, ax: Axes | None) -> Axes:
    _need_terms(result, 2)
    table = association_table(result)
    return _pairs(result, table, "association", "Association in the data", ax)


def _interactions(result: Fit, ax: Axes | None) -> Axes:
    _need_terms(result, 2)
    table = interaction_table(result)
    return _pairs(result, table, "strength", "Strength of interactions in the model", ax)


def _pairs(result: Fit, table: pd.DataFrame, column: str, title: str, ax: Axes | None) -> Axes:
    """A symmetric map, with the number in each cell."""
    among = set(table["term"]) | set(table["other"])
    terms = [term for term in result.selected if term in among]
    at = {term: i for i, term in enumerate(terms)}
    values = np.full((len(terms), len(terms)), np.nan)
    for a, b, value in zip(table["term"], table["other"], table[column], strict=True):
        values[at[a], at[b]] = values[at[b], at[a]] = value
    side = 2.2 + 0.5 * len(terms)
    ax = new_axes(ax, side, side)
    ax.imshow(values, cmap="Blues", vmin=0.0, vmax=1.0)
    size = 9 if len(terms) <= 15 else 7
    for i, j in np.argwhere(~np.isnan(values)):
        value = values[i, j]
        ax.text(
            j,
            i,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=size,
            color="white" if value > 0.55 else "black",
        )
    names = short_names(terms, 13.0)
    ax.set_xticks(range(len(terms)), names, rotation=90)
    ax.set_yticks(range(len(terms)), names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title, loc="left")
    return ax


# --- shapes ------------------------------------------------------------------------------------


def _shape(result: Fit, term: str, ax: Axes | None) -> Axes:
    drawable = [_drawable(curve) for curve in curves(result, term)[:_MOST_CLASSES]]
    found, unit = [curve for curve, _ in drawable], drawable[0][1]
    ax = new_axes(ax, 6.4 if len(found) == 1 else 8.6, 4.0)
    ax.axhline(0.0, color=SOFT, linewidth=0.8)
    draw = _number_curve if found[0].is_number else _level_curve
    for i, curve in enumerate(found):
        draw(ax, curve, i, len(found))
    (_number_ticks if found[0].is_number else _level_ticks)(ax, found[0])
    more = f" ({found[0].more:,} rarer levels not shown)" if found[0].more else ""
    ax.set_xlabel(plain(found[0].variable) + unit + more)
    if len(found) > 1:
        what = found[0].scale.partition(" of ")[0]
        ax.set_ylabel(f"effect on the {what}")
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        ax.set_ylabel(plain(f"effect on the {found[0].scale}"))
    ax.set_title(plain(term), loc="left")
    return ax


def _drawable(curve: Curve) -> tuple[Curve, str]:
    """A curve whose values matplotlib can draw, and their unit in words if they needed one: it
    takes differences, which of the largest numbers are none."""
    if max((abs(p.value) for p in curve.points if p.value is not None), default=0.0) <= 1e300:
        return curve, ""
    points = tuple(
        p if p.value is None else dataclasses.replace(p, value=p.value / 1e300)
        for p in curve.points
    )
    return dataclasses.replace(curve, points=points), " in units of 1e300"


def _number_curve(ax: Axes, curve: Curve, i: int, n: int) -> None:
    known = [(p.value, p.effect) for p in curve.points if p.value is not None]
    ax.plot(
        [value for value, _ in known],
        [effect for _, effect in known],
        color=COLOURS[i],
        linewidth=1.5,
        linestyle=("-", "--", "-.", ":")[i % 4],
        label=_class_label(curve, n),
    )
    _points(ax, curve, i, [_place(curve, p.value) for p in curve.points], None)


def _level_curve(ax: Axes, curve: Curve, i: int, n: int) -> None:
    shift = (i - (n - 1) / 2) * 0.6 / n
    _points(ax, curve, i, [j + shift for j in range(len(curve.points))], _class_label(curve, n))


def _points(ax: Axes, curve: Curve, i: int, places: Sequence[float], label: str | None) -> None:
    """Points whose area is the share of the rows; hollow squares for missing values."""
    colour, mark = COLOURS[i], MARKS[i]
    for missing in (False, True):
        own = [(x, p) for x, p in zip(places, curve.points, strict=True) if p.is_missing == missing]
        if own:
            ax.scatter(
                [x for x, _ in own],
                [p.effect for _, p in own],
                s=[40.0 if missing else max(8.0, 300 * p.share) for _, p in own],
                marker="s" if missing else mark,
                facecolor="white" if missing else colour,
                edgecolor=colour,
                zorder=3,
                label=None if missing else label,
            )


def _class_label(curve: Curve, n: int) -> str | None:
    return plain(short_scale(curve.scale)) if n > 1 else None


def _place(curve: Curve, value: float | None) -> float:
    """Where a value stands; missing ones to the right of all others."""
    if value is not None:
        return value
    known = [p.value for p in curve.points if p.value is not None] or [0.0]
    return known[-1] + 0.12 * ((known[-1] - known[0]) or 1.0)


def _number_ticks(ax: Axes, curve: Curve) -> None:
    from matplotlib.ticker import MaxNLocator

    known = [p.value for p in curve.points if p.value is not None]
    if len(known) == len(curve.points):
        return
    low, high = (known[0], known[-1]) if known else (0.0, 0.0)
    ticks = [v for v in MaxNLocator(6).tick_values(low, high) if known and low <= v <= high]
    lost = _place(curve, None)
    ax.axvline((high + lost) / 2, color=SOFT, linewidth=0.8, linestyle=":")
    ax.set_xticks([*ticks, lost], [*(number_text(float(v)) for v in ticks), "missing"])


def _level_ticks(ax: Axes, curve: Curve) -> None:
    names = short_names([p.label for p in curve.points], 9.0)
    crowded = sum(map(len, names)) > 60
    ax.set_xticks(range(len(names)), names, rotation=90 if crowded else 0)
    ax.margins(x=0.08)


def _map(result: Fit, term: str, other: str, ax: Axes | None) -> Axes:
    """Mean response at each pair of values that occurs."""
    table = shape_table(result, term, other)
    x, x_names = _grid(result, table, term)
    y, y_names = _grid(result, table, other)
    label = _most_varying(result, table)
    values = np.full((len(y_names), len(x_names)), np.nan)
    values[y, x] = table[f"mean_{label}" if label else "mean"]
    ax = new_axes(ax, 6.4, 5.2)
    image = ax.imshow(values, cmap="viridis", origin="lower", aspect="auto")
    ax.set_facecolor("#e4e4e4")
    ax.set_xticks(range(len(x_names)), short_names(x_names, 8.0), rotation=90)
    ax.set_yticks(range(len(y_names)), short_names(y_names, 8.0))
    for name, set_label in ((term, ax.set_xlabel), (other, ax.set_ylabel)):
        set_label(plain(result.design.spec[name].term.variables[0]))
    ax.set_title(plain(f"{term} and {other}; grey: pairs that do not occur"), loc="left")
    ax.figure.colorbar(image, ax=ax, label=plain(scale_of(result, label)))
    return ax


def _grid(result: Fit, table: pd.DataFrame, term: str) -> tuple[list[int], list[str]]:
    """Place of each row on the axis of a term, and the names of all places; missing ones last."""
    values = table[value_column(result, result.design.spec[term].term.variables[0])]
    missing = values.isna().to_numpy()
    if takes_numbers(result, term):
        ranks = values.to_numpy(dtype=np.float64, na_value=np.nan)
        texts = [value_text(None if np.isnan(v) else float(v)) for v in ranks]
    else:
        texts = [value_text(v) for v in values]
        levels = result.design.spec[term].factors[0].levels or (False, True)
        order = {value_text(level): i for i, level in enumerate(levels)}
        ranks = np.array([order.get(text, len(order)) for text in texts], dtype=np.float64)
    keys = list(zip(missing.tolist(), np.where(missing, 0.0, ranks).tolist(), strict=True))
    names = dict(zip(keys, texts, strict=True))
    places = {key: i for i, key in enumerate(sorted(names))}
    return [places[key] for key in keys], [names[key] for key in sorted(names)]


def _most_varying(result: Fit, table: pd.DataFrame) -> str:
    """Of more than two classes the one whose mean varies most, else nothing."""
    classes = [str(c) for c in result.design.response.classes]
    if len(classes) <= 2:
        return ""
    share = table["share"].to_numpy()

    def variance(label: str) -> float:
        mean: FloatArray = table[f"mean_{label}"].to_numpy()
        return float(share @ (mean - share @ mean / share.sum()) ** 2)

    return max(classes, key=variance)


# --- what figures share ------------------------------------------------------------------------


def _need_terms(result: Fit, least: int) -> None:
    if len(result.selected) < least:
        words = "a selected term" if least == 1 else "two selected terms"
        raise OptionError(
            f"There is nothing to plot: this needs at least {words}.\n"
            f"  Selected: {listing(result.selected) or 'nothing'}."
        )


def _over_sizes(ax: Axes, result: Fit) -> None:
    whole_numbers(ax)
    ax.axvline(result.k, color=SOFT, linestyle="--", linewidth=1, zorder=0)
    ax.grid(axis="y", color=GRID)
    ax.set_axisbelow(True)
    ax.set_xlabel("selected units (k)")


_DRAW: dict[str, Callable[[Fit, Axes | None], Axes]] = {
    "path": _path,
    "importance": _importance,
    "stability": _stability,
    "substitutes": _substitutes,
    "correlation": _correlation,
    "interactions": _interactions,
    "importance_path": _importance_path,
    "history": _history,
}
