"""Simulated truth: how much of it each method finds, and what it takes for it by mistake.

    python benchmarks/truth.py [--quick] [--jobs 1] [--methods lasso ...] [--cases xor ...]
                               [--seeds 5] [--missing] [--peers [NAME ...]] [--rank]

Every method at the true number of units (results/truth_fixed; answers.py has it chosen), on

friedman    400 rows: Friedman's function of x1 to x5, each of which has a near copy (correlation
            0.98), and 20 columns of noise; numeric response; 5 groups of two are the truth
factors     600 rows: 12 factors of 12 levels each; of three of them 3 levels shift the log-odds by
            2, and 8 numbers are noise; two classes; the unit is the factor, with all its levels
xor         500 rows: y is whether just one of x1 and x2 is above 0, and 18 columns of noise
epistatic   1000 rows: 100 genotypes of three levels; y is 1 with a chance of 0.8 where just one of
            two of them is heterozygous, 0.2 elsewhere: none tells anything by itself
three       1000 rows: the chance of y is 0.9 where an odd number of x1, x2 and x3 is above 0, 0.1
            elsewhere, so that no two of them tell anything; 12 columns of noise
weak        500 rows: y = 3 x1 + 0.3 (x2 + ... + x6) + noise of deviation 1; 14 columns of noise
chains      400 rows: y = 2 x1 + x2 + 0.7 x3 + noise; each of these has two near copies, and each
            copy two of its own, seven to a group; 10 columns of noise
rare        2000 rows, one of twenty in the positive class: log-odds of three numbers (0.6 each) and
            of a threshold of a fourth (0.9); 16 columns of noise
few         100 rows: y = 0.7 (x1 + x2) + 0.5 x3 + noise; 17 columns of noise
wide        300 rows, 2000 columns: y = 0.45 (x1 + ... + x5) + noise
heavy       400 rows: y = x1 + x2 - x3 + 1.5 e, where the columns are lognormal and e has a t
            distribution of two degrees of freedom (infinite variance); 17 columns of noise
missing_random  600 rows: y = x1 + x2 + 0.7 x3 + noise; of each of the three 60 % are missing where
            x4, one of 12 columns of noise, is positive: 30 % of all, at random given x4
missing_told  the same, but missing where the value itself is positive: not at random
binary      460 rows: log-odds 1.2 - 0.9 x - b, where b is 0 or 1, and 7 columns of normal noise
binary_long the same with 4600 rows
madelon     1000 of its 2600 rows, drawn anew for each seed; 20 of 500 columns are the truth, 5 of
            which and 15 combinations of them, so that fewer can tell all

Recall is the share of the true groups that are found: one of a group is enough. What is selected of
the rest is false, and so is a second one of a group. ``--missing`` runs only the rows that do not
stand, ``--seeds`` fewer than the case has. ``--peers`` ranks the columns by other software
(peers.py: all that is installed, or those named) and takes as many of the first as are true:
results/truth_peers.

``--rank`` fits nothing: of truth_fixed and truth_peers it tells which method finds the most over
all cases, and where the default loses. Not all methods were run on all cases, so that each is set
beside the default (exchange) on its own cases only: recall and false picks of both, means over
cases, and their difference, by which the table is ordered; and the share of the other methods that
it beats, a tie counting half. Then the cases where a method finds more than the default, and
whether the difference lies outside 1.96 of its standard errors. Where the numbers of seeds differ,
so do the simulated sets.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pandas as pd
import peers
from cases import CASES, SEEDS
from harness import FORMS, RESULTS, Run, cell, limited, means, methods_of, shown, sorted_rows, told

import treeselect
from treeselect.engine.threads import one_thread

DEFAULT = "exchange"
NAMES = ("recall", "false", "CPU s")
MOST = 200
"""CPU seconds after which other software is ended."""


def judged(selected, truth):
    """Share of the groups that are found, and how many units are false."""
    found = sum(not group.isdisjoint(selected) for group in truth)
    return found / len(truth) if truth else np.nan, len(selected) - found


def simulated(case, seed, quick):
    """Data and truth of a case."""
    return CASES[case](seed, 80, n_noise=2) if quick else CASES[case](seed)


def one_seed(case, form, seed, quick):
    """Recall, false picks and CPU seconds at the true number."""
    frame, truth = simulated(case, seed, quick)
    begin = time.process_time()
    with one_thread():
        fit = treeselect.select(
            "y ~ .", frame, method=FORMS[form], k=len(truth), seed=seed, n_jobs=1, progress=False
        )
    return *judged(fit.selected, truth), time.process_time() - begin


def one_ranking(case, peer, seed, quick):
    """Recall, false picks and CPU seconds of a peer at the true number."""
    frame, truth = simulated(case, seed, quick)
    kind = "binomial" if frame["y"].nunique() == 2 else "gaussian"
    ranks = partial(peers.RANKS[peer], frame, "y", kind, seed)
    order, seconds, problem = limited(ranks, MOST)
    if problem:
        raise RuntimeError(problem)
    return *judged(order[: len(truth)], truth), seconds


def table_of(summary):
    """The lines to print, by case, in the registry's order."""
    lines = []
    for row in sorted_rows(summary, case=CASES, method=(*FORMS, *peers.RANKS)).to_dict("records"):
        line = {name: row[name] for name in ("case", "method", "options", "seeds")}
        line["recall, true k"] = cell(row, "recall")
        line["false, true k"] = cell(row, "false")
        line["CPU s, true k"] = shown(row["CPU s"], None, 1)
        lines.append(line)
    return lines


