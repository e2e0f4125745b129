"""Tables and figures of the shootout, from its lines: ranks, fronts, losses of the default."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from tables import mean_and_error, shown, signed, write_table

from treeselect.resampling.agreement import stability_index

DEFAULT, BASELINE = "exchange", "sklearn forest"
LABELS = ("1", "2", "3", "5", "10", "quarter")
OURS_COLOUR, OTHERS_COLOUR = "#1b6ca8", "#767676"


def tidy(lines: pd.DataFrame) -> pd.DataFrame:
    """A row for each set, split, method and size: score, columns, seconds."""
    rows = []
    for line in lines.to_dict("records"):
        scores, chosen = json.loads(line["scores"]), json.loads(line["selected"])
        for label, score in scores.items():
            rows.append(
                {
                    "set": line["set"],
                    "split": line["split"],
                    "method": line["method"],
                    "k": label,
                    "score": score,
                    "selected": tuple(chosen[label]),
                    "columns": line["columns"],
                }
            )
    return pd.DataFrame(rows)


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each set, method and size of which all splits are there: the mean score, Nogueira's
    index, and the relative rank among the methods that are there, 1 to the number of all methods.
    """
    n_splits = rows.groupby("set")["split"].nunique()
    found = []
    for (name, method, k), part in rows.groupby(["set", "method", "k"], sort=False):
        if len(part) < n_splits[name]:
            continue
        chosen = np.zeros((len(part), part["columns"].iloc[0]), dtype=bool)
        for i, columns in enumerate(part["selected"]):
            chosen[i, list(columns)] = True
        index = stability_index(chosen)[0] if len(part) > 1 else np.nan
        found.append(
            {"set": name, "method": method, "k": k, "score": part["score"].mean(), "index": index}
        )
    table = pd.DataFrame(found)
    n_all = table["method"].nunique()
    groups = table.groupby(["set", "k"])["score"]
    rank, there = groups.rank(ascending=False), groups.transform("size")
    table["rank"] = 1 + (rank - 1) / np.maximum(there - 1, 1) * (n_all - 1)
    return table


