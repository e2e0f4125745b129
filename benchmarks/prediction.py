"""The model that predicts: is it calibrated, and do its intervals cover?

    python benchmarks/prediction.py [--quick] [--jobs 1] [--seeds 10]
                                    [--parts calibration intervals]

calibration  4,600 rows; x is a normal number, b is 0 or 1, and seven columns are normal noise. The
             model of the truth has x and b, that of all has the nine columns. On 40,000 new rows:
             the score (AUC, or the share explained of the deviance that a constant and the offset
             leave), the slope of a regression of the response on the predictions on the scale of
             the link (1 is right, below 1 they are too extreme), and by how many per cent the total
             of the predictions is off. Beside it the generalised linear model of the truth.
               classes   log-odds 1.2 - 0.9 x - b
               offset    the same, and a known part of the log-odds of variance 1
               counts    means of exp(-1 + 0.5 x - 0.5 b) for each unit of an exposure from 0.2 to
                         5, known as an offset
               numbers   5 + x - b + noise of deviation 1.5, and a known part of variance 4
intervals    90% intervals of new rows by the final forest of all terms, made in two ways: by the 5%
             and 95% quantiles of the leaves (`type="quantile"`), and by out-of-bag residuals
             (`interval="prediction"`). Simulated sets have 400 rows and 2,000 new ones; of abalone
             and bodyfat 60% of at most 1,500 rows are fitted. Coverage is the share of new rows
             inside, also among those with the lower and the upper half of the predictions; the
             width is in standard deviations of the response.
               linear    10 normal columns, y = x1 + 0.5 x2 + noise
               friedman  Friedman's first function of 10 uniform columns, unit noise
               spread    y = x1 + noise of deviation exp(0.5 x1)
               skewed    y = x1 + exponential noise
               clusters  100 clusters of 4 rows, a random effect of deviation 1; new rows are of
                         other clusters, with `fold_groups` and without it
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import statsmodels.api as sm
from harness import Run, shown_mean, stored
from sklearn.metrics import roc_auc_score

import treeselect
from treeselect.engine.threads import one_thread


def model_of(formula, data, terms, seed, **options):
    """The final model of all terms."""
    with one_thread():
        return treeselect.select(
            formula, data, method="mrmr", keep=terms, k=len(terms), seed=seed, n_jobs=1,
            progress=False, **options,
        )  # fmt: skip


# --- calibration -------------------------------------------------------------------------------

CASES = {
    "classes": ("binomial", False), "offset": ("binomial", True), "counts": ("poisson", True),
    "numbers": ("gaussian", True),
}  # fmt: skip
"""Families, and whether there is an offset."""

GLMS = {
    "binomial": sm.families.Binomial(), "poisson": sm.families.Poisson(),
    "gaussian": sm.families.Gaussian(),
}  # fmt: skip
ROWS, NEW_ROWS = 4_600, 40_000


def offset_data(case, rng, n):
    """Rows of a case; its offset is `known`, all 0 if it has none."""
    family, has_offset = CASES[case]
    frame = pd.DataFrame(rng.standard_normal((n, 8)), columns=["x", *(f"z{j}" for j in range(7))])
    frame["b"] = rng.integers(2, size=n)
    x, b = frame["x"].to_numpy(), frame["b"].to_numpy()
    if family == "binomial":
        known = rng.standard_normal(n) * has_offset
        eta = 1.2 - 0.9 * x - b + known
        y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    elif family == "poisson":
        known = np.log(rng.uniform(0.2, 5, n))
        y = rng.poisson(np.exp(-1 + 0.5 * x - 0.5 * b + known))
    else:
        known = 2 * rng.standard_normal(n)
        y = 5 + x - b + known + 1.5 * rng.standard_normal(n)
    return frame.assign(known=known, y=y)


def calibrated(case, y, mean, known):
    """Score, slope and per cent of the total of predictions of new rows."""
    family, glm = CASES[case][0], GLMS[CASES[case][0]]
    mean = np.clip(mean, 1e-6, 1 - 1e-6) if family == "binomial" else mean
    fit = sm.GLM(y, sm.add_constant(glm.link(mean) - known), glm, offset=known).fit()
    if family == "binomial":
        score = roc_auc_score(y, mean)
    else:
        score = 1 - glm.deviance(y, mean) / fit.null_deviance
    return score, fit.params[1], 100 * (mean.sum() / y.sum() - 1)


def calibration_of(case, seed, n_rows, n_new):
    """By model score, slope and total."""
    rng = np.random.default_rng(seed)
    data, new = offset_data(case, rng, n_rows), offset_data(case, rng, n_new)
    y, known = new["y"].to_numpy(), new["known"].to_numpy()
    family, has_offset = CASES[case]
    found, offset = {}, "known" if has_offset else None
    noise = [f"z{j}" for j in range(7)]
    for model, terms in (
        ("forest of the truth", ["x", "b"]),
        ("forest of all", ["x", "b", *noise]),
    ):
        formula = f"y ~ {' + '.join(terms)}"
        fit = model_of(formula, data, terms, seed, family=family, offset=offset)
        found[model] = calibrated(case, y, fit.predict(new).to_numpy(), known)
    own, other = (sm.add_constant(part[["x", "b"]]) for part in (data, new))
    glm = sm.GLM(data["y"], own, GLMS[family], offset=data["known"]).fit()
    mean = glm.predict(other, offset=new["known"]).to_numpy()
    return found | {"GLM of the truth": calibrated(case, y, mean, known)}


def calibration(run):
    """Scores, slopes and totals."""
    n_rows, n_new = run.pick((200, 500), (ROWS, NEW_ROWS))
    lines = []
    for case, (family, _) in CASES.items():
        calls = [(case, seed, n_rows, n_new) for seed in range(run.seeds)]
        results = run.map(calibration_of, calls)
        for model in results[0]:
            score, slope, total = zip(*(found[model] for found in results), strict=True)
            lines.append({
                "case": case, "model": model, "seeds": run.seeds,
                "score": f"{'AUC' if family == 'binomial' else 'D2'} {shown_mean(score, 4)}",
                "slope": shown_mean(slope, 3), "total off, %": shown_mean(total),
            })  # fmt: skip
    run.table(
        "calibration",
        lines,
        f"treeselect, the final forest on {NEW_ROWS:,} new rows, fitted to {ROWS:,}: score, slope"
        " of the response on the predictions on the scale of the link, offset apart, and by how"
        " much their total is off; means over seeds (s.e.).",
    )


# --- intervals ---------------------------------------------------------------------------------

LEVEL = 0.9
SIMULATED = ("linear", "friedman", "spread", "skewed", "clusters")
MEASURES = ["coverage", "lower half", "upper half", "width"]


def rows_of(name, rng, n):
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


def parts_of(name, rng, n_fitted, n_new):
    """Rows to fit, new rows, and the name of the response."""
    if name.startswith("clusters"):
        return rows_of("clusters", rng, n_fitted), rows_of("clusters", rng, n_new), "y"
    if name in SIMULATED:
        return rows_of(name, rng, n_fitted), rows_of(name, rng, n_new), "y"
    if name == "bodyfat":
        data, response = treeselect.datasets.load("bodyfat"), "siri"
    else:
        data, response = stored("abalone"), "rings"
        data.columns = [column.lower() for column in data.columns]
    order = rng.permutation(len(data))[:1_500]
    cut = int(0.6 * len(order))
    return data.iloc[order[:cut]], data.iloc[order[cut:]], response


def intervals_of(name, seed, n_fitted, n_new):
    """Measures of both kinds on one split."""
    rng = np.random.default_rng(seed)
    train, new, response = parts_of(name, rng, n_fitted, n_new)
    given = {"fold_groups": "site"} if name == "clusters, fold_groups" else {}
    hidden = " - site" if "site" in train and not given else ""
    terms = [column for column in train if column not in (response, "site")]
    fit = model_of(f"{response} ~ .{hidden}", train, terms, seed, **given)
    by_leaves = fit.predict(new, type="quantile", quantiles=((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    by_leaves.columns = ["low", "high"]
    by_bags = fit.predict(new, interval="prediction", level=LEVEL)
    y, is_low = new[response], by_bags["fit"] <= by_bags["fit"].median()
    rows = []
    for kind, found in (("leaves", by_leaves), ("out of bag", by_bags)):
        inside = (y >= found["low"]) & (y <= found["high"])
        width = float((found["high"] - found["low"]).mean() / y.std())
        shares = inside.mean(), inside[is_low].mean(), inside[~is_low].mean()
        rows.append((name, kind, *shares, width))
    return rows


def intervals(run):
    """Coverage and width."""
    names = [*SIMULATED, "clusters, fold_groups", "bodyfat", "abalone"]
    calls = [(name, seed, 400, 2_000) for name in names for seed in range(run.seeds)]
    found = run.flat(intervals_of, run.pick([("clusters, fold_groups", 1, 80, 40)], calls))
    table = pd.DataFrame(found, columns=["set", "intervals", *MEASURES])
    run.table(
        "intervals",
        [
            {"set": name, "intervals": kind, **{m: shown_mean(own[m], 3) for m in MEASURES}}
            for (name, kind), own in table.groupby(["set", "intervals"], sort=False)
        ],
        f"treeselect, nominal {LEVEL:.0%} intervals of new rows by the final forest: coverage of"
        " all rows and of those with the lower and the upper half of the predictions, and mean"
        f" width in standard deviations of the response; means over {run.seeds} splits (s.e.)."
        ' Leaves: `type="quantile"`; out of bag: `interval="prediction"`.',
    )


PARTS = {"calibration": calibration, "intervals": intervals}


def main():
    """Write the tables."""
    run = Run(__doc__, parts=PARTS, seeds=10, quick={"seeds": 1})
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