# --- ranks -------------------------------------------------------------------------------------


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


def write_ranks(run):
    """The tables of all cases together."""
    found = gathered(RESULTS if run.quick else run.results)
    run.table(
        "truth_ranking",
        overall(found),
        "Methods of treeselect and other software on simulated truth, at the true number of units,"
        " means over the cases that each was run on. Beats: share of the other methods of a case"
        " that find less, a tie counting half. Default ahead, behind: in how many cases exchange,"
        " the default of treeselect, finds more or less.",
    )
    lost = losses(found)
    run.table(
        "truth_losses",
        lost,
        f"Where treeselect's default, exchange, finds less of the truth than another method:"
        f" {lost['case'].nunique()} of {found['case'].nunique()} cases,"
        f" {lost.loc[lost['beyond chance'] == 'yes', 'case'].nunique()} beyond 1.96 standard errors"
        " of the difference (one in forty by chance for each method of each case).",
    )


# --- runs --------------------------------------------------------------------------------------


def run_cases(run, name, work, methods, cases):
    """A row of each case and method; other software that fails on a case has no figures there."""
    stands = run.stands(name) if run.missing else set()
    for method in methods:
        for case in cases:
            if f"{case}, {method}" in stands:
                continue
            seeds = range(min(run.seeds, SEEDS[CASES[case]]))
            try:
                results = run.map(work, [(case, method, seed, run.quick) for seed in seeds])
            except Exception as error:
                if work is one_seed:
                    raise
                print(f"{method} fails on {case}: {type(error).__name__}: {str(error)[:200]}")
                results = [(np.nan,) * 3]
            line = {"case": case, "method": method, "options": told(method), "seeds": len(results)}
            line |= means(NAMES, results)
            run.keep(name, {"run": f"{case}, {method}", **line})


def main():
    """Write the table."""
    run = Run(
        __doc__, methods=FORMS, cases=CASES, seeds=max(SEEDS.values()), missing=False,
        peers=(), rank=False, depends=methods_of,
        quick={"methods": ("importance", "mrmr"), "cases": ("factors", "few"), "seeds": 1},
    )  # fmt: skip
    cases = [case for case in run.cases if case != "noise"]
    if run.rank:
        write_ranks(run)
    elif run.peers is not None:
        absent = peers.absent()
        for name, why in absent.items():
            print(f"{name} is left out: {why} is not installed")
        names = [name for name in run.peers or peers.RANKS if name not in absent]
        run_cases(run, "truth_peers", one_ranking, names if run.methods else (), cases)
        run.table(
            "truth_peers",
            table_of(run.kept("truth_peers")),
            "Other software on simulated truth, beside treeselect in truth_fixed: the first columns"
            " of its ranking, as many as are true; means over seeds with their standard errors. A"
            " row without figures failed or took more than 200 CPU"
            " seconds, which include the start of R.",
        )
    else:
        run_cases(run, "truth_fixed", one_seed, run.methods, cases)
        run.table(
            "truth_fixed",
            table_of(run.kept("truth_fixed")),
            "treeselect on simulated truth, means over seeds with their standard errors. Recall:"
            " share of the true groups of which a unit is selected. False: units selected beside"
            " these, a second one of a group among them. At the true number of units (friedman 5,"
            " factors 3, xor 2, madelon 20). Of madelon's 20 columns 15 are combinations of the"
            " other 5: fewer than 20 can tell all.",
        )


if __name__ == "__main__":
    main()
