"""Importances over the rounds of a method that tests each unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treeselect.reports.colours import COLOURS, FAINT, INK
from treeselect.reports.figures.labels import spread
from treeselect.reports.plots.drawing import new_axes, short_names, whole_numbers
from treeselect.results.tables import history_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit

_MOST_NAMED = 18


_DECIDED: dict[str, dict[str, Any]] = {
    "confirmed": {"color": COLOURS[2], "linewidth": 1.4},
    "tentative": {"color": COLOURS[1], "linewidth": 1.4, "linestyle": "--"},
    "rejected": {"color": FAINT, "linewidth": 0.8},
}
_SHADOWS = ("shadow_max", "shadow_mean", "shadow_min")


def history(result: Fit, ax: Axes | None) -> Axes:
    """Importance in each round, drawn as in the authors' package: one line for each unit and for
    the minimum, mean and maximum of the shadows."""
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
            line.set_label("shadows: minimum, mean, maximum")
    named = [unit for unit in units if decided[unit] != "rejected"]
    last = {unit: float(values[unit].dropna().iloc[-1]) for unit in named}
    shown = sorted(named, key=lambda unit: -last[unit])[:_MOST_NAMED]
    _name_ends(ax, shown, last, [_DECIDED[decided[unit]]["color"] for unit in shown])
    ax.set_xlabel("round")
    ax.set_ylabel("importance" if len(shown) == len(named) else "importance (largest labelled)")
    whole_numbers(ax, [1, len(values)])
    ax.set_xlim(1 if len(values) > 1 else 0.5, max(len(values), 1.5))
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4)
    return ax


def _name_ends(
    ax: Axes, names: Sequence[str], ends: Mapping[str, float], colours: Sequence[object]
) -> None:
    """Names to the right of the ends of lines, without overlap."""
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
