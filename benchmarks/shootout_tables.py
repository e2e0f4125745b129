"""Tables and figures of shootout.py: ranks, critical differences, fronts, the default's losses.

Mean ranks are over sets: on each set and size the mean scores over the splits are ranked, 1 the
best, ties shared. Only methods with a score in all cases are ranked with each other; a split of a
set counts if all of them have it. For a method with gaps the rank is told that it would have among
these, on the sets that it has. Friedman's test and Nemenyi's critical difference at 5 % (Demsar
2006) are over sets; overall, a set's rank is the mean over the sizes. Stability is the index of
Nogueira, Sechidis and Brown over the splits at k = 5, mean over the sets that have two or more
splits of most methods. A method stands on a front if no ranked one is at least as good in
both respects and better in one.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import peers
from harness import mean_and_error, shown, signed
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from treeselect.algorithms.registry import METHODS

DEFAULT, STABLE_AT = "exchange", "5"
BASELINE, GAIN = "forest importance", "LightGBM gain"
NOT_AUC = ("abalone", "autos", "waveform", "anneal")
TEXTS = ("1", "2", "3", "5", "10", "25%")
MOST = 18
"""Methods without which a set does not count."""


def long_scores(rows):
    """One line per set, split, method and size that has a score."""
    texts = [t for t in TEXTS if f"score {t}" in rows]
    parts = [rows[["set", "split", "method"]].assign(k=t, score=rows[f"score {t}"]) for t in texts]
    return pd.concat(parts).dropna(subset="score")


def in_first_split(rows):
    """Rows of the first split that have a score."""
    return rows[rows["split"].eq(rows["split"].min()) & rows["score 1"].notna()]


def complete_methods(rows):
    """Methods with a score on every set, in at least one split that they share."""
    counts = in_first_split(rows).groupby("method")["set"].nunique()
    return list(counts.index[counts == rows["set"].nunique()])


def common(scores, ranked):
    """Mean scores, sets and sizes by methods, over the splits of a set that all ranked ones have.

    Of other methods the mean is over those of these splits that they have all of.
    """
    grouped = _shared(scores, ranked).groupby(level=["set", "k"])
    return grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))


def _shared(scores, ranked):
    """Scores by methods, of the splits that all ranked methods have."""
    wide = scores.pivot_table(index=["set", "k", "split"], columns="method", values="score")
    return wide[wide[ranked].notna().all(axis=1)]


def splits_words(scores, ranked):
    """How many splits of a set are ranked: "2", or "1 to 3"."""
    wide = _shared(scores, ranked).reset_index()
    counts = wide.groupby("set")["split"].nunique()
    low, high = counts.min(), counts.max()
    return f"{low if low == high else f'{low} to {high}'} split{'' if high == 1 else 's'}"


def ranks_of(means, ranked):
    """Ranks among the ranked methods; that a further one would have among them."""
    ranks = means[ranked].rank(axis=1, ascending=False)
    for method in means.columns.difference(ranked):
        own = means[method].to_numpy()[:, None]
        others = means[ranked].to_numpy()
        place = 1 + (others > own).sum(axis=1) + 0.5 * (others == own).sum(axis=1)
        ranks[method] = np.where(np.isfinite(own[:, 0]), place, np.nan)
    return ranks


def sizes_of(ranks):
    """Sizes that have ranks, in order."""
    return [t for t in TEXTS if t in ranks.index.get_level_values("k")]


def blocks(ranks, ranked, k):
    """Sets by methods: ranks at a size, or their means over the sizes ("all")."""
    found = ranks[ranked]
    return found.groupby(level="set").mean() if k == "all" else found.xs(k, level="k")


def friedman_and_nemenyi(block):
    """P-value of Friedman's test, and the critical difference of mean ranks at 5 %."""
    from scipy import stats

    n, m = block.shape
    if n < 2 or m < 3:
        return np.nan, np.nan
    test = stats.friedmanchisquare(*block.to_numpy().T)
    q = stats.studentized_range.ppf(0.95, m, np.inf) / np.sqrt(2)
    return float(test.pvalue), float(q * np.sqrt(m * (m + 1) / (6 * n)))


