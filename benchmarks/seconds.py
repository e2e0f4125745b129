"""CPU seconds of ``select`` by each method, on one core.

    python benchmarks/seconds.py [--quick] [--sets short ...] [--methods exchange ...]

short    1,000 rows, 20 columns, ten of which are near copies of the others; two classes
long     50,000 rows of the same
genes    72 rows of two classes, 7129 columns (golub)

At k = 5 the least of three calls, of one where it takes more than ten seconds; ``k="1se"`` with
five folds once, as a multiple of that, on the short set. All kernels are loaded before. A row of
the results per set and method; those that are not run again stay as they are, and ``--methods``
without a name only writes the table anew. Genes are read from the folder in TREESELECT_DATA, by
default ../shared/data.
"""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path

import numpy as np
import pandas as pd
from controlburn import simulate
from forms import FORMS, in_order, told
from tables import RESULTS, data_folder, shown, with_earlier, write_table

import treeselect
from treeselect.engine.threads import one_thread

SIZE, RUNS, ENOUGH = 5, 3, 10.0
BY_RULE = "short"
"""The set on which the number of units is also chosen by cross-validation."""

QUICK = ("importance", "mrmr")


def genes():
    """Two leukaemias by 7129 probes."""
    frame = pd.read_parquet(data_folder() / "gene" / "golub.parquet")
    return frame.rename(columns={"target": "y"})


SETS = {
    "short": functools.partial(simulate, 1_000),
    "long": functools.partial(simulate, 50_000),
    "genes": genes,
}


def seconds_of(frame, form, k):
    """CPU seconds of a call."""
    begin = time.process_time()
    with one_thread():
        treeselect.select(
            "y ~ .", frame, method=FORMS[form], k=k, seed=1, n_jobs=1, progress=False
        )  # fmt: skip
    return time.process_time() - begin


def one_case(name, frame, form, rule="1se"):
    """The row of a set and a form."""
    seconds_of(simulate(100), form, SIZE)  # loads the kernels
    times = [seconds_of(frame, form, SIZE)]
    while len(times) < RUNS and times[0] < ENOUGH:
        times.append(seconds_of(frame, form, SIZE))
    by_rule = seconds_of(frame, form, rule) if name == BY_RULE else np.nan
    return {
        "run": f"{name}, {form}", "set": name, "rows": len(frame), "columns": frame.shape[1] - 1,
        "method": form, "options": told(form), "CPU s": min(times), "CPU s, 1se": by_rule,
    }  # fmt: skip


def table_of(summary):
    """The lines to print, a method each."""
    lines = []
    for method in in_order(summary["method"].unique()):
        own = summary[summary["method"] == method].set_index("set")
        line = {"method": method, "options": own["options"].iloc[0]}
        for name in (name for name in SETS if name in set(summary["set"])):
            at = summary[summary["set"] == name].iloc[0]
            shape = f"{at['rows']:,} x {at['columns']:,}"
            line[shape] = shown(own["CPU s"].get(name, np.nan), None, 2)
        rule = own["CPU s, 1se"].get(BY_RULE, np.nan)
        line['k="1se", short'] = shown(rule, None, 2)
        line["times that of k = 5"] = shown(rule / own["CPU s"].get(BY_RULE, np.nan), None, 1)
        lines.append(line)
    return pd.DataFrame(lines)


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--methods", nargs="*", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    options = parser.parse_args()
    if options.quick:
        summary = pd.DataFrame([one_case(BY_RULE, simulate(100), form, 1) for form in QUICK])
    else:
        for name in options.sets:
            frame = SETS[name]()
            for form in options.methods:
                line = pd.DataFrame([one_case(name, frame, form)])
                with_earlier("seconds", line, by="run", quick=False, folder=options.results)
        summary = pd.read_csv(options.results / "seconds.csv")
    write_table(
        "seconds",
        table_of(summary),
        f"treeselect, CPU seconds of select() on one core, its last model included: k = {SIZE} by"
        ' rows x columns, and k="1se" with five folds on the short set.',
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
