"""The model that predicts: does noise help it, are its probabilities and totals right?

    python benchmarks/calibration.py [--quick] [--jobs 1] [--cases classes ...]

4,600 rows; x is a normal number, b is 0 or 1, and seven columns are normal noise. The model of the
truth has x and b, that of all has the nine columns. On 40,000 new rows: the score (AUC, or the
share explained of the deviance that a constant and the offset leave), the slope of a regression of
the response on the predictions on the scale of the link (1 is right, below 1 they are too extreme),
and by how many per cent the total of the predictions is off. Beside it the generalised linear model
of the truth, which has the form of the data.

classes     log-odds 1.2 - 0.9 x - b
offset      the same, and a known part of the log-odds of variance 1
counts      means of exp(-1 + 0.5 x - 0.5 b) for each unit of an exposure from 0.2 to 5, known as an
            offset
numbers     5 + x - b + noise of deviation 1.5, and a known part of variance 4

A row of the results per case; those that are not run again stay as they are.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.metrics import roc_auc_score
from tables import arguments, mean_and_error, run_all, shown, with_earlier, write_table

import treeselect
from treeselect.engine.threads import one_thread

CASES = {
    "classes": ("binomial", False),
    "offset": ("binomial", True),
    "counts": ("poisson", True),
    "numbers": ("gaussian", True),
}
"""Families, and whether there is an offset."""

GLMS = {
    "binomial": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
    "gaussian": sm.families.Gaussian(),
}
MODELS = ("truth", "all", "GLM")
MEASURES = ("score", "slope", "total")
ROWS, NEW_ROWS, SEEDS = 4_600, 40_000, 10


def simulate(case, rng, n):
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


def judged(case, y, mean, known):
    """Score, slope and per cent of the total of predictions of new rows."""
    family, glm = CASES[case][0], GLMS[CASES[case][0]]
    mean = np.clip(mean, 1e-6, 1 - 1e-6) if family == "binomial" else mean
    fit = sm.GLM(y, sm.add_constant(glm.link(mean) - known), glm, offset=known).fit()
    if family == "binomial":
        score = roc_auc_score(y, mean)
    else:
        score = 1 - glm.deviance(y, mean) / fit.null_deviance
    return score, fit.params[1], 100 * (mean.sum() / y.sum() - 1)


def one_seed(case, seed, n_rows, n_new):
    """For each model score, slope and total."""
    rng = np.random.default_rng(seed)
    data, new = simulate(case, rng, n_rows), simulate(case, rng, n_new)
    y, known = new["y"].to_numpy(), new["known"].to_numpy()
    family, has_offset = CASES[case]
    found = []
    for terms in (["x", "b"], ["x", "b", *(f"z{j}" for j in range(7))]):
        with one_thread():
            fit = treeselect.select(
                f"y ~ {' + '.join(terms)}", data, family=family, method="mrmr", keep=terms,
                k=len(terms), offset="known" if has_offset else None, seed=seed,
                n_jobs=1, progress=False,
            )  # fmt: skip
        found += judged(case, y, fit.predict(new).to_numpy(), known)
    glm = sm.GLM(data["y"], _columns(data), GLMS[family], offset=data["known"]).fit()
    found += judged(case, y, glm.predict(_columns(new), offset=new["known"]).to_numpy(), known)
    return found


def _columns(frame):
    return sm.add_constant(frame[["x", "b"]])


def line_of(case, results):
    """The row of a case in the results."""
    line = {"case": case, "seeds": len(results)}
    names = [f"{model} {measure}" for model in MODELS for measure in MEASURES]
    for name, values in zip(names, zip(*results, strict=True), strict=True):
        line[name], line[f"{name} s.e."] = mean_and_error(values)
    return line


def table_of(summary):
    """The lines to print, a case and a model each."""
    lines = []
    for row in summary.to_dict("records"):
        for model in MODELS:
            texts = [
                shown(row[f"{model} {measure}"], row[f"{model} {measure} s.e."], digits)
                for measure, digits in zip(MEASURES, (4, 3, 2), strict=True)
            ]
            lines.append(
                {
                    "case": row["case"],
                    "model": {"all": "forest of all", "truth": "forest of the truth"}.get(
                        model, "GLM of the truth"
                    ),
                    "seeds": row["seeds"],
                    "score": f"{'AUC' if CASES[row['case']][0] == 'binomial' else 'D2'} {texts[0]}",
                    "slope": texts[1],
                    "total off, %": texts[2],
                }
            )
    return pd.DataFrame(lines)


def main():
    """Write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    options = parser.parse_args()
    n_rows, n_new, n_seeds = (200, 500, 1) if options.quick else (ROWS, NEW_ROWS, SEEDS)
    summary = pd.DataFrame()
    for case in options.cases:
        calls = [(case, seed, n_rows, n_new) for seed in range(n_seeds)]
        line = pd.DataFrame([line_of(case, run_all(one_seed, calls, options.jobs))])
        if options.quick:
            summary = pd.concat([summary, line], ignore_index=True)
        else:
            with_earlier("calibration", line, by="case", quick=False, folder=options.results)
    if not options.quick:
        summary = pd.read_csv(options.results / "calibration.csv")
    write_table(
        "calibration",
        table_of(summary),
        f"treeselect, the final forest on {NEW_ROWS:,} new rows, fitted to {ROWS:,}: score, slope"
        " of the response on the predictions on the scale of the link, offset apart, and by how"
        " much their total is off; means over seeds (s.e.).",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