def ranks(table: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """A row for each method, least mean rank first."""
    base = table[table["method"] == BASELINE].set_index(["set", "k"])["score"]
    seconds = lines[lines["scores"] != "{}"].groupby(["set", "method"])["seconds"].mean()
    found = []
    for method, part in table.groupby("method", sort=False):
        more = part.set_index(["set", "k"])["score"].sub(base, axis=0).dropna()
        per_set = more.groupby("set").mean()
        row = {"method": method, "sets": part["set"].nunique()}
        row |= {f"rank {k}": part.loc[part["k"] == k, "rank"].mean() for k in LABELS}
        row["rank"] = part.groupby("k")["rank"].mean().mean()
        row["more"], row["more s.e."] = mean_and_error(per_set)
        row["index"] = part["index"].mean()
        row["seconds"] = seconds.xs(method, level="method").median()
        found.append(row)
    return pd.DataFrame(found).sort_values("rank", ignore_index=True)


def front(found: pd.DataFrame, other: str, *, largest: bool) -> pd.Series:
    """Whether no method is at least as good in rank and the other measure, and better in one."""
    value = found[other] if largest else -found[other]
    return pd.Series(
        [
            not (
                (found["rank"] <= rank)
                & (value >= here)
                & ((found["rank"] < rank) | (value > here))
            ).any()
            for rank, here in zip(found["rank"], value, strict=True)
        ],
        index=found.index,
    )


def critical_difference(table: pd.DataFrame) -> tuple[float, float, int, int]:
    """Nemenyi's critical difference at 5 % of mean ranks over sets (Demsar 2006), Friedman's p,
    the methods that ran on all sets, and the sets."""
    from scipy.stats import friedmanchisquare, studentized_range

    wide = table.groupby(["set", "method"])["rank"].mean().unstack().dropna(axis=1)
    n_sets, n_methods = wide.shape
    if n_methods < 3 or n_sets < 2:
        return np.nan, np.nan, n_methods, n_sets
    q = studentized_range.ppf(0.95, n_methods, np.inf) / np.sqrt(2)
    p = friedmanchisquare(*wide.rank(axis=1, ascending=True).to_numpy().T).pvalue
    return float(q * np.sqrt(n_methods * (n_methods + 1) / 6 / n_sets)), float(p), *wide.shape[::-1]


def losses(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Where the default's mean score is more than a standard error below the best method's."""
    scores = rows.pivot_table(index=["set", "k", "split"], columns="method", values="score")
    found = []
    for (name, k), part in table.groupby(["set", "k"], sort=False):
        best = part.loc[part["score"].idxmax()]
        both = scores.loc[(name, k)]
        if DEFAULT not in both or best["method"] == DEFAULT:
            continue
        mean, error = mean_and_error((both[DEFAULT] - both[best["method"]]).dropna())
        if mean < -max(error, 1e-9):
            found.append(
                {
                    "set": name,
                    "k": k,
                    DEFAULT: f"{both[DEFAULT].mean():.3f}",
                    "best": best["method"],
                    "its score": f"{best['score']:.3f}",
                    "difference": signed(mean, error, 3),
                }
            )
    return pd.DataFrame(found, columns=["set", "k", DEFAULT, "best", "its score", "difference"])


def quarters(rows: pd.DataFrame) -> pd.DataFrame:
    """The default at a quarter of the columns beside the first columns of others, in per cent."""
    scores = rows[rows["k"] == "quarter"].groupby(["set", "method"])["score"].mean().unstack()
    if DEFAULT not in scores:
        return pd.DataFrame()
    printed = {"LightGBM gain": "+10.2", "sklearn forest": "+3"}
    found = []
    for method, paper in printed.items():
        if method not in scores:
            continue
        more = (scores[DEFAULT] / scores[method] - 1).dropna() * 100
        mean, error = mean_and_error(more)
        found.append(
            {
                "against": method,
                "sets": len(more),
                "AUC or R2, % more": signed(mean, error, 2),
                "better, equal, worse": ", ".join(
                    str(int(n.sum())) for n in (more > 0.05, more.abs() <= 0.05, more < -0.05)
                ),
                "Skinny Trees, other sets": paper,
            }
        )
    return pd.DataFrame(found)


# --- output ------------------------------------------------------------------------------------


def printed(found: pd.DataFrame, ours: set[str]) -> pd.DataFrame:
    """The main table as text."""
    stable, quick = front(found, "index", largest=True), front(found, "seconds", largest=False)
    return pd.DataFrame(
        {
            "method": [m if m in ours else f"*{m}*" for m in found["method"]],
            "sets": found["sets"],
            **{f"k = {k}": found[f"rank {k}"].map("{:.1f}".format) for k in LABELS},
            "all": found["rank"].map("{:.1f}".format),
            "score more": [
                signed(m, e, 4) for m, e in zip(found["more"], found["more s.e."], strict=True)
            ],
            "stability": [shown(i, None, 2) for i in found["index"]],
            "CPU s": found["seconds"].map("{:.1f}".format),
            "front": [
                ", ".join(word for word, on in (("stability", s), ("seconds", q)) if on)
                for s, q in zip(stable, quick, strict=True)
            ],
        }
    )


def draw(found: pd.DataFrame, difference: float, ours: set[str], folder: Path) -> None:
    """The critical-difference figure, and the two fronts."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "shootout"})
    colours = [OURS_COLOUR if m in ours else OTHERS_COLOUR for m in found["method"]]
    height = 0.22 * len(found) + 0.8
    figure, axes = plt.subplots(figsize=(6.4, height), layout="constrained")
    axes.axvspan(found["rank"].min(), found["rank"].min() + difference, color="#e8eef4")
    axes.scatter(found["rank"], range(len(found)), c=colours, s=26, zorder=3)
    axes.set_yticks(range(len(found)), found["method"])
    axes.invert_yaxis()
    axes.set_xlabel(
        "mean rank over sets and sizes (1 is best); shaded: within the critical difference"
    )
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, folder / "shootout_ranks.svg")
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained")
    for axes, column, largest in zip(panels, ("index", "seconds"), (True, False), strict=True):
        on = front(found, column, largest=largest)
        axes.scatter(found[column], found["rank"], c=colours, s=22, zorder=2)
        edge = found[on].sort_values(column)
        axes.plot(edge[column], edge["rank"], color="#b04a2f", lw=1, zorder=1)
        for row in found[on | (found["method"] == DEFAULT)].itertuples():
            axes.annotate(
                row.method, (getattr(row, column), row.rank), textcoords="offset points",
                xytext=(5, -3), fontsize=8,
            )  # fmt: skip
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set(xlabel="stability (Nogueira's index over splits)", ylabel="mean rank")
    panels[1].set(xlabel="CPU seconds for all sizes, median over sets", xscale="log")
    _save(figure, folder / "shootout_fronts.svg")


def _save(figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    figure.clear()


def write_all(lines: pd.DataFrame, folder: Path | None, ours: set[str], *, quick: bool) -> None:
    """Write all tables and figures; print the tables alone on a quick run."""
    rows = tidy(lines)
    table = complete(rows)
    found = ranks(table, lines)
    difference, p, n_methods, n_sets = critical_difference(table)
    options = {"quick": quick} if folder is None else {"quick": quick, "folder": folder}
    n_splits = lines.groupby("set")["split"].nunique()
    write_table(
        "shootout",
        printed(found, ours),
        f"treeselect (upright) and others (*italic*) on {n_sets} real sets, {n_splits.min()} to"
        f" {n_splits.max()} splits each: mean rank of the score on new rows at k = 1, 2, 3, 5, 10"
        f" and a quarter of the columns, relative to {len(found)} methods; the score less that of"
        " scikit-learn's forest importance (s.e. over sets); Nogueira's index over the splits; CPU"
        " seconds for all sizes, median over the sets; and whether the method is on the Pareto"
        f" front of rank and stability, or rank and seconds. Of the {n_methods} methods that ran on"
        f" all sets, Friedman's test has p = {p:.1g}, and mean ranks differ at 5 % if they are"
        f" {difference:.1f} apart (Nemenyi).",
        **options,
    )
    write_table(
        "shootout_losses",
        losses(rows, table),
        f"Where {DEFAULT} selects columns that predict worse than the best method's by more than a"
        " standard error of the difference over splits. The best of so many is so by chance, too.",
        **options,
    )
    write_table(
        "shootout_quarter",
        quarters(rows),
        f"{DEFAULT} at a quarter of the columns (50 at most) beside the same number of the most"
        " important columns of others: relative gain in score, mean over sets (s.e.). Skinny"
        " Trees (Ibrahim and others 2024) report AUC at a budget of a quarter on 15 other sets,"
        " some simulated: the figures are beside each other, not on the same data.",
        **options,
    )
    if folder is not None and not quick:
        draw(found, difference, ours, folder)
