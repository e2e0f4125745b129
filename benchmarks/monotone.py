"""Monotone constraints: held-out error beside the unconstrained models and LightGBM.

    python benchmarks/monotone.py [--quick] [--jobs 1]

60% of the rows are fitted, the root mean squared error (RMSE) is that of the others. "Violations"
are the steps along a grid of 50 values of each constrained column, for 100 held-out rows, at which
the prediction moves the wrong way. The final models of treeselect on all terms, and LightGBM with
as many trees as treeselect's boosting, the same shrinkage (0.1), 31 leaves and
`monotone_constraints_method="basic"`.

simulated   600 rows, y = x1 - x2 + sin(3 x3) + noise of deviation 2, rising in x1, falling in x2
abalone     1,500 rows, rings by size and weights, rising in shell weight and diameter
"""

from __future__ import annotations

import lightgbm
import numpy as np
import pandas as pd
from tables import arguments, data_folder, mean_and_error, run_all, shown, write_table

import treeselect
from treeselect.engine.threads import one_thread

SETS = {"simulated": {"x1": 1, "x2": -1}, "abalone": {"shell_weight": 1, "diameter": 1}}
SEEDS = 10


def split(name, seed, n):
    """Rows to fit and others; the response is `y`."""
    rng = np.random.default_rng(seed)
    if name == "simulated":
        data = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{j}" for j in range(1, 7)])
        data["y"] = data["x1"] - data["x2"] + np.sin(3 * data["x3"]) + 2 * rng.normal(size=n)
    else:
        data = pd.read_parquet(data_folder() / "abalone.parquet")
        data.columns = [column.lower().replace(" ", "_") for column in data.columns]
        data = data.rename(columns={"rings": "y"}).select_dtypes("number")
        data = data.iloc[rng.permutation(len(data))[: int(2.5 * n)]]
    cut = int(0.6 * len(data))
    return data.iloc[:cut], data.iloc[cut:].reset_index(drop=True)


def violations(predict, rows, directions):
    """Share of the steps along the grids at which a prediction moves the wrong way."""
    found = []
    for name, sign in directions.items():
        grid = np.linspace(rows[name].min(), rows[name].max(), 50)
        some = rows.head(100)
        moved = some.loc[np.repeat(some.index, 50)].assign(**{name: np.tile(grid, len(some))})
        steps = np.diff(np.asarray(predict(moved)).reshape(len(some), 50), axis=1) * sign
        found.append((steps < -1e-12).mean())
    return 100 * float(np.mean(found))


def measured(name, seed, n):
    """Model, constraint, RMSE and violations of each model on one split."""
    train, new = split(name, seed, n)
    terms, directions = [column for column in train if column != "y"], SETS[name]
    rows = []
    for is_constrained in (False, True):
        monotone = directions if is_constrained else None
        with one_thread():
            forest = treeselect.select(
                "y ~ .", train, method="mrmr", keep=terms, k=len(terms), seed=seed, n_jobs=1,
                monotone=monotone, progress=False,
            )  # fmt: skip
            boosting = forest.refit("boosting")
            peer = lightgbm.LGBMRegressor(
                n_estimators=boosting.model.fitted.trees.n_trees, learning_rate=0.1, n_jobs=1,
                monotone_constraints=[(monotone or {}).get(term, 0) for term in terms],
                monotone_constraints_method="basic", verbose=-1,
            ).fit(train[terms], train["y"])  # fmt: skip
        models = {
            "forest": forest.predict,
            "boosting": boosting.predict,
            "LightGBM": lambda rows, peer=peer: peer.predict(rows[terms]),
        }
        for label, predict in models.items():
            error = np.sqrt(np.mean((new["y"] - np.asarray(predict(new))) ** 2))
            wrong = violations(predict, new, directions)
            rows.append((name, label, "yes" if is_constrained else "no", error, wrong))
    return rows


def main():
    """Write the table."""
    options = arguments(__doc__).parse_args()
    n, n_seeds = (60, 1) if options.quick else (600, SEEDS)
    names = list(SETS)[: 1 if options.quick else None]
    calls = [(name, seed, n) for name in names for seed in range(n_seeds)]
    found = [row for rows in run_all(measured, calls, options.jobs) for row in rows]
    table = pd.DataFrame(found, columns=["set", "model", "constrained", "RMSE", "wrong"])
    lines = []
    for (name, model, is_constrained), own in table.groupby(
        ["set", "model", "constrained"], sort=False
    ):
        lines.append(
            {
                "set": name,
                "model": model,
                "constrained": is_constrained,
                "RMSE": shown(*mean_and_error(own["RMSE"]), 3),
                "violations, %": shown(*mean_and_error(own["wrong"]), 2),
            }
        )
    write_table(
        "monotone",
        pd.DataFrame(lines),
        "treeselect, final models with and without monotone constraints beside LightGBM"
        f" {lightgbm.__version__}: held-out error and violated steps; means over {SEEDS} splits"
        " (s.e.).",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
