"""Figures of shootout.py: mean ranks with critical differences, and Pareto fronts."""

from __future__ import annotations

import numpy as np
from matplotlib.transforms import Bbox

DEFAULT, STABLE_AT = "exchange", "5"


def cliques(mean, distance):
    """Longest runs of sorted mean ranks that lie within the critical difference, as index pairs."""
    values, runs, reach = mean.to_numpy(), [], -1
    for i, value in enumerate(values):
        last = int(np.flatnonzero(values <= value + distance)[-1])
        if last > reach and last > i:
            runs.append((i, last))
            reach = last
    return runs


def critical_difference(blocks, path):
    """Figure: mean ranks as dots, a bar over methods that do not differ; one panel per size.

    `blocks` has for each size the ranks, sets by methods, and the critical difference.
    """
    import matplotlib.pyplot as plt

    n_across = min(3, len(blocks))
    n_down = -(-len(blocks) // n_across)
    height = 1.2 + 0.21 * max(block.shape[1] for block, _ in blocks.values())
    fig, axes = plt.subplots(
        n_down, n_across, figsize=(4.2 * n_across, height * n_down), squeeze=False
    )
    for axis in axes.flat[len(blocks) :]:
        axis.set_visible(False)
    for axis, (k, (block, distance)) in zip(axes.flat, blocks.items(), strict=False):
        mean = block.mean().sort_values()
        y = np.arange(len(mean))
        colours = ["#c0392b" if name == DEFAULT else "#2c3e50" for name in mean.index]
        axis.scatter(mean, y, c=colours, s=18, zorder=3)
        for place, (name, value) in enumerate(mean.items()):
            axis.annotate(
                name, (value, place), (5, 0), textcoords="offset points", va="center",
                fontsize=7, color=colours[place],
            )  # fmt: skip
        left = mean.iloc[0] - 0.6
        for i, (start, end) in enumerate(cliques(mean, distance)):
            axis.plot([left - 0.35 * i] * 2, [start - 0.2, end + 0.2], lw=2, color="#7f8c8d")
        axis.set_title(
            f"{'all k' if k == 'all' else 'k = ' + k}: {len(block)} sets, CD {distance:.1f}",
            fontsize=9,
        )
        axis.set_xlabel("mean rank", fontsize=8)
        axis.set_xlim(right=mean.iloc[-1] + 0.45 * (mean.iloc[-1] - left))
        axis.set_yticks([])
        axis.invert_yaxis()
        axis.tick_params(labelsize=7)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
    _saved(fig, path)


def pareto(table, front, path):
    """Figure: mean rank against stability, and against seconds; the fronts are named."""
    import matplotlib.pyplot as plt

    part = table[table["ranked"]].set_index("method")
    fig, axes = plt.subplots(1, 2, figsize=(11, 4.6))
    words = {"stability": f"stability at k = {STABLE_AT}", "seconds": "CPU s, median over the sets"}
    for axis, (what, text) in zip(axes, words.items(), strict=True):
        on = part.loc[front[what]].sort_values(what)
        axis.scatter(part[what], part["rank"], s=16, color="#95a5a6")
        axis.plot(on[what], on["rank"], "-o", ms=4, lw=1, color="#2c3e50")
        axis.set_xlabel(text)
        axis.set_ylabel("mean rank over sets and sizes")
        axis.invert_yaxis()
        axis.margins(x=0.12)
        if what == "seconds":
            axis.set_xscale("log")
    fig.tight_layout()  # names are placed by pixels
    for axis, what in zip(axes, words, strict=True):
        named = part[[what, "rank"]].set_axis(["x", "y"], axis=1)
        first = [DEFAULT, *(name for name in front[what] if name != DEFAULT)]
        _name_points(axis, named.loc[[*first, *named.index.difference(first)]], first)
    _saved(fig, path)


PLACES = [
    (side * across, height)
    for height, across in ((3, 4), (-8, 4), (-2, 6), (8, 2), (-13, 2), (14, 2), (-19, 2))
    for side in (1, -1)
]
"""Where a name may stand, in points from its dot: those on the left end there."""


def _name_points(axis, points, strong):
    """Each dot's name, the strong ones first, where it hides no dot and no other name."""
    dots = axis.transData.transform(points.to_numpy(float))
    taken = [Bbox.from_extents(x - 3, y - 3, x + 3, y + 3) for x, y in dots]
    for name, x, y in points.itertuples():
        text = axis.annotate(
            name, (x, y), (0, 0), textcoords="offset points",
            fontsize=8 if name in strong else 6,
            color="#c0392b" if name == DEFAULT else "#2c3e50" if name in strong else "#7f8c8d",
        )  # fmt: skip
        for place in PLACES:
            text.set_position(place)
            text.set_horizontalalignment("left" if place[0] > 0 else "right")
            box = text.get_window_extent()
            inside = axis.bbox.x0 < box.x0 and box.x1 < axis.bbox.x1
            if inside and not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)


def _saved(fig, path):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    fig.tight_layout()
    with mpl.rc_context({"svg.hashsalt": "shootout"}):
        fig.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(fig)