def nogueira(sets, p):
    """Stability of selected sets of column numbers among p."""
    if len(sets) < 2:
        return np.nan
    chosen = np.zeros((len(sets), p))
    for i, columns in enumerate(sets):
        chosen[i, columns] = 1
    share = chosen.sum(axis=1).mean() / p
    if share in (0.0, 1.0):
        return np.nan
    return 1 - chosen.var(axis=0, ddof=1).mean() / (share * (1 - share))


def stability(rows, k=STABLE_AT):
    """Mean index of the methods that have two splits of all of some sets, and these sets: those of
    which most methods have."""
    if f"columns {k}" not in rows:
        k = "1"
    rows = rows[rows[f"columns {k}"].notna()]
    n_splits = rows.pivot_table(index="set", columns="method", values="split", aggfunc="nunique")
    n_methods = n_splits.ge(2).sum(axis=1)
    sets = n_splits.index[n_methods >= max(min(MOST, n_methods.max()), 1)].tolist()
    whole = n_splits.columns[n_splits.loc[sets].ge(2).all()]
    found = {}
    rows = rows[rows["set"].isin(sets) & rows["method"].isin(whole)]
    for (method, _), part in rows.groupby(["method", "set"]):
        index = nogueira([json.loads(c) for c in part[f"columns {k}"]], int(part["p"].iloc[0]))
        found.setdefault(method, []).append(index)
    means = {m: (np.nanmean(v) if np.isfinite(v).any() else np.nan) for m, v in found.items()}
    return means, sets


def on_front(first, second):
    """Names that no other one beats: both Series, larger is better."""
    first, second = first.align(second, join="inner")
    known = first.notna() & second.notna()
    a, b = first[known], second[known]
    return [
        name
        for name in a.index
        if not ((a >= a[name]) & (b >= b[name]) & ((a > a[name]) | (b > b[name]))).any()
    ]


def enough(rows):
    """Rows of the sets that most methods have finished in the first split; the other sets."""
    counts = in_first_split(rows).groupby("set")["method"].nunique()
    least = min(MOST, counts.max())
    unfinished = [name for name in rows["set"].unique() if counts.get(name, 0) < least]
    return rows[~rows["set"].isin(unfinished)], unfinished


def summary_of(rows):
    """Everything the tables and figures show: a record per method, ranks, means, ranked methods."""
    ranked = complete_methods(rows)
    means = common(long_scores(rows), ranked)
    ranks = ranks_of(means, ranked)
    base = BASELINE if BASELINE in ranked else ranked[0]
    difference = means.sub(means[base], axis=0)
    by_set = difference.groupby(level="set").mean()
    stable = stability(rows)[0]
    ran = rows[rows["score 1"].notna()]
    seconds = ran.groupby(["method", "set"])["seconds"].mean().groupby("method").median()
    lines = []
    for method in means.columns[means.notna().any()]:
        mean, error = mean_and_error(by_set[method].dropna())
        line = {
            "method": method, "sets": int(by_set[method].notna().sum()), "ranked": method in ranked,
            "rank": ranks[method].groupby(level="set").mean().mean(), "difference": mean,
            "error": error, "stability": stable.get(method, np.nan),
            "seconds": seconds.get(method, np.nan),
        }  # fmt: skip
        for k in means.index.get_level_values("k").unique():
            line[f"rank {k}"] = ranks[method].xs(k, level="k").mean()
        lines.append(line)
    table = pd.DataFrame(lines).sort_values(["ranked", "rank"], ascending=[False, True])
    return table.reset_index(drop=True), ranks, means, ranked


def fronts(table):
    """Methods on the fronts of rank against stability, and rank against seconds."""
    part = table[table["ranked"]].set_index("method")
    return {
        "stability": on_front(-part["rank"], part["stability"]),
        "seconds": on_front(-part["rank"], -part["seconds"]),
    }


def ranks_table(table, front):
    """The lines of the main table."""
    lines = []
    for row in table.to_dict("records"):
        on = [name for name, methods in front.items() if row["method"] in methods]
        sets = f"{row['sets']}{'' if row['ranked'] else ', not ranked'}"
        lines.append({
            "method": row["method"], "sets": sets,
            **{f"k = {t}": shown(row.get(f"rank {t}", np.nan), None, 1) for t in TEXTS},
            "all k": shown(row["rank"], None, 1),
            "score - forest importance": signed(row["difference"], row["error"], 3),
            "stability": shown(row["stability"]), "CPU s": shown(row["seconds"]),
            "front": ", ".join(on),
        })  # fmt: skip
    return lines


