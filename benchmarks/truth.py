"""Simulated truth: how much of it each method finds, and what it takes for it by mistake.

    python benchmarks/truth.py [--quick] [--jobs 1] [--methods lasso ...] [--cases xor ...]
                               [--fixed] [--seeds 5] [--missing] [--peers [NAME ...]]

Every method at the true number of units, and at ``k="1se"`` by five folds (with ``--fixed`` at the
true number alone, a twentieth of the work: results/truth_fixed), on

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
noise       460 rows, 8 columns of normal noise and a binary one, none of which tells anything: no
            number of units is the true one, and all that is selected is false
madelon     1000 of its 2600 rows, drawn anew for each seed; 20 of 500 columns are the truth, 5 of
            which and 15 combinations of them, so that fewer can tell all

Recall is the share of the true groups that are found: one of a group is enough. What is selected
of the rest is false, and so is a second one of a group. A row of the table per case and method;
those that are not run again stay as they are, ``--methods`` without a name only writes the table
anew (with ``--peers``, too), and ``--missing`` runs only the rows that do not stand. ``--seeds``
runs fewer than the case has. ``--peers`` ranks the columns by other software (peers.py: all that is
installed, or those named) and takes as many of the first as are true: results/truth_peers. Madelon
is read from the folder in TREESELECT_DATA, by default ../shared/data.
"""

from __future__ import annotations

import os
import time

import numpy as np
import pandas as pd
import peers
from cases import CASES, SEEDS
from forms import FORMS, told
from tables import (
    arguments,
    mean_and_error,
    run_all,
    shown,
    with_earlier,
    write_table,
)

import treeselect
from treeselect.engine.threads import one_thread

QUICK = ("importance", "mrmr")
QUICK_CASES = ("factors", "noise")


def judged(selected, truth):
    """Share of the groups that are found, and how many units are false."""
    found = sum(not group.isdisjoint(selected) for group in truth)
    return found / len(truth) if truth else np.nan, len(selected) - found


def one_seed(case, form, seed, quick, sizes=(None, "1se")):
    """Recall, false picks and CPU seconds at the true number, then by the rule, and its k."""
    frame, truth = CASES[case](seed, 80, n_noise=2) if quick else CASES[case](seed)
    results, selected = [], np.nan
    with one_thread():
        for size in sizes:
            k = len(truth) if size is None else size
            if k == 0:
                results += [np.nan] * 3
                continue
            begin = time.process_time()
            fit = treeselect.select(
                "y ~ .", frame, method=FORMS[form], k=k, seed=seed, n_jobs=1, progress=False
            )
            seconds = time.process_time() - begin
            results += [*judged(fit.selected, truth), seconds]
            selected = fit.k
    return *results, selected


def one_ranking(case, peer, seed, quick):
    """Recall, false picks and CPU seconds of a peer at the true number."""
    frame, truth = CASES[case](seed, 80, n_noise=2) if quick else CASES[case](seed)
    kind = "binomial" if frame["y"].nunique() == 2 else "gaussian"
    begin = os.times()
    order = peers.RANKS[peer](frame, "y", kind, seed)
    seconds = sum(np.subtract(os.times(), begin)[:4])  # processes of R included
    return *judged(order[: len(truth)], truth), seconds, len(order)


def write_peers(options):
    """The table of the peers, a row at a time; a peer that fails on a case has no figures there."""
    absent = peers.absent()
    print("".join(f"{name} is left out: {why} is not installed\n" for name, why in absent.items()))
    names = [name for name in options.peers or peers.RANKS if name not in absent]
    names = names if options.methods else []  # write the table anew
    stands = standing(options.results / "truth_peers.csv") if options.missing else set()
    summary = pd.DataFrame()
    for peer in names[:1] if options.quick else names:
        for case in QUICK_CASES[:1] if options.quick else options.cases:
            if case == "noise" or f"{case}, {peer}" in stands:
                continue
            seeds = range(1 if options.quick else min(options.seeds, SEEDS[CASES[case]]))
            calls = [(case, peer, seed, options.quick) for seed in seeds]
            try:
                results = run_all(one_ranking, calls, options.jobs)
            except Exception as error:  # whatever other software raises
                print(f"{peer} fails on {case}: {type(error).__name__}: {str(error)[:200]}")
                results = [(np.nan,) * 4]
            line = pd.DataFrame([line_of(case, peer, results)])
            summary = with_earlier(
                "truth_peers", line, by="run", quick=options.quick, folder=options.results
            )
    if not options.quick:
        summary = pd.read_csv(options.results / "truth_peers.csv")
    write_table(
        "truth_peers",
        table_of(summary),
        "Other software on simulated truth, beside treeselect in truth_fixed: the first columns of"
        " its ranking, as many as are true; means over seeds with their standard errors. Of noise,"
        " where none is true, there is nothing to take; a row without figures failed. CPU seconds"
        " include the start of R.",
        quick=options.quick,
        folder=options.results,
    )


