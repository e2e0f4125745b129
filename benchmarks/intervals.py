"""Quantiles and prediction intervals: how many new rows they cover, and how wide they are.

    python benchmarks/intervals.py [--quick] [--jobs 1]

The final forest of all terms is fitted to a random part of the rows, and
90% intervals of the others are made in two ways: by the 5% and 95% quantiles of the leaves
(`type="quantile"`), and by out-of-bag residuals (`interval="prediction"`). Simulated sets have 400
rows and 2,000 new ones; of the other sets 60% of at most 1,500 rows are fitted.

Coverage is the share of new rows inside, also among the rows with the lower and the upper half of
the predictions. The width is in standard deviations of the response.

linear      10 normal columns, y = x1 + 0.5 x2 + noise
friedman    Friedman's first function of 10 uniform columns, unit noise
spread      y = x1 + noise of deviation exp(0.5 x1)
skewed      y = x1 + exponential noise
clusters    100 clusters of 4 rows, a random effect of deviation 1; new rows are of other clusters,
            with `fold_groups` and without it
abalone, bodyfat    public sets
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from tables import arguments, data_folder, mean_and_error, run_all, shown, write_table

import treeselect
from treeselect.engine.threads import one_thread

LEVEL, SEEDS, ROWS, NEW_ROWS = 0.9, 10, 400, 2_000
SIMULATED = ("linear", "friedman", "spread", "skewed", "clusters")
MEASURES = ("coverage", "lower half", "upper half", "width")


def simulated(name, rng, n):
    """A set of n rows."""
    x = rng.normal(size=(n, 10))
    noise = rng.normal(size=n)
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(1, 11)])
    if name == "linear":
        y = x[:, 0] + 0.5 * x[:, 1] + noise
    elif name == "friedman":
        u = rng.uniform(size=(n, 10))
        frame[:] = u
        y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
        y += 10 * u[:, 3] + 5 * u[:, 4] + noise
    elif name == "spread":
        y = x[:, 0] + np.exp(0.5 * x[:, 0]) * noise
    elif name == "skewed":
        y = x[:, 0] + rng.exponential(size=n)
    else:
        site = np.arange(n) // 4
        frame = frame.iloc[site].reset_index(drop=True)  # columns of the cluster identify it
        y = frame["x1"].to_numpy() + rng.normal(size=n)[site] + 0.5 * noise
        frame = frame.assign(site=site)
    return frame.assign(y=y)


def split(name, rng, n_fitted, n_new):
    """Rows to fit, new rows, and the name of the response."""
    if name.startswith("clusters"):
        return simulated("clusters", rng, n_fitted), simulated("clusters", rng, n_new), "y"
    if name in SIMULATED:
        return simulated(name, rng, n_fitted), simulated(name, rng, n_new), "y"
    if name == "bodyfat":
        data, response = treeselect.datasets.load("bodyfat"), "siri"
    else:
        data, response = pd.read_parquet(data_folder() / "abalone.parquet"), "rings"
        data.columns = [column.lower() for column in data.columns]
    order = rng.permutation(len(data))[:1_500]
    cut = int(0.6 * len(order))
    return data.iloc[order[:cut]], data.iloc[order[cut:]], response


def measured(name, seed, n_fitted, n_new):
    """Measures of both kinds on one split."""
    rng = np.random.default_rng(seed)
    train, new, response = split(name, rng, n_fitted, n_new)
    given = {"fold_groups": "site"} if name == "clusters, fold_groups" else {}
    hidden = " - site" if "site" in train else ""
    formula = f"{response} ~ .{'' if given else hidden}"
    terms = [name for name in train if name not in (response, "site")]
    with one_thread():
        fit = treeselect.select(
            formula, train, method="mrmr", keep=terms, k=len(terms), seed=seed, n_jobs=1,
            progress=False, **given,
        )  # fmt: skip
    by_leaves = fit.predict(new, type="quantile", quantiles=((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    by_leaves.columns = ["low", "high"]
    by_bags = fit.predict(new, interval="prediction", level=LEVEL)
    y, is_low = new[response], by_bags["fit"] <= by_bags["fit"].median()
    rows = []
    for kind, found in (("leaves", by_leaves), ("out of bag", by_bags)):
        inside = (y >= found["low"]) & (y <= found["high"])
        width = float((found["high"] - found["low"]).mean() / y.std())
        rows.append(
            (name, kind, inside.mean(), inside[is_low].mean(), inside[~is_low].mean(), width)
        )
    return rows


def main():
    """Write the table."""
    options = arguments(__doc__).parse_args()
    names = [*SIMULATED, "clusters, fold_groups", "bodyfat", "abalone"]
    calls = [(name, seed, ROWS, NEW_ROWS) for name in names for seed in range(SEEDS)]
    if options.quick:
        calls = [("clusters, fold_groups", 1, 80, 40)]
    found = [row for rows in run_all(measured, calls, options.jobs) for row in rows]
    table = pd.DataFrame(found, columns=["set", "intervals", *MEASURES])
    lines = []
    for (name, kind), own in table.groupby(["set", "intervals"], sort=False):
        cells = {measure: shown(*mean_and_error(own[measure]), 3) for measure in MEASURES}
        lines.append({"set": name, "intervals": kind, **cells})
    write_table(
        "intervals",
        pd.DataFrame(lines),
        f"treeselect, nominal {LEVEL:.0%} intervals of new rows by the final forest: coverage of"
        " all rows and of those with the lower and the upper half of the predictions, and mean"
        f" width in standard deviations of the response; means over {SEEDS} splits (s.e.). Leaves:"
        ' `type="quantile"`; out of bag: `interval="prediction"`.',
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