def tests_table(ranks, ranked):
    """Friedman and Nemenyi at each size, and where the default stands."""
    lines = []
    for k in (*sizes_of(ranks), "all"):
        block = blocks(ranks, ranked, k)
        pvalue, distance = friedman_and_nemenyi(block)
        mean = block.mean().sort_values()
        line = {
            "k": k, "sets": len(block), "methods": len(ranked),
            "Friedman p": f"{pvalue:.1g}" if np.isfinite(pvalue) else "",
            "critical difference": shown(distance, None, 1),
            "best": mean.index[0], "its mean rank": shown(mean.iloc[0], None, 1),
        }  # fmt: skip
        if DEFAULT in mean:
            line[f"place of {DEFAULT}"] = f"{mean.rank(method='min')[DEFAULT]:.0f}"
            line[f"mean rank of {DEFAULT}"] = shown(mean[DEFAULT], None, 1)
            line["within the critical difference of the best"] = (
                "yes" if mean[DEFAULT] - mean.iloc[0] <= distance else "no"
            )
        lines.append(line)
    return lines


def budget_table(means):
    """Relative difference of the AUC at a quarter of the columns, on the sets of two classes."""
    lines = []
    at = means.xs("25%", level="k")
    two = [name for name in at.index if name not in NOT_AUC]
    for rival in (GAIN, BASELINE):
        if not {DEFAULT, rival} <= set(at.columns):
            continue
        relative = 100 * (at[DEFAULT] / at[rival] - 1).loc[two].dropna()
        mean, error = mean_and_error(relative)
        lines.append({
            "against the top features of": rival, "sets": len(relative),
            "AUC, mean %": signed(mean, error, 2),
            "largest %": f"{signed(relative.max(), None, 1)} ({relative.idxmax()})",
            "smallest %": f"{signed(relative.min(), None, 1)} ({relative.idxmin()})",
            "Skinny Trees, as printed, %": {GAIN: "+10.2", BASELINE: "+3"}[rival],
        })  # fmt: skip
    return lines


def losses_table(rows, table):
    """Sets and sizes at which the default loses more than one standard error over the splits.

    Where there is one split only, losses of more than 0.01.
    """
    rivals = [m for m in table[table["ranked"]]["method"] if m not in (DEFAULT, BASELINE)]
    outside = [m for m in rivals if m in peers.RANKS]
    best = dict.fromkeys([BASELINE, *rivals[:1], *outside[:1]])
    wide = long_scores(rows).pivot_table(
        index=["set", "k", "split"], columns="method", values="score"
    )
    lines = []
    for rival in best:
        if not {DEFAULT, rival} <= set(wide.columns):
            continue
        difference = (wide[DEFAULT] - wide[rival]).dropna()
        for (name, k), part in difference.groupby(level=["set", "k"]):
            mean, error = mean_and_error(part)
            if mean < -(max(error, 0.002) if len(part) > 1 else 0.01):
                lines.append((rival, name, k, mean, signed(mean, error, 3), len(part)))
    columns = ["against", "set", "k", "mean", "difference", "splits"]
    found = pd.DataFrame(lines, columns=columns).sort_values(["against", "mean"])
    return found.drop(columns="mean")


def note(rows, lacking):
    """What is missing, in words; a program measured before and absent today is not."""
    run = set(rows["method"])
    failed = rows[rows["problem"].fillna("").astype(str) != ""]
    counts = failed.groupby("method").size()
    parts = [f"{m} lacks {package}" for m, package in lacking.items() if m not in run]
    parts += [
        f"{method}: {n} {'case' if n == 1 else 'cases'} without a result"
        for method, n in counts.items()
    ]
    never = [m for m in (*METHODS, *peers.RANKS) if m not in run | set(lacking)]
    parts += [f"not run yet: {', '.join(never)}"] if never else []
    return "; ".join(parts) or "nothing"


# --- figures -----------------------------------------------------------------------------------


def cliques(mean, distance):
    """Longest runs of sorted mean ranks that lie within the critical difference, as index pairs."""
    values, runs, reach = mean.to_numpy(), [], -1
    for i, value in enumerate(values):
        last = int(np.flatnonzero(values <= value + distance)[-1])
        if last > reach and last > i:
            runs.append((i, last))
            reach = last
    return runs