def line_of(case, form, results):
    """The row of a case and a form of a method in the results."""
    names = ("recall", "false", "CPU s", "recall, 1se", "false, 1se", "CPU s, 1se", "k, 1se")
    line = {
        "run": f"{case}, {form}",
        "case": case,
        "method": form,
        "options": told(form),
        "seeds": len(results),
    }
    if len(results[0]) < len(names):
        names = (*names[:3], names[-1])
    for name, values in zip(names, zip(*results, strict=True), strict=True):
        line[name], line[f"{name} s.e."] = mean_and_error(values)
    return line


def table_of(summary):
    """The lines to print, by case, in the registry's order."""
    place = {name: i for i, name in enumerate((*CASES, *FORMS, *peers.RANKS))}
    summary = summary.sort_values(["case", "method"], key=lambda names: names.map(place))
    lines = []
    for row in summary.to_dict("records"):
        line = {name: row[name] for name in ("case", "method", "options", "seeds")}
        for rule, text in (("", ", true k"), (", 1se", ", 1se")):
            if f"recall{rule}" not in row:
                continue
            for name in ("recall", "false"):
                key = f"{name}{rule}"
                line[f"{name}{text}"] = shown(row[key], row[f"{key} s.e."], 2)
            line[f"CPU s{text}"] = shown(row[f"CPU s{rule}"], None, 1)
        if "recall, 1se" in row:
            line["k, 1se"] = f"{row['k, 1se']:.1f}"
        lines.append(line)
    return pd.DataFrame(lines)


def standing(path):
    """The runs in a file of results."""
    return set(pd.read_csv(path)["run"]) if path.exists() else set()


def main():
    """Write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--methods", nargs="*", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--fixed", action="store_true", help="at the true number of units alone")
    parser.add_argument("--seeds", type=int, default=max(SEEDS.values()), help="at most")
    parser.add_argument("--missing", action="store_true", help="only rows that do not stand")
    parser.add_argument("--peers", nargs="*", choices=list(peers.RANKS), help="other software")
    options = parser.parse_args()
    if options.peers is not None:
        write_peers(options)
        return
    name, sizes = ("truth_fixed", (None,)) if options.fixed else ("truth", (None, "1se"))
    forms = QUICK if options.quick else options.methods
    cases = QUICK_CASES if options.quick else options.cases
    summary = pd.DataFrame()
    stands = standing(options.results / f"{name}.csv") if options.missing else set()
    for case in cases:
        for form in forms:
            if f"{case}, {form}" in stands:
                continue
            seeds = range(1 if options.quick else min(options.seeds, SEEDS[CASES[case]]))
            calls = [(case, form, seed, options.quick, sizes) for seed in seeds]
            results = run_all(one_seed, calls, options.jobs)
            line = pd.DataFrame([line_of(case, form, results)])
            if options.quick:
                summary = pd.concat([summary, line], ignore_index=True)
            else:
                with_earlier(name, line, by="run", quick=False, folder=options.results)
    if not options.quick:
        summary = pd.read_csv(options.results / f"{name}.csv")
    write_table(
        name,
        table_of(summary),
        "treeselect on simulated truth, means over seeds with their standard errors. Recall: share"
        " of the true groups of which a unit is selected. False: units selected beside these, a"
        " second one of a group among them. At the true number of units (friedman 5, factors 3,"
        ' xor 2, madelon 20) and at `k="1se"` by five folds. Of madelon\'s 20 columns 15 are'
        " combinations of the other 5: fewer than 20 can tell all.",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
