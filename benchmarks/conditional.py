"""Conditional importance: tests of terms that matter and of terms that do not, beside hidimstat's.

    python benchmarks/conditional.py [--quick] [--jobs 1] [--seeds 20]

300 rows; y is the sum of a number, of a binary column, of one of six levels of a factor, of a pair
of numbers that is tested as one, and of noise of deviation 1. Beside them stand an exact copy of
another number that matters, with it, and noise: three numbers, and a factor of six levels. All are
in the model. A test should find the four that matter (power), and call no more than 5 % of the
others important: noise, and each of the two copies, of which the other tells the same.

ours        fit.model.conditional_importance(): five folds, drawn five times; factors are units
hidimstat   LOCOCV with "nb-ttest" and forests of scikit-learn on columns of zeros and ones, whose
            groups are named: five folds once, and five folds drawn five times

Needs hidimstat (0.4 was used); without it there are only our lines. Seconds are of the processor,
the programs by turns on the same data.
"""

from __future__ import annotations

import importlib.util
import time

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold, RepeatedKFold
from tables import arguments, mean_and_error, run_all, shown, write_table

import treeselect
from treeselect.engine.threads import one_thread

TRUE = ("number", "binary", "factor", "pair")
LEVEL, LEVELS = 0.05, list("abcdef")


def simulate(seed, n):
    """Rows of all columns, y among them."""
    rng = np.random.default_rng(seed)
    names = ["number", "one", "other", "copied", "z0", "z1", "z2"]
    frame = pd.DataFrame(rng.standard_normal((n, len(names))), columns=names)
    frame["copy"] = frame["copied"]
    frame["binary"] = rng.integers(2, size=n)
    frame["factor"], frame["noise_factor"] = (rng.choice(LEVELS, n) for _ in range(2))
    y = 0.5 * frame["number"] + 1.0 * frame["binary"] + 1.2 * (frame["factor"] == "c")
    y += 0.4 * frame["one"] + 0.4 * frame["other"] + 1.0 * frame["copied"]
    return frame.assign(y=y + rng.standard_normal(n))


def ours(frame, seed, quick):
    """P-value of each term."""
    units = [*frame.columns.drop(["y", "one", "other"]), "pair"]
    fit = treeselect.select(
        "y ~ .", frame, method="lasso", k=len(units), keep=units, groups={"pair": ["one", "other"]},
        seed=seed, n_jobs=1,
    )  # fmt: skip
    found = fit.model.conditional_importance(repeats=1 if quick else 5).tidy()
    return found.set_index("term")["p_value"].to_dict()


def hidimstat(frame, seed, repeats):
    """The same of its leave-one-covariate-out."""
    from hidimstat import LOCOCV

    X = pd.get_dummies(frame.drop(columns="y"), dtype=float)
    unit = {"one": "pair", "other": "pair"}
    unit |= {c: c.rpartition("_")[0] for c in X if c.rpartition("_")[0].endswith("factor")}
    groups = {}
    for place, column in enumerate(X):
        groups.setdefault(unit.get(column, column), []).append(place)
    folds = (
        KFold(5, shuffle=True, random_state=seed)
        if repeats == 1
        else RepeatedKFold(n_splits=5, n_repeats=repeats, random_state=seed)
    )
    forest = RandomForestRegressor(100, min_samples_leaf=5, max_features=1 / 3, random_state=seed)
    search = LOCOCV(forest, folds, statistical_test="nb-ttest", features_groups=groups)
    known = X.to_numpy(), frame["y"].to_numpy()
    search.fit(*known)
    search.importance(*known)
    return dict(zip(groups, np.ravel(search.pvalues_), strict=True))


PROGRAMS = {
    "treeselect, 5 x 5 folds": ours,
    "hidimstat 0.4, 5 folds": lambda frame, seed, quick: hidimstat(frame, seed, 1),
    "hidimstat 0.4, 5 x 5 folds": lambda frame, seed, quick: hidimstat(frame, seed, 5),
}


def one_seed(seed, n, names, quick):
    """Shares found of what matters and of what does not, and seconds, of each program."""
    frame, lines = simulate(seed, n), []
    with one_thread():
        for name in names:
            start = time.process_time()
            p = PROGRAMS[name](frame, seed, quick)
            seconds = time.process_time() - start
            small = {term for term, value in p.items() if value < LEVEL}
            copies, noise = {"copy", "copied"}, set(p) - {*TRUE, "copy", "copied"}
            lines.append(
                {
                    "program": name,
                    "power": len(small & set(TRUE)) / len(TRUE),
                    "noise": len(small & noise) / len(noise),
                    "copies": len(small & copies) / 2,
                    "seconds": seconds,
                }
            )
    return lines


def main():
    """Write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    has_peer = importlib.util.find_spec("hidimstat") is not None and not options.quick
    names = list(PROGRAMS) if has_peer else list(PROGRAMS)[:1]
    n_seeds, n_rows = (1, 100) if options.quick else (options.seeds, 300)
    calls = [(seed, n_rows, names, options.quick) for seed in range(n_seeds)]
    results = run_all(one_seed, calls, options.jobs)
    found = pd.DataFrame([line for lines in results for line in lines])
    lines = []
    for name in names:
        own = found[found["program"] == name]
        line = {"program": name, "seeds": n_seeds}
        for what in ("power", "noise", "copies"):
            line[what] = shown(*mean_and_error(own[what]))
        lines.append(line | {"CPU s": f"{own['seconds'].median():.1f}"})
    write_table(
        "conditional",
        pd.DataFrame(lines),
        f"treeselect and hidimstat, leave-one-covariate-out on {n_rows} rows: share of the terms"
        f" that matter with p < {LEVEL} (power), and of noise and of copies, {LEVEL:.0%} being"
        " allowed; means over seeds (s.e.).",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
