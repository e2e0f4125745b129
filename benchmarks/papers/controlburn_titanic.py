"""ControlBurn paper, section 2 and Figure 2 (right): Titanic with proxies of age and sex.

    python benchmarks/papers/controlburn_titanic.py [--quick] [--seeds 20] [--jobs 1]

Height, weight, femur and tibia are made of age and sex and stand beside them. In how many of the
seeds the three selected columns are sex, pclass, and just one of age and the four, as the paper
reports, for ControlBurn's default and the paper's form, exchange search, and forest importance,
which the paper has for comparison; and which columns they are.
"""

from __future__ import annotations

import argparse
from collections import Counter

import pandas as pd
from common import data_folder, run_all, write_table
from forms import FORMS

import treeselect

METHODS = ("controlburn", "controlburn, paper", "exchange", "importance, mdi")
PROXIES = {"age", "height", "weight", "femur", "tibia"}


def load(quick):
    """The demo's data; for a quick run the data set that the package ships."""
    if quick:
        return treeselect.datasets.load("titanic_correlated").head(300)
    return pd.read_parquet(data_folder() / "titanic_correlated.parquet")


def selected(method, frame, seed):
    """Three columns."""
    fit = treeselect.select(
        "survived ~ .", frame, method=FORMS[method], k=3, seed=seed, n_jobs=1, progress=False
    )
    return method, tuple(sorted(fit.selected))


def is_right(columns):
    """Whether the columns are those of the paper."""
    return {"sex", "pclass"} < set(columns) and len(PROXIES.intersection(columns)) == 1


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    frame = load(options.quick)
    seeds = range(1 if options.quick else options.seeds)
    methods = METHODS[1:] if options.quick else METHODS
    found = run_all(selected, [(m, frame, s) for m in methods for s in seeds], options.jobs)
    lines = []
    for method in methods:
        sets = [columns for name, columns in found if name == method]
        counts = Counter(column for columns in sets for column in columns).most_common()
        often = ", ".join(f"{column} {n}" for column, n in counts)
        lines.append((method, len(sets), sum(map(is_right, sets)), often))
    write_table(
        "controlburn_titanic",
        pd.DataFrame(lines, columns=["method", "seeds", "as in the paper", "times selected"]),
        "ControlBurn paper, Figure 2, by treeselect: three columns of Titanic with four proxies of"
        " age and sex. As in the paper: sex, pclass, and just one of age, height, weight, femur and"
        " tibia.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
