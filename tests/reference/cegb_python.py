"""Boosting by LightGBM with a cost for the first use of a column: writes cegb.csv beside this
script, from stepwise_data.csv.

python cegb_python.py    (needs lightgbm; written by 4.7.0)

A row per response and cost: the columns that are used, and the mean training loss (half the
squared error, or the log loss). LightGBM's gain is summed over the rows and not halved, so that a
cost of ``2 n mu`` there is a cost of ``mu`` per row of the loss.
"""

from __future__ import annotations

from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

HERE = Path(__file__).parent
NAMES = ["x1", "x2", "x3", "x4", "x5", "sum"]
COSTS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)

data = pd.read_csv(HERE / "stepwise_data.csv")
rows = []
for response, objective in (("number", "regression"), ("two", "binary")):
    y = data[response].to_numpy(float)
    for mu in COSTS:
        options = {
            "objective": objective, "learning_rate": 0.1, "max_depth": 4, "num_leaves": 16,
            "min_data_in_leaf": 1, "min_data_in_bin": 1, "max_bin": 255, "lambda_l2": 0.0,
            "min_sum_hessian_in_leaf": 1e-9, "feature_pre_filter": False, "num_threads": 1,
            "deterministic": True, "verbosity": -1, "cegb_tradeoff": 1.0,
            "cegb_penalty_feature_coupled": [2 * len(y) * mu] * len(NAMES),
        }  # fmt: skip
        table = lightgbm.Dataset(data[NAMES], y, params=options)
        model = lightgbm.train(options, table, num_boost_round=50)
        found = np.asarray(model.predict(data[NAMES]))
        if response == "two":
            found = np.clip(found, 1e-15, 1 - 1e-15)
            loss = -np.mean(y * np.log(found) + (1 - y) * np.log1p(-found))
        else:
            loss = np.mean((y - found) ** 2) / 2
        used = model.feature_importance("split") > 0
        names = " ".join(name for name, is_used in zip(NAMES, used, strict=True) if is_used)
        rows.append((response, mu, names, loss))
frame = pd.DataFrame(rows, columns=["response", "mu", "used", "loss"])
frame.to_csv(HERE / "cegb.csv", index=False, float_format="%.10g")
