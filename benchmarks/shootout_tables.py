"""Tables of shootout.py: ranks, critical differences, fronts, and the default's losses.

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
from shootout_figures import DEFAULT, STABLE_AT, critical_difference, pareto
from tables import mean_and_error, shown, signed, write_table

from treeselect.algorithms.registry import METHODS

BASELINE, GAIN = "forest importance", "LightGBM gain"
TEXTS = ("1", "2", "3", "5", "10", "25%")
MOST = 18
"""Methods without which a set does not count."""


def long_scores(rows):
    """One line per set, split, method and size that has a score."""
    texts = [t for t in TEXTS if f"score {t}" in rows]
    parts = [rows[["set", "split", "method"]].assign(k=t, score=rows[f"score {t}"]) for t in texts]
    return pd.concat(parts).dropna(subset="score")


def complete_methods(rows, methods=None):
    """Methods with a score on every set, in at least one split that they share."""
    first = rows["split"].min()
    has = rows[rows["score 1"].notna() & (rows["split"] == first)]
    n_sets = rows["set"].nunique()
    counts = has.groupby("method")["set"].nunique()
    return [m for m in counts.index[counts == n_sets] if methods is None or m in methods]


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
    return (
        f"{low} split"
        if low == high == 1
        else f"{low} splits"
        if low == high
        else f"{low} to {high} splits"
    )


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
    first = rows[rows["split"].eq(rows["split"].min()) & rows["score 1"].notna()]
    counts = first.groupby("set")["method"].nunique()
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
            "method": method,
            "sets": int(by_set[method].notna().sum()),
            "ranked": method in ranked,
            "rank": ranks[method].groupby(level="set").mean().mean(),
            "difference": mean,
            "error": error,
            "stability": stable.get(method, np.nan),
            "seconds": seconds.get(method, np.nan),
        }
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
        line = {"method": row["method"], "sets": row["sets"]}
        if not row["ranked"]:
            line["sets"] = f"{row['sets']}, not ranked"
        line |= {f"k = {t}": shown(row.get(f"rank {t}", np.nan), None, 1) for t in TEXTS}
        line |= {
            "all k": shown(row["rank"], None, 1),
            "score - forest importance": signed(row["difference"], row["error"], 3),
            "stability": shown(row["stability"], None, 2),
            "CPU s": shown(row["seconds"], None, 2),
            "front": ", ".join(on),
        }
        lines.append(line)
    return pd.DataFrame(lines)


def tests_table(ranks, ranked):
    """Friedman and Nemenyi at each size, and where the default stands."""
    lines = []
    for k in (*sizes_of(ranks), "all"):
        block = blocks(ranks, ranked, k)
        pvalue, distance = friedman_and_nemenyi(block)
        mean = block.mean().sort_values()
        line = {
            "k": k,
            "sets": len(block),
            "methods": len(ranked),
            "Friedman p": f"{pvalue:.1g}" if np.isfinite(pvalue) else "",
            "critical difference": shown(distance, None, 1),
            "best": mean.index[0],
            "its mean rank": shown(mean.iloc[0], None, 1),
        }
        if DEFAULT in mean:
            line[f"place of {DEFAULT}"] = f"{mean.rank(method='min')[DEFAULT]:.0f}"
            line[f"mean rank of {DEFAULT}"] = shown(mean[DEFAULT], None, 1)
            line["within the critical difference of the best"] = (
                "yes" if mean[DEFAULT] - mean.iloc[0] <= distance else "no"
            )
        lines.append(line)
    return pd.DataFrame(lines)


def budget_table(rows, means):
    """Relative difference of the AUC at a quarter of the columns, on the sets of two classes."""
    lines = []
    at = means.xs("25%", level="k")
    two = [name for name in at.index if _is_auc(name, rows)]
    for rival in (GAIN, BASELINE):
        if not {DEFAULT, rival} <= set(at.columns):
            continue
        relative = 100 * (at[DEFAULT] / at[rival] - 1).loc[two].dropna()
        mean, error = mean_and_error(relative)
        lines.append(
            {
                "against the top features of": rival,
                "sets": len(relative),
                "AUC, mean %": signed(mean, error, 2),
                "largest %": f"{signed(relative.max(), None, 1)} ({relative.idxmax()})",
                "smallest %": f"{signed(relative.min(), None, 1)} ({relative.idxmin()})",
                "Skinny Trees, as printed, %": {GAIN: "+10.2", BASELINE: "+3"}[rival],
            }
        )
    return pd.DataFrame(lines)


NOT_AUC = ("abalone", "autos", "waveform", "anneal")


def _is_auc(name, rows):
    return name not in NOT_AUC


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
                lines.append(
                    {
                        "against": rival,
                        "set": name,
                        "k": k,
                        "difference": mean,
                        "shown": signed(mean, error, 3),
                        "splits": len(part),
                    }
                )
    if not lines:
        return pd.DataFrame(columns=["against", "set", "k", "difference", "splits"])
    found = pd.DataFrame(lines).sort_values(["against", "difference"])
    found["difference"] = found.pop("shown")
    return found


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


def write(rows, lacking, *, quick, folder):
    """Print and write the tables, and draw the figures."""
    rows, unfinished = enough(rows)
    table, ranks, means, ranked = summary_of(rows)
    front = fronts(table)
    splits = splits_words(long_scores(rows), ranked)
    stable = stability(rows)[1]
    write_table(
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
        quick=quick,
        folder=folder,
    )
    write_table(
        "shootout_tests",
        tests_table(ranks, ranked),
        "Do the methods of treeselect and the others differ? Friedman's test and Nemenyi's critical"
        " difference at 5 % over the sets, and the place of the default.",
        quick=quick,
        folder=folder,
    )
    if quick:
        return
    write_table(
        "shootout_budget",
        budget_table(rows, means),
        "AUC of treeselect's default at a quarter of the columns (50 at most), relative to the"
        " first columns of LightGBM's gain and of a forest's impurity importance, judged by the"
        " same models on the same new rows. Skinny Trees (Ibrahim, Behdin and Mazumder 2024)"
        " reports the last column on fifteen sets of its own, most of them not among these, and"
        " with each toolkit's own tuned ensemble as the model: the figures stand side by side but"
        " are not comparable.",
        quick=quick,
        folder=folder,
    )
    write_table(
        "shootout_losses",
        losses_table(rows, table),
        "Where treeselect's default loses more than one standard error over the splits (and 0.002;"
        " where one split was run, more than 0.01): against forest importance, the other method"
        " with the best mean rank, and the outside one with the best mean rank.",
        quick=quick,
        folder=folder,
    )
    found = {k: blocks(ranks, ranked, k) for k in (*sizes_of(ranks), "all")}
    found = {k: (block, friedman_and_nemenyi(block)[1]) for k, block in found.items()}
    critical_difference({"all": found.pop("all")}, folder / "shootout_overall.svg")
    critical_difference(found, folder / "shootout_ranks.svg")
    pareto(table, front, folder / "shootout_fronts.svg")
