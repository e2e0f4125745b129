"""How steady selections are: over seeds, over halves of the rows, and over bootstrap resamples.

    python benchmarks/steadiness.py [--quick] [--jobs 1] [--sets sick ...] [--methods exchange ...]

Ten sets, at most 1000 of their rows, three and five terms.

seeds       mean Jaccard index of the selections with five seeds, two by two, on the same rows
halves      the same of six random halves of the rows, with one seed
bootstrap   Nogueira's index of the selections on bootstrap resamples, as ``fit.stability`` has it

A row of the results per set, size and method; those that are not run again stay as they are, and
``--methods`` without a name only writes the tables anew. The sets are read from the folder in
TREESELECT_DATA, by default ../shared/data.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from forms import FORMS, in_order, told
from tables import (
    RESULTS,
    arguments,
    data_folder,
    mean_and_error,
    run_all,
    shown,
    signed,
    with_earlier,
    write_table,
)

import treeselect
from treeselect.engine.threads import one_thread

sys.path.append(str(Path(__file__).parent / "papers"))

from controlburn_datasets import audit

METHODS = ("exchange", "controlburn", "importance", "importance, mdi", "rrf", "lasso")
SIZES, N_SEEDS, N_HALVES, MOST_ROWS = (3, 5), 5, 6, 1000
RESAMPLES, FEW_RESAMPLES = 100, {"rrf": 25}
"""Of most methods, and of slow ones."""

MEASURES = ("seeds", "halves", "bootstrap")
REFERENCE = "controlburn"
QUICK = ("importance", "lasso")

FILES = {
    "titanic_correlated": "survived", "german_credit": "target", "sick": "target",
    "spambase": "type", "abalone": "rings", "parkinsons": "status", "audit_risk": "Risk",
    "churn_raw": "churn", "waveform21": "target", "gene/colon": "target",
}  # fmt: skip
"""Sets and their responses."""

NUMERIC = ("abalone",)


def load(name):
    """Some rows of a set, its response `y`."""
    if name == "simulated":
        return treeselect.datasets.simulate_friedman(100, seed=1).data
    if name == "audit_risk":  # without the columns that give the response away
        frame = audit().rename(columns={"target": "y"})
    else:
        frame = pd.read_parquet(data_folder() / f"{name}.parquet")
        frame = frame.rename(columns={FILES[name]: "y"}).drop(
            columns="phone_number", errors="ignore"
        )
    if name not in NUMERIC:
        frame["y"] = frame["y"].astype(str)
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    return frame.reset_index(drop=True)


def jaccard(sets):
    """Mean over all pairs of the share that two sets have in common; of two empty ones 1."""
    pairs = itertools.combinations(map(set, sets), 2)
    return float(np.mean([len(a & b) / max(len(a | b), 1) for a, b in pairs]))


def one_case(name, form, k, n_resamples):
    """The row of a set, a size and a form."""
    frame, method = load(name), FORMS[form]
    arguments = {"method": method, "k": k, "n_jobs": 1, "progress": False}
    halves = [frame.sample(frac=0.5, random_state=i) for i in range(N_HALVES)]
    begin = time.process_time()
    with one_thread():
        fits = [treeselect.select("y ~ .", frame, seed=s, **arguments) for s in range(N_SEEDS)]
        seconds = (time.process_time() - begin) / N_SEEDS
        parts = [treeselect.select("y ~ .", half, seed=0, **arguments) for half in halves]
        stability = fits[0].resample(n_resamples).stability
    return {
        "run": f"{name}, {k}, {form}", "set": name, "k": k, "method": form, "options": told(form),
        "seeds": jaccard([fit.selected for fit in fits]),
        "halves": jaccard([fit.selected for fit in parts]),
        "bootstrap": stability.index, "resamples": n_resamples, "CPU s": seconds,
    }  # fmt: skip


def table_of(summary):
    """The lines to print: means over the sets, and differences from the reference."""
    lines = []
    for k in sorted(summary["k"].unique()):
        at = summary[summary["k"] == k]
        for method in in_order(at["method"].unique()):
            own = at[at["method"] == method].set_index("set")
            other = at[at["method"] == REFERENCE].set_index("set")
            line = {
                "k": k, "method": method, "options": own["options"].iloc[0], "sets": len(own),
                "resamples": own["resamples"].iloc[0],
            }  # fmt: skip
            for name in MEASURES:
                line[name] = shown(*mean_and_error(own[name]), 3)
                less = (own[name] - other[name]).dropna()
                line[f"{name}, less {REFERENCE}'s"] = signed(*mean_and_error(less), 3)
            line["CPU s"] = f"{own['CPU s'].mean():.2f}"
            lines.append(line)
    return pd.DataFrame(lines)


def sets_table(summary):
    """The lines to print by set and size: the three measures of each method."""
    lines = []
    for (name, k), part in summary.groupby(["set", "k"], sort=False):
        rows = part.set_index("method")
        texts = {
            m: ", ".join(f"{rows.loc[m, measure]:.2f}" for measure in MEASURES)
            for m in in_order(rows.index)
        }
        lines.append({"set": name, "k": k, **texts})
    return pd.DataFrame(lines).fillna("")


def write(summary, *, quick=False, folder=RESULTS):
    """Both tables."""
    write_table(
        "steadiness",
        table_of(summary),
        f"treeselect, means over sets (s.e. over sets): Jaccard index of selections, two by two,"
        f" with {N_SEEDS} seeds on the same rows, and on {N_HALVES} random halves of them with one"
        " seed; Nogueira's index over bootstrap resamples; each also as the difference from"
        f" {REFERENCE}. CPU seconds of a call.",
        quick=quick,
        folder=folder,
    )
    write_table(
        "steadiness_sets",
        sets_table(summary),
        "treeselect by set: Jaccard index over seeds, over halves, and Nogueira's index over"
        " bootstrap resamples.",
        quick=quick,
        folder=folder,
    )


def main():
    """Write the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", default=list(FILES), choices=list(FILES))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(FORMS))
    parser.add_argument("--resamples", type=int, help="of all methods")
    options = parser.parse_args()
    if options.quick:
        summary = pd.DataFrame([one_case("simulated", form, 3, 3) for form in QUICK])
        write(summary, quick=True)
        return
    for name, form in itertools.product(options.sets, options.methods):
        n_resamples = options.resamples or FEW_RESAMPLES.get(form, RESAMPLES)
        calls = [(name, form, k, n_resamples) for k in SIZES]
        lines = pd.DataFrame(run_all(one_case, calls, options.jobs))
        with_earlier("steadiness", lines, by="run", quick=False, folder=options.results)
    write(pd.read_csv(options.results / "steadiness.csv"), folder=options.results)


if __name__ == "__main__":
    main()
