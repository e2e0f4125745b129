"""Heinze, Wallisch and Dunkler (2018), section 4.1: the body fat study, by stepwise regression.

    python benchmarks/papers/heinze_bodyfat.py [--quick] [--runs 10] [--jobs 2]

The percentage of body fat (Siri) of 251 men is explained by 13 measures: backward elimination by
AIC that keeps abdomen and height, repeated on 1,000 bootstrap resamples. The paper's figures are of
one such run; here are several, so that the distance of the two can be given in standard deviations
of a single run: binomial ones of shares, of the rest those of the runs.

The data are those of `treeselect.datasets.load("bodyfat")`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import Run
from harness import shown

import treeselect

KEPT = ("abdomen", "height_cm")

PAPER = {
    "inclusion, wrist": 97.1, "inclusion, age": 85.9, "inclusion, neck": 60.1,
    "inclusion, thigh": 50.3, "inclusion, chest": 49.5, "inclusion, forearm": 47.8,
    "RMSD ratio, neck": 1.27, "relative conditional bias, neck": 31.0,
    "relative conditional bias, chest": 69.0, "distinct models": 355.0, "selected model": 1.3,
}  # fmt: skip
"""What the paper says of its 1,000 resamples; frequencies and biases in percent."""

SHARES = {name for name in PAPER if name.startswith("inclusion") or name == "selected model"}
"""Shares of independent resamples, whose standard deviation is known."""


def one_run(fit, n, seed):
    """The paper's figures on so many resamples."""
    fit = fit.resample(n, seed=seed)
    stability = fit.stability
    table = fit.model.coefficient_stability().table.set_index("column")
    found = {
        f"inclusion, {name}": 100 * share
        for name, share in zip(stability.units, stability.frequency, strict=True)
    }
    found |= {f"RMSD ratio, {name}": table.loc[name, "rmsd_ratio"] for name in table.index}
    bias = 100 * table["relative_conditional_bias"]
    found |= {f"relative conditional bias, {name}": bias[name] for name in table.index}
    found["distinct models"] = stability.n_models
    found["selected model"] = 100 * stability.same_model / n
    return {name: float(found[name]) for name in PAPER}


def main():
    """Write the table."""
    run = Run(__doc__, runs=10, quick={"runs": 2})
    n = run.pick(10, 1000)
    data = treeselect.datasets.load("bodyfat")
    fit = treeselect.select(
        "siri ~ .", data, method="stepwise", direction="backward", penalty=2.0, keep=list(KEPT),
        seed=1, n_jobs=run.jobs, progress=False,
    )  # fmt: skip
    found = pd.DataFrame([one_run(fit, n, seed) for seed in range(1, run.runs + 1)])
    rows = []
    spread = found.std(ddof=1)
    for name, paper in PAPER.items():
        mean = found[name].mean()
        sd = 100 * np.sqrt(mean / 100 * (1 - mean / 100) / n) if name in SHARES else spread[name]
        apart = (paper - mean) / (sd * np.sqrt(1 + 1 / run.runs)) if sd > 0 else np.nan
        digits = 2 if name.startswith("RMSD") else 1
        distance = f"{apart:+.1f}" if np.isfinite(apart) else ""
        rows.append((name, f"{paper:.{digits}f}", shown(mean, sd, digits), distance))
    names = ["figure", "paper", "treeselect (s.d. of a run)", "paper less mean, in s.d."]
    run.table(
        "heinze_bodyfat",
        pd.DataFrame(rows, columns=names),
        "Heinze, Wallisch and Dunkler (2018), body fat study: backward elimination by AIC of"
        f" {len(data)} men and 13 measures by treeselect, {run.runs} runs of {n:,} bootstrap"
        " resamples each. Frequencies and biases in percent. Selected on all rows:"
        f" {', '.join(fit.selected)}.",
    )


if __name__ == "__main__":
    main()
