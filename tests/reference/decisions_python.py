"""What dcurves 1.1.7 says of risks: writes decisions_data.csv and decisions.csv beside this script.

python decisions_python.py    (needs dcurves)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from dcurves import dca

HERE = Path(__file__).parent
N, HORIZON = 240, 24
THRESHOLDS = [0.02, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75]

rng = np.random.default_rng(50)
eta = rng.normal(size=N)
risk = np.round(1 / (1 + np.exp(0.8 - eta)), 2)  # some are equal to a threshold
late = rng.exponential(30 * np.exp(-0.7 * eta))
ends = rng.uniform(10, 60, N)
data = pd.DataFrame(
    {
        "risk": risk,
        "sick": (rng.random(N) < 1 / (1 + np.exp(0.8 - 0.7 * eta))).astype(int),
        "months": np.ceil(np.minimum(late, ends)).astype(int),  # many are tied
        "died": (late <= ends).astype(int),
    }
)
data.to_csv(HERE / "decisions_data.csv", index=False)
found = {
    "sick": dca(data, "sick", ["risk"], THRESHOLDS),
    "died": dca(data, "died", ["risk"], THRESHOLDS, time=HORIZON, time_to_outcome_col="months"),
}
kept = ["response", "model", "threshold", "test_pos_rate", "tp_rate", "fp_rate", "net_benefit"]
table = pd.concat([own.assign(response=name) for name, own in found.items()])
table.loc[table["model"] != "none", kept].to_csv(
    HERE / "decisions.csv", index=False, float_format="%.12g"
)