def critical_difference(block, distance):
    """Figure: mean ranks as dots, a bar over methods that do not differ, over all sizes.

    `block` has the ranks, sets by methods; `distance` is the critical difference.
    """
    fig = Figure(figsize=(4.2, 1.2 + 0.21 * block.shape[1]))
    axis = fig.subplots()
    mean = block.mean().sort_values()
    colours = ["#c0392b" if name == DEFAULT else "#2c3e50" for name in mean.index]
    axis.scatter(mean, np.arange(len(mean)), c=colours, s=18, zorder=3)
    for place, (name, value) in enumerate(mean.items()):
        axis.annotate(
            name, (value, place), (5, 0), textcoords="offset points", va="center", fontsize=7,
            color=colours[place],
        )  # fmt: skip
    left = mean.iloc[0] - 0.6
    for i, (start, end) in enumerate(cliques(mean, distance)):
        axis.plot([left - 0.35 * i] * 2, [start - 0.2, end + 0.2], lw=2, color="#7f8c8d")
    axis.set_title(f"all k: {len(block)} sets, CD {distance:.1f}", fontsize=9)
    axis.set_xlabel("mean rank", fontsize=8)
    axis.set_xlim(right=mean.iloc[-1] + 0.45 * (mean.iloc[-1] - left))
    axis.set_yticks([])
    axis.invert_yaxis()
    axis.tick_params(labelsize=7)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    fig.tight_layout()
    return fig


def pareto(table, front):
    """Figure: mean rank against stability, and against seconds; the fronts are named."""
    part = table[table["ranked"]].set_index("method")
    fig = Figure(figsize=(11, 4.6))
    axes = fig.subplots(1, 2)
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
    return fig


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


# --- all ---------------------------------------------------------------------------------------


def write(run, rows, lacking):
    """Print and write the tables, and draw the figures."""
    rows, unfinished = enough(rows)
    table, ranks, means, ranked = summary_of(rows)
    front = fronts(table)
    splits = splits_words(long_scores(rows), ranked)
    stable = stability(rows)[1]
    run.table(
        "shootout",
        ranks_table(table, front),
        "Mean rank (1 is best) of treeselect's methods and of other software on"
        f" {rows['set'].nunique()} real sets, {splits} of each: selection on the first part,"
        " score of two models on new rows; benchmarks/shootout.py says how. The score is the AUC,"
        " R2, or the share of the log loss that is explained; its"
        " difference is the mean over sizes, with its standard error over the sets. Stability:"
        f" index of Nogueira at k = 5, on the {len(stable)} sets with two splits or more of most"
        " methods. Seconds are the median over the sets. Front: of mean rank and stability,"
        " or seconds. The package's methods are called once per size, the others once in all."
        f" Sets not finished, and left out: {', '.join(unfinished) or 'none'}."
        f" Missing: {note(rows, lacking)}.",
    )
    run.table(
        "shootout_tests",
        tests_table(ranks, ranked),
        "Do the methods of treeselect and the others differ? Friedman's test and Nemenyi's critical"
        " difference at 5 % over the sets, and the place of the default.",
    )
    if run.quick:
        return
    run.table(
        "shootout_budget",
        budget_table(means),
        "AUC of treeselect's default at a quarter of the columns (50 at most), relative to the"
        " first columns of LightGBM's gain and of a forest's impurity importance, judged by the"
        " same models on the same new rows. Skinny Trees (Ibrahim, Behdin and Mazumder 2024)"
        " reports the last column on fifteen sets of its own, most of them not among these, and"
        " with each toolkit's own tuned ensemble as the model: the figures stand side by side but"
        " are not comparable.",
    )
    run.table(
        "shootout_losses",
        losses_table(rows, table),
        "Where treeselect's default loses more than one standard error over the splits (and 0.002;"
        " where one split was run, more than 0.01): against forest importance, the other method"
        " with the best mean rank, and the outside one with the best mean rank.",
    )
    block = blocks(ranks, ranked, "all")
    run.figure("shootout_overall", critical_difference(block, friedman_and_nemenyi(block)[1]))
    run.figure("shootout_fronts", pareto(table, front))
