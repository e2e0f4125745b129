"""Simulated truth over all cases: which method finds the most, and where the default loses.

    python benchmarks/truth_ranking.py [--quick]

Nothing is fitted: the figures are those of results/truth_fixed (treeselect) and truth_peers (other
software), each method at the true number of units. Not all methods were run on all cases, so that
each is set beside the default (exchange) on its own cases only: recall and false picks of both,
means over cases, and their difference, by which the table is ordered; and the share of the other
methods that it beats, a tie counting half. Then the cases where a method finds more than the
default, and whether the difference lies outside 1.96 of its standard errors. Where the numbers of
seeds differ, so do the simulated sets.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from tables import RESULTS, arguments, shown, write_table

DEFAULT = "exchange"


def gathered(folder):
    """A row per case and method, noise left out, where nothing is to be found."""
    parts = []
    for name, source in (("truth_fixed", "treeselect"), ("truth_peers", "other")):
        path = folder / f"{name}.csv"
        if path.exists():
            parts.append(pd.read_csv(path).assign(software=source))
    found = pd.concat(parts, ignore_index=True)
    return found[found["recall"].notna()].fillna({"recall s.e.": 0.0, "false s.e.": 0.0})


def beaten(found):
    """By case and method, the share of the others of the case that find less; ties half."""
    rank = found.groupby("case")["recall"].rank(method="average")
    others = found.groupby("case")["recall"].transform("size") - 1
    return (rank - 1) / others.clip(lower=1)


def overall(found):
    """A line per method, by how much it finds beside the default."""
    found = found.assign(beats=beaten(found))
    default = found[found["method"] == DEFAULT].set_index("case")
    lines = []
    for (software, method), own in found.groupby(["software", "method"], sort=False):
        own = own[own["case"].isin(default.index)].set_index("case")
        if not len(own):
            continue
        there = default.loc[own.index]
        behind = int((there["recall"] < own["recall"] - 1e-9).sum())
        ahead = int((there["recall"] > own["recall"] + 1e-9).sum())
        lines.append({
            "method": method, "software": software, "cases": len(own),
            "fewest seeds": int(own["seeds"].min()),
            "recall": own["recall"].mean(), "default's there": there["recall"].mean(),
            "less the default's": (own["recall"] - there["recall"]).mean(),
            "false": own["false"].mean(), "default's false there": there["false"].mean(),
            "beats": own["beats"].mean(), "default ahead": ahead, "default behind": behind,
        })  # fmt: skip
    table = pd.DataFrame(lines)
    table = table.sort_values(["less the default's", "cases"], ascending=False, kind="stable")
    table["less the default's"] = table["less the default's"].map("{:+.2f}".format)
    for name in ("recall", "default's there", "false", "default's false there", "beats"):
        table[name] = table[name].map("{:.2f}".format)
    return table


def losses(found):
    """The cases where others find more than the default, the best of them first."""
    default = found[found["method"] == DEFAULT].set_index("case")
    lines = []
    for row in found.sort_values("recall", ascending=False, kind="stable").to_dict("records"):
        if row["case"] not in default.index:
            continue
        there = default.loc[row["case"]]
        gap = row["recall"] - there["recall"]
        if gap <= 1e-9:
            continue
        error = np.hypot(row["recall s.e."], there["recall s.e."])
        lines.append({
            "case": row["case"], "default": shown(there["recall"], there["recall s.e."]),
            "method": row["method"], "recall": shown(row["recall"], row["recall s.e."]),
            "seeds": f"{there['seeds']:.0f}, {row['seeds']:.0f}",
            "beyond chance": "yes" if gap > 1.96 * error else "no",
        })  # fmt: skip
    columns = ["case", "default", "method", "recall", "seeds", "beyond chance"]
    table = pd.DataFrame(lines, columns=columns)
    return table.sort_values("case", kind="stable")


def main():
    """Write the tables."""
    options = arguments(__doc__).parse_args()
    found = gathered(RESULTS if options.quick else options.results)
    write_table(
        "truth_ranking",
        overall(found),
        "Methods of treeselect and other software on simulated truth, at the true number of units,"
        " means over the cases that each was run on. Beats: share of the other methods of a case"
        " that find less, a tie counting half. Default ahead, behind: in how many cases exchange,"
        " the default of treeselect, finds more or less.",
        quick=options.quick,
        folder=options.results,
    )
    lost = losses(found)
    write_table(
        "truth_losses",
        lost,
        f"Where treeselect's default, exchange, finds less of the truth than another method:"
        f" {lost['case'].nunique()} of {found['case'].nunique()} cases,"
        f" {lost.loc[lost['beyond chance'] == 'yes', 'case'].nunique()} beyond 1.96 standard errors"
        " of the difference (one in forty by chance for each method of each case).",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
