"""Q-values of integrated path stability selection: false discovery rate and power at q = 0.1.

    python benchmarks/qvalues.py [--quick] [--jobs 2] [--parts rules methods] [--seeds 20]

rules       a ranking by correlation, the steadiest there is: what the published choices (powers 2
            and 3, as many pairs as were drawn) and ours find
methods     methods of the package on 200 rows of 100 columns, 5 of which matter, and on pure noise;
            two fifths of the seeds

Columns are independent. One that matters does so by a straight line (of methods: or by a bend, a
step, a bowl or a bump); half of the variance of y is noise.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from harness import Run, cell, means, sorted_rows

import treeselect
from treeselect.engine.threads import one_thread
from treeselect.resampling.error_bounds import efp_scores, q_values_of

RATE = 0.1
FORMS = {
    "lasso": {"method": "lasso"}, "mrmr": {"method": "mrmr"},
    "importance": {"method": "importance", "n_trees": 50},
    "boosted stumps": {"method": "gbfs", "mu": 0.0, "n_trees": 100, "max_depth": 1, "prune": False,
                       "learning_rate": 0.3},
    "gbfs": {"method": "gbfs", "n_trees": 50, "prune": False},
    "rrf": {"method": "rrf", "n_trees": 50}, "controlburn": {"method": "controlburn"},
}  # fmt: skip
RULES = {
    "power 3, all pairs (ipss for trees)": (3, None),
    "power 2, all pairs (ipss for the lasso)": (2, None),
    "power 2, at most 25 pairs (ours)": (2, 25),
    "power 1": (1, None),
}
RULE_CASES = {
    "noise, p = 20": (150, 20, 0, 50), "noise, p = 1000": (500, 1000, 0, 50),
    "5 of 20": (150, 20, 5, 50), "5 of 200": (200, 200, 5, 50),
    "5 of 200, 200 pairs": (200, 200, 5, 200), "15 of 1000": (500, 1000, 15, 50),
}  # fmt: skip
"""Rows, columns, how many matter, and pairs."""


def simulated(seed, n, p, n_true, *, straight=False):
    """Columns, response, and the numbers of the columns that matter."""
    rng = np.random.default_rng([seed, n, p, n_true])
    rng.standard_normal((n, -(-p // 10)))  # were blocks of columns: what follows stays as it is
    x = rng.standard_normal((n, p))
    if not n_true:
        return x, rng.standard_normal(n), frozenset()
    truth = rng.choice(p, n_true, replace=False)
    signal = np.zeros(n)
    for j in truth:
        part = x[:, j] if straight else _shape(rng, x[:, j])
        signal += rng.choice([-1, 1]) * rng.uniform(0.5, 1.5) * (part - part.mean()) / part.std()
    y = signal + rng.standard_normal(n) * signal.std()
    return x, y, frozenset(truth.tolist())


def _shape(rng, x):
    return (x, np.tanh(3 * x), np.where(x > 0, 1.0, 0.0), np.abs(x), np.exp(-(x**2)))[
        rng.integers(5)
    ]


def of_correlation(x, y, pairs, seed):
    """How often each column is among the k of the highest correlation on half of the rows."""
    rng, n = np.random.default_rng(seed), len(y)
    p = x.shape[1]
    n_sizes = min(p, 400)
    counts = np.zeros((n_sizes, p))
    for _ in range(pairs):
        order = rng.permutation(n)
        for rows in (order[: n // 2], order[n // 2 : 2 * (n // 2)]):
            inside = x[rows] - x[rows].mean(axis=0)
            part = np.abs(inside.T @ (y[rows] - y[rows].mean())) / np.sqrt((inside**2).sum(axis=0))
            counts[np.arange(n_sizes), np.argsort(-part)[:n_sizes]] += 1
    return np.cumsum(counts, axis=0) / (2 * pairs)


def judged(q, truth):
    """True and false ones at the rate, and the share of false ones."""
    selected = set(np.flatnonzero(q <= RATE).tolist())
    false = len(selected - truth)
    return len(selected & truth), false, false / max(len(selected), 1)


def rules(case, seed):
    """What each rule finds by the same frequencies."""
    n, p, n_true, pairs = RULE_CASES[case]
    x, y, truth = simulated(seed, n, p, n_true, straight=True)
    frequency = of_correlation(x, y, pairs, seed)
    return {
        rule: judged(q_values_of(efp_scores(frequency, min(pairs, most or pairs), power, 0.05)),
                     truth)
        for rule, (power, most) in RULES.items()
    }  # fmt: skip


def methods(case, seed):
    """What each method finds."""
    quick = case == "quick"
    n, p, n_true = (60, 30, 5) if quick else (200, 100, 5 if case == "5 of 100" else 0)
    x, y, truth = simulated(seed, n, p, n_true)
    names = [f"x{j:02}" for j in range(p)]
    frame, found = pd.DataFrame(x, columns=names).assign(y=y), {}
    for form in ("mrmr",) if quick else FORMS:
        size = {} if "mu" in FORMS[form] else {"k": 1}
        asked = {"seed": seed, "n_jobs": 1, "progress": False, **size, **FORMS[form]}
        with one_thread():
            fit = treeselect.select("y ~ .", frame, **asked)
            fit = fit.resample(4 if quick else 50, scheme="complementary", path=True)
        q = fit.stability.q_values().set_index("term").loc[names, "q_value"]
        found[form] = judged(q.to_numpy(), truth)
    return found


PARTS = {"rules": rules, "methods": methods}
CASES = {"rules": tuple(RULE_CASES), "methods": ("5 of 100", "noise, p = 100")}


def main():
    """Write the table."""
    run = Run(__doc__, parts=PARTS, seeds=20, quick={"seeds": 1})
    for part in run.parts:
        quick = {"rules": ("noise, p = 20",), "methods": ("quick",)}[part]
        n_seeds = max(1, 2 * run.seeds // 5) if part == "methods" else run.seeds
        for case in run.pick(quick, CASES[part]):
            found = run.map(PARTS[part], [(case, seed) for seed in range(n_seeds)])
            for form in found[0]:
                line = {"part": part, "case": case, "form": form, "seeds": n_seeds}
                line |= means(("true", "false", "rate"), [one[form] for one in found])
                run.keep("qvalues", {"run": f"{part}, {case}, {form}", **line})
    digits = {"true": 1, "false": 1, "rate": 3}
    run.table(
        "qvalues",
        [
            {name: row[name] for name in ("part", "case", "form", "seeds")}
            | {name: cell(row, name, n) for name, n in digits.items()}
            for row in sorted_rows(run.kept("qvalues"), part=PARTS).to_dict("records")
        ],
        "Terms at q = 0.1 by treeselect, and by the rules of the package ipss: means over seeds"
        " with their standard errors. True: columns that matter; false: the others; rate: mean"
        " share of false ones, which should be at most 0.1. What each part is stands in"
        " `benchmarks/qvalues.py`.",
    )


if __name__ == "__main__":
    main()
